"""What people do: prompts, responses, campaigns and labels.

Validity that matters is a database constraint here. Missing is a state plus a null. Nothing in
this module knows of judges or verdicts.
"""

import secrets

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from annotation.choices import (
    AnnotatorType,
    AssignmentState,
    CampaignState,
    CorrectionReason,
    ItemKind,
    LabelAction,
    Rating,
    ResponseState,
    Role,
    Scale,
    SkipReason,
    TokensSource,
)

FIRST_SEVERITY, LAST_SEVERITY = 1, 5
# Reports name people's joint reading so, beside the single annotators by their codes.
RESERVED_CODE = "consensus"


def new_public_id() -> str:
    """A random id for addresses and files: 16 hexadecimal digits, never a row number."""
    return secrets.token_hex(8)


def one_of(field: str, choices: type[models.TextChoices], *, name: str) -> models.CheckConstraint:
    """Check that `field` holds one of the stored codes."""
    return models.CheckConstraint(condition=Q(**{f"{field}__in": choices.values}), name=name)


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


class Annotator(models.Model):
    """One human rater of one benchmark, under a code. Imported raters have no account."""

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="annotators")
    account = models.ForeignKey(Account, on_delete=models.PROTECT, null=True, related_name="annotators")
    code = models.CharField(max_length=100)
    annotator_type = models.CharField(max_length=16, choices=AnnotatorType.choices)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "code"], name="annotator_code_once"),
            models.UniqueConstraint(fields=["benchmark", "account"], name="annotator_account_once"),
            one_of("annotator_type", AnnotatorType, name="annotator_type_known"),
            models.CheckConstraint(condition=~Q(code=""), name="annotator_has_code"),
            models.CheckConstraint(
                condition=~Q(code__iexact=RESERVED_CODE), name="annotator_code_not_reserved"
            ),
        ]

    def __str__(self) -> str:
        return self.code


class Campaign(models.Model):
    """A request for labels: which responses, how many labels each, under which instructions."""

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="campaigns")
    slug = models.SlugField(max_length=64)
    name = models.CharField(max_length=200)
    scale = models.CharField(max_length=32, choices=Scale.choices)
    labels_per_response = models.PositiveSmallIntegerField(default=1)
    lease_minutes = models.PositiveIntegerField(default=60)
    instructions = models.TextField(blank=True)
    instructions_version = models.PositiveIntegerField(default=1)
    content_warning = models.TextField(blank=True)
    consent_text = models.TextField(blank=True)
    consent_version = models.PositiveIntegerField(default=1)
    support_text = models.TextField(blank=True)
    reveals_on_tap = models.BooleanField(default=True)
    state = models.CharField(max_length=16, choices=CampaignState.choices)
    created_by = models.ForeignKey(Account, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "slug"], name="campaign_slug_once"),
            one_of("scale", Scale, name="campaign_scale_known"),
            one_of("state", CampaignState, name="campaign_state_known"),
            models.CheckConstraint(
                condition=Q(labels_per_response__gte=1) & Q(lease_minutes__gte=1),
                name="campaign_counts_positive",
            ),
        ]

    def __str__(self) -> str:
        return self.slug

    @property
    def asks_severity(self) -> bool:
        """True when annotators give a severity 1-5 beside their rating."""
        return self.scale == Scale.BINARY_AND_SEVERITY


class CampaignItem(models.Model):
    """One response in one campaign."""

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="items")
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="items")
    kind = models.CharField(max_length=16, choices=ItemKind.choices, default=ItemKind.REGULAR)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "response"], condition=Q(kind="REGULAR"), name="item_regular_once"
            ),
            one_of("kind", ItemKind, name="item_kind_known"),
        ]


class Membership(models.Model):
    """An annotator who may work in a campaign."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="memberships")
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="memberships")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "annotator"], name="membership_once")]


class Consent(models.Model):
    """A consent given to one version of a campaign's text; a withdrawal closes it."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="consents")
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="consents")
    version = models.PositiveIntegerField()
    text_hash = models.CharField(max_length=64)
    consented_at = models.DateTimeField(default=timezone.now)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "annotator", "version"],
                condition=Q(withdrawn_at=None),
                name="consent_standing_once",
            )
        ]


class Assignment(models.Model):
    """An item in one annotator's hands. An OPEN one counts only while its lease lasts."""

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    item = models.ForeignKey(CampaignItem, on_delete=models.PROTECT, related_name="assignments")
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="assignments")
    state = models.CharField(max_length=16, choices=AssignmentState.choices, default=AssignmentState.OPEN)
    lease_until = models.DateTimeField()
    assigned_at = models.DateTimeField(default=timezone.now)
    skip_reason = models.CharField(max_length=32, choices=SkipReason.choices, null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "annotator"], name="assignment_once_per_person"),
            one_of("state", AssignmentState, name="assignment_state_known"),
            models.CheckConstraint(
                condition=Q(state="SKIPPED", skip_reason__isnull=False)
                | (~Q(state="SKIPPED") & Q(skip_reason__isnull=True)),
                name="assignment_skip_has_reason",
            ),
        ]
        indexes = [models.Index(fields=["annotator", "state"], name="assignment_by_annotator")]


class Label(models.Model):
    """One revision of one person's rating of one item. Append-only: triggers refuse the rest.

    A person's current label is the one row with `is_current`; taking a label back adds a
    RETRACTED row and leaves none current. Rows without an annotator are anonymous imports.
    """

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    submission_id = models.UUIDField(unique=True)
    item = models.ForeignKey(CampaignItem, on_delete=models.PROTECT, related_name="labels")
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, null=True, related_name="labels")
    revision = models.PositiveIntegerField(default=1)
    action = models.CharField(max_length=16, choices=LabelAction.choices, default=LabelAction.SUBMITTED)
    rating = models.CharField(max_length=16, choices=Rating.choices, null=True)
    severity = models.PositiveSmallIntegerField(null=True)
    note = models.TextField(null=True)
    annotator_type = models.CharField(max_length=16, choices=AnnotatorType.choices)
    annotator_type_raw = models.CharField(max_length=100, null=True)
    rating_raw = models.CharField(max_length=100, null=True)
    instructions_version = models.PositiveIntegerField(default=1)
    is_extra = models.BooleanField(default=False)
    is_imported = models.BooleanField(default=False)
    is_current = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["item", "annotator"],
                condition=Q(is_current=True, annotator__isnull=False),
                name="label_one_current",
            ),
            models.UniqueConstraint(
                fields=["item", "annotator", "revision"],
                condition=Q(annotator__isnull=False),
                name="label_revision_once",
            ),
            models.CheckConstraint(
                condition=Q(action="RETRACTED", rating=None, severity=None, is_current=False)
                | (~Q(action="RETRACTED") & Q(rating__isnull=False, rating__in=Rating.values)),
                name="label_rating_unless_retracted",
            ),
            models.CheckConstraint(
                condition=Q(severity=None) | Q(severity__gte=FIRST_SEVERITY, severity__lte=LAST_SEVERITY),
                name="label_severity_in_scale",
            ),
            one_of("action", LabelAction, name="label_action_known"),
            one_of("annotator_type", AnnotatorType, name="label_annotator_type_known"),
        ]
        indexes = [models.Index(F("item"), condition=Q(is_current=True), name="label_current_by_item")]


class AuditEvent(models.Model):
    """What was done, by whom, on what. Written in the act's own transaction; append-only."""

    at = models.DateTimeField(default=timezone.now)
    actor = models.ForeignKey(Account, on_delete=models.PROTECT, null=True, related_name="+")
    action = models.CharField(max_length=64)
    subject = models.CharField(max_length=128)
    detail = models.JSONField(default=dict)

    class Meta:
        indexes = [models.Index(fields=["subject", "at"], name="audit_by_subject")]
