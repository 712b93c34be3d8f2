"""The figure of the failure-mode page: how it is called and described, and its numbers as rows."""

from collections.abc import Mapping
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode

from annotation.models import Benchmark
from annotation.templatetags.formatting import rate_text
from judging.choices import FailureMode
from judging.figures import failure_modes_chart, render_svg
from judging.views.drawing import FORMS, FigureKind

NAME = "failure-modes"


def inline_figure(benchmark: Benchmark, document: Mapping[str, Any]) -> dict[str, Any]:
    """The context of `includes/_figure.html`."""
    query = urlencode({"pass": document["pass"]})
    svg = render_svg(KIND.draw(document), title=KIND.title, description=KIND.describe(document))
    return {
        "id": f"figure-{NAME}",
        "name": KIND.title,
        "caption": KIND.caption,
        "svg": svg,
        **{
            f"{form}_url": reverse(
                "judging:failure_modes_figure", kwargs={"slug": benchmark.slug, "form": form}
            )
            + f"?{query}"
            for form in FORMS
        },
    }


def _rows(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The figure's numbers, and the same of each model and category."""
    groups = [
        ("all", "", document["overall"]),
        *(("model", entry["model"], entry) for entry in document["models"]),
        *(("category", entry["category"], entry) for entry in document["categories"]),
    ]
    return [
        {
            "of": of,
            "name": name,
            "failure_mode": mode,
            "n": n,
            "n_answered": entry["n_answered"],
            "share": share,
            "share_low": (interval or [None, None])[0],
            "share_high": (interval or [None, None])[1],
        }
        for of, name, entry in groups
        for mode, n, share, interval in [
            *((mode["mode"], mode["n"], mode["share"], mode["interval"]) for mode in entry["modes"]),
            ("UNPARSED", entry["n_unparsed"], entry["unparsed_share"], entry["unparsed_interval"]),
        ]
    ]


def _describe(document: Mapping[str, Any]) -> str:
    overall = document["overall"]
    named = [f"{FailureMode(entry['mode']).label} {rate_text(entry['share'])}" for entry in overall["modes"]]
    return "; ".join([*named, f"no mode named {rate_text(overall['unparsed_share'])}"])


KIND = FigureKind(
    title="Failure modes of Unacceptable responses",
    caption="Share of each failure mode with its 95 % interval, most frequent first.",
    draw=failure_modes_chart,
    describe=_describe,
    rows=_rows,
)
