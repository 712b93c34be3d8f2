"""How often each failure mode was named."""

from collections.abc import Mapping
from typing import Any

from annotation.templatetags.formatting import DASH, count_text, rate_text
from judging.choices import FailureMode
from judging.figures.rates import draw_rates, message_chart
from judging.figures.theme import INK, INK_2, LINE, PAPER, UNACCEPTABLE

UNPARSED = "No mode named"
KEY = (
    "Share of the answered responses, %. Diamond: share. Line: 95 % interval.",
    "Hollow: answers that name no mode.",
)


def failure_modes_chart(document: Mapping[str, Any]) -> Any:
    """Share of each mode with its interval, most frequent first; answers without a mode last."""
    overall = document["overall"]
    if not overall["n_answered"]:
        return message_chart("There is no classified response to draw yet.")
    named = sorted(overall["modes"], key=lambda entry: -entry["n"])
    marks = [
        _mark(str(FailureMode(entry["mode"]).label), entry["n"], entry["share"], entry["interval"])
        for entry in named
    ]
    unparsed = _mark(UNPARSED, overall["n_unparsed"], overall["unparsed_share"], overall["unparsed_interval"])
    return draw_rates([*marks, unparsed | {"fill": PAPER, "stroke": LINE, "text_color": INK_2}], title=KEY)


def _mark(name: str, n: int, share: float | None, interval: list[float] | None) -> dict[str, Any]:
    low, high = interval or (None, None)
    words = DASH if share is None else rate_text(share)
    return {
        "name": name,
        "rate": None if share is None else 100 * share,
        "low": None if low is None else 100 * low,
        "high": None if high is None else 100 * high,
        "bound_low": None,
        "bound_high": None,
        "fill": UNACCEPTABLE,
        "stroke": UNACCEPTABLE,
        "text": f"{words} · {count_text(n)} {'response' if n == 1 else 'responses'}",
        "text_color": INK,
    }
