"""The caps of a pass: what they may be, whether they leave room for a call, and raising them.

Counting itself happens where rows are claimed and recorded (`verdicts.locked_passes`).
"""

from decimal import Decimal

from django.db.models import F

from judging.amounts import show_micros, to_micros
from judging.choices import PauseReason
from judging.errors import PassError
from judging.models import JudgePass

MOST_NUMBER = 1_000_000_000


def check_numbers(*, max_calls: int | None, max_cost: Decimal | None) -> None:
    """Check that caps are numbers that can be kept at all.

    Raises:
        PassError: not above 0, or beyond what the database holds.
    """
    if max_calls is not None and not 1 <= max_calls <= MOST_NUMBER:
        raise PassError(f"max_calls is {max_calls}; expected 1 to {MOST_NUMBER}.", code="bad_number")
    if max_cost is not None and not (max_cost.is_finite() and 0 < max_cost <= MOST_NUMBER):
        raise PassError(f"max_cost is {max_cost}; expected an amount above 0.", code="bad_number")


def check_caps(judge_pass: JudgePass, *, max_calls: int | None, max_cost: Decimal | None) -> None:
    """Check that a pass may go on under its caps, or the new ones given.

    Raises:
        PassError: a new cap leaves no room for a call, prices are unknown, or a pass that is paused at its
            budget gets no higher cap. States what is used, what was given and what is expected.
    """
    check_numbers(max_calls=max_calls, max_cost=max_cost)
    is_at_budget = judge_pass.pause_reason == PauseReason.BUDGET
    used = judge_pass.n_calls_reserved
    calls = judge_pass.max_calls if max_calls is None else max_calls
    if calls is not None and calls <= used and (is_at_budget or max_calls is not None):
        raise PassError(
            f"The pass has used {used} calls and the cap is {calls}; expected a cap of {used + 1} calls or "
            "more. Raise it with --max-calls, or on the page of the pass.",
            code="budget_used_up",
        )
    worst = judge_pass.configuration.get("worst_call_micros")
    if max_cost is not None and worst is None:
        raise PassError(
            f"The cap on money is {max_cost}, and the pass was started without the price of every judge; "
            "expected no cap on money. Cap the calls with --max-calls.",
            code="unknown_price",
        )
    micros = judge_pass.max_cost_micros if max_cost is None else to_micros(max_cost)
    least = judge_pass.cost_reserved_micros + (worst or 0)
    if micros is not None and micros < least and (is_at_budget or max_cost is not None):
        raise PassError(
            f"The pass has used {show_micros(judge_pass.cost_reserved_micros)} and the cap is "
            f"{show_micros(micros)}; expected a cap of {show_micros(least)} or more, which has room for one "
            "more call. Raise it with --max-cost, or on the page of the pass.",
            code="budget_used_up",
        )


def raise_caps(judge_pass: JudgePass, *, max_calls: int | None, max_cost: Decimal | None) -> None:
    """Set the new caps on a pass that is locked by this transaction; the caller saves it.

    Raises:
        PassError: as `check_caps`, against what is used by now.
    """
    check_caps(judge_pass, max_calls=max_calls, max_cost=max_cost)
    if max_calls is not None:
        judge_pass.max_calls = max_calls
    if max_cost is not None:
        judge_pass.max_cost_micros = to_micros(max_cost)


def count_lost(pass_id: int, n_calls: int) -> None:
    """Count calls of unknown outcome as spent at their worst case, until their results come in after all.

    Must run inside the transaction that takes the rows from their workers, after locking those rows.
    """
    judge_pass = JudgePass.objects.select_for_update(no_key=True).get(pk=pass_id)
    lost = n_calls * int(judge_pass.configuration.get("worst_call_micros") or 0)
    JudgePass.objects.filter(pk=pass_id).update(cost_settled_micros=F("cost_settled_micros") + lost)
