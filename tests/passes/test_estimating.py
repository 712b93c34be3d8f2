"""What a pass would come to, before it starts."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from annotation.choices import ItemKind
from judging.errors import PassError
from judging.passes.configuration import MAX_TOKENS, TRUNCATION_FACTOR
from judging.passes.estimating import PassEstimate, estimate_pass
from tests.factories import make_campaign, make_item, make_prompt, make_response
from tests.passes import stage

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _endpoints(settings: Any, tmp_path: Path) -> None:
    settings.ENDPOINTS_FILE = stage.write_endpoints(
        tmp_path / "endpoints.toml", "http://127.0.0.1:9/v1", judges=stage.JUDGES, prices=("0", "10")
    )


def estimate(benchmark: Any, **choices: Any) -> PassEstimate:
    defaults: dict[str, Any] = {"judges": stage.JUDGES, "rubric": "likert-v1", "shots": 0}
    return estimate_pass(benchmark, **(defaults | choices))


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


def test_an_estimate_needs_three_queries_at_most(django_assert_max_num_queries: Any) -> None:
    benchmark = stage.make_material(3)

    with django_assert_max_num_queries(3):
        estimate(benchmark, shots=2)
