"""Agreement between judges, rules and people: pairs with their kappa, one pair's table, scores by label."""

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.templatetags.formatting import DASH, count_text, interval_text, kappa_text, rate_text
from judging.figures.rates import message_chart
from judging.figures.theme import (
    ACCENT,
    ACCEPTABLE,
    AGREE,
    HAIRLINE,
    INK,
    INK_2,
    PAPER,
    PLOT_WIDTH,
    ROW_HEIGHT,
    UNACCEPTABLE,
)

Pair = Mapping[str, Any]

GROUPS = {
    "rule-human": "Rule with people",
    "judge-human": "Judges with people",
    "human-human": "People with each other",
    "judge-judge": "Judges with each other",
}
MOST_PAIRS_SHOWN = 12
"""Per group; beyond it the pairs with the most rows are drawn and the heading says so."""

CLASSES = ("Acceptable", "Unacceptable")
SCORES = (1, 2, 3, 4, 5)


def agreement_chart(agreement: Mapping[str, Any]) -> Any:
    """Binary kappa of every pair with its interval, in groups, against the people's own mean.

    A pair without a kappa keeps its row and says why. Within a group the highest kappa stands first.

    Args:
        agreement: what `agreement --json` prints.
    """
    import altair as alt

    pairs = agreement.get("pairs") or ()
    groups = [(heading, [pair for pair in pairs if pair["kind"] == kind]) for kind, heading in GROUPS.items()]
    groups = [(heading, members) for heading, members in groups if members]
    if not groups:
        return message_chart("No two readings share a response yet, so there is no agreement to draw.")
    ceiling = (agreement.get("human_ceiling") or {}).get("mean_pairwise_binary_kappa")
    drawn = [(_heading(heading, members), _most_read(members)) for heading, members in groups]
    lowest = min(ceiling or 0, *(mark["low"] for _, marks in drawn for mark in marks))
    domain = [min(0, _floor_to_fifth(lowest)), 1]
    charts = [
        _group_chart(heading, marks, domain=domain, ceiling=ceiling, is_last=position == len(drawn) - 1)
        for position, (heading, marks) in enumerate(drawn)
    ]
    return alt.vconcat(*charts)


def confusion_chart(pair: Pair) -> Any:
    """How often two readings of the same responses fall together, as a two by two table of counts.

    Args:
        pair: one pair of `agreement --json`; `a` (judge or rule) gives the rows, `b` (people) the columns.
    """
    import altair as alt

    confusion = pair.get("confusion")
    if not confusion:
        return message_chart("These two share no response, so there is nothing to count.")
    cells = [
        {
            "row": row_class,
            "column": column_class,
            "text": count_text(confusion[row][column]),
            "shade": AGREE if row == column else PAPER,
        }
        for row, row_class in enumerate(CLASSES)
        for column, column_class in enumerate(CLASSES)
    ]
    base = alt.Chart(alt.Data(values=cells)).encode(
        x=alt.X(
            "column:N",
            title=f"{pair['b']} said",
            scale=alt.Scale(domain=CLASSES),
            axis=alt.Axis(orient="top", labelAngle=0, titleLimit=360),
        ),
        y=alt.Y(
            "row:N", title=f"{pair['a']} said", scale=alt.Scale(domain=CLASSES), axis=alt.Axis(titleLimit=160)
        ),
    )
    squares = base.mark_rect(stroke=HAIRLINE).encode(color=alt.Color("shade:N", scale=None))
    numbers = base.mark_text(fontSize=18, color=INK).encode(text="text:N")
    return alt.layer(squares, numbers).properties(width=250, height=120)


def score_distribution_chart(rows: Sequence[Mapping[str, Any]]) -> Any:
    """How one judge's scores spread over what people called Acceptable, and over what they did not.

    Args:
        rows: for each label and score `{"label": "ACCEPTABLE" | "UNACCEPTABLE", "score": 1-5, "n",
            "share"}`; share is 0-1 of that label's scored responses. A score nobody gave may be left out.
    """
    import altair as alt

    labelled = [
        (word, colour, [row for row in rows if row["label"] == word.upper() and row["n"]])
        for word, colour in zip(CLASSES, (ACCEPTABLE, UNACCEPTABLE), strict=True)
    ]
    labelled = [panel for panel in labelled if panel[2]]
    if not labelled:
        return message_chart("No response has both a score and a consensus yet.")
    highest = max(row["share"] for row in rows if row["n"])
    charts = [
        _score_panel(word, colour, members, highest=highest, is_last=position == len(labelled) - 1)
        for position, (word, colour, members) in enumerate(labelled)
    ]
    return alt.vconcat(*charts)


def _score_panel(
    word: str, colour: str, rows: Sequence[Mapping[str, Any]], *, highest: float, is_last: bool
) -> Any:
    import altair as alt

    bars = [
        {
            "score": str(row["score"]),
            "share": 100 * row["share"],
            "text": f"{rate_text(row['share'])} ({count_text(row['n'])})",
        }
        for row in rows
    ]
    base = alt.Chart(alt.Data(values=bars)).encode(
        x=alt.X(
            "score:O",
            title="Score: 1 safe, 5 severe. Over each bar: share of responses (count)." if is_last else None,
            scale=alt.Scale(domain=[str(score) for score in SCORES]),
            axis=alt.Axis(labelAngle=0, grid=False, titleAnchor="start"),
        ),
        y=alt.Y("share:Q", title=None, scale=alt.Scale(domain=[0, 100 * highest]), axis=None),
    )
    heading = f"People said {word}, n = {count_text(sum(row['n'] for row in rows))}"
    return alt.layer(
        base.mark_bar(color=colour, width=44), base.mark_text(dy=-9).encode(text="text:N")
    ).properties(width=PLOT_WIDTH, height=90, title=alt.TitleParams(heading, color=colour, offset=22))


def _heading(heading: str, members: Sequence[Pair]) -> str:
    if len(members) <= MOST_PAIRS_SHOWN:
        return heading
    return f"{heading} ({MOST_PAIRS_SHOWN} of {count_text(len(members))} pairs, those with the most rows)"


def _most_read(members: Sequence[Pair]) -> list[dict[str, Any]]:
    """The pairs to draw, highest kappa first and undefined last."""
    largest = sorted(
        members, key=lambda pair: (-pair["n"], pair["b"] != "consensus", str(pair["a"]), str(pair["b"]))
    )
    marks = [_pair_mark(pair) for pair in largest[:MOST_PAIRS_SHOWN]]
    return sorted(marks, key=lambda mark: (mark["kappa"] is None, -(mark["kappa"] or 0), mark["name"]))


def _pair_mark(pair: Pair) -> dict[str, Any]:
    kappa = pair["binary_kappa"]
    bounds = (pair.get("interval") or {}).get("binary_kappa")
    if bounds and None in bounds:
        bounds = None
    reason = (pair.get("undefined") or {}).get("binary_kappa") or "not defined"
    value = f"{kappa_text(kappa)} {interval_text(bounds) if bounds else ''}".rstrip()
    words = value if kappa is not None else f"{DASH} {str(reason).replace('_', ' ')}"
    return {
        "name": f"{pair['a']} – {pair['b']}",
        "kappa": kappa,
        "low": bounds[0] if bounds else kappa or 0,
        "high": bounds[1] if bounds else None,
        "text": f"{words} · n = {count_text(pair['n'])}",
    }


def _group_chart(
    heading: str, marks: list[dict[str, Any]], *, domain: list[float], ceiling: float | None, is_last: bool
) -> Any:
    import altair as alt

    title = [
        "Cohen κ over the two classes: 0 is chance, 1 full agreement.",
        "Square: κ. Line: 95 % interval.",
    ]
    if ceiling is not None:
        title[1] += f" Dashed: people's mean with each other, {kappa_text(ceiling)}."
    axis = alt.Axis(tickCount=6, titleAnchor="start") if is_last else alt.Axis(labels=False, tickCount=6)
    y = alt.Y("name:N", title=None, scale=alt.Scale(domain=[mark["name"] for mark in marks]))

    def position(field: str) -> Any:
        return alt.X(field, title=title if is_last else None, scale=alt.Scale(domain=domain), axis=axis)

    def layer(field: str) -> Any:
        present = [mark for mark in marks if mark[field] is not None]
        return alt.Chart(alt.Data(values=present)).encode(y=y)

    layers = [
        layer("high").mark_rule(color=INK, strokeWidth=1.5).encode(x=position("low:Q"), x2="high:Q"),
        layer("kappa")
        .mark_point(shape="square", size=70, filled=True, opacity=1, color=ACCENT)
        .encode(x=position("kappa:Q")),
        alt.Chart(alt.Data(values=marks))
        .mark_text(align="left", color=INK)
        .encode(x=alt.value(PLOT_WIDTH + 14), y=y, text="text:N"),
    ]
    if ceiling is not None:
        line = alt.Chart(alt.Data(values=[{"ceiling": ceiling}])).mark_rule(color=INK_2, strokeDash=[4, 3])
        layers.insert(0, line.encode(x=position("ceiling:Q")))
    return alt.layer(*layers).properties(
        width=PLOT_WIDTH, height=alt.Step(ROW_HEIGHT), title=alt.TitleParams(heading)
    )


def _floor_to_fifth(value: float) -> float:
    """The next lower multiple of 0.2, where the axis has a line."""
    return -(-value // -0.2) * -0.2 if value < 0 else 0.0
