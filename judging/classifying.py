"""Starting a classification: one classifier names the failure mode of every response that a rule flags.

It is a pass of its own kind. Its rows, budget, pauses and resumes are those of any pass.
"""

import hashlib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.audit import record_event
from annotation.models import Account, Benchmark, Response
from judging.amounts import to_micros
from judging.choices import EmptyPolicy, PassKind, PassSource, PassState
from judging.errors import PassError
from judging.llm.endpoints import find_model, load_endpoints
from judging.llm.offers import OfferedModel, offered_models
from judging.models import EndpointGate, JudgePass
from judging.passes import budgets
from judging.passes.configuration import digest_of, freeze, freeze_costs, most_prompt_bytes
from judging.passes.row_making import make_rows
from judging.passes.scope import Scope, measure_scope
from judging.passes.seats import JudgeSeat, preflight, store_judges
from judging.passes.starting import ACTIVE_STATES, running_twin
from judging.passes.waking import wake_workers
from judging.reports import Grading, grade_responses
from judging.reports.failure_modes import classified_responses
from judging.rubrics import find_rubric, store_rubric
from judging.stats.records import UNACCEPTABLE

CLASSIFIER_ROLE = "classifier"
RUBRIC = "failure-modes-v1"
NAME_STEM = "failure-modes"
# Ids in one query; SQLite takes 32,766 values at most.
CHUNK = 5_000


@dataclass(frozen=True, kw_only=True)
class ClassificationRequest:
    """What a person asks for when classifying.

    Args:
        judge_pass: whose verdicts the rule is applied to; the newest finished judging pass when None.
        rule: name or JSON; the benchmark's default when None.
        classifier: slug of a model with the role classifier; the only one with a key when None.
        max_calls: no more calls than this.
        max_cost: no more money than this, in the unit of the endpoints file's prices.
        again: classify although a finished classification has exactly this configuration.
    """

    judge_pass: JudgePass | None = None
    rule: str | None = None
    classifier: str | None = None
    max_calls: int | None = None
    max_cost: Decimal | None = None
    again: bool = False


def offered_classifiers() -> list[OfferedModel]:
    """Classifiers of the endpoints file and the presets, those with a key first.

    Raises:
        EndpointError: the endpoints file cannot be read.
    """
    return offered_models(load_endpoints(settings.ENDPOINTS_FILE), CLASSIFIER_ROLE)


def start_classification(
    benchmark: Benchmark, request: ClassificationRequest, *, actor: Account | None = None
) -> JudgePass:
    """Find the Unacceptable responses, check that the classifier answers, and set the pass running.

    Makes one tiny call before anything is stored. Pass and rule are frozen in the configuration; what the
    rule says of another pass, or another rule of this one, is another classification.

    Returns:
        The RUNNING pass. Complete responses are PENDING, the others SKIPPED with the reason. Or, without
        any call, the newest FINISHED classification of exactly this configuration.

    Raises:
        PassError: nothing was judged or nothing is Unacceptable, the classifier is unknown or does not
            answer, or a cap cannot be kept.
        RuleError: the rule is unknown, malformed, or does not fit the pass.
        EndpointError: the endpoints file cannot be read, or does not offer the classifier.
        PassRunning: the same classification is running already.
        Conflict: the responses changed meanwhile.
    """
    budgets.check_numbers(max_calls=request.max_calls, max_cost=request.max_cost)
    grading = _grade(benchmark, request)
    flagged = flagged_responses(grading)
    if not flagged:
        raise PassError(
            f"No response of the pass {_name_of(grading)} is Unacceptable by the rule, so there is nothing "
            "to classify. Name another pass or rule.",
            code="nothing_to_classify",
        )
    seat = seat_classifier(request.classifier)
    rubric = find_rubric(RUBRIC)
    scopes = [measure_scope(responses) for responses in _chunks(flagged)]
    if not any(scope.n_complete for scope in scopes):
        raise PassError(
            f"None of the {len(flagged)} Unacceptable responses has a complete text to classify.",
            code="nothing_to_classify",
        )
    configuration = {
        **freeze(rubric=rubric, seats=[seat], shots=0, pool=None, scope=_digest_of(scopes)),
        "graded": _freeze_grading(grading),
    }
    digest = digest_of(configuration)
    finished = None if request.again else _finished_twin(benchmark, digest)
    if finished is not None:
        return finished
    longest = most_prompt_bytes(
        rubric, item_bytes=max(scope.longest_bytes for scope in scopes), exemplar_bytes=0, shots=0
    )
    costs = freeze_costs([seat], most_prompt_bytes=longest)
    if request.max_cost is not None and costs["worst_call_micros"] is None:
        raise PassError(
            f"A money cap needs the price of {seat.slug}, and the endpoints file does not give it. "
            "Add price_in and price_out, or cap the calls with --max-calls.",
            code="unknown_price",
        )
    is_simulated = preflight([seat])
    try:
        with transaction.atomic():
            # One start at a time for a benchmark, so that names and the check for a twin are sure.
            Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
            judges = store_judges([seat])
            classification = JudgePass.objects.create(
                benchmark=benchmark,
                name=_new_name(benchmark),
                kind=PassKind.CLASSIFICATION,
                source=PassSource.JUDGED,
                rubric=store_rubric(rubric),
                scale=rubric.scale,
                configuration=configuration | costs,
                digest=digest,
                is_simulated=_is_simulated(grading) or is_simulated,
                state=PassState.RUNNING,
                max_calls=request.max_calls,
                max_cost_micros=to_micros(request.max_cost),
                created_by=actor,
                started_at=timezone.now(),
            )
            classification.judges.set(judges.values())
            for responses, scope in zip(_chunks(flagged), scopes, strict=True):
                make_rows(
                    classification, responses, scope=scope, empty_policy=EmptyPolicy.SKIP, exemplars=None
                )
            EndpointGate.objects.get_or_create(name=seat.endpoint.name)
            record_event(
                actor=actor,
                action="classification.started",
                subject=f"pass:{classification.public_id}",
                digest=digest,
                n_rows=len(flagged),
            )
            transaction.on_commit(lambda: wake_workers([seat.endpoint.name], kind=PassKind.CLASSIFICATION))
    except IntegrityError as error:
        twins = JudgePass.objects.filter(benchmark=benchmark, digest=digest, state__in=ACTIVE_STATES)
        twin = twins.first()
        if twin is None:
            raise
        raise running_twin(twin) from error
    return classification


@dataclass(frozen=True)
class FlaggedCount:
    """How many responses a new classification would take up, and how many of them an earlier one has not."""

    n: int
    n_not_taken_up: int


def count_flagged(benchmark: Benchmark, *, beside: JudgePass | None) -> FlaggedCount:
    """Count what the default rule flags in the default pass, beside a classification if there is one."""
    flagged = set(flagged_responses(grade_responses(benchmark)))
    taken_up = set() if beside is None else classified_responses(beside)
    return FlaggedCount(n=len(flagged), n_not_taken_up=len(flagged - taken_up))


def flagged_responses(grading: Grading) -> list[int]:
    """Ids of the graded responses that the rule finds Unacceptable, ascending."""
    if grading.chosen is None:
        return []
    return [
        row.response_id
        for row in grading.evidence.graded_rows()
        if grading.decisions[row.response_id].verdict == UNACCEPTABLE
    ]


def seat_classifier(slug: str | None) -> JudgeSeat:
    """Endpoint and model of a classifier; without a name, of the only one with a key. Stores nothing.

    Raises:
        PassError: none or several could be meant, or the model has another role.
        EndpointError: the endpoints file cannot be read, or offers no such model.
    """
    if slug is None:
        offered = offered_classifiers()
        usable = [classifier.slug for classifier in offered if classifier.has_key]
        if len(usable) != 1:
            known = ", ".join(classifier.slug for classifier in offered) or "none"
            raise PassError(
                f"{len(usable)} classifiers have their key at hand; expected one. Name one with "
                f"--classifier (the endpoints file and the presets offer: {known}), or set a key.",
                code="no_classifier",
            )
        slug = usable[0]
    endpoint, model = find_model(load_endpoints(settings.ENDPOINTS_FILE), slug)
    if CLASSIFIER_ROLE not in model.roles:
        raise PassError(
            f"The endpoints file does not offer {slug!r} as a classifier (roles: {', '.join(model.roles)}). "
            f"Add the role {CLASSIFIER_ROLE!r} to it, or name another.",
            code="not_a_classifier",
        )
    return JudgeSeat(endpoint=endpoint, model=model)


def _grade(benchmark: Benchmark, request: ClassificationRequest) -> Grading:
    grading = grade_responses(benchmark, judge_pass=request.judge_pass, rule=request.rule)
    if grading.chosen is None:
        raise PassError(
            f"The benchmark {benchmark.slug} has no finished judging pass, so no response is known to be "
            "Unacceptable. Import judge scores or judge first.",
            code="nothing_judged",
        )
    return grading


def _freeze_grading(grading: Grading) -> dict[str, Any]:
    if grading.chosen is None or grading.judge_pass is None:
        raise ValueError("Only a grading by a rule can be frozen.")
    return {
        "pass": grading.judge_pass.public_id,
        "rule": grading.chosen.rule.to_json(),
        "rule_name": grading.chosen.name,
    }


def _is_simulated(grading: Grading) -> bool:
    return grading.benchmark.is_simulated or bool(grading.judge_pass and grading.judge_pass.is_simulated)


def _name_of(grading: Grading) -> str:
    return grading.judge_pass.name if grading.judge_pass else ""


def _chunks(response_ids: Sequence[int]) -> Iterator[QuerySet[Response]]:
    for start in range(0, len(response_ids), CHUNK):
        chosen = Response.objects.filter(pk__in=response_ids[start : start + CHUNK])
        yield chosen.select_related("prompt").order_by("pk")


def _digest_of(scopes: Sequence[Scope]) -> str:
    return hashlib.sha256("\n".join(scope.digest for scope in scopes).encode()).hexdigest()


def _finished_twin(benchmark: Benchmark, digest: str) -> JudgePass | None:
    finished = JudgePass.objects.filter(benchmark=benchmark, digest=digest, state=PassState.FINISHED)
    return finished.filter(kind=PassKind.CLASSIFICATION).order_by("-pk").first()


def _new_name(benchmark: Benchmark) -> str:
    passes = JudgePass.objects.filter(benchmark=benchmark, name__startswith=f"{NAME_STEM}-")
    taken = set(passes.values_list("name", flat=True))
    return next(name for n in itertools.count(1) if (name := f"{NAME_STEM}-{n}") not in taken)
