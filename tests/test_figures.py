import re
from typing import Any
from xml.etree import ElementTree

import pytest

from judging import figures
from judging.figures import rendering

SVG = "{http://www.w3.org/2000/svg}"
MARKUP = "<script>alert(1)</script> & \"quoted\" 'name'"


def pair(kind: str = "judge-human", **values: Any) -> dict[str, Any]:
    return {
        "a": "gpt-5.4",
        "b": "consensus",
        "kind": kind,
        "n": 120,
        "binary_kappa": 0.55,
        "interval": {"binary_kappa": [0.5, 0.6]},
        "undefined": {},
        "confusion": [[70, 8], [12, 30]],
        **values,
    }


def aggregate(**values: Any) -> dict[str, Any]:
    return {
        "model": "gpt-5.5",
        "category": "Emotional Dependency",
        "n_prompts": 36,
        "failure_rate": 0.25,
        "failure_rate_interval": [0.15, 0.38],
        "failure_rate_bounds": [0.24, 0.27],
        **values,
    }


def report(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"models": list(rows), "categories": list(rows), "cells": list(rows)}


def scores(n: int = 12, share: float = 0.4) -> list[dict[str, Any]]:
    return [{"label": "ACCEPTABLE", "score": 1, "n": n, "share": share}]


def draw(
    chart: Any, title: str = "Agreement", description: str = "Each pair with its kappa."
) -> ElementTree.Element:
    return ElementTree.fromstring(figures.render_svg(chart, title=title, description=description))


def words(svg: ElementTree.Element) -> list[str]:
    return [line for element in svg.iter(f"{SVG}text") for line in element.itertext()]


def crossed(verdicts: list[list[int]]) -> dict[str, Any]:
    return {"overall": {"verdicts": verdicts}}


CHARTS = {
    "agreement": lambda: figures.agreement_chart({"pairs": [pair()], "human_ceiling": None}),
    "confusion": lambda: figures.confusion_chart(pair()),
    "scores": lambda: figures.score_distribution_chart(scores()),
    "models": lambda: figures.model_rates_chart(report(aggregate())),
    "categories": lambda: figures.category_rates_chart(report(aggregate())),
    "heat map": lambda: figures.heat_map_chart(report(aggregate())),
    "verdict changes": lambda: figures.verdict_changes_chart(crossed([[70, 4, 1], [2, 30, 0], [0, 3, 2]])),
}
WITHOUT_DATA = {
    "verdict changes": lambda: figures.verdict_changes_chart(crossed([[0, 0, 0]] * 3)),
    "agreement": lambda: figures.agreement_chart({"pairs": []}),
    "confusion": lambda: figures.confusion_chart(pair(confusion=None)),
    "scores": lambda: figures.score_distribution_chart([]),
    "models": lambda: figures.model_rates_chart({}),
    "categories": lambda: figures.category_rates_chart(report()),
    "heat map": lambda: figures.heat_map_chart(report()),
}
WITH_MARKUP = {
    "agreement": lambda: figures.agreement_chart({"pairs": [pair(a=MARKUP, b=MARKUP)]}),
    "confusion": lambda: figures.confusion_chart(pair(a=MARKUP, b=MARKUP)),
    "models": lambda: figures.model_rates_chart(report(aggregate(model=MARKUP))),
    "heat map": lambda: figures.heat_map_chart(report(aggregate(model=MARKUP, category=MARKUP))),
}


@pytest.mark.parametrize("name", CHARTS)
def test_svg_is_one_image_with_a_title_and_a_description(name: str) -> None:
    svg = draw(CHARTS[name](), title="A <title> & more", description="What there is to see.")

    title, description = svg[0], svg[1]
    assert (title.tag, title.text) == (f"{SVG}title", "A <title> & more")
    assert (description.tag, description.text) == (f"{SVG}desc", "What there is to see.")
    assert svg.get("role") == "img"
    assert svg.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"


@pytest.mark.parametrize("name", CHARTS)
def test_svg_holds_nothing_that_a_strict_policy_refuses(name: str) -> None:
    text = figures.render_svg(CHARTS[name](), title="t", description="d")

    assert not re.search(r"<script|<style|\sstyle=|\son\w+=|href|<image|<foreignObject", text)
    assert set(re.findall(r"https?://[^\"'\s]+", text)) <= {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize("name", CHARTS)
def test_svg_uses_only_colours_that_the_stylesheet_maps(name: str) -> None:
    from tests.test_stylesheet import FIGURE_COLOURS

    drawn = {
        element.get(attribute)
        for element in draw(CHARTS[name]()).iter()
        for attribute in ("fill", "stroke")
        if element.get(attribute)
    }

    assert drawn - {"none", "transparent"} <= set(FIGURE_COLOURS.values())


@pytest.mark.parametrize("name", WITHOUT_DATA)
def test_figure_without_data_says_so(name: str) -> None:
    assert any(" no " in f" {text.lower()} " for text in words(draw(WITHOUT_DATA[name]())))


@pytest.mark.parametrize("name", WITH_MARKUP)
def test_markup_in_a_name_is_shown_as_text(name: str) -> None:
    svg = draw(WITH_MARKUP[name]())

    assert any("<script>" in text for text in words(svg))
    assert not [element for element in svg.iter() if element.tag.endswith("script")]


def test_markup_in_the_title_is_shown_as_text() -> None:
    assert draw(CHARTS["models"](), title=MARKUP, description=MARKUP)[0].text == MARKUP


def test_control_character_in_a_name_leaves_the_svg_well_formed() -> None:
    svg = draw(figures.model_rates_chart(report(aggregate(model="a\x0bb\ud800"))), title="t\x00")

    assert svg[0].text == "t\N{REPLACEMENT CHARACTER}"
    assert any(text.startswith("a\N{REPLACEMENT CHARACTER}b") for text in words(svg))


def test_long_name_is_shortened_and_the_figure_keeps_its_width() -> None:
    svg = draw(figures.model_rates_chart(report(aggregate(model="very-long-model-name-" * 20))))

    assert any(text.endswith("…") for text in words(svg))
    assert float(svg.get("width", "0")) < 1100


def test_two_figures_on_a_page_share_no_id() -> None:
    ids = [
        element.get("id")
        for name in CHARTS
        for element in draw(CHARTS[name](), title=name).iter()
        if element.get("id")
    ]

    assert len(ids) == len(set(ids))


def test_references_follow_the_renamed_ids() -> None:
    root = ElementTree.fromstring(
        f'<svg xmlns="{SVG[1:-1]}"><clipPath id="c1"/><g clip-path="url(#c1)"/></svg>'
    )

    rendering._keep_ids_apart(root, "ab12")

    assert root[0].get("id") == "ab12-c1"
    assert root[1].get("clip-path") == "url(#ab12-c1)"


@pytest.mark.parametrize(
    "body",
    [
        "<script/>",
        '<g onclick="x()"/>',
        '<g style="fill:red"/>',
        "<foreignObject/>",
        '<image href="https://example.org"/>',
    ],
)
def test_drawing_with_anything_active_is_refused(body: str) -> None:
    root = ElementTree.fromstring(f'<svg xmlns="{SVG[1:-1]}">{body}</svg>')

    with pytest.raises(ValueError, match="A figure holds"):
        rendering._check(root)


def test_models_stand_from_highest_to_lowest_rate_with_undefined_last() -> None:
    chart = figures.model_rates_chart(
        report(
            aggregate(model="middle", failure_rate=0.2),
            aggregate(
                model="none", failure_rate=None, failure_rate_interval=None, failure_rate_bounds=[0, 1]
            ),
            aggregate(model="highest", failure_rate=0.4),
            aggregate(model="zero", failure_rate=0.0),
        )
    )

    drawn = [text for text in words(draw(chart)) if text in {"middle", "none", "highest", "zero"}]
    assert drawn == ["highest", "middle", "zero", "none"]


def test_model_without_a_rate_keeps_its_row_and_draws_no_mark() -> None:
    svg = draw(
        figures.model_rates_chart(
            report(aggregate(failure_rate=None, failure_rate_interval=None, failure_rate_bounds=None))
        )
    )

    assert "– no decided rows · 36 prompts" in words(svg)
    assert not [element for element in svg.iter(f"{SVG}path") if element.get("fill") == "#b0421c"]


@pytest.mark.parametrize(("n_prompts", "is_filled"), [(9, False), (10, True)])
def test_rate_over_few_prompts_is_hollow(n_prompts: int, is_filled: bool) -> None:
    svg = draw(figures.category_rates_chart(report(aggregate(n_prompts=n_prompts))))

    filled = [element for element in svg.iter(f"{SVG}path") if element.get("fill") == "#b0421c"]
    assert bool(filled) is is_filled
    assert ("Hollow: fewer than 10 prompts." in words(svg)) is not is_filled


@pytest.mark.parametrize(
    ("rate", "shade"),
    [(0.0, "#f6efea"), (0.0999, "#f6efea"), (0.1, "#efddd4"), (0.5, "#deb4a4"), (1.0, "#d69e8a")],
)
def test_heat_map_shade_follows_the_rate(rate: float, shade: str) -> None:
    svg = draw(figures.heat_map_chart(report(aggregate(failure_rate=rate))))

    assert [element for element in svg.iter() if element.get("fill") == shade]
    assert f"{100 * rate:.1f}" in words(svg)


@pytest.mark.parametrize(
    ("row", "cell", "shade"),
    [
        ([70, 0, 0], "70 · 100.0 %", "#dce4ec"),
        ([990, 10, 0], "10 · 1.0 %", "#f6efea"),
        ([98, 2, 0], "2 · 2.0 %", "#efddd4"),
        ([7, 3, 0], "3 · 30.0 %", "#d69e8a"),
        ([6, 3, 0], "3 · 33.3 %", "#d2d3d3"),
    ],
    ids=["stayed", "few", "from two percent", "many", "thin row"],
)
def test_verdict_change_is_counted_and_shaded_by_its_share_of_the_row(
    row: list[int], cell: str, shade: str
) -> None:
    svg = draw(figures.verdict_changes_chart(crossed([row, [0, 0, 0], [0, 0, 0]])))

    assert cell in [text.replace("\u202f", " ").replace("\xa0", " ") for text in words(svg)]
    assert [element for element in svg.iter() if element.get("fill") == shade]


def test_verdict_changes_have_the_earlier_pass_in_the_rows() -> None:
    texts = words(draw(figures.verdict_changes_chart(crossed([[0, 21, 0], [0, 0, 0], [0, 0, 13]]))))

    assert {"Earlier pass", "Verdict in the later pass"} <= set(texts)
    assert [text[:2] for text in texts if "·" in text] == ["21", "13"]


def test_heat_map_cell_without_a_rate_is_a_dash() -> None:
    assert "–" in words(draw(figures.heat_map_chart(report(aggregate(failure_rate=None)))))


def test_undefined_kappa_keeps_its_row_and_says_why() -> None:
    undefined = pair(binary_kappa=None, interval=None, undefined={"binary_kappa": "one_class"}, n=12)

    assert "– one class · n = 12" in words(draw(figures.agreement_chart({"pairs": [undefined]})))


def test_kappa_is_followed_by_its_interval_and_n() -> None:
    assert "0.55 [0.50, 0.60] · n = 120" in words(draw(figures.agreement_chart({"pairs": [pair()]})))


def test_many_pairs_are_cut_to_those_with_most_rows_and_the_heading_says_so() -> None:
    pairs = [pair("human-human", a=f"person-{n}", b="person-0", n=n) for n in range(1, 41)]

    texts = words(draw(figures.agreement_chart({"pairs": pairs})))

    assert "People with each other (12 of 40 pairs, those with the most rows)" in texts
    assert "person-29 – person-0" in texts
    assert "person-28 – person-0" not in texts


def test_peoples_own_mean_is_named() -> None:
    agreement = {"pairs": [pair()], "human_ceiling": {"mean_pairwise_binary_kappa": 0.524}}

    texts = words(draw(figures.agreement_chart(agreement)))

    assert any("people's mean with each other, 0.52" in text for text in texts)


def test_negative_kappa_stays_inside_the_axis() -> None:
    low = pair(binary_kappa=-0.3, interval={"binary_kappa": [-0.45, -0.1]})

    texts = words(draw(figures.agreement_chart({"pairs": [low]})))

    assert "−0.6" in texts


@pytest.mark.parametrize("interval", [None, {}, {"binary_kappa": None}, {"binary_kappa": [None, None]}])
def test_kappa_without_an_interval_stands_alone(interval: dict[str, Any] | None) -> None:
    texts = words(draw(figures.agreement_chart({"pairs": [pair(interval=interval)]})))

    assert "0.55 · n = 120" in texts


def test_confusion_shows_counts_with_the_first_reader_in_the_rows() -> None:
    texts = words(draw(figures.confusion_chart(pair(confusion=[[1070, 8], [12, 30]]))))

    assert {"1,070", "8", "12", "30", "gpt-5.4 said", "consensus said"} <= set(texts)
    assert texts.index("1,070") < texts.index("8") < texts.index("12") < texts.index("30")


def test_same_chart_twice_gives_the_same_svg() -> None:
    first, second = (figures.render_svg(CHARTS["agreement"](), title="t", description="d") for _ in range(2))

    assert first == second


def test_png_is_a_png() -> None:
    assert figures.render_png(CHARTS["confusion"]()).startswith(b"\x89PNG\r\n")
