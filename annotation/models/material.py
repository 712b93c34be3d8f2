"""Accounts, and what is read: benchmarks, prompts, target models, responses."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.choices import CorrectionReason, ResponseState, Role, TokensSource
from annotation.models.base import new_public_id, one_of


class Account(AbstractUser):
    """A person who can sign in. What they may do follows from the role alone."""

    role = models.CharField(max_length=16, choices=Role.choices, default=Role.ANNOTATOR)

    class Meta:
        constraints = [one_of("role", Role, name="account_role_known")]

    @property
    def is_researcher(self) -> bool:
        """Researchers and admins read every number and may start work."""
        return self.is_active and self.role in (Role.RESEARCHER, Role.ADMIN)


class Benchmark(models.Model):
    """One data set: its prompts, and the notices that every export carries."""

    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=200)
    canary = models.CharField(max_length=200, null=True, blank=True)
    licence = models.CharField(max_length=200, null=True, blank=True)
    attribution = models.TextField(null=True, blank=True)
    is_simulated = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.slug


class Prompt(models.Model):
    """One test case. `case_uid` is opaque text: 007 and 7 are two cases."""

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="prompts")
    case_uid = models.CharField(max_length=200)
    risk_category = models.CharField(max_length=200)
    risk_mechanism = models.CharField(max_length=200, null=True, blank=True)
    text = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "case_uid"], name="prompt_once_per_benchmark"),
            models.CheckConstraint(condition=~Q(case_uid="") & ~Q(risk_category=""), name="prompt_has_keys"),
            models.CheckConstraint(condition=~Q(risk_mechanism=""), name="prompt_mechanism_not_blank"),
        ]

    def __str__(self) -> str:
        return self.case_uid


class TargetModel(models.Model):
    """A language model whose responses are measured."""

    slug = models.CharField(max_length=200, unique=True)
    family = models.CharField(max_length=100, null=True, blank=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=~Q(slug=""), name="target_model_has_slug")]

    def __str__(self) -> str:
        return self.slug


class Response(models.Model):
    """What one target model answered to one prompt.

    `rollout` is null for a response that stands outside any rollout: a labelled text that is not
    among the responses being judged. Such a row never enters the leaderboard.
    """

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    prompt = models.ForeignKey(Prompt, on_delete=models.PROTECT, related_name="responses")
    target_model = models.ForeignKey(TargetModel, on_delete=models.PROTECT, related_name="responses")
    rollout = models.PositiveIntegerField(null=True, blank=True)
    state = models.CharField(max_length=16, choices=ResponseState.choices)
    text = models.TextField(blank=True)
    text_hash = models.CharField(max_length=64)
    error = models.TextField(null=True, blank=True)
    finish_reason = models.CharField(max_length=32, null=True, blank=True)
    # Of a collected response: length of the answer, who counted it, and the settings that were sent.
    n_tokens = models.PositiveIntegerField(null=True, blank=True)
    tokens_source = models.CharField(max_length=16, choices=TokensSource.choices, null=True, blank=True)
    settings = models.JSONField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["prompt", "target_model", "rollout"],
                condition=Q(rollout__isnull=False),
                name="response_once_per_rollout",
            ),
            models.UniqueConstraint(
                fields=["prompt", "target_model", "text_hash"],
                condition=Q(rollout__isnull=True),
                name="response_once_outside_rollouts",
            ),
            one_of("state", ResponseState, name="response_state_known"),
            models.CheckConstraint(condition=~Q(state="OK") | ~Q(text=""), name="response_ok_has_text"),
            models.CheckConstraint(condition=~Q(state="OK") | Q(error=None), name="response_ok_has_no_error"),
            models.CheckConstraint(
                condition=Q(n_tokens=None, tokens_source=None)
                | Q(
                    n_tokens__isnull=False, tokens_source__isnull=False, tokens_source__in=TokensSource.values
                ),
                name="response_tokens_have_source",
            ),
        ]

    @property
    def is_simulated(self) -> bool:
        """The loopback provider answered, and not the model that is named. Known of collected responses."""
        return bool((self.settings or {}).get("is_simulated"))


class ResponseRevision(models.Model):
    """What a response was before its text was corrected. Append-only: no text is lost."""

    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="revisions")
    text = models.TextField(blank=True)
    text_hash = models.CharField(max_length=64)
    state = models.CharField(max_length=16, choices=ResponseState.choices)
    error = models.TextField(null=True)
    finish_reason = models.CharField(max_length=32, null=True)
    reason = models.CharField(max_length=16, choices=CorrectionReason.choices)
    actor = models.ForeignKey(Account, on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            one_of("reason", CorrectionReason, name="response_revision_reason_known"),
            one_of("state", ResponseState, name="response_revision_state_known"),
        ]
