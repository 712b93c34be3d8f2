"""The responses behind a number, and one response with everything that was said about it."""

from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from annotation.choices import AnnotatorType, ResponseState
from annotation.models import Benchmark, Label, Response
from annotation.selectors import current_labels
from judging.errors import DomainError
from judging.forms import RowFilterForm
from judging.models import Verdict
from judging.reports import Grading
from judging.stats.aggregation import Decision
from judging.views import listings
from judging.views.behind import responses_behind, row_options
from judging.views.choosing import CHOICE_NAMES, ReportChoice, read_choice
from judging.views.context import benchmark_page, show_page
from judging.views.tables import Cell, Column, Row, Table, text_column
from judging.views.wording import counted, missing_words

ROWS_PER_PAGE = 50
EXCERPT_LENGTH = 90
UNDECIDED_REASONS = {
    "incomplete": "a judge is missing and the rule is strict",
    "undecided": "the missing scores could go either way",
    "tie": "the judges are evenly split",
    "no_scores": "no judge gave a score",
}


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


@require_safe
@benchmark_page
def show_response(request: HttpRequest, benchmark: Benchmark, public_id: str) -> HttpResponse:
    """Prompt and response, labels under codes, verdicts, and what the rule decides."""
    choice = read_choice(benchmark, request.GET)
    responses = Response.objects.select_related("prompt", "target_model")
    response = get_object_or_404(responses, prompt__benchmark=benchmark, public_id=public_id)
    grading = choice.grading()
    labels = list(current_labels(benchmark, choice.campaign).filter(item__response=response))
    return show_page(
        request,
        "judging/response.html",
        benchmark=benchmark,
        tab=None,
        response=response,
        state=ResponseState(response.state).label,
        answer=_decision_sentence(grading, response),
        grading=grading,
        **_decision(grading, response),
        facts=_response_facts(response),
        labels=_label_table(labels) if labels else None,
        verdicts=[ShownVerdict.of(verdict) for verdict in listings.verdicts_on(response)],
        rows_url=choice.rows(),
    )


@dataclass(frozen=True)
class ShownVerdict:
    """A verdict as the page shows it."""

    verdict: Verdict
    state: str
    exemplars: str | None

    @classmethod
    def of(cls, verdict: Verdict) -> "ShownVerdict":
        n_acceptable, n_unacceptable = verdict.n_exemplars_acceptable, verdict.n_exemplars_unacceptable
        counts = None
        if n_acceptable is not None and n_unacceptable is not None:
            counts = f"{n_acceptable} Acceptable, {n_unacceptable} Unacceptable"
        return cls(verdict=verdict, state=missing_words(verdict.skip_code or verdict.state), exemplars=counts)


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
        shown = missing_words(value) if name in ("missing", "state") else choices.get(str(value), str(value))
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


def _decision_sentence(grading: Grading, response: Response) -> str:
    decision: Decision | None = grading.decisions.get(response.pk)
    joint = grading.consensus.get(response.pk)
    people = f"people say {_word(joint.verdict)}" if joint else "nobody has labelled it"
    if decision is None:
        return f"No rule has decided this response; {people}."
    return f"The rule says {_word(decision.verdict)}; {people}."


def _decision(grading: Grading, response: Response) -> dict[str, Any]:
    decision = grading.decisions.get(response.pk)
    if decision is None:
        return {}
    return {
        "decision": decision,
        "weighted_score": float(decision.score) if decision.score is not None else None,
        "decision_reason": UNDECIDED_REASONS.get(decision.reason or "", missing_words(decision.reason or "")),
    }


def _label_table(labels: list[Label]) -> Table:
    return Table(
        id="labels",
        caption="Current labels",
        columns=[
            text_column("Annotator"),
            text_column("Type"),
            text_column("Rating"),
            Column("Severity", unit="1-5"),
            text_column("Note"),
            Column("When"),
        ],
        rows=[
            Row(
                [
                    Cell(label.annotator.code if label.annotator else None, reason="anonymous"),
                    Cell(AnnotatorType(label.annotator_type).label),
                    Cell(label.rating, kind="verdict"),
                    Cell(label.severity, kind="count", reason="no severity"),
                    Cell(label.note, reason="no note"),
                    Cell(label.created_at, kind="moment"),
                ]
            )
            for label in labels
        ],
    )


def _word(verdict: str) -> str:
    return verdict.capitalize() if verdict in ("ACCEPTABLE", "UNACCEPTABLE") else verdict.lower()


def _response_facts(response: Response) -> list[tuple[str, Any]]:
    prompt = response.prompt
    rollout = "outside any rollout" if response.rollout is None else response.rollout
    facts = [
        ("Case", prompt.case_uid),
        ("Risk category", prompt.risk_category),
        ("Risk mechanism", prompt.risk_mechanism),
        ("Model", response.target_model.slug),
        ("Rollout", rollout),
        ("State", ResponseState(response.state).label),
        ("Error", response.error),
        ("Finish reason", response.finish_reason),
        ("Id", response.public_id),
    ]
    return [(term, value) for term, value in facts if value not in (None, "")]
