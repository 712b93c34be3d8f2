"""Watching a pass, and pausing, resuming or cancelling it."""

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from annotation.models import Benchmark
from judging.choices import PassSource, PassState, PauseReason, VerdictState
from judging.errors import PassError
from judging.forms.steering import RaiseCapsForm
from judging.models import JudgePass
from judging.monitoring.stalls import stalled_endpoints
from judging.monitoring.waits import Wait, waiting_words, waits_of
from judging.passes.control import cancel_pass, pause_pass, resume_pass
from judging.passes.progress import PassProgress, measure_progress
from judging.views.context import account_of, benchmark_page, pass_address
from judging.views.wording import pass_state_words, row_state_words

# From here on a time of day alone could be read as today's.
FAR = dt.timedelta(hours=12)
ENDED = (PassState.FINISHED, PassState.CANCELLED)
# Amounts are shown with two decimals; less than half of the last is nothing to speak of.
SHOWN_COST = 0.005


@require_POST
@benchmark_page
def pause(request: HttpRequest, benchmark: Benchmark, public_id: str) -> HttpResponse:
    """Claim no more rows."""
    return _control(request, benchmark, public_id, pause_pass, "Paused. Calls in flight are still recorded.")


@require_POST
@benchmark_page
def resume(request: HttpRequest, benchmark: Benchmark, public_id: str) -> HttpResponse:
    """Go on with the missing rows, under higher caps if any are given."""
    form = RaiseCapsForm(request.POST)
    if not form.is_valid():
        problems = [str(problem) for problems in form.errors.values() for problem in problems]
        raise PassError(f"The new caps cannot be used. {' '.join(problems)}", code="bad_number")
    act = partial(resume_pass, **form.cleaned_data)
    return _control(request, benchmark, public_id, act, "Going on with the missing rows.")


@require_POST
@benchmark_page
def cancel(request: HttpRequest, benchmark: Benchmark, public_id: str) -> HttpResponse:
    """End the pass for good."""
    return _control(request, benchmark, public_id, cancel_pass, "Cancelled. What came in stays.")


def live_context(judge_pass: JudgePass) -> dict[str, Any]:
    """What `_live_pass.html` and `_steer_pass.html` need: progress, waits, and which controls make sense."""
    measured, waits = measure_progress(judge_pass), waits_of(judge_pass)
    is_running = judge_pass.state == PassState.RUNNING
    is_at_budget = judge_pass.pause_reason == PauseReason.BUDGET
    # A pass that paused itself because something changed says so in its note; nobody else did.
    is_by_itself = judge_pass.pause_reason == PauseReason.USER and judge_pass.state_note
    return {
        "judge_pass": judge_pass,
        "live_url": pass_address(judge_pass),
        "is_live": judge_pass.source == PassSource.JUDGED and judge_pass.state not in ENDED,
        "is_running": is_running,
        # A paused pass is still watched while calls are in flight.
        "is_polling": is_running or VerdictState.RUNNING in measured.counts,
        "is_paused": judge_pass.state == PassState.PAUSED,
        "pause_words": None if is_by_itself else judge_pass.get_pause_reason_display(),
        "caps_form": RaiseCapsForm() if is_at_budget else None,
        "progress": _shown(measured),
        "n_attempts": measured.n_attempts,
        "n_late": measured.n_late,
        "calls_used": _calls_used(judge_pass, measured),
        "cost_beside": _amount(measured.cost_beside) if (measured.cost_beside or 0) >= SHOWN_COST else None,
        "waits": [_shown_wait(wait, waits) for wait in waits],
        "stalled_endpoints": stalled_endpoints(judge_pass),
    }


def _shown_wait(wait: Wait, waits: Sequence[Wait]) -> dict[str, object]:
    is_far = wait.until - timezone.now() > FAR
    return {"words": waiting_words(wait, waits), "until": wait.until, "is_far": is_far}


def _shown(measured: PassProgress) -> dict[str, object]:
    words = row_state_words(measured.judge_pass.kind)
    return {
        "name": measured.judge_pass.name,
        "state": pass_state_words(measured.judge_pass.state),
        "n_done": measured.n_settled,
        "n_total": measured.n_rows,
        "counts": [
            (word, measured.counts[state]) for state, word in words.items() if state in measured.counts
        ],
        "rate_per_s": measured.rate_per_s,
        "seconds_left": measured.seconds_left,
        "cost": _amount(measured.cost),
    }


def _calls_used(judge_pass: JudgePass, measured: PassProgress) -> str | None:
    """How much of the cap on calls is used up, and by what beside the calls on record; None without a cap."""
    if judge_pass.max_calls is None:
        return None
    used = judge_pass.n_calls_reserved
    beside = used - measured.n_attempts
    rest = (
        f", {beside:,} of them under way, lost with a worker, or for vectors of texts" if beside > 0 else ""
    )
    return f"{used:,} of at most {judge_pass.max_calls:,} calls are used up{rest}"


def _amount(cost: float | Decimal | None) -> str | None:
    return None if cost is None else f"{cost:,.2f}"


def _control(
    request: HttpRequest,
    benchmark: Benchmark,
    public_id: str,
    act: Callable[..., None],
    done: str,
) -> HttpResponse:
    judge_pass = get_object_or_404(JudgePass, benchmark=benchmark, public_id=public_id)
    act(judge_pass, actor=account_of(request))
    messages.success(request, done)
    return redirect(pass_address(judge_pass))
