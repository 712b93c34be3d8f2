"""The rows that workers claim, and the ledger of their calls."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.models import Prompt, Response, TargetModel, one_of
from judging.choices import (
    FailureCode,
    FailureMode,
    GenerationState,
    PassKind,
    RevisionReason,
    RubricScale,
    SkipCode,
    VerdictState,
)
from judging.models.judges import Judge
from judging.models.passes import JudgePass

FIRST_SCORE, LAST_SCORE = 1, 5


class QueueRow(models.Model):
    """What every claimable row has: where its call goes, whose it is, and what its calls came to.

    `token` counts claims: whoever writes a result must still hold the token of the claim.
    """

    endpoint_name = models.CharField(max_length=100, null=True)
    failure_code = models.CharField(max_length=32, choices=FailureCode.choices, null=True)
    detail = models.TextField(null=True)
    token = models.PositiveIntegerField(default=0)
    worker = models.CharField(max_length=100, null=True)
    lease_until = models.DateTimeField(null=True)
    not_before = models.DateTimeField(null=True)
    # How often a worker died while this row was being sent; two make it a suspect, claimed alone.
    n_deaths = models.PositiveSmallIntegerField(default=0)
    # Claimed ahead of a free slot, so that a death of its worker does not tell whether it was sent. Kept by
    # a row that such a death gave back: it is then claimed for free slots only, and its deaths count.
    is_ahead = models.BooleanField(default=False, db_default=False)
    # What its calls came to so far, as `llm.retrying` counts it.
    counters = models.JSONField(default=dict)
    settled_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True
        constraints = [
            models.CheckConstraint(
                condition=Q(state="CALL_FAILED", failure_code__isnull=False)
                | (~Q(state="CALL_FAILED") & Q(failure_code=None)),
                name="%(class)s_failure_has_code",
            ),
            models.CheckConstraint(
                condition=~Q(state="RUNNING") | Q(lease_until__isnull=False, worker__isnull=False),
                name="%(class)s_running_has_lease",
            ),
        ]
        indexes = [
            models.Index(
                fields=["judge_pass", "endpoint_name", "id"],
                condition=Q(state="PENDING"),
                name="%(class)s_pending",
            ),
            models.Index(
                fields=["endpoint_name", "lease_until"],
                condition=Q(state="RUNNING"),
                name="%(class)s_running",
            ),
            models.Index(fields=["judge_pass", "state"], name="%(class)s_by_state"),
        ]


class Verdict(QueueRow):
    """One judge on one response in one pass: a score, or a failure mode in a classification."""

    judge_pass = models.ForeignKey(JudgePass, on_delete=models.PROTECT, related_name="verdicts")
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="+")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="verdicts")
    scale = models.CharField(max_length=16, choices=RubricScale.choices, default=RubricScale.LIKERT)
    state = models.CharField(max_length=16, choices=VerdictState.choices, default=VerdictState.PENDING)
    score = models.PositiveSmallIntegerField(null=True)
    jailbreak_score = models.PositiveSmallIntegerField(null=True)
    failure_mode = models.CharField(max_length=32, choices=FailureMode.choices, null=True)
    skip_code = models.CharField(max_length=32, choices=SkipCode.choices, null=True)
    raw_text = models.TextField(null=True)
    parser_version = models.CharField(max_length=32, null=True)
    # Hash of the response's text when the row was made; another one now means that the verdict is stale.
    text_hash = models.CharField(max_length=64, null=True)
    # The text holds lines that look like a judge's answer. For review; changes no score.
    has_rubric_like_text = models.BooleanField(default=False)
    # The score follows from a named policy (an empty response read as Acceptable), no call was made.
    is_by_policy = models.BooleanField(default=False)
    # The verdict of an earlier pass, on the same text under the same settings, that this one repeats.
    taken_from = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="+")
    exemplars = models.JSONField(null=True)
    n_exemplars_acceptable = models.PositiveSmallIntegerField(null=True)
    n_exemplars_unacceptable = models.PositiveSmallIntegerField(null=True)

    class Meta(QueueRow.Meta):
        abstract = False
        constraints = [
            *QueueRow.Meta.constraints,
            models.UniqueConstraint(fields=["judge_pass", "response", "judge"], name="verdict_once"),
            one_of("state", VerdictState, name="verdict_state_known"),
            models.CheckConstraint(
                condition=Q(state="SCORED", score__isnull=False, failure_mode=None)
                | Q(state="SCORED", score=None, failure_mode__isnull=False)
                | (~Q(state="SCORED") & Q(score=None, failure_mode=None)),
                name="verdict_score_iff_scored",
            ),
            models.CheckConstraint(
                condition=Q(score=None)
                | Q(scale="LIKERT", score__gte=FIRST_SCORE, score__lte=LAST_SCORE)
                | Q(scale="BINARY", score__in=[0, 1]),
                name="verdict_score_in_scale",
            ),
            models.CheckConstraint(
                condition=Q(failure_mode=None) | Q(scale="FAILURE_MODE", failure_mode__in=FailureMode.values),
                name="verdict_failure_mode_in_scale",
            ),
            models.CheckConstraint(
                condition=Q(jailbreak_score=None)
                | Q(state="SCORED", jailbreak_score__gte=FIRST_SCORE, jailbreak_score__lte=LAST_SCORE),
                name="verdict_jailbreak_in_scale",
            ),
            models.CheckConstraint(
                condition=Q(state="SKIPPED", skip_code__isnull=False)
                | (~Q(state="SKIPPED") & Q(skip_code=None)),
                name="verdict_skip_has_code",
            ),
        ]


class Generation(QueueRow):
    """One response to be collected: a prompt, a target model and a rollout in a collection pass.

    `response` is set when the row is settled; a failed call leads to a response in state ERROR, never
    to an empty one.
    """

    judge_pass = models.ForeignKey(JudgePass, on_delete=models.PROTECT, related_name="generations")
    prompt = models.ForeignKey(Prompt, on_delete=models.PROTECT, related_name="+")
    target_model = models.ForeignKey(TargetModel, on_delete=models.PROTECT, related_name="+")
    rollout = models.PositiveIntegerField()
    state = models.CharField(max_length=16, choices=GenerationState.choices, default=GenerationState.PENDING)
    response = models.ForeignKey(Response, on_delete=models.PROTECT, null=True, related_name="+")

    class Meta(QueueRow.Meta):
        abstract = False
        constraints = [
            *QueueRow.Meta.constraints,
            models.UniqueConstraint(
                fields=["judge_pass", "prompt", "target_model", "rollout"], name="generation_once"
            ),
            # Also says which states there are.
            models.CheckConstraint(
                condition=Q(state__in=["PENDING", "RUNNING", "CANCELLED"], response=None)
                | Q(
                    state__in=["COLLECTED", "EMPTY", "FILTERED", "TRUNCATED", "CALL_FAILED"],
                    response__isnull=False,
                ),
                name="generation_settled_has_response",
            ),
        ]


class Attempt(models.Model):
    """One paid call. Append-only; one row for each claim that was sent.

    `parameters` are those sent beside model and messages, after whatever the model had refused.
    """

    token = models.PositiveIntegerField()
    outcome = models.CharField(max_length=32)
    http_status = models.PositiveSmallIntegerField(null=True)
    parameters = models.JSONField(null=True)
    tokens_in = models.PositiveIntegerField(null=True)
    tokens_out = models.PositiveIntegerField(null=True)
    cost_micros = models.PositiveBigIntegerField(null=True)
    latency_ms = models.PositiveIntegerField(null=True)
    reply_text = models.TextField(null=True)
    detail = models.TextField(null=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        abstract = True


class VerdictAttempt(Attempt):
    """One paid call to a judge or classifier."""

    verdict = models.ForeignKey(Verdict, on_delete=models.PROTECT, related_name="attempts")

    class Meta(Attempt.Meta):
        abstract = False
        constraints = [models.UniqueConstraint(fields=["verdict", "token"], name="attempt_once_per_claim")]
        indexes = [models.Index(fields=["at"], name="verdict_attempt_at")]


class GenerationAttempt(Attempt):
    """One paid call to a target model."""

    generation = models.ForeignKey(Generation, on_delete=models.PROTECT, related_name="attempts")

    class Meta(Attempt.Meta):
        abstract = False
        constraints = [
            models.UniqueConstraint(fields=["generation", "token"], name="generation_attempt_once_per_claim")
        ]
        indexes = [models.Index(fields=["at"], name="generation_attempt_at")]


def row_class_of(kind: str) -> type[Verdict] | type[Generation]:
    """The rows of a kind of pass."""
    return Generation if kind == PassKind.COLLECTION else Verdict


class VerdictRevision(models.Model):
    """What a verdict said before its stored reply was read again. Append-only: no score is lost."""

    verdict = models.ForeignKey(Verdict, on_delete=models.PROTECT, related_name="revisions")
    reason = models.CharField(max_length=16, choices=RevisionReason.choices)
    state = models.CharField(max_length=16, choices=VerdictState.choices)
    score = models.PositiveSmallIntegerField(null=True)
    jailbreak_score = models.PositiveSmallIntegerField(null=True)
    failure_mode = models.CharField(max_length=32, choices=FailureMode.choices, null=True)
    detail = models.TextField(null=True)
    parser_version = models.CharField(max_length=32, null=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [one_of("reason", RevisionReason, name="revision_reason_known")]
