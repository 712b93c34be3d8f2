"""Rules that every template keeps, and the shared includes on their own."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from django import forms
from django.template import engines
from django.template.loader import render_to_string

TEMPLATES = Path(__file__).parents[1] / "templates"
FILES = sorted(path.relative_to(TEMPLATES).as_posix() for path in TEMPLATES.rglob("*.html"))


class Elements(HTMLParser):
    """Start tags with their attributes, in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def with_id(self, name: str) -> tuple[str, dict[str, str | None]]:
        return next(element for element in self.found if element[1].get("id") == name)


class ExampleForm(forms.Form):
    shots = forms.IntegerField(min_value=0, help_text="Examples of each label.")
    scale = forms.ChoiceField(widget=forms.RadioSelect, choices=[("B", "Binary")], required=False)


def invalid_form() -> ExampleForm:
    form = ExampleForm({"shots": "-1"})
    form.is_valid()
    return form


def table(*cells: dict[str, Any], **row: Any) -> dict[str, Any]:
    columns = [{"label": "Pair"}, {"label": "Cohen κ", "unit": "95 % interval", "is_number": True}]
    return {"id": "pairs", "caption": "Agreement", "columns": columns, "rows": [{"cells": cells, **row}]}


@pytest.mark.parametrize("name", FILES)
def test_template_has_nothing_that_the_content_security_policy_refuses(name: str) -> None:
    source = (TEMPLATES / name).read_text()

    assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:|hx-on|<script(?![^>]*\ssrc=)", source)


@pytest.mark.parametrize("name", FILES)
def test_template_comment_in_short_form_stays_on_its_line(name: str) -> None:
    source = (TEMPLATES / name).read_text()

    assert all("#}" in line.split("{#", 1)[1] for line in source.splitlines() if "{#" in line)


@pytest.mark.parametrize("name", FILES)
def test_template_compiles(name: str) -> None:
    engines["django"].get_template(name)


def test_server_error_page_needs_no_tag_and_no_context() -> None:
    source = (TEMPLATES / "500.html").read_text()

    assert "{%" not in source
    assert "{{" not in source


@pytest.mark.parametrize(
    "name", ["400.html", "403.html", "403_csrf.html", "404.html", "429.html", "500.html"]
)
def test_error_page_says_what_happened_without_any_context(name: str) -> None:
    html = render_to_string(name)

    assert html.count("<h1>") == 1
    assert html.rstrip().endswith("</html>")


def test_table_cell_shows_estimate_with_interval_and_keeps_every_digit() -> None:
    cell = {
        "value": 0.55123,
        "kind": "kappa",
        "interval": [0.5, 0.6],
        "interval_kind": "interval",
        "href": "/rows",
    }

    html = render_to_string("includes/_table.html", {"table": table({"value": "a – b"}, cell)})

    assert '<a href="/rows"><data value="0.55123">0.55</data></a> <span class="interval">' in html
    assert "[0.50, 0.60]" in html


def test_table_escapes_what_a_file_brought() -> None:
    html = render_to_string(
        "includes/_table.html", {"table": table({"value": "<img src=x onerror=alert(1)>"})}
    )

    assert "<img" not in html


def test_table_of_few_prompts_marks_the_row_and_the_count() -> None:
    html = render_to_string(
        "includes/_table.html",
        {"table": table({"value": "Category"}, {"value": 6, "kind": "n"}, is_thin=True)},
    )

    assert '<tr class="thin">' in html
    assert 'class="few"' in html


def test_field_ties_label_help_and_error_to_its_input() -> None:
    html = render_to_string("includes/_form_field.html", {"field": invalid_form()["shots"]})

    elements = Elements(html)
    described_by = (elements.with_id("id_shots")[1]["aria-describedby"] or "").split()
    assert ("label", {"for": "id_shots"}) in elements.found
    assert elements.with_id("id_shots")[1]["aria-invalid"] == "true"
    assert described_by == ["id_shots_helptext", "id_shots_error"]
    assert all(elements.with_id(name) for name in described_by)


def test_group_of_choices_is_a_fieldset_with_its_legend() -> None:
    html = render_to_string("includes/_form_field.html", {"field": invalid_form()["scale"]})

    assert html.index("<fieldset") < html.index("<legend>Scale") < html.index('type="radio"')


def test_error_summary_leads_to_the_field() -> None:
    html = render_to_string("includes/_error_summary.html", {"form": invalid_form()})

    assert 'role="alert"' in html
    assert '<a href="#id_shots">Shots</a>' in html


def test_error_summary_of_a_valid_form_is_empty() -> None:
    form = ExampleForm({"shots": "2"})

    assert render_to_string("includes/_error_summary.html", {"form": form}).strip() == ""


@pytest.mark.parametrize("chosen", ["ACCEPTABLE", "UNACCEPTABLE", None])
def test_decision_bar_marks_only_an_earlier_label_and_never_swaps(chosen: str | None) -> None:
    html = render_to_string("includes/_decision_bar.html", {"question": "Acceptable?", "chosen": chosen})

    buttons = [attributes for tag, attributes in Elements(html).found if tag == "button"]
    assert [button["value"] for button in buttons] == ["ACCEPTABLE", "UNACCEPTABLE"]
    assert [button["value"] for button in buttons if "aria-pressed" in button] == ([chosen] if chosen else [])
