"""What is missing of a pass, and only that, is judged again."""

from typing import Any

import pytest

from annotation.models import AuditEvent, Benchmark, Response
from judging.choices import FailureCode, PassKind, PassSource, PassState, SkipCode, VerdictState
from judging.errors import Conflict, PassError
from judging.models import JudgePass, Verdict, VerdictAttempt
from judging.passes.control import cancel_pass
from judging.passes.rerunning import plan_rerun, rerun_missing
from judging.staleness import STALE
from judging.verdicts.reparsing import apply_reparse, plan_reparse
from tests.factories import make_pass, make_verdict, sha256_of
from tests.passes import stage

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def finished(provider: str) -> JudgePass:
    """Six responses, judged and all scored."""
    return stage.judge(stage.start(stage.make_material(6)))


def fail(judge_pass: JudgePass, n: int, **values: Any) -> list[int]:
    """Let the first `n` rows have ended without a score."""
    values.setdefault("state", VerdictState.PARSE_FAILED)
    ids = list(Verdict.objects.filter(judge_pass=judge_pass).order_by("pk").values_list("pk", flat=True)[:n])
    Verdict.objects.filter(pk__in=ids).update(
        score=None, jailbreak_score=None, counters={"n_attempts": 5}, **values
    )
    return ids


def change_text(benchmark: Benchmark) -> Response:
    changed = stage.first_response(benchmark)
    Response.objects.filter(pk=changed.pk).update(text="Another answer.", text_hash=sha256_of("other"))
    return changed


def test_finished_pass_goes_on_with_exactly_its_missing_rows(finished: JudgePass, provider: str) -> None:
    missing = fail(finished, 2)
    n_calls = VerdictAttempt.objects.count()

    again = stage.judge(rerun_missing(finished))

    assert (again.pk, again.state) == (finished.pk, PassState.FINISHED)
    assert stage.states(again) == {"SCORED": 6}
    assert VerdictAttempt.objects.count() == n_calls + 2
    assert sorted(VerdictAttempt.objects.filter(verdict__in=missing).values_list("token", flat=True)) == [
        1,
        1,
        2,
        2,
    ]
    event = AuditEvent.objects.get(action="pass.rerun")
    assert (event.detail["n_rows"], event.detail["counts"]) == (2, {"PARSE_FAILED": 2})


def test_changed_texts_take_a_new_pass_that_takes_over_what_holds(finished: JudgePass) -> None:
    changed = change_text(finished.benchmark)
    kept = set(Verdict.objects.exclude(response=changed).values_list("response_id", "score"))
    n_calls = VerdictAttempt.objects.count()

    again = rerun_missing(finished)
    before_judging = stage.states(again)
    stage.judge(again)

    assert again.pk != finished.pk
    assert again.digest != finished.digest
    assert before_judging == {"SCORED": 5, "PENDING": 1}
    assert stage.states(again) == {"SCORED": 6}
    assert VerdictAttempt.objects.count() == n_calls + 1
    taken = Verdict.objects.filter(judge_pass=again, taken_from__isnull=False)
    assert set(taken.values_list("response_id", "score")) == kept
    assert {row.taken_from.judge_pass_id for row in taken.select_related("taken_from")} == {finished.pk}
    event = AuditEvent.objects.filter(action="pass.started").order_by("pk").last()
    assert event is not None
    assert (event.detail["continues"], event.detail["n_taken_over"]) == (finished.public_id, 5)


def test_few_shot_pass_is_gone_on_from_with_the_exemplars_that_judges_saw(provider: str) -> None:
    benchmark = stage.make_material(10, n_labelled=6)
    first = stage.judge(stage.start(benchmark, shots=1))
    unlabelled = Response.objects.filter(items=None, prompt__benchmark=benchmark).order_by("pk").last()
    assert unlabelled is not None
    Response.objects.filter(pk=unlabelled.pk).update(text="Another answer.", text_hash=sha256_of("other"))

    again = stage.judge(rerun_missing(first))

    assert stage.states(again) == {"SCORED": 10}
    row = Verdict.objects.get(judge_pass=again, response=unlabelled)
    assert len(row.exemplars or []) == 2
    for taken in Verdict.objects.filter(judge_pass=again, taken_from__isnull=False):
        assert taken.taken_from is not None
        assert taken.exemplars == taken.taken_from.exemplars


def test_cancelled_pass_is_gone_on_from_by_a_new_one(provider: str) -> None:
    judge_pass = stage.start(stage.make_material(4))
    cancel_pass(judge_pass)

    again = stage.judge(rerun_missing(judge_pass))

    assert again.pk != judge_pass.pk
    assert stage.states(again) == {"SCORED": 4}
    judge_pass.refresh_from_db()
    assert judge_pass.state == PassState.CANCELLED


def test_row_taken_over_twice_leads_to_the_verdict_that_was_paid_for(finished: JudgePass) -> None:
    change_text(finished.benchmark)
    second = stage.judge(rerun_missing(finished))
    later = Response.objects.filter(prompt__benchmark=finished.benchmark).order_by("-pk")[0]
    Response.objects.filter(pk=later.pk).update(text="A third answer.", text_hash=sha256_of("third"))

    third = stage.judge(rerun_missing(second))

    origins = Verdict.objects.filter(judge_pass=third, taken_from__isnull=False)
    passes = set(origins.values_list("taken_from__judge_pass", flat=True))
    assert passes == {finished.pk, second.pk}
    assert all(
        row.taken_from.attempts.exists() for row in origins.select_related("taken_from") if row.taken_from
    )


def test_scores_of_another_parser_must_be_read_again_first(finished: JudgePass) -> None:
    change_text(finished.benchmark)
    JudgePass.objects.filter(pk=finished.pk).update(
        configuration=finished.configuration | {"parser_version": "0"}
    )
    finished.verdicts.update(parser_version="0")
    finished.refresh_from_db()

    with pytest.raises(PassError, match="Read the stored replies again first"):
        rerun_missing(finished)

    apply_reparse(finished, digest=plan_reparse(finished).digest)
    assert rerun_missing(finished).configuration["parser_version"] != "0"


def test_settings_that_differ_now_are_named(finished: JudgePass) -> None:
    change_text(finished.benchmark)
    frozen = finished.configuration
    finished.configuration = frozen | {"parameters": frozen["parameters"] | {"max_tokens": 17}}
    finished.save(update_fields=["configuration"])

    with pytest.raises(PassError, match=r"other settings than a pass would be now \(parameters\)"):
        rerun_missing(finished)

    assert JudgePass.objects.count() == 1


def test_pass_that_lacks_nothing_is_not_called(finished: JudgePass, provider: str) -> None:
    n_calls = stage.stats(provider)["calls"]

    with pytest.raises(PassError, match="lacks nothing"):
        rerun_missing(finished)

    assert stage.stats(provider)["calls"] == n_calls


def test_rows_that_stopped_workers_go_along_only_when_asked(finished: JudgePass) -> None:
    fail(finished, 2)
    fail(finished, 1, state=VerdictState.CALL_FAILED, failure_code=FailureCode.POISON)

    cautious, bold = plan_rerun(finished), plan_rerun(finished, with_poison=True)

    assert (cautious.n_poison, cautious.counts) == (1, {"PARSE_FAILED": 1})
    assert (bold.n_poison, bold.counts) == (0, {"PARSE_FAILED": 1, "CALL_FAILED": 1})
    stage.judge(rerun_missing(finished))
    assert stage.states(finished) == {"SCORED": 5, "CALL_FAILED": 1}


def test_plan_counts_by_reason_and_says_what_it_would_cost(finished: JudgePass) -> None:
    fail(finished, 1)
    row = Verdict.objects.order_by("-pk")[0]
    Verdict.objects.filter(pk=row.pk).update(
        state=VerdictState.SKIPPED, score=None, jailbreak_score=None, skip_code=SkipCode.EXEMPLAR_LEAK
    )
    JudgePass.objects.filter(pk=finished.pk).update(
        configuration=finished.configuration | {"worst_call_micros": 1_500_000}
    )
    finished.refresh_from_db()

    plan = plan_rerun(finished)

    assert (plan.counts, plan.n_kept, plan.why_new) == ({"PARSE_FAILED": 1}, 4, None)
    assert plan.worst_cost == 1.5


def test_changed_text_of_an_unscored_row_counts_as_changed(finished: JudgePass) -> None:
    fail(finished, 1)
    change_text(finished.benchmark)

    plan = plan_rerun(finished)

    assert plan.counts == {STALE: 1}
    assert plan.why_new == "texts have changed since it was judged"


@pytest.mark.parametrize(
    "values",
    [{"source": PassSource.IMPORTED}, {"kind": PassKind.CLASSIFICATION}],
    ids=["imported", "classification"],
)
def test_pass_of_judges_that_were_not_called_here_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(PassError, match="nobody to ask again"):
        plan_rerun(make_pass(**values))


def test_pass_that_has_not_ended_is_to_be_resumed() -> None:
    with pytest.raises(PassError, match="Resume it"):
        plan_rerun(make_pass(state=PassState.PAUSED, pause_reason="user", finished_at=None))


def test_dead_key_leaves_the_pass_as_it_was(finished: JudgePass, settings: Any, tmp_path: Any) -> None:
    fail(finished, 1)
    settings.ENDPOINTS_FILE = stage.write_endpoints(
        tmp_path / "dead.toml", finished.configuration["judges"]["gemini-3.1-pro"]["base_url"] + "x"
    )

    with pytest.raises(PassError):
        rerun_missing(finished)

    finished.refresh_from_db()
    assert finished.state == PassState.FINISHED
    assert stage.states(finished) == {"PARSE_FAILED": 1, "SCORED": 5}


def test_cap_without_room_is_refused(finished: JudgePass) -> None:
    fail(finished, 1)

    with pytest.raises(PassError, match="expected a cap of 7 calls or more"):
        rerun_missing(finished, max_calls=6)


def test_twin_that_runs_is_named(finished: JudgePass) -> None:
    fail(finished, 1)
    twin = make_pass(
        benchmark=finished.benchmark, digest=finished.digest, state=PassState.RUNNING, finished_at=None
    )
    make_verdict(judge_pass=twin, state=VerdictState.PENDING)

    with pytest.raises(Conflict, match=twin.name):
        rerun_missing(finished)
