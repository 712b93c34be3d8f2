"""The page that compares two passes."""

import csv
import io
import re
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from judging.models import JudgePass, Verdict
from tests.judging_pages.second_pass import judge_again
from tests.judging_pages.study import Study, make_study

LINK_TO_ROWS = re.compile(r'<a href="(?P<href>[^"]*compare/[^"]*#rows)"><data value="(?P<n>[0-9]+)">')


def stricter(place: int, row: Verdict) -> int | None:
    """Every third score is one higher, every tenth is lost."""
    if place % 10 == 0 or row.score is None:
        return None
    return min(5, row.score + (place % 3 == 0))


@pytest.fixture
def later(study: Study) -> JudgePass:
    return judge_again(study.judge_pass, rescore=stricter)


def address(slug: str = "study") -> str:
    return reverse("judging:compare", args=[slug])


def test_every_count_leads_to_exactly_its_rows(
    researcher_client: Client, study: Study, later: JudgePass
) -> None:
    shown = researcher_client.get(address())
    html = shown.content.decode()
    links = {(unescape(found["href"]), int(found["n"])) for found in LINK_TO_ROWS.finditer(html)}

    counts = {href: researcher_client.get(href).context["page_obj"].paginator.count for href, _ in links}

    of_judges = [cell for row in shown.context["judges"].rows for cell in row.cells if cell.kind == "count"]
    assert len(links) > 20
    assert counts == dict(links)
    assert {cell.href is None for cell in of_judges if cell.value} == {False}


def test_pass_that_is_not_finished_is_named(
    researcher_client: Client, study: Study, later: JudgePass
) -> None:
    finished = researcher_client.get(address()).content.decode()
    JudgePass.objects.filter(pk=later.pk).update(state="RUNNING")

    unfinished = researcher_client.get(
        address(), {"before": study.judge_pass.public_id, "after": later.public_id}
    ).content.decode()

    assert "not finished" not in finished
    assert f"{later.name} is not finished" in unfinished


def test_rows_are_those_that_differ_unless_told(
    researcher_client: Client, study: Study, later: JudgePass
) -> None:
    differing = researcher_client.get(address())
    everything = researcher_client.get(address(), {"change": "ANY"})

    overall = differing.context["report"]["overall"]
    n_differing = overall["n_responses"] - overall["n_same"]
    assert differing.context["page_obj"].paginator.count == n_differing > 0
    assert everything.context["page_obj"].paginator.count == overall["n_responses"]


def test_rows_of_a_model_are_those_that_differ_unless_told(
    researcher_client: Client, study: Study, later: JudgePass
) -> None:
    model = study.responses[0].target_model.slug
    differing = researcher_client.get(address(), {"change": "", "model": model})
    everything = researcher_client.get(address(), {"change": "ANY", "model": model})

    [figures] = [group for group in differing.context["report"]["models"] if group["model"] == model]
    n_differing = figures["n_responses"] - figures["n_same"]
    assert differing.context["page_obj"].paginator.count == n_differing > 0
    assert "whose verdict differs" in differing.context["rows_sentence"]
    assert everything.context["page_obj"].paginator.count == figures["n_responses"] > n_differing


def test_figure_stands_before_its_table_and_comes_as_a_file(
    researcher_client: Client, study: Study, later: JudgePass
) -> None:
    page = researcher_client.get(address())
    html = page.content.decode()

    def download(form: str) -> bytes:
        content: bytes = researcher_client.get(page.context["figure"][f"{form}_url"]).content
        return content

    rows = list(csv.DictReader(io.StringIO(download("csv").decode())))
    verdicts = page.context["report"]["overall"]["verdicts"]
    assert html.index('id="figure-verdict-changes"') < html.index('id="verdicts"')
    assert [int(row["n"]) for row in rows] == [n for counts in verdicts for n in counts]
    assert rows[1]["earlier"] == "ACCEPTABLE"
    assert rows[1]["later"] == "UNACCEPTABLE"
    assert download("svg").startswith(b"<svg")
    assert download("png").startswith(b"\x89PNG")


@pytest.mark.parametrize("form", ["svg", "pdf"])
def test_figure_that_does_not_exist_is_404(researcher_client: Client, study: Study, form: str) -> None:
    """A form that is not offered; and any form while there is one pass only."""
    if form == "pdf":
        judge_again(study.judge_pass)

    reply = researcher_client.get(reverse("judging:compare_figure", args=["study", form]))

    assert reply.status_code == 404


def test_figure_does_not_exist_for_annotators(
    annotator_client: Client, study: Study, later: JudgePass
) -> None:
    reply = annotator_client.get(reverse("judging:compare_figure", args=["study", "svg"]))

    assert reply.status_code == 404


def test_named_passes_are_compared_in_the_order_given(
    researcher_client: Client, study: Study, later: JudgePass
) -> None:
    turned = researcher_client.get(
        address(), {"before": later.public_id, "after": study.judge_pass.public_id}
    )

    assert turned.context["report"]["before"]["pass"] == later.public_id
    assert turned.context["report"]["after"]["pass"] == study.judge_pass.public_id


def test_page_needs_the_same_queries_however_much_there_is(
    researcher_client: Client,
    study: Study,
    later: JudgePass,
    django_assert_max_num_queries: pytest.FixtureRequest,
) -> None:
    larger = make_study(n_prompts=40, slug="larger")
    for n in range(3):
        rescored = judge_again(larger.judge_pass, name=f"again-{n}")
    rescored.verdicts.filter(score=1).update(score=4)
    for slug in ("study", "larger"):
        researcher_client.get(address(slug))
    counts = []

    for slug in ("study", "larger"):
        with django_assert_max_num_queries(40) as captured:
            researcher_client.get(address(slug))
        counts.append(len(captured))

    assert counts[0] == counts[1]


def test_downloads_hold_the_pair(researcher_client: Client, study: Study, later: JudgePass) -> None:
    page = researcher_client.get(address())

    reply: Any = researcher_client.get(page.context["csv_url"])

    lines = b"".join(reply.streaming_content).decode().splitlines()
    assert lines[0].startswith("case_uid,rollout,risk_category,model,change,verdict_before,verdict_after")
    assert len(lines) == page.context["report"]["n_common"] + 1


def test_single_pass_leads_to_starting_another(researcher_client: Client, study: Study) -> None:
    html = researcher_client.get(address()).content.decode()

    assert "Two passes are needed" in html
    assert reverse("judging:start_pass", args=["study"]) in html


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("before=nope", "There is no pass &#x27;nope&#x27;"),
        ("rule=nope", "There is no rule &#x27;nope&#x27;"),
        ("change=WORSE", "WORSE is not one of the available choices"),
        ("score_now=3", "A score needs its judge"),
        ("score_change=LOST", "A score needs its judge"),
        ("verdict__response__text=x", "is not known"),
    ],
)
def test_unusable_address_says_what_to_do(
    researcher_client: Client, study: Study, later: JudgePass, query: str, words: str
) -> None:
    reply = researcher_client.get(f"{address()}?{query}")

    assert reply.status_code == 422
    assert words in reply.content.decode()


def test_page_of_another_benchmark_does_not_know_the_pass(
    researcher_client: Client, study: Study, later: JudgePass
) -> None:
    other = make_study(n_prompts=1, slug="other")
    judge_again(other.judge_pass)

    reply = researcher_client.get(address("other"), {"before": later.public_id})

    assert reply.status_code == 422
