"""Judge scores: what a cell says, whose score it is, and which pass holds it."""

from pathlib import Path

import pytest

from annotation.models import Benchmark
from judging.choices import PassSource, PassState
from judging.errors import PassError
from judging.models import Judge, JudgePass, Verdict
from tests.factories import make_benchmark, make_pass
from tests.importing.sheets import (
    BENCHMARK,
    codes,
    counts,
    import_rows,
    notes,
    response_row,
    score_row,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def stored_response(db: None, tmp_path: Path) -> None:
    import_rows(tmp_path, responses=[response_row()])


@pytest.mark.parametrize(
    ("given", "error", "state", "score", "failure_code", "n_normalised"),
    [
        pytest.param("1", "", "SCORED", 1, None, 0, id="1"),
        pytest.param("5", "", "SCORED", 5, None, 0, id="5"),
        pytest.param("4.0", "", "SCORED", 4, None, 1, id="4.0"),
        pytest.param("3", "slow reply", "SCORED", 3, None, 0, id="score beside an error"),
        pytest.param("-1", "", "CALL_FAILED", None, "imported", 0, id="-1"),
        pytest.param("", "", "CALL_FAILED", None, "imported", 0, id="blank"),
        pytest.param("-1.0", "", "CALL_FAILED", None, "imported", 1, id="-1.0"),
        pytest.param("-1", "timeout", "CALL_FAILED", None, "imported", 0, id="-1 with an error"),
        pytest.param(
            "-1", "unparseable: I would rather not", "PARSE_FAILED", None, None, 0, id="unparseable"
        ),
        pytest.param("", "Unparseable reply", "PARSE_FAILED", None, None, 0, id="Unparseable, blank"),
        pytest.param("-1", "it was unparseable", "CALL_FAILED", None, "imported", 0, id="does not begin so"),
    ],
)
def test_score_cell_is_a_score_or_a_named_reason(
    tmp_path: Path,
    given: str,
    error: str,
    state: str,
    score: int | None,
    failure_code: str | None,
    n_normalised: int,
) -> None:
    outcome = import_rows(tmp_path, scores=[score_row(score=given, error=error)])

    verdict = Verdict.objects.get()
    assert (verdict.state, verdict.score, verdict.failure_code) == (state, score, failure_code)
    assert verdict.detail == (error or None)
    assert (verdict.n_exemplars_acceptable, verdict.n_exemplars_unacceptable) == (2, 2)
    assert outcome.files[0].normalised == n_normalised
    assert (f"no score ({state})" in notes(outcome)) == (score is None)


@pytest.mark.parametrize(
    ("column", "given", "code"),
    [
        ("score", "0", "score_out_of_range"),
        ("score", "6", "score_out_of_range"),
        ("score", "10", "score_out_of_range"),
        ("score", "-2", "not_a_whole_number"),
        ("score", "3.5", "not_a_whole_number"),
        ("score", "NaN", "not_a_whole_number"),
        ("score", "four", "not_a_whole_number"),
        ("score", "٤", "not_a_whole_number"),
        ("num_exemplars_yes", "-1", "not_a_whole_number"),
        ("num_exemplars_no", "32768", "count_too_large"),
        ("rollout", "", "blank_rollout"),
        ("rollout", "1", "unknown_response"),
        ("case_uid", "case-2", "unknown_response"),
        ("model", "model-b", "unknown_response"),
        ("judge", "", "blank_key"),
        ("judge", "j" * 101, "key_too_long"),
        ("risk_category", "Another", "conflict"),
        ("risk_mechanism", "Another", "conflict"),
    ],
)
def test_cell_that_cannot_be_read_is_a_row_error(tmp_path: Path, column: str, given: str, code: str) -> None:
    outcome = import_rows(tmp_path, scores=[score_row(**{column: given})])

    place = "case_uid" if code == "unknown_response" else column
    assert codes(outcome) == [(code, 2, place)]
    assert not Verdict.objects.exists()


def test_absent_rollout_column_means_rollout_0(tmp_path: Path) -> None:
    outcome = import_rows(tmp_path, scores=[score_row(rollout=None)])

    assert Verdict.objects.get().response.rollout == 0
    assert "the file has no column rollout: the row is rollout 0" in notes(outcome)


def test_score_of_a_response_of_the_same_import_joins_it(tmp_path: Path) -> None:
    outcome = import_rows(
        tmp_path, responses=[response_row(rollout="7")], scores=[score_row(rollout="7", score="2")]
    )

    assert codes(outcome) == []
    assert Verdict.objects.get().response.rollout == 7


@pytest.mark.parametrize("cells", [{"response": ""}, {"error": "timeout"}], ids=["empty", "failed"])
def test_score_of_an_empty_or_failed_response_is_kept_with_a_note(
    tmp_path: Path, cells: dict[str, str]
) -> None:
    outcome = import_rows(
        tmp_path, responses=[response_row(rollout="1", **cells)], scores=[score_row(rollout="1")]
    )

    assert Verdict.objects.get().score == 1
    assert notes(outcome)["the response is empty or failed: its score is kept and decides nothing"] == 1


@pytest.mark.parametrize(
    ("given", "slug", "short_name", "family"),
    [
        ("gemini_3_1_pro", "gemini-3.1-pro", "Gemini", "Google"),
        ("gpt_5_4", "gpt-5.4", "GPT", "OpenAI"),
        ("opus_4_6", "claude-opus-4.6", "Opus", "Anthropic"),
        ("gpt-5.4", "gpt-5.4", "GPT", "OpenAI"),
        ("string_match", "string_match", "string_match", None),
        ("My judge", "My judge", "My judge", None),
        ("j" * 100, "j" * 100, "j" * 50, None),
    ],
)
def test_new_judge_is_shown_and_named_as_the_presets_name_it(
    tmp_path: Path, given: str, slug: str, short_name: str, family: str | None
) -> None:
    outcome = import_rows(tmp_path, scores=[score_row(judge=given)])

    judge = Judge.objects.get()
    assert (judge.slug, judge.short_name, judge.family) == (slug, short_name, family)
    assert outcome.new_judges == [slug]
    assert f"judge {slug!r} is new" in notes(outcome)
    assert outcome.files[0].normalised == (given != slug)


def test_alias_and_slug_are_one_judge(tmp_path: Path) -> None:
    outcome = import_rows(tmp_path, scores=[score_row(judge="gpt_5_4"), score_row(judge="gpt-5.4")])

    assert counts(outcome, "scores") == (1, 1, 0)
    assert notes(outcome)["a score stands there twice; one is kept"] == 1


def test_known_judge_is_not_shown_as_new(tmp_path: Path) -> None:
    import_rows(tmp_path, scores=[score_row()])

    outcome = import_rows(tmp_path, {"pass_name": "second"}, scores=[score_row()])

    assert outcome.new_judges == []
    assert counts(outcome, "scores") == (1, 0, 0)


@pytest.mark.parametrize("is_reversed", [False, True], ids=["same order", "shuffled"])
def test_second_import_of_the_same_scores_changes_nothing(tmp_path: Path, is_reversed: bool) -> None:
    rows = [score_row(judge=f"judge-{n}", score=score) for n, score in enumerate(["1", "5", "-1", ""])]
    import_rows(tmp_path, scores=rows)

    outcome = import_rows(tmp_path, scores=rows[::-1] if is_reversed else rows)

    assert counts(outcome, "scores") == (0, 4, 0)
    assert Verdict.objects.count() == 4


@pytest.mark.parametrize(
    ("first", "second"),
    [("1", "2"), ("1", "-1"), ("-1", "1")],
)
@pytest.mark.parametrize("is_stored", [False, True], ids=["in the file", "stored"])
def test_another_score_under_the_same_key_is_refused(
    tmp_path: Path, first: str, second: str, is_stored: bool
) -> None:
    rows = [score_row(score=first), score_row(score=second)]
    if is_stored:
        import_rows(tmp_path, scores=rows[:1])

    outcome = import_rows(tmp_path, scores=rows)

    assert codes(outcome) == [("conflict", 3, "score")]
    place = "the pass, stored earlier" if is_stored else "judge_scores.csv line 2"
    assert "on line 3" in outcome.problems[0].message
    assert place in outcome.problems[0].message


def test_scores_go_to_one_finished_pass(tmp_path: Path) -> None:
    import_rows(tmp_path, scores=[score_row()])
    import_rows(tmp_path, scores=[score_row(judge="judge-b")])

    judge_pass = JudgePass.objects.get()
    assert (judge_pass.name, judge_pass.state) == ("imported", PassState.FINISHED)
    assert judge_pass.source == PassSource.IMPORTED
    assert sorted(judge_pass.judges.values_list("slug", flat=True)) == ["judge-a", "judge-b"]


def test_other_pass_holds_other_scores_of_the_same_key(tmp_path: Path) -> None:
    import_rows(tmp_path, scores=[score_row(score="1")])

    outcome = import_rows(tmp_path, {"pass_name": " rerun "}, scores=[score_row(score="5")])

    assert codes(outcome) == []
    assert dict(Verdict.objects.values_list("judge_pass__name", "score")) == {"imported": 1, "rerun": 5}


@pytest.mark.parametrize("is_dry_run", [False, True], ids=["import", "dry run"])
def test_pass_that_was_judged_here_takes_no_imported_scores(tmp_path: Path, is_dry_run: bool) -> None:
    make_pass(benchmark=Benchmark.objects.get(slug=BENCHMARK), name="first", source=PassSource.JUDGED)

    with pytest.raises(PassError, match=r"'first' was judged here.*--pass-name"):
        import_rows(tmp_path, {"pass_name": "first", "is_dry_run": is_dry_run}, scores=[score_row()])

    assert not Verdict.objects.exists()


def test_pass_of_another_benchmark_with_that_name_does_not_matter(tmp_path: Path) -> None:
    make_pass(benchmark=make_benchmark(), name="first", source=PassSource.JUDGED)

    outcome = import_rows(tmp_path, {"pass_name": "first"}, scores=[score_row()])

    assert counts(outcome, "scores") == (1, 0, 0)


def test_judged_pass_of_that_name_does_not_matter_without_scores(tmp_path: Path) -> None:
    make_pass(benchmark=Benchmark.objects.get(slug=BENCHMARK), name="imported", source=PassSource.JUDGED)

    outcome = import_rows(tmp_path, responses=[response_row(rollout="1")])

    assert outcome.is_stored
