"""Workers killed by -9 while they collect: one response at each place, none of them empty."""

import json
import random
import time
from functools import partial

import pytest

from tests.chaos.conftest import IS_POSTGRESQL
from tests.chaos.killing import SEED, replace_one
from tests.chaos.processes import CONCURRENCY, Installation, wait_until

MODEL = "gpt-5.4"
ROLLOUTS = 2
# On PostgreSQL, where writes really run beside each other, a kill is part of every run.
OFTEN = () if IS_POSTGRESQL else (pytest.mark.long,)
FAULTS = ("--rate-limited", "0.05", "--server-error", "0.02", "--retry-after", "0.2")


def n_settled(site: Installation) -> int:
    return site.count("settled_at IS NOT NULL", table="judging_generation")


def has_settled(site: Installation, n: int) -> bool:
    return n_settled(site) >= n


@pytest.mark.parametrize(
    ("n_prompts", "n_kills"),
    [
        pytest.param(60, 1, id="120 rows", marks=OFTEN),
        pytest.param(400, 4, id="800 rows", marks=pytest.mark.long),
    ],
)
def test_kills_leave_one_response_at_each_place(site: Installation, n_prompts: int, n_kills: int) -> None:
    provider = site.start_judging_provider("--latency-ms", "100", "--jitter-ms", "100", *FAULTS)
    # They start up while the command plans, and the second goes on where the first is killed.
    workers = [site.start_worker(), site.start_worker()]
    asked = ("--benchmark", "b", "--model", MODEL, "--rollouts", str(ROLLOUTS), "--limit", str(n_prompts))
    judge_pass = json.loads(site.manage("collect_responses", *asked, "--json"))["pass"]
    n_rows, generator = ROLLOUTS * n_prompts, random.Random(SEED)

    for mark in sorted(generator.sample(range(n_rows // 10, n_rows * 8 // 10), n_kills)):
        wait_until(partial(has_settled, site, mark), most_s=120, what=f"{mark} responses settled")
        time.sleep(generator.uniform(0, 0.2))
        replace_one(site, workers, generator)
    wait_until(site.is_over, most_s=120)

    of_model = f"target_model_id = (SELECT id FROM annotation_targetmodel WHERE slug = '{MODEL}')"
    places = "SELECT DISTINCT prompt_id, rollout FROM annotation_response"
    n_attempts = site.count(table="judging_generationattempt")
    n_extra = provider.n_calls - n_attempts
    print(f"{provider.n_calls} calls, {n_attempts} attempts, {n_extra} extra after {n_kills} kills")
    status = site.status(judge_pass)
    assert (status["state"], status["counts"]) == ("FINISHED", {"COLLECTED": n_rows})
    assert site.count(f"{of_model} AND state = 'OK' AND text <> ''", table="annotation_response") == n_rows
    assert len(site.query(f"{places} WHERE {of_model}")) == n_rows
    assert site.query("SELECT count(DISTINCT response_id) FROM judging_generation")[0][0] == n_rows
    assert 0 <= n_extra <= n_kills * 1.5 * CONCURRENCY
    # Nothing is missing now, so nobody is called.
    before = provider.n_calls
    assert json.loads(site.manage("collect_responses", *asked, "--json"))["n_rows"] == 0
    assert provider.n_calls == before
