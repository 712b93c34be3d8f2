"""`classify_failures`: one call, a summary, an exit code."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from judging.choices import PassKind
from judging.llm.fake_provider import FakeProviderSettings, running
from judging.models import JudgePass
from tests.classifying import stage

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def provider(settings: Any, tmp_path: Path) -> Iterator[str]:
    with running(FakeProviderSettings()) as base_url:
        settings.ENDPOINTS_FILE = stage.write_classifier_endpoints(tmp_path, base_url)
        yield base_url


def run(*arguments: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("classify_failures", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_it_prints_the_pass_and_leaves_the_work_to_workers(provider: str) -> None:
    benchmark, _ = stage.make_graded_benchmark()

    out, _ = run("--benchmark", benchmark.slug)

    classification = JudgePass.objects.get(kind=PassKind.CLASSIFICATION)
    assert out.strip() == classification.public_id
    assert classification.verdicts.filter(state="PENDING").count() == stage.N_FLAGGED


def test_foreground_and_json_give_the_counts(provider: str) -> None:
    benchmark, judge_pass = stage.make_graded_benchmark()

    out, _ = run(
        *("--benchmark", benchmark.slug, "--pass", judge_pass.public_id, "--rule", "uniform"),
        *("--classifier", stage.CLASSIFIER, "--foreground", "--json"),
    )

    document = json.loads(out)
    assert document["state"] == "FINISHED"
    assert document["overall"]["n_answered"] == stage.N_FLAGGED
    assert [entry["model"] for entry in document["models"]] == ["brisk", "calm"]


def test_a_finished_classification_is_said_to_be_so(provider: str) -> None:
    benchmark, _ = stage.make_graded_benchmark()
    run("--benchmark", benchmark.slug, "--foreground", "--json")

    out, err = run("--benchmark", benchmark.slug, "--foreground", "--json")

    assert json.loads(out)["state"] == "FINISHED"
    assert "nothing was called" in err


def test_a_pause_by_its_cap_is_a_failure_with_its_reason(provider: str) -> None:
    benchmark, _ = stage.make_graded_benchmark()
    out, err = io.StringIO(), io.StringIO()

    with pytest.raises(SystemExit) as caught:
        call_command(
            "classify_failures",
            *("--benchmark", benchmark.slug, "--max-calls", "1", "--foreground", "--json"),
            stdout=out,
            stderr=err,
        )

    assert caught.value.code == 1
    assert "PAUSED (budget)" in err.getvalue()
    assert json.loads(out.getvalue())["overall"]["unclassified"] == {"PENDING": 2}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--benchmark", "nowhere"), "There is no benchmark 'nowhere'"),
        (("--benchmark", "graded", "--pass", "nothing"), "There is no pass 'nothing'"),
        (("--benchmark", "graded", "--rule", "mine"), "There is no rule 'mine'"),
        (("--benchmark", "graded", "--max-cost", "much"), "--max-cost is 'much'"),
    ],
    ids=["benchmark", "pass", "rule", "cost"],
)
def test_what_is_not_there_is_named(provider: str, arguments: tuple[str, ...], message: str) -> None:
    benchmark, _ = stage.make_graded_benchmark()
    benchmark.slug = "graded"
    benchmark.save(update_fields=["slug"])

    with pytest.raises(CommandError, match=message):
        run(*arguments)
