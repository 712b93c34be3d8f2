"""The responses behind a number, a page at a time."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.views.decorators.http import require_safe

from annotation.choices import ResponseState
from annotation.models import Benchmark, Response
from judging.errors import DomainError
from judging.forms.rows import RowFilterForm
from judging.reports import Grading
from judging.views import listings
from judging.views.behind import responses_behind, row_options
from judging.views.choosing import CHOICE_NAMES, ReportChoice, read_choice
from judging.views.context import benchmark_page, show_page
from judging.views.tables import Cell, Column, Row, Table, text_column
from judging.views.wording import counted, missing_words

ROWS_PER_PAGE = 50
EXCERPT_LENGTH = 90
STATE_FILTERS = ("missing", "state", "classified")


@require_safe
@benchmark_page
def list_rows(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """One page of the responses that pass the filters in the address."""
    choice = read_choice(benchmark, request.GET)
    grading = choice.grading()
    form = _read_filters(benchmark, grading, request.GET)
    ids = responses_behind(grading, form.cleaned_data)
    page = Paginator(ids, ROWS_PER_PAGE).get_page(request.GET.get("page"))
    return show_page(
        request,
        "judging/rows.html",
        benchmark=benchmark,
        tab=None,
        answer=f"{counted(len(ids), 'response')}{' behind this number' if _in_words(form) else ''}.",
        filters_in_words=_in_words(form),
        grading=grading,
        form=form,
        shown_fields=[form[name] for name in form.ALWAYS_SHOWN],
        kept_fields=_kept(form, choice),
        choice=choice,
        page_obj=page,
        table=_row_table(listings.listed_responses(list(page)), grading, choice),
        all_url=choice.rows(),
    )


def _read_filters(benchmark: Benchmark, grading: Grading, query: QueryDict) -> RowFilterForm:
    """The filters of the address.

    Raises:
        DomainError: an unknown filter, or a value that it does not take.
    """
    options = row_options(benchmark)
    form = RowFilterForm(
        query,
        models=options.models,
        categories=options.categories,
        judges=[judge.slug for judge in grading.evidence.judges],
    )
    unknown = sorted(set(query).difference(form.fields, CHOICE_NAMES, {"page"}))
    if unknown:
        raise DomainError(
            f"The filter {unknown[0][:80]!r} is not known. Known: "
            f"{', '.join([*CHOICE_NAMES, *form.fields])}. Remove it from the address.",
            code="unknown_filter",
        )
    if not form.is_valid():
        name, errors = next(iter(form.errors.items()))
        where = f"The filter {name!r} cannot be used: " if name in form.fields else ""
        raise DomainError(
            f"{where}{errors[0]} Change it, or open the list without filters.", code="bad_filter"
        )
    return form


def _in_words(form: RowFilterForm) -> list[tuple[str, str]]:
    """Each filter that is set, with its value in words."""
    words = []
    for name, value in form.cleaned_data.items():
        if value in (None, "", False):
            continue
        choices = dict(getattr(form.fields[name], "choices", ()))
        shown = missing_words(value) if name in STATE_FILTERS else choices.get(str(value), str(value))
        words.append((str(form.fields[name].label), "yes" if value is True else str(shown)))
    return words


def _kept(form: RowFilterForm, choice: ReportChoice) -> list[tuple[str, Any]]:
    """What the visible filter form does not show and must repeat."""
    hidden = {
        name: "on" if value is True else value
        for name, value in form.cleaned_data.items()
        if name not in form.ALWAYS_SHOWN and value not in (None, "", False)
    }
    return [*choice.parameters.items(), *hidden.items()]


def _row_table(responses: list[Response], grading: Grading, choice: ReportChoice) -> Table:
    judges = grading.evidence.judges
    wanted = {response.pk for response in responses}
    scores: dict[tuple[int, str], Cell] = {
        (verdict.response_id, verdict.judge): Cell(
            verdict.score, kind="count", reason=missing_words(verdict.state)
        )
        for verdict in grading.evidence.verdicts
        if verdict.response_id in wanted
    }
    return Table(
        id="rows",
        caption="Responses",
        columns=[
            text_column("Case"),
            text_column("Model"),
            Column("Rollout"),
            text_column("Response"),
            *(Column(judge.short_name, unit="score") for judge in judges),
            text_column("Rule"),
            text_column("People"),
        ],
        rows=[
            Row(
                [
                    Cell(
                        response.prompt.case_uid,
                        href=choice.address("response", public_id=response.public_id),
                    ),
                    Cell(response.target_model.slug),
                    Cell(response.rollout, kind="count", reason="outside any rollout"),
                    _excerpt(response),
                    *(
                        scores.get((response.pk, judge.slug), Cell(None, kind="count", reason="never judged"))
                        for judge in judges
                    ),
                    _verdict_cell(grading, response.pk),
                    _consensus_cell(grading, response.pk),
                ]
            )
            for response in responses
        ],
    )


def _excerpt(response: Response) -> Cell:
    text = " ".join(response.text[: 2 * EXCERPT_LENGTH].split())
    if len(text) > EXCERPT_LENGTH:
        text = text[:EXCERPT_LENGTH].rstrip() + " …"
    return Cell(text, reason=str(ResponseState(response.state).label))


def _verdict_cell(grading: Grading, pk: int) -> Cell:
    decision = grading.decisions.get(pk)
    return Cell(decision.verdict if decision else None, kind="verdict", reason="not judged")


def _consensus_cell(grading: Grading, pk: int) -> Cell:
    joint = grading.consensus.get(pk)
    return Cell(joint.verdict if joint else None, kind="verdict", reason="not labelled")
