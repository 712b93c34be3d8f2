import datetime as dt

import pytest
from django.template import Context, Engine

from annotation.templatetags import formatting

ENGINE = Engine(libraries={"formatting": "annotation.templatetags.formatting"})


def render(source: str, **context: object) -> str:
    return ENGINE.from_string("{% load formatting %}" + source).render(Context(context))


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (9, "9"), (1204, "1,204"), (1234567, "1,234,567"), (None, "–"), (float("nan"), "–")],
)
def test_count_text(value: float | None, text: str) -> None:
    assert formatting.count_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0.0 %"), (0.1234, "12.3 %"), (1, "100.0 %"), (0.9996, "100.0 %"), (None, "–")],
)
def test_rate_text_keeps_one_digit_and_never_breaks_before_the_sign(value: float | None, text: str) -> None:
    assert formatting.rate_text(value) == text.replace(" ", formatting.NARROW_SPACE)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(0.5, "0.50", id="fixed-digits"),
        pytest.param(-0.0204, "−0.02", id="real-minus-sign"),
        pytest.param(-0.001, "0.00", id="no-negative-zero"),
        pytest.param(-0.0, "0.00", id="negative-zero"),
        pytest.param(None, "–", id="none"),
        pytest.param(float("inf"), "–", id="infinite"),
    ],
)
def test_kappa_text(value: float | None, text: str) -> None:
    assert formatting.kappa_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(0.98, "0.980", id="the limit"),
        pytest.param(0.979999, "0.979", id="below the limit"),
        pytest.param(0.581, "0.581", id="no digit lost to binary"),
        pytest.param(1.0, "1.000", id="one"),
        pytest.param(-0.0004, "0.000", id="no-negative-zero"),
        pytest.param(None, "–", id="none"),
    ],
)
def test_similarity_text_is_cut_and_not_rounded(value: float | None, text: str) -> None:
    assert formatting.similarity_text(value) == text


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        ([0.5, 0.6], "[0.50, 0.60]"),
        ([-0.25, 0.15], "[−0.25, 0.15]"),
        ([None, None], "–"),
        (None, "–"),
        ([], "–"),
    ],
)
def test_interval_text(bounds: list[float | None] | None, text: str) -> None:
    assert formatting.interval_text(bounds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"), (59.4, "59 s"), (59.6, "1 min"), (90, "2 min"), (3599, "1 h 00 min"),
        (11_100, "3 h 05 min"), (187_200, "2 d 4 h"), (-3, "0 s"), (None, "–"),
    ],
)  # fmt: skip
def test_duration_text(seconds: float | None, text: str) -> None:
    assert formatting.duration_text(seconds).replace(formatting.NARROW_SPACE, " ") == text


def test_number_on_a_page_keeps_every_digit_beside_its_text() -> None:
    assert render("{{ value|kappa }}", value=0.5512345678901) == '<data value="0.5512345678901">0.55</data>'


def test_missing_number_says_why_on_hover_and_to_a_screen_reader() -> None:
    html = render("{{ value|kappa:reason }}", value=None, reason="one_class")

    assert 'title="one class"' in html
    assert '<span class="visually-hidden"> one class</span>' in html


def test_interval_sorts_by_its_lower_end() -> None:
    html = render("{{ bounds|rate_interval }}", bounds=[0.1, 0.25])

    assert html.startswith('<data value="0.1">[10.0')


def test_reason_with_markup_is_shown_as_text() -> None:
    assert "<script>" not in render(
        "{{ value|rate:reason }}", value=None, reason='"><script>alert(1)</script>'
    )


@pytest.mark.parametrize(
    ("code", "word", "kind"),
    [
        ("ACCEPTABLE", "Acceptable", "acceptable"),
        ("UNACCEPTABLE", "Unacceptable", "unacceptable"),
        ("CONTESTED", "Contested", "contested"),
        ("<b>", "&lt;b&gt;", "undecided"),
    ],
)
def test_verdict_is_a_word_with_the_class_of_its_shape(code: str, word: str, kind: str) -> None:
    assert (
        render("{{ code|verdict_word }}", code=code) == f'<span class="verdict verdict-{kind}">{word}</span>'
    )


@pytest.mark.parametrize(("n", "is_marked"), [(0, True), (9, True), (10, False), (None, False)])
def test_small_count_is_marked(n: int | None, is_marked: bool) -> None:
    assert ("few" in render("{{ n|small }}", n=n)) is is_marked


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (False, "False"), ("x", "x")])
def test_or_dash_keeps_what_is_a_value(value: object, text: str) -> None:
    assert render("{{ value|or_dash }}", value=value) == text


@pytest.mark.parametrize("value", [None, ""])
def test_or_dash_replaces_no_value(value: object) -> None:
    assert "–" in render("{{ value|or_dash:'not given' }}", value=value)


def test_moment_gives_utc_for_the_browser_to_rewrite() -> None:
    zone = dt.timezone(dt.timedelta(hours=2))

    html = render("{{ at|moment }}", at=dt.datetime(2026, 11, 30, 1, 5, tzinfo=zone))

    assert (
        html == '<time datetime="2026-11-29T23:05:00+00:00" data-local="moment">29 Nov 2026, 23:05 UTC</time>'
    )


def test_shown_uses_the_filter_that_the_cell_names() -> None:
    assert render("{% shown 7 'n' %}").startswith('<data value="7">7</data><span class="few"')


def test_shown_with_an_unknown_kind_is_an_error() -> None:
    with pytest.raises(KeyError):
        render("{% shown 1 'percentage' %}")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0021, "+0.2"), (-0.0142, f"{formatting.MINUS}1.4"), (0.0, "0.0"), (-0.0001, "0.0"), (None, "–")],
    ids=["up", "down", "none", "rounds-to-none", "missing"],
)
def test_difference_of_rates_has_its_sign(value: float | None, text: str) -> None:
    words = formatting.points_text(value)

    assert words == (text if value is None else f"{text}{formatting.NARROW_SPACE}points")
    assert f">{text}<" in formatting.points(value)
