"""The figure of a comparison of two passes: how it is called and described, and its numbers as rows."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from judging.figures import render_svg, verdict_changes_chart
from judging.stats.records import ACCEPTABLE, UNACCEPTABLE, UNDECIDED
from judging.views.drawing import FORMS, FigureKind

NAME = "verdict-changes"
VERDICTS = (ACCEPTABLE, UNACCEPTABLE, UNDECIDED)


def inline_figure(document: Mapping[str, Any], address: Callable[[str], str]) -> dict[str, Any]:
    """The context of `includes/_figure.html`; `address` leads to the figure in one of `FORMS`."""
    return {
        "id": f"figure-{NAME}",
        "name": KIND.title,
        "caption": KIND.caption,
        "svg": render_svg(KIND.draw(document), title=KIND.title, description=KIND.describe(document)),
        **{f"{form}_url": address(form) for form in FORMS},
    }


def _describe(document: Mapping[str, Any]) -> str:
    return "; ".join(f"{row['n']} from {row['earlier']} to {row['later']}" for row in _rows(document))


def _rows(document: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    for earlier, counts in zip(VERDICTS, document["overall"]["verdicts"], strict=True):
        for later, n in zip(VERDICTS, counts, strict=True):
            n_earlier = sum(counts)
            yield {
                "earlier": earlier,
                "later": later,
                "n": n,
                "share_of_earlier": n / n_earlier if n_earlier else None,
            }


KIND = FigureKind(
    title="Verdicts of the rule in both passes",
    caption="Earlier pass in the rows, later pass in the columns. Off the diagonal: what changed.",
    draw=verdict_changes_chart,
    describe=_describe,
    rows=_rows,
)
