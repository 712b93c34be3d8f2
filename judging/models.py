"""What judges do: judges, rubrics, passes, verdicts, rules and stored reports.

Foreign keys into `annotation` carry `related_name="+"`: from a prompt, a response or a label there
is no path to a verdict.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.models import Benchmark, Response, new_public_id, one_of
from judging.choices import (
    FailureCode,
    PassSource,
    PassState,
    PauseReason,
    RubricScale,
    SkipCode,
    VerdictState,
)

FIRST_SCORE, LAST_SCORE = 1, 5


class Judge(models.Model):
    """A language model that scores responses. Imported judges have no endpoint."""

    slug = models.CharField(max_length=100, unique=True)
    short_name = models.CharField(max_length=50)
    family = models.CharField(max_length=100, null=True, blank=True)
    endpoint_name = models.CharField(max_length=100, null=True, blank=True)
    model_id = models.CharField(max_length=200, null=True, blank=True)
    parameters = models.JSONField(default=dict, blank=True)
    capabilities = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=~Q(slug=""), name="judge_has_slug")]

    def __str__(self) -> str:
        return self.slug


class Rubric(models.Model):
    """One immutable version of what a judge is asked."""

    slug = models.SlugField(max_length=64, unique=True)
    scale = models.CharField(max_length=16, choices=RubricScale.choices)
    text = models.TextField()
    text_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [one_of("scale", RubricScale, name="rubric_scale_known")]

    def __str__(self) -> str:
        return self.slug


class JudgePass(models.Model):
    """One frozen judging configuration over a set of responses.

    `configuration` holds everything that affects a score; `digest` is its SHA-256. Costs are whole
    millionths of a dollar, since sums of floats drift.
    """

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=100)
    source = models.CharField(max_length=16, choices=PassSource.choices)
    rubric = models.ForeignKey(Rubric, on_delete=models.PROTECT, null=True, related_name="passes")
    scale = models.CharField(max_length=16, choices=RubricScale.choices, default=RubricScale.LIKERT)
    judges = models.ManyToManyField(Judge, related_name="passes")
    configuration = models.JSONField(default=dict)
    digest = models.CharField(max_length=64)
    is_simulated = models.BooleanField(default=False)
    state = models.CharField(max_length=16, choices=PassState.choices, default=PassState.READY)
    pause_reason = models.CharField(max_length=16, choices=PauseReason.choices, null=True, blank=True)
    state_note = models.TextField(null=True, blank=True)
    max_calls = models.PositiveIntegerField(null=True, blank=True)
    max_cost_micros = models.PositiveBigIntegerField(null=True, blank=True)
    n_calls_reserved = models.PositiveIntegerField(default=0)
    cost_reserved_micros = models.PositiveBigIntegerField(default=0)
    cost_settled_micros = models.PositiveBigIntegerField(default=0)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name"], name="pass_name_once"),
            # Start pressed twice makes one run.
            models.UniqueConstraint(
                fields=["benchmark", "digest"],
                condition=Q(source="JUDGED", state__in=["READY", "RUNNING", "PAUSED"]),
                name="pass_once_while_active",
            ),
            one_of("state", PassState, name="pass_state_known"),
            one_of("source", PassSource, name="pass_source_known"),
            one_of("scale", RubricScale, name="pass_scale_known"),
            models.CheckConstraint(
                condition=Q(state="PAUSED", pause_reason__isnull=False, pause_reason__in=PauseReason.values)
                | (~Q(state="PAUSED") & Q(pause_reason=None)),
                name="pass_paused_has_reason",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Verdict(models.Model):
    """One judge on one response in one pass: the work queue's row and its result.

    `token` counts claims: whoever writes a result must still hold the token of the claim.
    """

    judge_pass = models.ForeignKey(JudgePass, on_delete=models.PROTECT, related_name="verdicts")
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="+")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="verdicts")
    endpoint_name = models.CharField(max_length=100, null=True)
    scale = models.CharField(max_length=16, choices=RubricScale.choices, default=RubricScale.LIKERT)
    state = models.CharField(max_length=16, choices=VerdictState.choices, default=VerdictState.PENDING)
    score = models.PositiveSmallIntegerField(null=True)
    jailbreak_score = models.PositiveSmallIntegerField(null=True)
    failure_code = models.CharField(max_length=32, choices=FailureCode.choices, null=True)
    skip_code = models.CharField(max_length=32, choices=SkipCode.choices, null=True)
    detail = models.TextField(null=True)
    raw_text = models.TextField(null=True)
    parser_version = models.CharField(max_length=32, null=True)
    exemplars = models.JSONField(null=True)
    n_exemplars_acceptable = models.PositiveSmallIntegerField(null=True)
    n_exemplars_unacceptable = models.PositiveSmallIntegerField(null=True)
    token = models.PositiveIntegerField(default=0)
    worker = models.CharField(max_length=100, null=True)
    lease_until = models.DateTimeField(null=True)
    not_before = models.DateTimeField(null=True)
    # How often a worker died while this row was being sent; two make it a suspect, claimed alone.
    n_deaths = models.PositiveSmallIntegerField(default=0)
    # What its calls came to so far, as `llm.retrying` counts it.
    counters = models.JSONField(default=dict)
    settled_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["judge_pass", "response", "judge"], name="verdict_once"),
            one_of("state", VerdictState, name="verdict_state_known"),
            models.CheckConstraint(
                condition=Q(state="SCORED", score__isnull=False) | (~Q(state="SCORED") & Q(score=None)),
                name="verdict_score_iff_scored",
            ),
            models.CheckConstraint(
                condition=Q(score=None)
                | Q(scale="LIKERT", score__gte=FIRST_SCORE, score__lte=LAST_SCORE)
                | Q(scale="BINARY", score__in=[0, 1]),
                name="verdict_score_in_scale",
            ),
            models.CheckConstraint(
                condition=Q(jailbreak_score=None)
                | Q(state="SCORED", jailbreak_score__gte=FIRST_SCORE, jailbreak_score__lte=LAST_SCORE),
                name="verdict_jailbreak_in_scale",
            ),
            models.CheckConstraint(
                condition=Q(state="CALL_FAILED", failure_code__isnull=False)
                | (~Q(state="CALL_FAILED") & Q(failure_code=None)),
                name="verdict_failure_has_code",
            ),
            models.CheckConstraint(
                condition=Q(state="SKIPPED", skip_code__isnull=False)
                | (~Q(state="SKIPPED") & Q(skip_code=None)),
                name="verdict_skip_has_code",
            ),
            models.CheckConstraint(
                condition=~Q(state="RUNNING") | Q(lease_until__isnull=False, worker__isnull=False),
                name="verdict_running_has_lease",
            ),
        ]
        indexes = [
            models.Index(
                fields=["judge_pass", "endpoint_name", "id"],
                condition=Q(state="PENDING"),
                name="verdict_pending",
            ),
            models.Index(
                fields=["endpoint_name", "lease_until"], condition=Q(state="RUNNING"), name="verdict_running"
            ),
            models.Index(fields=["judge_pass", "state"], name="verdict_by_state"),
        ]


class VerdictAttempt(models.Model):
    """One paid call. Append-only; one row for each claim that was sent."""

    verdict = models.ForeignKey(Verdict, on_delete=models.PROTECT, related_name="attempts")
    token = models.PositiveIntegerField()
    outcome = models.CharField(max_length=32)
    http_status = models.PositiveSmallIntegerField(null=True)
    tokens_in = models.PositiveIntegerField(null=True)
    tokens_out = models.PositiveIntegerField(null=True)
    cost_micros = models.PositiveBigIntegerField(null=True)
    latency_ms = models.PositiveIntegerField(null=True)
    reply_text = models.TextField(null=True)
    detail = models.TextField(null=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["verdict", "token"], name="attempt_once_per_claim")]


class EndpointGate(models.Model):
    """What all workers together must respect at one endpoint; locked by every claim."""

    name = models.CharField(max_length=100, unique=True)
    not_before = models.DateTimeField(null=True)
    # Token bucket for requests a minute: how much was left, and when that was true.
    request_allowance = models.FloatField(default=0)
    allowance_at = models.DateTimeField(null=True)


class GradingRule(models.Model):
    """An immutable rule: how the judges' scores become one verdict. Exact decimals as text in JSON."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, null=True, related_name="+")
    name = models.SlugField(max_length=64)
    definition = models.JSONField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name"], name="rule_name_once"),
            models.UniqueConstraint(fields=["name"], condition=Q(benchmark=None), name="rule_built_in_once"),
        ]

    def __str__(self) -> str:
        return self.name


class RuleAdoption(models.Model):
    """Which rule a benchmark's verdicts follow from a moment on; the newest row holds."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="+")
    rule = models.ForeignKey(GradingRule, on_delete=models.PROTECT, related_name="adoptions")
    adopted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    adopted_at = models.DateTimeField(default=timezone.now)


class Report(models.Model):
    """A computed report, kept under the digest of everything it was computed from."""

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="+")
    schema_version = models.PositiveSmallIntegerField()
    digest = models.CharField(max_length=64, unique=True)
    seed = models.BigIntegerField()
    code_version = models.CharField(max_length=64)
    content = models.JSONField()
    created_at = models.DateTimeField(default=timezone.now)
