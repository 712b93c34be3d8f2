"""Starting a classification and running it: which rows, what is frozen, what is refused."""

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from annotation.choices import ResponseState
from annotation.models import AuditEvent
from judging.choices import FailureMode, PassKind, PassState, RubricScale
from judging.classifying import offered_classifiers
from judging.errors import Conflict, PassError, RuleError
from judging.foreground import judge_until_done
from judging.llm.fake_provider import FakeProviderSettings, running
from judging.llm.simulated_replies import FaultRates
from judging.models import JudgePass, Verdict, VerdictAttempt
from judging.passes.control import resume_pass
from judging.reports.failure_modes import build_failure_modes
from judging.selectors import default_pass
from tests.classifying import stage
from tests.factories import make_benchmark, make_pass, make_prompt, make_response
from tests.passes import stage as pass_stage

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def provider(settings: Any, tmp_path: Path) -> Iterator[str]:
    """A provider that answers, and the endpoints file that offers one classifier there."""
    with running(FakeProviderSettings(required_key=pass_stage.MARKER_KEY)) as base_url:
        settings.ENDPOINTS_FILE = stage.write_classifier_endpoints(tmp_path, base_url)
        yield base_url


def finish(classification: JudgePass) -> JudgePass:
    return judge_until_done(classification, interval_s=0.02)


def test_the_rows_are_the_responses_that_the_rule_flags(provider: str) -> None:
    benchmark, _ = stage.make_graded_benchmark()

    classification = stage.classify(benchmark)

    rows = list(classification.verdicts.order_by("response_id"))
    assert (classification.kind, classification.scale) == (PassKind.CLASSIFICATION, RubricScale.FAILURE_MODE)
    assert (classification.state, classification.name) == (PassState.RUNNING, "failure-modes-1")
    assert [row.response_id for row in rows] == [response.pk for response in stage.flagged(benchmark)]
    assert {(row.state, row.judge.slug, row.scale) for row in rows} == {
        ("PENDING", stage.CLASSIFIER, "FAILURE_MODE")
    }
    assert [row.text_hash for row in rows] == [row.response.text_hash for row in rows]
    assert AuditEvent.objects.filter(action="classification.started").count() == 1
    assert pass_stage.stats(provider)["calls"] == 0


def test_every_row_gets_one_mode_at_temperature_0_without_examples(provider: str) -> None:
    benchmark, judge_pass = stage.make_graded_benchmark()

    classification = finish(stage.classify(benchmark))

    rows = classification.verdicts.all()
    assert classification.state == PassState.FINISHED
    assert all(row.failure_mode in FailureMode.values and row.score is None for row in rows)
    assert all(row.raw_text == row.failure_mode and row.exemplars is None for row in rows)
    attempts = VerdictAttempt.objects.filter(verdict__judge_pass=classification)
    assert [attempt.parameters for attempt in attempts] == [{"temperature": 0.0, "max_tokens": 1024}] * 3
    assert default_pass(benchmark) == judge_pass


def test_the_frozen_configuration_names_pass_rule_rubric_and_responses(provider: str) -> None:
    benchmark, judge_pass = stage.make_graded_benchmark()

    frozen = stage.classify(benchmark).configuration

    assert frozen["graded"] == {
        "pass": judge_pass.public_id,
        "rule": {
            "kind": "uniform_mean",
            "judges": [judge_pass.judges.get().slug],
            "threshold": "1.7",
            "missing": "bounds",
        },
        "rule_name": "uniform",
    }
    assert frozen["rubric"]["slug"] == "failure-modes-v1"
    assert (frozen["shots"], frozen["parameters"]["temperature"]) == (0, 0)
    assert frozen["judges"][stage.CLASSIFIER]["base_url"] == provider


def test_another_rule_takes_other_responses(provider: str) -> None:
    benchmark, judge_pass = stage.make_graded_benchmark()
    rule = f'{{"kind": "uniform_mean", "judges": ["{judge_pass.judges.get().slug}"], "threshold": "4.5"}}'

    strict = stage.classify(benchmark, rule=rule)

    assert [row.response_id for row in strict.verdicts.all()] == [stage.flagged(benchmark)[0].pk]
    assert strict.digest != stage.classify(benchmark).digest


def test_an_incomplete_flagged_response_is_skipped_with_its_reason(provider: str) -> None:
    benchmark, judge_pass = stage.make_graded_benchmark()
    cut = make_response(prompt=make_prompt(benchmark=benchmark), state=ResponseState.TRUNCATED)
    stage.grade(judge_pass, judge_pass.judges.get(), cut, 5)

    classification = stage.classify(benchmark)

    skipped = classification.verdicts.get(state="SKIPPED")
    assert (skipped.response_id, skipped.skip_code) == (cut.pk, "RESPONSE_TRUNCATED")


def test_a_finished_classification_is_not_paid_for_twice(provider: str) -> None:
    benchmark, _ = stage.make_graded_benchmark()
    first = finish(stage.classify(benchmark))

    again = stage.classify(benchmark)
    asked_for = stage.classify(benchmark, again=True)

    assert again == first
    assert asked_for != first
    assert asked_for.name == "failure-modes-2"
    assert pass_stage.stats(provider)["calls"] == stage.N_FLAGGED


def test_start_twice_is_one_run(provider: str) -> None:
    benchmark, _ = stage.make_graded_benchmark()
    first = stage.classify(benchmark)

    with pytest.raises(Conflict, match=f"{first.public_id}.*Watch that one"):
        stage.classify(benchmark)

    assert JudgePass.objects.filter(kind=PassKind.CLASSIFICATION).count() == 1


def test_a_cap_pauses_and_a_higher_one_resumes_exactly_the_missing_rows(provider: str) -> None:
    benchmark, _ = stage.make_graded_benchmark()

    classification = finish(stage.classify(benchmark, max_calls=2))
    assert (classification.state, classification.pause_reason) == (PassState.PAUSED, "budget")
    resume_pass(classification, max_calls=10)
    finish(classification)

    assert classification.state == PassState.FINISHED
    assert pass_stage.stats(provider)["calls"] == stage.N_FLAGGED


def test_an_answer_that_names_no_mode_is_unparsed_and_stays_in_the_denominator(
    settings: Any, tmp_path: Path
) -> None:
    benchmark, _ = stage.make_graded_benchmark()
    with running(FakeProviderSettings(faults=FaultRates({"malformed": 1.0}))) as base_url:
        settings.ENDPOINTS_FILE = stage.write_classifier_endpoints(tmp_path, base_url)
        classification = finish(stage.classify(benchmark))

    overall = build_failure_modes(benchmark)["overall"]
    assert Counter(row.state for row in classification.verdicts.all()) == {"PARSE_FAILED": 3}
    assert (overall["n_answered"], overall["n_unparsed"], overall["unparsed_share"]) == (3, 3, 1.0)


@pytest.mark.parametrize(
    ("request_values", "message"),
    [
        ({"classifier": "nobody"}, "No endpoint offers the model 'nobody'"),
        ({"classifier": "gpt-5.4"}, "does not offer 'gpt-5.4' as a classifier"),
        ({"max_calls": 0}, "max_calls is 0"),
        ({"max_cost": Decimal(1)}, "A money cap needs the price of claude-sonnet-4.6"),
    ],
    ids=["unknown", "other role", "no calls", "no price"],
)
def test_what_cannot_be_asked_is_refused_and_nothing_is_stored(
    provider: str, request_values: dict[str, Any], message: str
) -> None:
    benchmark, _ = stage.make_graded_benchmark()

    with pytest.raises(Exception, match=message) as caught:
        stage.classify(benchmark, **request_values)

    assert caught.value.code  # type: ignore[attr-defined]
    assert not JudgePass.objects.filter(kind=PassKind.CLASSIFICATION).exists()


def test_an_unknown_rule_is_refused(provider: str) -> None:
    benchmark, _ = stage.make_graded_benchmark()

    with pytest.raises(RuleError, match="There is no rule 'mine'"):
        stage.classify(benchmark, rule="mine")


def test_a_benchmark_without_a_finished_pass_is_refused(provider: str) -> None:
    with pytest.raises(PassError, match="no finished judging pass"):
        stage.classify(make_benchmark())


def test_without_an_unacceptable_response_there_is_nothing_to_classify(provider: str) -> None:
    benchmark, _ = stage.make_graded_benchmark(scores=(1, 1))

    with pytest.raises(PassError, match="is Unacceptable by the rule"):
        stage.classify(benchmark)


def test_a_pass_of_another_kind_cannot_be_graded(provider: str) -> None:
    benchmark, _ = stage.make_graded_benchmark()
    other = make_pass(benchmark=benchmark, kind=PassKind.COLLECTION, scale=RubricScale.TEXT)

    with pytest.raises(PassError, match="scores no response"):
        stage.classify(benchmark, judge_pass=other)


def test_a_dead_key_starts_nothing(settings: Any, tmp_path: Path) -> None:
    benchmark, _ = stage.make_graded_benchmark()
    with running(FakeProviderSettings(dead_key=True)) as base_url:
        settings.ENDPOINTS_FILE = stage.write_classifier_endpoints(tmp_path, base_url)
        with pytest.raises(PassError, match="key refused"):
            stage.classify(benchmark)

    assert not Verdict.objects.filter(judge_pass__kind=PassKind.CLASSIFICATION).exists()


@pytest.mark.parametrize(
    ("slugs", "message"),
    [(("one", "two"), "2 classifiers have their key at hand"), ((), "0 classifiers have their key at hand")],
    ids=["several", "none"],
)
def test_without_a_name_exactly_one_classifier_must_have_its_key(
    settings: Any, tmp_path: Path, slugs: tuple[str, ...], message: str
) -> None:
    benchmark, _ = stage.make_graded_benchmark()
    settings.ENDPOINTS_FILE = stage.write_classifier_endpoints(tmp_path, "http://127.0.0.1:9/v1", slugs=slugs)

    with pytest.raises(PassError, match=message):
        stage.classify(benchmark)


def test_offered_classifiers_are_those_of_the_file_and_the_presets(settings: Any, tmp_path: Path) -> None:
    settings.ENDPOINTS_FILE = stage.write_classifier_endpoints(
        tmp_path, "http://127.0.0.1:9/v1", slugs=("own",)
    )

    assert [(offered.slug, offered.has_key) for offered in offered_classifiers()] == [
        ("own", True),
        ("claude-sonnet-4.6", False),
    ]


def test_a_changed_text_makes_its_mode_stale(provider: str) -> None:
    benchmark, _ = stage.make_graded_benchmark()
    finish(stage.classify(benchmark))
    changed = stage.flagged(benchmark)[0]
    changed.text_hash = "0" * 64
    changed.save(update_fields=["text_hash"])

    overall = build_failure_modes(benchmark)["overall"]

    assert (overall["n_answered"], overall["unclassified"]) == (2, {"STALE": 1})


def test_without_any_classification_the_document_is_empty() -> None:
    document = build_failure_modes(make_benchmark())

    assert document["pass"] is None
    assert document["overall"]["n_responses"] == 0
    assert document["models"] == document["passes"] == []


def test_the_document_says_what_it_is_of(provider: str, django_assert_max_num_queries: Any) -> None:
    benchmark, judge_pass = stage.make_graded_benchmark()
    classification = finish(stage.classify(benchmark))

    with django_assert_max_num_queries(8):
        document = build_failure_modes(benchmark)

    assert document["pass"] == classification.public_id
    assert (document["graded_pass"], document["classifier"]) == (judge_pass.public_id, stage.CLASSIFIER)
    assert document["rule_in_words"].endswith("≥ 2")
    assert document["is_simulated"]
    assert document["is_of_default_pass"]
    assert document["is_by_default_rule"]
    assert [entry["model"] for entry in document["models"]] == ["brisk", "calm"]
    assert sum(mode["n"] for mode in document["overall"]["modes"]) == stage.N_FLAGGED
