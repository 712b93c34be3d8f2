"""One response with everything that was said about it."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from annotation.choices import AnnotatorType, ResponseState
from annotation.models import Benchmark, Label, Response
from annotation.selectors import current_labels
from judging.models import Verdict
from judging.reports import Grading
from judging.staleness import STALE
from judging.stats.aggregation import Decision
from judging.views import listings
from judging.views.addresses import verdict_address
from judging.views.choosing import ReportChoice, read_choice
from judging.views.collection_tables import collected_facts
from judging.views.context import benchmark_page, show_page
from judging.views.exemplars import ShownExemplars, show_exemplars
from judging.views.tables import Cell, Column, Row, Table, text_column
from judging.views.wording import missing_words

UNDECIDED_REASONS = {
    "incomplete": "a judge is missing and the rule is strict",
    "undecided": "the missing scores could go either way",
    "tie": "the judges are evenly split",
    "no_scores": "no judge gave a score",
}


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
        verdicts=_show_verdicts(response, choice),
        revisions=list(response.revisions.select_related("actor").order_by("-at", "-pk")),
        is_correctable=not Label.objects.filter(item__response=response).exists(),
        rows_url=choice.rows(),
    )


@dataclass(frozen=True)
class ShownVerdict:
    """A verdict with its state in words, and what the judge was shown beside the case, if anything.

    `n_exemplars` are counts that an imported file gave, where nothing more is known.
    """

    verdict: Verdict
    address: str
    state: str
    is_stale: bool
    exemplars: ShownExemplars | None
    n_exemplars: str | None


def _show_verdicts(response: Response, choice: ReportChoice) -> list[ShownVerdict]:
    verdicts = listings.verdicts_on(response)
    exemplars = show_exemplars(response, verdicts, choice)
    return [
        ShownVerdict(
            verdict=verdict,
            address=verdict_address(verdict, response),
            state=missing_words(verdict.reported),
            is_stale=verdict.reported == STALE,
            exemplars=exemplars.get(verdict.pk),
            n_exemplars=None if verdict.pk in exemplars else _exemplar_counts(verdict),
        )
        for verdict in verdicts
    ]


def _exemplar_counts(verdict: Verdict) -> str | None:
    n_acceptable, n_unacceptable = verdict.n_exemplars_acceptable, verdict.n_exemplars_unacceptable
    if not n_acceptable and not n_unacceptable:
        return None
    return f"{n_acceptable} Acceptable, {n_unacceptable} Unacceptable"


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
        *collected_facts(response),
        ("Id", response.public_id),
    ]
    return [(term, value) for term, value in facts if value not in (None, "")]
