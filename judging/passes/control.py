"""Pausing, resuming, cancelling and finishing passes."""

import operator
import time
from collections.abc import Iterable
from decimal import Decimal
from functools import reduce

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.audit import record_event
from annotation.models import Account
from judging.choices import UNSETTLED_STATES, PassSource, PassState, PauseReason, VerdictState
from judging.errors import PassError
from judging.llm.endpoints import Endpoint
from judging.models import Generation, JudgePass, Verdict, row_class_of
from judging.passes import budgets
from judging.passes.configuration import refuse_other_parser
from judging.passes.seats import frozen_models, frozen_seats, preflight, refuse_moved
from judging.passes.waking import wake_workers

BATCH_SIZE = 1000
ACTIVE_STATES = (PassState.READY, PassState.RUNNING, PassState.PAUSED)
# The tables that hold rows of passes, whatever their kind.
ROW_CLASSES = (Verdict, Generation)
# A loop begins a call only within so long of having asked how its pass stands.
HEARD_WITHIN_S = 0.5


def pause_pass(judge_pass: JudgePass, *, actor: Account | None = None) -> None:
    """Begin no more calls; those in flight are still recorded.

    Takes half a second when a loop has rows of the pass in its hands: then it has heard of it.

    Raises:
        PassError: the pass is not running.
    """
    _move(judge_pass, PassState.RUNNING, PassState.PAUSED, actor=actor, pause_reason=PauseReason.USER)
    if _is_in_hands(judge_pass):
        time.sleep(HEARD_WITHIN_S)


def resume_pass(
    judge_pass: JudgePass,
    *,
    actor: Account | None = None,
    max_calls: int | None = None,
    max_cost: Decimal | None = None,
) -> None:
    """Go on with exactly the missing rows, under the frozen configuration.

    Makes one tiny call to each judge first, as a start does.

    Args:
        judge_pass: a paused pass.
        actor: who resumes.
        max_calls: new cap on calls, above those made; None keeps the cap.
        max_cost: new cap on money, with room for one more call; None keeps the cap.

    Raises:
        PassError: the pass is not paused, its budget is used up and not raised, a judge does not answer or
            has moved, or the replies would now be read by another parser.
        EndpointError: a judge is no longer in the endpoints file.
    """
    if judge_pass.state != PassState.PAUSED:
        raise _wrong_state(judge_pass, expected=PassState.PAUSED)
    budgets.check_caps(judge_pass, max_calls=max_calls, max_cost=max_cost)
    refuse_other_parser(judge_pass.configuration)
    seats = frozen_seats(judge_pass.configuration)
    is_simulated = preflight(seats)
    with transaction.atomic():
        locked = JudgePass.objects.select_for_update(no_key=True).get(pk=judge_pass.pk)
        budgets.raise_caps(locked, max_calls=max_calls, max_cost=max_cost)
        locked.is_simulated = locked.is_simulated or is_simulated
        locked.save(update_fields=["max_calls", "max_cost_micros", "is_simulated"])
        _move(judge_pass, PassState.PAUSED, PassState.RUNNING, actor=actor, pause_reason=None)
    wake_workers(sorted({seat.endpoint.name for seat in seats}), kind=judge_pass.kind)


def pause_outdated(endpoint: Endpoint) -> int:
    """Pause running passes that an endpoint's loop could no longer judge as they were frozen.

    The endpoint has moved, or replies would be read by another parser than before. The note says which;
    `resume_pass` refuses for the same reason until it is mended.

    Returns:
        How many were paused.
    """
    waiting = {"judge_pass": OuterRef("pk"), "endpoint_name": endpoint.name, "state": VerdictState.PENDING}
    is_waiting = _any_of(rows.objects.filter(**waiting) for rows in ROW_CLASSES)
    n_paused = 0
    for judge_pass in JudgePass.objects.filter(is_waiting, state=PassState.RUNNING).order_by("pk"):
        try:
            refuse_other_parser(judge_pass.configuration)
            for slug, frozen in frozen_models(judge_pass.configuration).items():
                if frozen["endpoint"] == endpoint.name:
                    refuse_moved(slug, frozen, endpoint)
        except PassError as error:
            n_paused += JudgePass.objects.filter(pk=judge_pass.pk, state=PassState.RUNNING).update(
                state=PassState.PAUSED, pause_reason=PauseReason.USER, state_note=error.message
            )
    return n_paused


def cancel_pass(judge_pass: JudgePass, *, actor: Account | None = None) -> None:
    """End a pass for good: once this returns, no new call begins.

    Takes half a second when a loop has rows of the pass in its hands: then it has heard of it.
    A result that still comes in changes no verdict and stays in the ledger, marked as late.

    Raises:
        PassError: the pass has ended already.
    """
    with transaction.atomic():
        changed = JudgePass.objects.filter(pk=judge_pass.pk, state__in=ACTIVE_STATES).update(
            state=PassState.CANCELLED, pause_reason=None, state_note=None, finished_at=timezone.now()
        )
        if not changed:
            raise _wrong_state(judge_pass, expected="a pass that has not ended")
        record_event(actor=actor, action="pass.cancelled", subject=f"pass:{judge_pass.public_id}")
    is_in_hands = _is_in_hands(judge_pass)
    # In a transaction of its own: a recorder locks verdicts before passes, so holding the pass here
    # while waiting for verdicts could deadlock. The sweep repeats it if this process dies in between.
    settle_cancelled()
    if is_in_hands:
        time.sleep(HEARD_WITHIN_S)
    judge_pass.refresh_from_db()


def settle_cancelled() -> int:
    """Close the open rows of cancelled passes; returns how many there were."""
    cancelled = JudgePass.objects.filter(_has_open_rows(), state=PassState.CANCELLED)
    n_closed = 0
    for pass_id, kind in list(cancelled.order_by("pk").values_list("pk", "kind")):
        while n := _close_batch(pass_id, row_class_of(kind)):
            n_closed += n
    return n_closed


def finish_passes() -> int:
    """Mark passes without an open row as FINISHED, also paused ones; returns how many."""
    done = JudgePass.objects.filter(
        ~_has_open_rows(), source=PassSource.JUDGED, state__in=[PassState.RUNNING, PassState.PAUSED]
    )
    return done.update(
        state=PassState.FINISHED, pause_reason=None, state_note=None, finished_at=timezone.now()
    )


def _is_in_hands(judge_pass: JudgePass) -> bool:
    """Whether a loop may still begin a call that it claimed before the pass was stopped."""
    rows = row_class_of(judge_pass.kind).objects.filter(judge_pass=judge_pass, state=VerdictState.RUNNING)
    return rows.exists()


def _has_open_rows() -> Q:
    """Whether the outer query's pass has a row that is not settled."""
    open_rows = {"judge_pass": OuterRef("pk"), "state__in": UNSETTLED_STATES}
    return _any_of(rows.objects.filter(**open_rows) for rows in ROW_CLASSES)


def _any_of(querysets: Iterable[QuerySet]) -> Q:
    return reduce(operator.or_, (Q(Exists(rows)) for rows in querysets))


def _close_batch(pass_id: int, row_class: type[Verdict] | type[Generation]) -> int:
    # Locked in the order of ids, as a recorder does, so that neither waits for the other; the pass last.
    with transaction.atomic():
        open_rows = row_class.objects.filter(judge_pass=pass_id, state__in=UNSETTLED_STATES).order_by("pk")
        rows = open_rows.select_for_update(of=("self",)).values_list("pk", "state")
        states = dict(rows[:BATCH_SIZE])
        n_in_flight = sum(state == VerdictState.RUNNING for state in states.values())
        n_closed = row_class.objects.filter(pk__in=states).update(
            state=VerdictState.CANCELLED,
            worker=None,
            lease_until=None,
            not_before=None,
            settled_at=timezone.now(),
        )
        if n_in_flight:
            budgets.count_lost(pass_id, n_in_flight)
        return n_closed


def _move(
    judge_pass: JudgePass,
    before: PassState,
    after: PassState,
    *,
    actor: Account | None,
    pause_reason: PauseReason | None,
) -> None:
    with transaction.atomic():
        changed = JudgePass.objects.filter(pk=judge_pass.pk, state=before).update(
            state=after, pause_reason=pause_reason, state_note=None
        )
        if not changed:
            raise _wrong_state(judge_pass, expected=before)
        record_event(actor=actor, action=f"pass.{after.lower()}", subject=f"pass:{judge_pass.public_id}")
    judge_pass.refresh_from_db()


def _wrong_state(judge_pass: JudgePass, *, expected: str) -> PassError:
    judge_pass.refresh_from_db()
    return PassError(
        f"The pass {judge_pass.name} is {judge_pass.state}; expected {expected}. "
        "Reload to see where it stands.",
        code="wrong_state",
    )
