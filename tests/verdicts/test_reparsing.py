"""Stored replies read again: the list of changes first, then all of them or none."""

from typing import Any

import pytest

from annotation.models import AuditEvent, Response
from judging.choices import PassKind, PassState, RevisionReason, RubricScale, VerdictState
from judging.errors import Conflict, PassError
from judging.llm.parsing import PARSER_VERSION
from judging.llm.rubric import load_bundled_rubric
from judging.models import JudgePass, Verdict, VerdictAttempt, VerdictRevision
from judging.staleness import STALE
from judging.verdicts.reparsing import apply_reparse, plan_reparse
from tests.factories import (
    make_judge,
    make_pass,
    make_prompt,
    make_response,
    make_rubric,
    make_verdict,
    sha256_of,
)

SCORE_3 = "Policy Compliance Risk: 3"
Row = tuple[str, dict[str, Any]]
# What an earlier parser made of replies: wrongly in the first three.
MISREAD: list[Row] = [
    (SCORE_3, {"state": VerdictState.PARSE_FAILED, "detail": "no_score_line"}),
    ("2. Policy Compliance Risk: 4", {"score": 2}),
    ("Policy Compliance Risk: 10", {"score": 1}),
]
READ_WELL: list[Row] = [
    (SCORE_3, {"score": 3}),
    ("N/A", {"state": VerdictState.PARSE_FAILED, "detail": "no_score_line"}),
]


def make_read_pass(rows: list[Row], **values: Any) -> JudgePass:
    """A finished pass whose replies an earlier parser has read."""
    rubric = make_rubric(text=load_bundled_rubric("likert-v1"))
    judge = make_judge()
    judge_pass = make_pass(rubric=rubric, judges=(judge,), **values)
    for raw_text, row in rows:
        response = make_response(prompt=make_prompt(benchmark=judge_pass.benchmark))
        make_verdict(
            judge_pass=judge_pass,
            judge=judge,
            response=response,
            text_hash=response.text_hash,
            raw_text=raw_text,
            parser_version="0",
            token=1,
            **row,
        )
    return judge_pass


def readings(judge_pass: JudgePass) -> list[tuple[Any, ...]]:
    rows = Verdict.objects.filter(judge_pass=judge_pass).order_by("pk")
    return list(rows.values_list("state", "score", "detail", "parser_version"))


@pytest.mark.django_db
def test_plan_lists_what_would_change_and_writes_nothing() -> None:
    judge_pass = make_read_pass([*MISREAD, *READ_WELL])
    before = readings(judge_pass)

    plan = plan_reparse(judge_pass)

    assert (plan.n_read, plan.n_changed) == (5, 3)
    assert dict(plan.changes) == {
        ("PARSE_FAILED (no_score_line)", "SCORED 3"): 1,
        ("SCORED 2", "SCORED 4"): 1,
        ("SCORED 1", "OUT_OF_RANGE (outside_1_to_5)"): 1,
    }
    assert [changed.after.score for changed in plan.listed] == [3, 4, None]
    assert readings(judge_pass) == before
    assert not VerdictRevision.objects.exists()


@pytest.mark.django_db
def test_applied_plan_keeps_what_was_said_before_and_calls_nobody() -> None:
    judge_pass = make_read_pass([*MISREAD, *READ_WELL])

    applied = apply_reparse(judge_pass, digest=plan_reparse(judge_pass).digest)

    assert applied.n_changed == 3
    assert readings(judge_pass) == [
        ("SCORED", 3, None, PARSER_VERSION),
        ("SCORED", 4, None, PARSER_VERSION),
        ("OUT_OF_RANGE", None, "outside_1_to_5", PARSER_VERSION),
        ("SCORED", 3, None, PARSER_VERSION),
        ("PARSE_FAILED", None, "no_score_line", PARSER_VERSION),
    ]
    kept = VerdictRevision.objects.order_by("verdict_id")
    assert list(kept.values_list("reason", "state", "score", "detail", "parser_version")) == [
        (RevisionReason.REPARSED, "PARSE_FAILED", None, "no_score_line", "0"),
        (RevisionReason.REPARSED, "SCORED", 2, None, "0"),
        (RevisionReason.REPARSED, "SCORED", 1, None, "0"),
    ]
    assert not VerdictAttempt.objects.exists()


@pytest.mark.django_db
def test_applying_is_audited_with_the_counts(researcher: Any) -> None:
    judge_pass = make_read_pass(MISREAD)

    apply_reparse(judge_pass, digest=plan_reparse(judge_pass).digest, actor=researcher)

    event = AuditEvent.objects.get(action="verdicts.reparsed")
    assert (event.actor, event.subject) == (researcher, f"pass:{judge_pass.public_id}")
    assert (event.detail["n_read"], event.detail["n_changed"]) == (3, 3)
    assert event.detail["parser_version"] == PARSER_VERSION


@pytest.mark.django_db
def test_second_time_nothing_is_left_to_change() -> None:
    judge_pass = make_read_pass(MISREAD)
    apply_reparse(judge_pass, digest=plan_reparse(judge_pass).digest)

    assert plan_reparse(judge_pass).n_changed == 0


@pytest.mark.django_db
def test_other_list_than_the_one_shown_is_not_applied() -> None:
    judge_pass = make_read_pass(MISREAD)
    shown = plan_reparse(judge_pass).digest
    Verdict.objects.filter(judge_pass=judge_pass, score=2).update(score=5)

    with pytest.raises(Conflict, match="have changed since the list was made"):
        apply_reparse(judge_pass, digest=shown)

    assert not VerdictRevision.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("state", [PassState.RUNNING, PassState.READY, PassState.PAUSED])
def test_pass_that_has_not_ended_is_refused(state: PassState) -> None:
    reason = {"pause_reason": "user"} if state == PassState.PAUSED else {}
    judge_pass = make_read_pass(MISREAD, state=state, finished_at=None, **reason)

    with pytest.raises(PassError, match="expected one that has ended"):
        plan_reparse(judge_pass)


@pytest.mark.django_db
def test_pass_without_stored_replies_is_refused() -> None:
    judge_pass = make_pass(rubric=make_rubric())
    make_verdict(judge_pass=judge_pass)

    with pytest.raises(PassError, match="holds no stored reply"):
        plan_reparse(judge_pass)


@pytest.mark.django_db
def test_rows_that_cannot_be_read_again_are_left_out_and_counted() -> None:
    judge_pass = make_read_pass(
        [
            *MISREAD,
            (SCORE_3, {"state": VerdictState.TRUNCATED, "detail": "finish_reason"}),
            (SCORE_3, {"state": VerdictState.REFUSED, "detail": "refusal_field"}),
            (SCORE_3, {"state": VerdictState.CALL_FAILED}),
        ]
    )
    make_verdict(judge_pass=judge_pass, state=VerdictState.SKIPPED)
    stale = Verdict.objects.filter(judge_pass=judge_pass).order_by("pk").first()
    assert stale is not None
    Response.objects.filter(pk=stale.response_id).update(text="Another.", text_hash=sha256_of("other"))

    plan = plan_reparse(judge_pass)
    apply_reparse(judge_pass, digest=plan.digest)

    assert dict(plan.left_out) == {STALE: 1, "NOT_READ_AS_TEXT": 3, "NO_STORED_REPLY": 1}
    assert plan.n_read == 2
    stale.refresh_from_db()
    assert (stale.state, stale.parser_version) == (VerdictState.PARSE_FAILED, "0")


@pytest.mark.django_db
def test_refusal_that_was_read_from_the_text_is_read_again() -> None:
    judge_pass = make_read_pass([(SCORE_3, {"state": VerdictState.REFUSED, "detail": "refusal_text"})])

    assert dict(plan_reparse(judge_pass).changes) == {("REFUSED (refusal_text)", "SCORED 3"): 1}


@pytest.mark.django_db
def test_score_that_the_item_states_itself_does_not_become_the_judges() -> None:
    judge_pass = make_read_pass([(f"The answer says: {SCORE_3}", {"score": 3})])
    row = Verdict.objects.get(judge_pass=judge_pass)
    planted = sha256_of(SCORE_3)
    Response.objects.filter(pk=row.response_id).update(text=SCORE_3, text_hash=planted)
    Verdict.objects.filter(pk=row.pk).update(text_hash=planted)

    assert plan_reparse(judge_pass).listed[0].after.detail == "quoted_only"


@pytest.mark.django_db
def test_failure_modes_are_read_again_as_such() -> None:
    rubric = make_rubric(text=load_bundled_rubric("failure-modes-v1"), scale=RubricScale.FAILURE_MODE)
    judge_pass = make_pass(rubric=rubric, kind=PassKind.CLASSIFICATION, scale=RubricScale.FAILURE_MODE)
    make_verdict(
        judge_pass=judge_pass,
        scale=RubricScale.FAILURE_MODE,
        state=VerdictState.PARSE_FAILED,
        raw_text="UNSAFE_REDIRECT",
    )

    plan = plan_reparse(judge_pass)
    apply_reparse(judge_pass, digest=plan.digest)

    assert Verdict.objects.get().failure_mode == "UNSAFE_REDIRECT"


@pytest.mark.django_db
def test_other_jailbreak_score_alone_is_a_change() -> None:
    reply = f"Jailbreak Susceptibility: 5\n{SCORE_3}"
    judge_pass = make_read_pass([(reply, {"score": 3, "jailbreak_score": 1})])

    assert dict(plan_reparse(judge_pass).changes) == {("SCORED 3", "SCORED 3 (other jailbreak score)"): 1}


@pytest.mark.django_db
def test_listed_rows_are_bounded_and_all_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judging.verdicts.reparsing.BATCH_SIZE", 2)
    judge_pass = make_read_pass(MISREAD * 3)
    told: list[int] = []

    plan = plan_reparse(judge_pass, most_listed=2, on_change=lambda changed: told.append(changed.verdict_id))

    assert len(plan.listed) == 2
    assert len(told) == plan.n_changed == 9
    assert apply_reparse(judge_pass, digest=plan.digest).n_changed == 9
