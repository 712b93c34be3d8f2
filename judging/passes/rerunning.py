"""Judging what a pass lacks, and nothing else.

A finished pass whose texts are the same goes on: its configuration says already what the missing rows are
to be judged by. Where texts have changed, or the pass was cancelled, or replies would be read by another
parser, going on would make the frozen configuration untrue. Then a new pass with the same settings takes
over the scores that still hold and judges the rest.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Q, QuerySet

from annotation.audit import record_event
from annotation.choices import ResponseState
from annotation.models import Account, Campaign
from judging.amounts import MICROS
from judging.choices import (
    AnswerForm,
    EmptyPolicy,
    ExclusionPolicy,
    FailureCode,
    PassKind,
    PassSource,
    PassState,
    SkipCode,
    VerdictState,
)
from judging.errors import PassError
from judging.llm.parsing import PARSER_VERSION
from judging.models import JudgePass, Verdict
from judging.passes import budgets
from judging.passes.seats import frozen_seats, preflight
from judging.passes.starting import DEFAULT_EMBEDDER, PassRequest, running_twin, start_pass
from judging.passes.waking import wake_workers
from judging.staleness import STALE, has_score, is_stale, reported_state

ENDED = (PassState.FINISHED, PassState.CANCELLED)
UNSCORED_STATES = (
    VerdictState.PARSE_FAILED,
    VerdictState.OUT_OF_RANGE,
    VerdictState.REFUSED,
    VerdictState.FILTERED,
    VerdictState.TRUNCATED,
    VerdictState.CALL_FAILED,
)
POISON = Q(failure_code=FailureCode.POISON)
# Rows that ended without a score and could get one: not those whose response has no text to judge.
JUDGED_IN_VAIN = Q(state__in=UNSCORED_STATES)
NEVER_SENT = Q(state=VerdictState.CANCELLED) | Q(skip_code=SkipCode.RESPONSE_CHANGED)
# What a row is before it is first sent. Its calls so far stay in the ledger.
FRESH: Mapping[str, Any] = {
    "state": VerdictState.PENDING,
    "failure_code": None,
    "detail": None,
    "raw_text": None,
    "parser_version": None,
    "counters": {},
    "not_before": None,
    "settled_at": None,
}


@dataclass(frozen=True)
class RerunPlan:
    """What judging the missing rows of a pass comes to.

    Args:
        counts: rows to be judged, by the state in which they are counted.
        n_kept: scores that hold.
        n_poison: rows left out because they stopped several workers.
        why_new: why it takes a new pass, None when the same one goes on.
        worst_cost: of one call for each row, in the prices' unit; None when a price is unknown.
    """

    judge_pass: JudgePass
    counts: Counter[str]
    n_kept: int
    n_poison: int
    why_new: str | None
    worst_cost: Decimal | None

    @property
    def n_rows(self) -> int:
        return self.counts.total()


def can_be_rerun(judge_pass: JudgePass) -> bool:
    """Whether a pass is of a kind, and in a state, in which missing rows can be judged."""
    return (
        judge_pass.source == PassSource.JUDGED
        and judge_pass.state in ENDED
        and judge_pass.kind == PassKind.JUDGING
    )


def plan_rerun(judge_pass: JudgePass, *, with_poison: bool = False) -> RerunPlan:
    """Count what a rerun would judge, without changing anything. Three queries.

    Args:
        judge_pass: a pass of judges that has ended.
        with_poison: also rows that stopped several workers; each is sent alone. A new pass has them anyway.

    Raises:
        PassError: the pass was imported, is of another kind, or has not ended.
    """
    _check_rerunnable(judge_pass)
    missing = _missing(judge_pass, with_poison=True).order_by().annotate(reported=reported_state())
    counts = Counter(dict(missing.values_list("reported").annotate(n=Count("pk"))))
    n_poison = missing.filter(~is_stale(), POISON).count()
    why_new = _why_new(judge_pass, counts)
    if with_poison or why_new:
        n_poison = 0
    counts -= Counter({VerdictState.CALL_FAILED.value: n_poison})
    worst = judge_pass.configuration.get("worst_call_micros")
    return RerunPlan(
        judge_pass=judge_pass,
        counts=counts,
        n_kept=Verdict.objects.filter(has_score(), judge_pass=judge_pass).count(),
        n_poison=n_poison,
        why_new=why_new,
        worst_cost=None if worst is None else Decimal(worst) * counts.total() / MICROS,
    )


def rerun_missing(
    judge_pass: JudgePass,
    *,
    actor: Account | None = None,
    max_calls: int | None = None,
    max_cost: Decimal | None = None,
    with_poison: bool = False,
) -> JudgePass:
    """Judge exactly the rows without a score, and those whose text changed, under the same settings.

    Makes one tiny call to each judge first, as a start does.

    Args:
        judge_pass: a pass of judges that has ended.
        actor: who asks.
        max_calls: cap on calls. Of a pass that goes on, those made before count too; None keeps its cap.
        max_cost: cap on money, in the same way.
        with_poison: as for `plan_rerun`.

    Returns:
        The RUNNING pass: the same one, or a new one that has taken over the scores that hold.

    Raises:
        PassError: as `plan_rerun`; nothing is missing; a judge does not answer or has moved; a cap leaves no
            room; or, for a new pass, the settings are no longer the same.
        EndpointError: a judge is no longer in the endpoints file.
        PassRunning: a pass of this configuration is running.
    """
    plan = plan_rerun(judge_pass, with_poison=with_poison)
    if not plan.n_rows:
        raise PassError(
            f"{judge_pass.name} lacks nothing that could be judged: {plan.n_kept:,} scores hold. "
            "Start a pass to judge everything once more.",
            code="nothing_missing",
        )
    if plan.why_new is not None:
        request = _request_of(judge_pass, max_calls=max_calls, max_cost=max_cost)
        return start_pass(judge_pass.benchmark, request, actor=actor, continues=judge_pass)
    return _go_on(plan, actor=actor, max_calls=max_calls, max_cost=max_cost, with_poison=with_poison)


def _check_rerunnable(judge_pass: JudgePass) -> None:
    if judge_pass.source != PassSource.JUDGED or judge_pass.kind != PassKind.JUDGING:
        raise PassError(
            f"{judge_pass.name} is no pass of judges that were called here, so there is nobody to ask again. "
            "Start a pass over the responses.",
            code="not_judged_here",
        )
    if judge_pass.state not in ENDED:
        raise PassError(
            f"{judge_pass.name} is {judge_pass.get_state_display()}; expected a pass that has ended. "
            "Resume it: that judges exactly what it lacks.",
            code="wrong_state",
        )


def _missing(judge_pass: JudgePass, *, with_poison: bool) -> QuerySet[Verdict]:
    """Rows that ended without a score that counts, and could get one."""
    in_vain = JUDGED_IN_VAIN if with_poison else JUDGED_IN_VAIN & ~POISON
    return Verdict.objects.filter(
        in_vain | NEVER_SENT | is_stale(), judge_pass=judge_pass, response__state=ResponseState.OK
    )


def _why_new(judge_pass: JudgePass, counts: Counter[str]) -> str | None:
    if judge_pass.state == PassState.CANCELLED:
        return "the pass was cancelled for good"
    if counts[STALE] or counts[SkipCode.RESPONSE_CHANGED]:
        return "texts have changed since it was judged"
    if judge_pass.configuration.get("parser_version", PARSER_VERSION) != PARSER_VERSION:
        return "replies are now read by another version of the parser"
    return None


def _go_on(
    plan: RerunPlan,
    *,
    actor: Account | None,
    max_calls: int | None,
    max_cost: Decimal | None,
    with_poison: bool,
) -> JudgePass:
    """Return the missing rows of a finished pass to its queue."""
    judge_pass = plan.judge_pass
    budgets.check_caps(judge_pass, max_calls=max_calls, max_cost=max_cost)
    seats = frozen_seats(judge_pass.configuration)
    is_simulated = preflight(seats)
    try:
        with transaction.atomic():
            locked = JudgePass.objects.select_for_update(no_key=True).get(pk=judge_pass.pk)
            _check_rerunnable(locked)
            budgets.raise_caps(locked, max_calls=max_calls, max_cost=max_cost)
            locked.is_simulated = locked.is_simulated or is_simulated
            locked.state, locked.finished_at = PassState.RUNNING, None
            locked.save(
                update_fields=["max_calls", "max_cost_micros", "is_simulated", "state", "finished_at"]
            )
            n = _missing(judge_pass, with_poison=with_poison).update(**FRESH)
            record_event(
                actor=actor,
                action="pass.rerun",
                subject=f"pass:{judge_pass.public_id}",
                n_rows=n,
                counts=dict(plan.counts),
            )
    except IntegrityError as error:
        twins = JudgePass.objects.filter(benchmark=judge_pass.benchmark, digest=judge_pass.digest)
        twin = twins.exclude(pk=judge_pass.pk).exclude(state__in=ENDED).first()
        if twin is None:
            raise
        raise running_twin(twin) from error
    wake_workers(sorted({seat.endpoint.name for seat in seats}), kind=judge_pass.kind)
    judge_pass.refresh_from_db()
    return judge_pass


def _request_of(judge_pass: JudgePass, *, max_calls: int | None, max_cost: Decimal | None) -> PassRequest:
    """What a person would ask for to get the configuration of a pass again."""
    frozen = judge_pass.configuration
    pool = frozen.get("pool") or {}
    campaigns = Campaign.objects.filter(benchmark=judge_pass.benchmark, public_id=pool.get("campaign"))
    return PassRequest(
        judges=tuple(sorted(frozen["judges"])),
        rubric=judge_pass.rubric.slug if judge_pass.rubric else "",
        shots=frozen["shots"],
        output=frozen["parameters"].get("output", AnswerForm.TEXT),
        exclusion=frozen.get("exclusion") or ExclusionPolicy.CASE,
        embedder=pool.get("embedder", DEFAULT_EMBEDDER),
        pool_campaign=campaigns.first(),
        empty_policy=frozen.get("empty_policy", EmptyPolicy.SKIP),
        max_calls=max_calls,
        max_cost=max_cost,
    )
