"""The Data tab: what a benchmark holds and where it came from."""

from collections import Counter
from collections.abc import Collection, Mapping
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_safe

from annotation.choices import ResponseState
from annotation.models import AuditEvent, Benchmark
from annotation.selectors import models_with_many_empty
from judging.collecting.targets import offered_targets
from judging.errors import EndpointError
from judging.forms.uploads import UploadForm
from judging.views import listings
from judging.views.choosing import ReportChoice
from judging.views.collection_tables import collection_table
from judging.views.context import benchmark_page, researcher_page, show_page
from judging.views.tables import Cell, Column, Row, Table, count_cell, text_column
from judging.views.wording import counted

KINDS = ("prompts", "responses", "labels", "scores")


@require_safe
@researcher_page
def go_home(request: HttpRequest) -> HttpResponse:
    """To the newest benchmark's calibration, or to the page that makes the first one."""
    newest = Benchmark.objects.order_by("-created_at", "-pk").first()
    if newest is None:
        return redirect("judging:new_benchmark")
    return redirect("judging:calibration", slug=newest.slug)


@require_safe
@benchmark_page
def go_to_calibration(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """The short address of a benchmark."""
    return redirect("judging:calibration", slug=benchmark.slug)


@require_safe
@benchmark_page
def show_data(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Counts by model and category, imports so far, and the form for more files."""
    choice = ReportChoice(benchmark)
    by_model = listings.responses_by(benchmark, "target_model__slug")
    by_category = listings.responses_by(benchmark, "prompt__risk_category")
    prompts = listings.prompts_by_category(benchmark)
    gaps = listings.gaps_by_model(benchmark, n_prompts=sum(prompts.values()))
    return show_page(
        request,
        "judging/data.html",
        benchmark=benchmark,
        tab="data",
        answer=_answer(prompts, by_model),
        empty_shares=models_with_many_empty(benchmark),
        models=_model_table(by_model, gaps, choice) if by_model else None,
        collections=collection_table(benchmark),
        categories=_category_table(prompts, by_category, choice) if prompts else None,
        imports=_import_table(list(listings.imports_of(benchmark))),
        form=UploadForm(),
    )


def _answer(prompts: Mapping[str, int], by_model: Mapping[str, Counter[str]]) -> str:
    n_prompts, n_responses = sum(prompts.values()), sum(map(Counter.total, by_model.values()))
    if not n_prompts:
        return "This benchmark holds nothing yet."
    if not n_responses:
        return format_html(
            "{} in {}, and no responses yet.",
            counted(n_prompts, "prompt"),
            counted(len(prompts), "category", "categories"),
        )
    return format_html(
        "{} in {}, and {} of {}.",
        counted(n_prompts, "prompt"),
        counted(len(prompts), "category", "categories"),
        counted(n_responses, "response"),
        counted(len(by_model), "model"),
    )


def _model_table(
    by_model: dict[str, Counter[str]], gaps: Mapping[str, listings.Gap], choice: ReportChoice
) -> Table:
    states, collectable = listings.n_responses_by_state(by_model), _collectable()
    return Table(
        id="models",
        caption="Responses by model",
        note="Missing: not there or failed, of every prompt in each rollout that the model has begun.",
        columns=[
            text_column("Model"),
            Column("Responses"),
            *(Column(str(ResponseState(state).label).capitalize()) for state in states),
            Column("Missing"),
        ],
        rows=[
            Row(
                [
                    Cell(model),
                    count_cell(counts.total(), choice.rows(model=model)),
                    *(
                        count_cell(counts[state], choice.rows(model=model, response_state=state))
                        for state in states
                    ),
                    _gap_cell(model, gaps.get(model), choice.benchmark, collectable=collectable),
                ]
            )
            for model, counts in by_model.items()
        ],
    )


def _collectable() -> frozenset[str]:
    """Models that the endpoints file offers for collecting; none while it cannot be read."""
    try:
        return frozenset(target.slug for target in offered_targets())
    except EndpointError:
        return frozenset()


def _gap_cell(
    model: str, gap: listings.Gap | None, benchmark: Benchmark, *, collectable: Collection[str]
) -> Cell:
    """How many responses a model lacks, with a link to collecting them where it can be called."""
    if gap is None:
        return Cell(None, kind="count", reason="outside any rollout")
    if model not in collectable:
        return count_cell(gap.n_missing)
    query = urlencode({"model": model, "rollouts": gap.n_rollouts})
    return count_cell(gap.n_missing, f"{reverse('judging:collect', args=[benchmark.slug])}?{query}")


def _category_table(
    prompts: Mapping[str, int], by_category: Mapping[str, Counter[str]], choice: ReportChoice
) -> Table:
    return Table(
        id="categories",
        caption="Prompts by risk category",
        columns=[text_column("Category"), Column("Prompts"), Column("Responses")],
        rows=[
            Row(
                [
                    Cell(category),
                    Cell(n, kind="n"),
                    count_cell(by_category.get(category, Counter()).total(), choice.rows(category=category)),
                ]
            )
            for category, n in prompts.items()
        ],
    )


def _import_table(events: list[AuditEvent]) -> Table | None:
    """New rows of each import by kind; None when there was none."""
    if not events:
        return None
    return Table(
        id="imports",
        caption="Imports so far",
        note="New rows of each kind. Rows that were there already are not counted.",
        columns=[
            text_column("When"),
            text_column("Who"),
            *(Column(kind.capitalize(), unit="new") for kind in KINDS),
            Column("Refused", unit="rows"),
        ],
        rows=[_import_row(event) for event in events],
    )


def _import_row(event: AuditEvent) -> Row:
    totals = event.detail.get("totals", {})
    return Row(
        [
            Cell(event.at, kind="moment"),
            Cell(event.actor.get_username() if event.actor else "command line"),
            *(Cell(totals.get(kind, {}).get("created", 0), kind="count") for kind in KINDS),
            Cell(sum(total.get("rejected", 0) for total in totals.values()), kind="count"),
        ]
    )
