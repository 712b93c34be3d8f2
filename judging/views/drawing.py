"""Figures of a report: inlined in a page, or as a file."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from annotation.models import Benchmark
from annotation.templatetags.formatting import kappa_text, rate_text
from judging.exports.cells import CellChanges
from judging.figures import (
    agreement_chart,
    category_rates_chart,
    heat_map_chart,
    model_rates_chart,
    render_png,
    render_svg,
)
from judging.figures.rates import by_rate
from judging.views.choosing import ReportChoice, read_choice
from judging.views.context import benchmark_page

Report = Mapping[str, Any]
RATE_FIELDS = ("n_prompts", "n_decided", "n_undecided", "failure_rate")


@dataclass(frozen=True)
class FigureKind:
    """One figure: how it is drawn, what it is called, and its numbers as rows."""

    title: str
    caption: str
    draw: Callable[[Report], Any]
    describe: Callable[[Report], str]
    rows: Callable[[Report], Iterable[Mapping[str, Any]]]


def _agreement_rows(report: Report) -> Iterable[Mapping[str, Any]]:
    for pair in report["agreement"]["pairs"]:
        low, high = (pair["interval"] or {}).get("binary_kappa") or (None, None)
        yield {
            **{name: pair[name] for name in ("kind", "a", "b", "n", "n_missing", "binary_kappa")},
            "binary_kappa_low": low,
            "binary_kappa_high": high,
            "undefined": pair["undefined"].get("binary_kappa"),
        }


def _rate_rows(report: Report, of: str, *keys: str) -> Iterable[Mapping[str, Any]]:
    for figures in report[of]:
        low, high = figures["failure_rate_interval"] or (None, None)
        bound_low, bound_high = figures["failure_rate_bounds"] or (None, None)
        yield {
            **{name: figures[name] for name in (*keys, *RATE_FIELDS)},
            "failure_rate_low": low,
            "failure_rate_high": high,
            "bound_low": bound_low,
            "bound_high": bound_high,
        }


def _describe_agreement(report: Report) -> str:
    pairs = report["agreement"]["pairs"]
    return "; ".join(
        f"{pair['a']} with {pair['b']} {kappa_text(pair['binary_kappa'])}" for pair in pairs[:20]
    )


def _describe_rates(report: Report, of: str, key: str) -> str:
    ranked = by_rate(report[of], key)
    return "; ".join(f"{figures[key]} {rate_text(figures['failure_rate'])}" for figures in ranked)


FIGURES: dict[str, FigureKind] = {
    "agreement": FigureKind(
        title="Agreement of judges, rule and people",
        caption="κ in the two classes with its 95 % interval, for each pair.",
        draw=lambda report: agreement_chart(report["agreement"]),
        describe=_describe_agreement,
        rows=_agreement_rows,
    ),
    "models": FigureKind(
        title="Failure rate by target model",
        caption="Failure rate with its 95 % interval, highest first; the pale bar spans what undecided "
        "responses could make of it.",
        draw=model_rates_chart,
        describe=lambda report: _describe_rates(report, "models", "model"),
        rows=lambda report: _rate_rows(report, "models", "model"),
    ),
    "categories": FigureKind(
        title="Failure rate by risk category",
        caption="Failure rate with its 95 % interval, highest first, all models together.",
        draw=category_rates_chart,
        describe=lambda report: _describe_rates(report, "categories", "category"),
        rows=lambda report: _rate_rows(report, "categories", "category"),
    ),
    "heat-map": FigureKind(
        title="Failure rate by model and category",
        caption="The darker, the more often the model fails in that category. Grey cells rest on fewer "
        "than 10 prompts.",
        draw=heat_map_chart,
        describe=lambda report: f"{len(report['cells'])} cells; the table below holds each number.",
        rows=lambda report: _rate_rows(report, "cells", "model", "category"),
    ),
}


def inline_figure(name: str, report: Report, choice: ReportChoice) -> dict[str, Any]:
    """The context of `includes/_figure.html`."""
    kind = FIGURES[name]
    return {
        "id": f"figure-{name}",
        "name": kind.title,
        "caption": kind.caption,
        "svg": render_svg(kind.draw(report), title=kind.title, description=kind.describe(report)),
        **{f"{form}_url": choice.address("figure", name=name, form=form) for form in FORMS},
    }


@require_safe
@benchmark_page
def download_figure(request: HttpRequest, benchmark: Benchmark, name: str, form: str) -> HttpResponse:
    """One figure of the chosen report as SVG, PNG, or its numbers as CSV."""
    if name not in FIGURES or form not in FORMS:
        raise Http404
    choice = read_choice(benchmark, request.GET)
    content_type, write = FORMS[form]
    response = HttpResponse(write(FIGURES[name], choice.report()), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{benchmark.slug}-{name}.{form}"'
    return response


def _as_svg(kind: FigureKind, report: Report) -> str:
    return render_svg(kind.draw(report), title=kind.title, description=kind.describe(report))


def _as_png(kind: FigureKind, report: Report) -> bytes:
    return render_png(kind.draw(report))


def _as_csv(kind: FigureKind, report: Report) -> str:
    """Numbers with every digit; names that a spreadsheet program would run are prefixed."""
    rows = list(kind.rows(report))
    text = io.StringIO(newline="")
    if rows:
        changes = CellChanges()
        writer = csv.writer(text)
        writer.writerow(rows[0])
        for row in rows:
            writer.writerow(
                changes.spreadsheet_safe(value, name) if isinstance(value, str) else value
                for name, value in row.items()
            )
    return text.getvalue()


FORMS: dict[str, tuple[str, Callable[[FigureKind, Report], str | bytes]]] = {
    "svg": ("image/svg+xml", _as_svg),
    "png": ("image/png", _as_png),
    "csv": ("text/csv; charset=utf-8", _as_csv),
}
