"""Failure rates: per target model, per risk category, and the two crossed."""

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.templatetags.formatting import DASH, SMALL_COUNT, count_text, rate_text
from judging.figures.theme import (
    GREY,
    HAIRLINE,
    HEAT,
    INK,
    INK_2,
    LINE,
    PAPER,
    PLOT_WIDTH,
    ROW_HEIGHT,
    UNACCEPTABLE,
)

Row = Mapping[str, Any]

HEAT_STEPS = (0.1, 0.25, 0.5, 0.75)
"""Where one shade ends and the next begins: fixed, so that two reports can be laid side by side."""

RATES_KEY = (
    "Failure rate, % of prompts. Diamond: rate. Line: 95 % interval.",
    "Pale bar: from all undecided rows Acceptable to all Unacceptable.",
)
THIN_KEY = f"Hollow: fewer than {SMALL_COUNT} prompts."
HEAT_KEY = f"Failure rate, % of prompts. Grey and italic: fewer than {SMALL_COUNT} prompts."


def model_rates_chart(report: Mapping[str, Any]) -> Any:
    """Failure rate of each target model with its interval and bounds, highest first."""
    return _rates_chart(report.get("models") or (), "model")


def category_rates_chart(report: Mapping[str, Any]) -> Any:
    """Failure rate in each risk category with its interval and bounds, highest first, thin ones hollow."""
    return _rates_chart(report.get("categories") or (), "category")


def heat_map_chart(report: Mapping[str, Any]) -> Any:
    """Failure rate of every model in every category, as text on a shade; thin cells in grey italics.

    Rows and columns stand in the order of the two other figures. A cell without a decided row is a dash.
    """
    import altair as alt

    cells = report.get("cells") or ()
    if not cells:
        return message_chart("There are no judged responses to draw yet.")
    models = [str(row["model"]) for row in by_rate(report.get("models") or (), "model")]
    categories = [str(row["category"]) for row in by_rate(report.get("categories") or (), "category")]
    marks = [_heat_mark(cell) for cell in cells]
    x = alt.X(
        "model:N",
        title=None,
        scale=alt.Scale(domain=models or sorted({mark["model"] for mark in marks})),
        axis=alt.Axis(orient="top", labelAngle=-35, labelLimit=150, grid=False),
    )
    y = alt.Y(
        "category:N",
        title=None,
        scale=alt.Scale(domain=categories or sorted({mark["category"] for mark in marks})),
        axis=alt.Axis(labelLimit=300),
    )
    base = alt.Chart(alt.Data(values=marks)).encode(x=x, y=y)
    text = [
        base.transform_filter(f"{'' if thin else '!'}datum.is_thin")
        .mark_text(color=INK, fontStyle="italic" if thin else "normal")
        .encode(text="text:N")
        for thin in (False, True)
    ]
    shade = base.mark_rect(stroke=PAPER, strokeWidth=2).encode(color=alt.Color("shade:N", scale=None))
    return alt.layer(shade, *text).properties(
        width=alt.Step(64),
        height=alt.Step(ROW_HEIGHT),
        title=alt.TitleParams(HEAT_KEY, color=INK_2, fontWeight="normal", orient="bottom"),
    )


def message_chart(sentence: str) -> Any:
    """A figure that says why there is none, so that no caller needs a second path."""
    import altair as alt

    data = alt.Data(values=[{"sentence": sentence}])
    chart = alt.Chart(data, width=PLOT_WIDTH, height=2 * ROW_HEIGHT)
    return chart.mark_text(color=INK_2).encode(text="sentence:N")


def by_rate(rows: Sequence[Row], key: str) -> list[Row]:
    """Highest rate first, rows without a rate last, equal ones by name."""
    return sorted(
        rows, key=lambda row: (row["failure_rate"] is None, -(row["failure_rate"] or 0), str(row[key]))
    )


def is_thin(row: Row) -> bool:
    """True when the rate rests on fewer prompts than `SMALL_COUNT`."""
    return (row.get("n_prompts") or 0) < SMALL_COUNT


def _rates_chart(rows: Sequence[Row], key: str) -> Any:
    if not rows:
        return message_chart("There are no judged responses to draw yet.")
    marks = [_rate_mark(row, key) for row in by_rate(rows, key)]
    return draw_rates(marks, title=[*RATES_KEY, *([THIN_KEY] if any(map(is_thin, rows)) else ())])


def draw_rates(marks: Sequence[Row], *, title: Sequence[str]) -> Any:
    """One line for each mark, in their order: a bar of bounds, an interval, a diamond, and words.

    Args:
        marks: name, text and text_color; rate, low, high, bound_low, bound_high in percent or None; fill
            and stroke of the diamond.
        title: lines below the axis.
    """
    import altair as alt

    ends = [mark[end] for mark in marks for end in ("rate", "high", "bound_high") if mark[end] is not None]
    scale = alt.Scale(domain=[0, min(100, 10 * (int(max(ends, default=0)) // 10 + 1))])
    axis = alt.Axis(tickCount=5, titleAnchor="start")
    y = alt.Y("name:N", title=None, scale=alt.Scale(domain=[mark["name"] for mark in marks]))

    def layer(field: str) -> Any:
        present = [mark for mark in marks if mark[field] is not None]
        x = alt.X(f"{field}:Q", title=list(title), scale=scale, axis=axis)
        return alt.Chart(alt.Data(values=present)).encode(x=x, y=y)

    bounds = layer("bound_low").mark_bar(height=12, color=HAIRLINE).encode(x2="bound_high:Q")
    interval = layer("low").mark_rule(color=INK, strokeWidth=1.5).encode(x2="high:Q")
    point = (
        layer("rate")
        .mark_point(shape="diamond", size=110, opacity=1, strokeWidth=1.5)
        .encode(fill=alt.Fill("fill:N", scale=None), stroke=alt.Stroke("stroke:N", scale=None))
    )
    text = (
        alt.Chart(alt.Data(values=marks))
        .mark_text(align="left")
        .encode(x=alt.value(PLOT_WIDTH + 14), y=y, text="text:N", color=alt.Color("text_color:N", scale=None))
    )
    return alt.layer(bounds, interval, point, text).properties(width=PLOT_WIDTH, height=alt.Step(ROW_HEIGHT))


def _rate_mark(row: Row, key: str) -> dict[str, Any]:
    """What is drawn for one row, in percent."""
    low, high = row.get("failure_rate_interval") or (None, None)
    bound_low, bound_high = row.get("failure_rate_bounds") or (None, None)
    thin = is_thin(row)
    n_prompts = row.get("n_prompts") or 0
    rate = row["failure_rate"]
    words = rate_text(rate) if rate is not None else f"{DASH} no decided rows"
    return {
        "name": str(row[key]),
        "rate": _percent(rate),
        "low": _percent(low),
        "high": _percent(high),
        "bound_low": _percent(bound_low),
        "bound_high": _percent(bound_high),
        "fill": PAPER if thin else UNACCEPTABLE,
        "stroke": LINE if thin else UNACCEPTABLE,
        "text": f"{words} · {count_text(n_prompts)} {'prompt' if n_prompts == 1 else 'prompts'}",
        "text_color": INK_2 if thin else INK,
    }


def _heat_mark(cell: Row) -> dict[str, Any]:
    rate = cell["failure_rate"]
    thin = is_thin(cell)
    return {
        "model": str(cell["model"]),
        "category": str(cell["category"]),
        "text": DASH if rate is None else f"{100 * rate:.1f}",
        "is_thin": thin,
        "shade": PAPER
        if rate is None
        else (GREY if thin else HEAT)[sum(rate >= step for step in HEAT_STEPS)],
    }


def _percent(rate: float | None) -> float | None:
    return None if rate is None else 100 * rate
