"""One visit of a loop to the database: write what finished, then claim what is free.

Locks are taken in one order everywhere: own verdict rows, the endpoint's gate, passes by id, new rows.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace

from django.db import DataError, IntegrityError, transaction

from judging.queue.claiming import Asking, Claim, claim_rows
from judging.queue.gate import correct_tokens, database_now, hold, lock_gate
from judging.queue.locked_passes import lock_claimable_passes, lock_passes
from judging.queue.recording import settle_results, write_results
from judging.queue.results import Result, without_reply

# What a driver raises for a value that it cannot store. Anything else is no fault of the values.
VALUE_ERRORS: tuple[type[Exception], ...] = (DataError, IntegrityError, ValueError)


def take_turn(asking: Asking, results: Sequence[Result] = (), *, hold_s: float = 0.0) -> Claim:
    """Write results and claim rows in one transaction. Safe to repeat after a lost connection.

    Args:
        asking: who asks, and for how many rows; none when `wanted` is not above 0.
        results: what finished since the last turn.
        hold_s: let no worker claim at the endpoint for so long, after a flood of 429s.

    Raises:
        DatabaseError, ValueError: nothing of the turn was stored.
    """
    is_asking = asking.wanted > 0
    if not (results or is_asking):
        return Claim()
    with transaction.atomic():
        now = database_now()
        new = write_results(asking.work, results, now=now)
        excess = sum(_tokens_beyond_reserved(one.result) for one in new)
        needs_gate = is_asking or hold_s > 0 or (excess and asking.endpoint.tokens_per_minute is not None)
        gate = lock_gate(asking.endpoint.name) if needs_gate else None
        if gate is not None and hold_s > 0:
            hold(gate, until=now + dt.timedelta(seconds=hold_s))
        if gate is not None and asking.endpoint.tokens_per_minute is not None:
            correct_tokens(gate, excess)
        ids = {result.claimed.judge_pass_id for result in results} | asking.ready_passes
        passes = (
            lock_claimable_passes(ids, work=asking.work, endpoint_name=asking.endpoint.name)
            if is_asking
            else lock_passes(ids)
        )
        settle_results(new, passes)
        claim = Claim()
        if gate is not None and is_asking:
            claim = claim_rows(asking, gate=gate, passes=passes.values(), now=now)
        for judge_pass in passes.values():
            judge_pass.write()
        return claim


def _tokens_beyond_reserved(result: Result) -> int:
    """How many tokens more a call took than its claim reserved; 0 when it is not known what it took."""
    if result.tokens_in is None or result.tokens_out is None:
        return 0
    return result.tokens_in + result.tokens_out - result.claimed.reserved_tokens


def record_each(asking: Asking, results: Sequence[Result]) -> list[Result]:
    """Write results one by one after a turn was refused; one that cannot be stored loses its texts.

    Returns:
        Those that lost them.
    """
    refused, only_writing = [], replace(asking, wanted=0)
    for result in results:
        try:
            take_turn(only_writing, [result])
        except VALUE_ERRORS as error:
            refused.append(result)
            take_turn(only_writing, [without_reply(result, error)])
    return refused
