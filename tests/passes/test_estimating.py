"""What a pass would come to, before it starts."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from annotation.choices import ItemKind
from annotation.models import Response
from judging.errors import PassError
from judging.llm.rubric import load_bundled_rubric
from judging.llm.tokens import count_tokens
from judging.passes.configuration import MAX_TOKENS, TRUNCATION_FACTOR
from judging.passes.estimating import (
    ASSUMED_ANSWER_TOKENS,
    ASSUMED_LATENCY_S,
    ASSUMED_OBJECT_TOKENS,
    ASSUMED_WORD_TOKENS,
    PassEstimate,
    estimate_pass,
)
from judging.passes.request_tokens import MOST_COUNTED
from judging.passes.sampling import sample_prompt
from judging.passes.starting import PassRequest
from tests.factories import (
    make_attempt,
    make_campaign,
    make_item,
    make_judge,
    make_pass,
    make_prompt,
    make_response,
    make_rubric,
    make_verdict,
)
from tests.passes import stage

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _endpoints(settings: Any, tmp_path: Path) -> None:
    settings.ENDPOINTS_FILE = stage.write_endpoints(
        tmp_path / "endpoints.toml", "http://127.0.0.1:9/v1", judges=stage.JUDGES, prices=("0", "10")
    )


def estimate(benchmark: Any, **choices: Any) -> PassEstimate:
    defaults: dict[str, Any] = {"judges": stage.JUDGES, "rubric": "likert-v1", "shots": 0}
    return estimate_pass(benchmark, PassRequest(**(defaults | choices)))


def test_calls_are_complete_responses_times_judges() -> None:
    benchmark = stage.make_material(4)
    make_response(prompt=make_prompt(benchmark=benchmark), state="EMPTY", text="")

    estimated = estimate(benchmark)

    assert (estimated.n_responses, estimated.n_judges, estimated.n_calls) == (4, 3, 12)


def test_campaign_and_limit_narrow_the_scope() -> None:
    benchmark = stage.make_material(4)
    campaign = make_campaign(benchmark=benchmark)
    make_item(campaign=campaign, response=stage.first_response(benchmark), kind=ItemKind.REGULAR)

    assert estimate(benchmark, limit=2).n_responses == 2
    assert estimate(benchmark, campaign=campaign).n_responses == 1


def test_the_cost_takes_every_answer_at_its_larger_budget() -> None:
    estimated = estimate(stage.make_material(4))

    assert estimated.worst_cost == Decimal(12 * 10 * MAX_TOKENS * TRUNCATION_FACTOR) / 1_000_000


def test_the_cost_is_no_less_than_what_the_pass_then_reserves(settings: Any, tmp_path: Path) -> None:
    settings.ENDPOINTS_FILE = stage.write_endpoints(
        tmp_path / "in.toml", "http://127.0.0.1:9/v1", prices=("1", "0")
    )
    benchmark = stage.make_material(2)
    make_response(prompt=make_prompt(benchmark=benchmark), text="ä" * 5_000)
    judges = stage.JUDGES[:1]

    zero, two = (estimate(benchmark, judges=judges, shots=shots).worst_cost for shots in (0, 2))

    assert zero is not None
    assert two is not None
    # Three requests hold the longest text, 10,000 bytes, once; with 2 shots five times.
    assert zero * 1_000_000 > 3 * 10_000
    assert (two - zero) * 1_000_000 > 3 * 4 * 10_000


def test_an_unknown_price_gives_no_cost(settings: Any, tmp_path: Path) -> None:
    settings.ENDPOINTS_FILE = stage.write_endpoints(tmp_path / "unpriced.toml", "http://127.0.0.1:9/v1")

    assert estimate(stage.make_material(1), judges=stage.JUDGES[:1]).worst_cost is None


def test_a_benchmark_without_responses_costs_nothing() -> None:
    estimated = estimate(stage.make_material(0))

    assert (estimated.n_calls, estimated.worst_cost) == (0, 0)


def test_no_judge_is_refused() -> None:
    with pytest.raises(PassError):
        estimate(stage.make_material(1), judges=())


def test_the_number_of_queries_does_not_grow_with_the_responses(
    django_assert_max_num_queries: Any,
) -> None:
    counts = []
    for n in (3, 12):
        benchmark = stage.make_material(n, n_labelled=2)
        with django_assert_max_num_queries(30) as captured:
            estimate(benchmark, shots=2)
        counts.append(len(captured))

    assert counts[0] == counts[1]


def test_tokens_are_those_of_the_very_requests() -> None:
    benchmark = stage.make_material(3)
    sent = [
        message["content"]
        for response in Response.objects.filter(prompt__benchmark=benchmark)
        for message in sample_prompt(
            benchmark, PassRequest(judges=stage.JUDGES[:1], rubric="likert-v1"), wanted=response.public_id
        ).messages
    ]

    estimated = estimate(benchmark, judges=stage.JUDGES[:1])

    # A random tag of 16 digits is 6 to 14 tokens and stands in six lines of each request; a seam between
    # two texts may join or part a token.
    assert estimated.tokens_in == pytest.approx(count_tokens(sent), abs=3 * (6 * 8 + 6))
    assert estimated.n_counted == 3


def test_exemplars_count_at_their_mean_length() -> None:
    benchmark = stage.make_material(4, n_labelled=4)

    zero, two = (estimate(benchmark, judges=stage.JUDGES[:1], shots=shots).tokens_in for shots in (0, 2))

    sample = sample_prompt(benchmark, PassRequest(judges=stage.JUDGES[:1], rubric="likert-v1", shots=1))
    without = sample_prompt(benchmark, PassRequest(judges=stage.JUDGES[:1], rubric="likert-v1"))
    of_two = count_tokens([sample.messages[1]["content"]]) - count_tokens([without.messages[1]["content"]])
    assert (two - zero) / 4 == pytest.approx(2 * of_two, rel=0.35)


def test_beyond_a_sample_tokens_follow_from_the_length() -> None:
    benchmark = stage.make_material(1)
    first = stage.first_response(benchmark)
    n = MOST_COUNTED + 40
    Response.objects.bulk_create(
        Response(
            prompt=first.prompt,
            target_model=first.target_model,
            rollout=rollout,
            state="OK",
            text="calm and kind " * (50 + rollout % 7),
            text_hash=f"{rollout:064}",
        )
        for rollout in range(1, n)
    )

    estimated = estimate(benchmark, judges=stage.JUDGES[:1])

    alone = stage.make_material(1)
    frame = estimate(alone, judges=stage.JUDGES[:1]).tokens_in - tokens_of_texts(alone)
    assert estimated.n_counted == MOST_COUNTED
    assert estimated.tokens_in == pytest.approx(tokens_of_texts(benchmark) + n * frame, rel=0.01)


@pytest.mark.parametrize(
    ("rubric", "output", "tokens"),
    [
        ("likert-v1", "text", ASSUMED_ANSWER_TOKENS),
        ("binary-v1", "text", ASSUMED_WORD_TOKENS),
        ("likert-v1", "structured", ASSUMED_OBJECT_TOKENS),
    ],
)
def test_without_a_history_answers_are_assumed(rubric: str, output: str, tokens: int) -> None:
    (judge,) = estimate(stage.make_material(2), judges=stage.JUDGES[:1], rubric=rubric, output=output).judges

    assert (judge.tokens_out, judge.latency_s, judge.has_history) == (2 * tokens, ASSUMED_LATENCY_S, False)


def test_recent_answers_to_the_rubric_take_the_place_of_assumptions() -> None:
    benchmark = stage.make_material(2)
    judge = make_judge(slug=stage.JUDGES[0], model_id=stage.JUDGES[0])
    rubric = make_rubric(slug="likert-v1", text=load_bundled_rubric("likert-v1"))
    earlier = make_pass(benchmark=benchmark, judges=(judge,), rubric=rubric)
    verdict = make_verdict(judge_pass=earlier, judge=judge, response=stage.first_response(benchmark))
    for token, latency_ms in enumerate((1_000, 2_000, 30_000), start=1):
        make_attempt(verdict=verdict, token=token, tokens_out=40 * token, latency_ms=latency_ms)

    (estimated,) = estimate(benchmark, judges=stage.JUDGES[:1]).judges

    assert (estimated.latency_s, estimated.tokens_out, estimated.has_history) == (2.0, 2 * 80, True)


@pytest.mark.parametrize(
    ("limits", "seconds"),
    [
        # 12 calls of 5 s, 4 at once.
        ({"max_in_flight": 4}, 15),
        # 12 calls at 24 a minute.
        ({"max_in_flight": 100, "requests_per_minute": 24}, 30),
    ],
    ids=["calls in flight", "calls a minute"],
)
def test_time_follows_from_the_narrowest_limit(
    settings: Any, tmp_path: Path, limits: dict[str, int], seconds: float
) -> None:
    settings.ENDPOINTS_FILE = stage.write_endpoints(
        tmp_path / "limits.toml", "http://127.0.0.1:9/v1", judges=stage.JUDGES, limits=limits
    )

    assert estimate(stage.make_material(4)).seconds == seconds


def test_tokens_a_minute_bound_the_time_too(settings: Any, tmp_path: Path) -> None:
    limits = {"max_in_flight": 1000, "tokens_per_minute": 600}
    settings.ENDPOINTS_FILE = stage.write_endpoints(
        tmp_path / "limits.toml", "http://127.0.0.1:9/v1", judges=stage.JUDGES, limits=limits
    )

    estimated = estimate(stage.make_material(4))

    assert estimated.seconds == pytest.approx((estimated.tokens_in + estimated.tokens_out) / 10)


def test_endpoints_work_side_by_side(settings: Any, tmp_path: Path) -> None:
    settings.ENDPOINTS_FILE = stage.write_endpoints(
        tmp_path / "three.toml",
        "http://127.0.0.1:9/v1",
        judges=stage.JUDGES,
        separate=True,
        limits={"max_in_flight": 1},
    )

    assert estimate(stage.make_material(4)).seconds == 4 * ASSUMED_LATENCY_S


def test_the_likely_cost_is_tokens_at_their_prices(settings: Any, tmp_path: Path) -> None:
    settings.ENDPOINTS_FILE = stage.write_endpoints(
        tmp_path / "priced.toml", "http://127.0.0.1:9/v1", prices=("3", "10")
    )

    estimated = estimate(stage.make_material(2), judges=stage.JUDGES[:1])

    assert estimated.cost == Decimal(3 * estimated.tokens_in + 10 * estimated.tokens_out) / 1_000_000
    assert estimated.worst_cost is not None
    assert estimated.cost < estimated.worst_cost


def tokens_of_texts(benchmark: Any) -> int:
    """Tokens of everything untrusted in a benchmark, each response with its prompt."""
    texts = Response.objects.filter(prompt__benchmark=benchmark).values_list(
        "prompt__text", "text", "prompt__risk_category"
    )
    return count_tokens(text for row in texts for text in row)
