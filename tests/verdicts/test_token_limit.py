"""Tokens a minute: estimated with the claim, corrected when the provider says what a call took."""

from datetime import timedelta

import pytest
from django.utils import timezone

from judging.llm.endpoints import Endpoint
from judging.models import EndpointGate, JudgePass
from tests.verdicts.waiting import ask, make_endpoint, make_queue, record, result

pytestmark = pytest.mark.django_db

CALL_TOKENS = 1_000


def make_limited(n: int, *, tokens_per_minute: int) -> Endpoint:
    """A queue whose calls are taken to need 1,000 tokens each, and its endpoint."""
    judge_pass = make_queue(n)
    configuration = judge_pass.configuration | {"call_tokens": CALL_TOKENS}
    JudgePass.objects.filter(pk=judge_pass.pk).update(configuration=configuration)
    return make_endpoint(max_in_flight=64, tokens_per_minute=tokens_per_minute)


def let_pass(seconds: float, *, left: float = 0.0) -> None:
    EndpointGate.objects.update(
        allowance_at=timezone.now() - timedelta(seconds=seconds), token_allowance=left, request_allowance=0.0
    )


def test_a_second_of_the_rate_is_claimed_at_most() -> None:
    endpoint = make_limited(30, tokens_per_minute=240_000)
    assert ask(30, endpoint=endpoint).rows == ()

    let_pass(4)

    assert len(ask(30, endpoint=endpoint).rows) == 4
    assert ask(30, endpoint=endpoint).rows == ()


def test_a_rate_below_one_call_a_second_is_reached() -> None:
    endpoint = make_limited(3, tokens_per_minute=6_000)
    ask(3, endpoint=endpoint)

    let_pass(4.9, left=520)

    claim = ask(3, endpoint=endpoint)
    assert len(claim.rows) == 1
    assert 0 <= EndpointGate.objects.get().token_allowance < 50


def test_the_real_count_takes_the_place_of_the_estimate() -> None:
    endpoint = make_limited(30, tokens_per_minute=240_000)
    let_pass(4)
    less, more, *_ = ask(30, endpoint=endpoint).rows
    left = EndpointGate.objects.get().token_allowance

    for claimed, tokens in ((less, 400), (more, 1_500)):
        ask(0, endpoint=endpoint, results=[result(claimed, tokens_in=tokens, tokens_out=0)])

    assert EndpointGate.objects.get().token_allowance == pytest.approx(left + 600 - 500)


def test_a_call_without_a_count_keeps_its_estimate() -> None:
    endpoint = make_limited(30, tokens_per_minute=240_000)
    let_pass(4)
    (claimed, *_) = ask(30, endpoint=endpoint).rows
    left = EndpointGate.objects.get().token_allowance

    ask(0, endpoint=endpoint, results=[result(claimed)])

    assert EndpointGate.objects.get().token_allowance == left


def test_the_slower_of_both_limits_holds() -> None:
    endpoint = make_limited(30, tokens_per_minute=240_000)
    both = make_endpoint(
        max_in_flight=64, tokens_per_minute=endpoint.tokens_per_minute, requests_per_minute=120
    )

    let_pass(4)

    assert len(ask(30, endpoint=both).rows) == 2


def test_without_a_limit_nothing_is_counted() -> None:
    make_limited(3, tokens_per_minute=1)
    record(*(result(claimed, tokens_in=5, tokens_out=5) for claimed in ask(3).rows))

    assert EndpointGate.objects.get().token_allowance == 0
