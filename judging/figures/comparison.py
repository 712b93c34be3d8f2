"""What became of the verdicts from one pass to another."""

from collections.abc import Mapping
from typing import Any

from annotation.templatetags.formatting import SMALL_COUNT, count_text, rate_text
from judging.figures.rates import message_chart
from judging.figures.theme import AGREE, GREY, HEAT, INK, INK_2, PAPER

VERDICTS = ("Acceptable", "Unacceptable", "Undecided")
CHANGE_STEPS = (0.02, 0.05, 0.1, 0.25)
"""Where one shade ends and the next begins: fixed, so that two comparisons can be laid side by side."""

KEY = (
    "Responses, and their share of the row. Blue-grey: the verdict stayed.",
    f"The darker, the more changed. Grey and italic: rows of fewer than {SMALL_COUNT}.",
)


def verdict_changes_chart(document: Mapping[str, Any]) -> Any:
    """The verdicts of both passes crossed, the earlier in the rows; each cell shaded by its share of the row.

    Args:
        document: what `compare_passes --json` prints.
    """
    import altair as alt

    counts = document["overall"]["verdicts"]
    if not any(map(sum, counts)):
        return message_chart("The two passes grade no response in common, so there is nothing to draw.")
    marks = [
        _mark(was, now, n=n, n_row=sum(row))
        for was, row in zip(VERDICTS, counts, strict=True)
        for now, n in zip(VERDICTS, row, strict=True)
    ]
    base = alt.Chart(alt.Data(values=marks)).encode(
        x=alt.X(
            "now:N",
            title="Verdict in the later pass",
            scale=alt.Scale(domain=VERDICTS),
            axis=alt.Axis(orient="top", labelAngle=0, grid=False),
        ),
        y=alt.Y("was:N", title="Earlier pass", scale=alt.Scale(domain=VERDICTS)),
    )
    shade = base.mark_rect(stroke=PAPER, strokeWidth=2).encode(color=alt.Color("shade:N", scale=None))
    text = [
        base.transform_filter(f"{'' if thin else '!'}datum.is_thin")
        .mark_text(color=INK, fontStyle="italic" if thin else "normal")
        .encode(text="text:N")
        for thin in (False, True)
    ]
    return alt.layer(shade, *text).properties(
        width=alt.Step(140),
        height=alt.Step(48),
        title=alt.TitleParams(list(KEY), color=INK_2, fontWeight="normal", orient="bottom"),
    )


def _mark(was: str, now: str, *, n: int, n_row: int) -> dict[str, Any]:
    share = n / n_row if n_row else None
    is_thin = n_row < SMALL_COUNT
    return {
        "was": was,
        "now": now,
        "text": f"{count_text(n)} · {rate_text(share)}" if n and share is not None else count_text(n),
        "is_thin": is_thin,
        "shade": _shade(share, is_same=was == now, is_thin=is_thin),
    }


def _shade(share: float | None, *, is_same: bool, is_thin: bool) -> str:
    if not share:
        return PAPER
    if is_same and not is_thin:
        return AGREE
    return (GREY if is_thin else HEAT)[sum(share >= step for step in CHANGE_STEPS)]
