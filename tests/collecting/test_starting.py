"""Which rows a collection gets, what it freezes, and when it does not start."""

from decimal import Decimal
from typing import Any

import pytest

from annotation.models import AuditEvent, Response, TargetModel
from judging.collecting.estimating import estimate_collection
from judging.collecting.planning import CollectionRequest, plan_collection
from judging.collecting.starting import start_collection
from judging.errors import Conflict, DomainError
from judging.models import Generation, JudgePass
from judging.passes.control import cancel_pass
from tests.collecting import stage
from tests.collecting.conftest import Provide
from tests.factories import make_item, make_label, make_response

pytestmark = pytest.mark.django_db(transaction=True)


def request(**values: Any) -> CollectionRequest:
    return CollectionRequest(**{"models": stage.MODELS[:1], **values})


def first_model() -> TargetModel:
    return TargetModel.objects.get_or_create(slug=stage.MODELS[0])[0]


def test_a_row_for_each_prompt_model_and_rollout(provide: Provide) -> None:
    benchmark = stage.make_prompts(3)

    with provide():
        judge_pass = stage.start(benchmark, models=stage.MODELS, rollouts=2, limit=2)

    rows = list(Generation.objects.filter(judge_pass=judge_pass).values_list("target_model__slug", "rollout"))
    assert sorted(rows) == sorted((model, n) for model in stage.MODELS for n in range(2) for _ in range(2))
    assert stage.states(judge_pass) == {"PENDING": 8}
    assert (judge_pass.kind, judge_pass.scale, judge_pass.state) == ("COLLECTION", "TEXT", "RUNNING")
    assert AuditEvent.objects.filter(action="collection.started").count() == 1


def test_what_is_sent_is_frozen(provide: Provide, settings: Any) -> None:
    benchmark = stage.make_prompts(1)

    with provide(prices=("1", "2")) as base_url:
        judge_pass = stage.start(
            benchmark, max_tokens=50, temperature=Decimal("0.7"), system_prompt="You are a kind helper."
        )

    configuration = judge_pass.configuration
    assert configuration["targets"] == {
        "model-a": {
            "endpoint": "local",
            "base_url": base_url,
            "model_id": "model-a",
            "parameters": {"temperature": 0.7, "max_tokens": 50},
        }
    }
    assert configuration["system_prompt"] == "You are a kind helper."
    # Bytes of frame, system prompt and prompt at 1, and the answer's limit at 2, in millionths.
    longest = len(benchmark.prompts.get().text.encode())
    assert configuration["call_tokens"] > 50
    assert configuration["worst_call_micros"] == 1_000 + len("You are a kind helper.") + longest + 2 * 50


@pytest.mark.parametrize("state", ["OK", "EMPTY", "FILTERED", "TRUNCATED"])
def test_a_response_that_is_there_is_not_asked_for(provide: Provide, state: str) -> None:
    benchmark = stage.make_prompts(2)
    text = "" if state == "EMPTY" else "What stood there before."
    make_response(prompt=benchmark.prompts.first(), target_model=first_model(), state=state, text=text)

    plan = plan_collection(benchmark, request())

    assert (len(plan.missing), plan.n_standing, plan.n_failed_before) == (1, 1, 0)


def test_a_failed_response_is_asked_for_again_unless_it_is_labelled(provide: Provide) -> None:
    benchmark = stage.make_prompts(2)
    failed = [
        make_response(prompt=prompt, target_model=first_model(), state="ERROR", text="", error="timeout")
        for prompt in benchmark.prompts.order_by("pk")
    ]
    make_label(item=make_item(response=failed[1]))

    plan = plan_collection(benchmark, request())

    assert plan.missing == ((failed[0].prompt_id, "model-a", 0),)
    assert (plan.n_standing, plan.n_failed_before) == (1, 1)


def test_nothing_missing_makes_no_pass_and_no_call(provide: Provide) -> None:
    benchmark = stage.make_prompts(1)
    make_response(prompt=benchmark.prompts.get(), target_model=first_model())

    # Nobody listens here: a call would fail.
    with provide(dead_key=True):
        started = start_collection(benchmark, request())

    assert started.judge_pass is None
    assert not JudgePass.objects.exists()


def test_started_twice_is_one_run(provide: Provide) -> None:
    benchmark = stage.make_prompts(2)

    with provide():
        first = stage.start(benchmark)
        with pytest.raises(Conflict, match=f"collected by collection-1 \\({first.public_id}, running\\)"):
            start_collection(benchmark, request())

    assert JudgePass.objects.count() == 1


def test_a_second_collection_takes_only_what_the_first_does_not(provide: Provide) -> None:
    benchmark = stage.make_prompts(2)

    with provide():
        stage.start(benchmark, rollouts=1)
        second = stage.start(benchmark, rollouts=3, max_tokens=10)

    assert sorted(Generation.objects.filter(judge_pass=second).values_list("rollout", flat=True)) == [
        1,
        1,
        2,
        2,
    ]


def test_what_a_cancelled_collection_left_is_missing_again(provide: Provide) -> None:
    benchmark = stage.make_prompts(2)

    with provide():
        cancel_pass(stage.start(benchmark))
        again = stage.start(benchmark)

    assert again.name == "collection-2"
    assert stage.states(again) == {"PENDING": 2}


def test_a_dead_key_starts_nothing(provide: Provide) -> None:
    benchmark = stage.make_prompts(1)

    with provide(dead_key=True), pytest.raises(DomainError, match="Nothing was started: model-a at local"):
        start_collection(benchmark, request())

    assert not JudgePass.objects.exists()
    assert not Response.objects.exists()


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"models": ()}, "no_target", "at least one target model"),
        ({"models": ("model-a", "model-a")}, "target_twice", "named twice"),
        ({"models": ("only-a-judge",)}, "not_a_target", "does not offer 'only-a-judge' as a target"),
        ({"models": ("nobody",)}, "bad_endpoint", "No endpoint offers the model 'nobody'"),
        ({"rollouts": 0}, "bad_number", "rollouts is 0; expected 1 to 100"),
        ({"rollouts": 101}, "bad_number", "rollouts is 101"),
        ({"limit": 0}, "bad_number", "limit is 0"),
        ({"max_tokens": 0}, "bad_number", "max_tokens is 0"),
        ({"temperature": Decimal("2.1")}, "bad_number", "temperature is 2.1; expected 0 to 2"),
        ({"temperature": Decimal("NaN")}, "bad_number", "temperature is NaN"),
        ({"system_prompt": "  "}, "bad_system_prompt", "all blank"),
        ({"system_prompt": "a\0b"}, "bad_system_prompt", "NUL"),
        ({"max_calls": 0}, "bad_number", "max_calls is 0"),
        ({"max_cost": Decimal(1)}, "unknown_price", "the price of every target model"),
    ],
)
def test_a_request_that_cannot_be_used_says_why(
    provide: Provide, change: dict[str, Any], code: str, words: str
) -> None:
    benchmark = stage.make_prompts(1)

    with provide(), pytest.raises(DomainError, match=words) as refused:
        start_collection(benchmark, request(**change))

    assert refused.value.code == code
    assert not JudgePass.objects.exists()


def test_a_benchmark_without_prompts_says_what_to_do(provide: Provide) -> None:
    with provide(), pytest.raises(DomainError, match="Import prompts first"):
        start_collection(stage.make_prompts(0), request())


def test_estimate_counts_calls_tokens_cost_and_time(provide: Provide) -> None:
    benchmark = stage.make_prompts(4)
    make_response(prompt=benchmark.prompts.first(), target_model=first_model())

    with provide(prices=("1", "2"), limits={"max_in_flight": 2, "requests_per_minute": 30}):
        estimate = estimate_collection(benchmark, request(max_tokens=100, rollouts=2))

    missing = [benchmark.prompts.get(pk=prompt_id).text for prompt_id, _, _ in estimate.plan.missing]
    longest = max(len(prompt.text.encode()) for prompt in benchmark.prompts.all())
    assert (estimate.n_calls, estimate.plan.n_standing) == (7, 1)
    assert estimate.tokens_in == sum(-(-len(text) // 4) for text in missing)
    assert estimate.most_tokens_out == 700
    assert estimate.worst_cost == Decimal(7 * (1_000 + longest + 200)) / 1_000_000
    # 7 calls of 10 s, two at a time; the rate of 30 a minute would let them pass in 14 s.
    assert estimate.seconds == pytest.approx(35)
    assert not estimate.is_latency_measured


def test_a_limit_of_tokens_makes_it_longer(provide: Provide) -> None:
    benchmark = stage.make_prompts(3)

    with provide(limits={"tokens_per_minute": 6_000}):
        estimate = estimate_collection(benchmark, request(max_tokens=1_000))
        judge_pass = stage.start(benchmark, max_tokens=1_000)

    # Each call reserves its limit and what is sent: a little more than 1,000 of 100 a second.
    assert estimate.seconds == pytest.approx(3 * judge_pass.configuration["call_tokens"] / 100)
    assert estimate.seconds > 30


def test_estimate_without_a_price_says_so(provide: Provide) -> None:
    with provide():
        assert estimate_collection(stage.make_prompts(1), request()).worst_cost is None
