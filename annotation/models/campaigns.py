"""Requests for labels: campaigns and their items."""

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from annotation.choices import (
    AnnotatorType,
    CampaignState,
    ItemKind,
    Rating,
    Scale,
    TextKind,
    WithdrawalPolicy,
)
from annotation.models.base import new_public_id, one_of
from annotation.models.material import Account, Benchmark, Response

# How mild a risk category is, by the researcher's own judgement. Up to GRAVE_UP_TO it is grave.
LEAST_MILD, MOST_MILD, GRAVE_UP_TO, USUAL_MILDNESS = 1, 5, 2, 3


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
    # First and last day on which it takes labels (UTC); null is no bound.
    opens_on = models.DateField(null=True, blank=True)
    closes_on = models.DateField(null=True, blank=True)
    withdrawal_policy = models.CharField(
        max_length=16, choices=WithdrawalPolicy.choices, default=WithdrawalPolicy.KEEP
    )
    # How its responses were chosen, for the record: filters, seed, strata.
    selection = models.JSONField(null=True, blank=True)
    # A break is offered after so many minutes, or so many items of grave categories. Null is never.
    break_after_minutes = models.PositiveSmallIntegerField(null=True, blank=True, default=30)
    break_after_grave = models.PositiveSmallIntegerField(null=True, blank=True, default=10)
    # No more items than these are shown to one person in a day (UTC) or a session. Null is no cap.
    daily_cap = models.PositiveSmallIntegerField(null=True, blank=True)
    session_cap = models.PositiveSmallIntegerField(null=True, blank=True)
    # Per cent of the training items to be answered as expected before other items come. Null: no mark.
    pass_mark = models.PositiveSmallIntegerField(null=True, blank=True)
    # So many per cent of a person's items come again, unannounced, after so many days.
    repeat_percent = models.PositiveSmallIntegerField(default=0)
    repeat_after_days = models.PositiveSmallIntegerField(default=7)
    # Whether an adjudicator's decision takes the place of people's consensus.
    adjudication_overrides = models.BooleanField(default=False)
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
            one_of("withdrawal_policy", WithdrawalPolicy, name="campaign_withdrawal_policy_known"),
            models.CheckConstraint(
                condition=Q(opens_on=None) | Q(closes_on=None) | Q(closes_on__gte=F("opens_on")),
                name="campaign_dates_in_order",
            ),
            models.CheckConstraint(
                condition=(Q(pass_mark=None) | Q(pass_mark__lte=100))
                & Q(repeat_percent__lte=100, repeat_after_days__gte=1),
                name="campaign_shares_in_range",
            ),
            models.CheckConstraint(
                condition=(Q(break_after_minutes=None) | Q(break_after_minutes__gte=1))
                & (Q(break_after_grave=None) | Q(break_after_grave__gte=1))
                & (Q(daily_cap=None) | Q(daily_cap__gte=1))
                & (Q(session_cap=None) | Q(session_cap__gte=1)),
                name="campaign_care_positive",
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
    # Of TRAINING and GOLD items: the answer that is expected, and what is said after a training item.
    expected_rating = models.CharField(max_length=16, choices=Rating.choices, null=True, blank=True)
    feedback = models.TextField(blank=True)
    # Of a REPEAT item: the regular item that it shows once more.
    repeats = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="repeated")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "response"], condition=~Q(kind="REPEAT"), name="item_once_per_response"
            ),
            models.UniqueConstraint(
                fields=["repeats"], condition=Q(repeats__isnull=False), name="item_repeated_once"
            ),
            one_of("kind", ItemKind, name="item_kind_known"),
            models.CheckConstraint(
                condition=Q(kind__in=["TRAINING", "GOLD"], expected_rating__isnull=False)
                | (~Q(kind__in=["TRAINING", "GOLD"]) & Q(expected_rating=None)),
                name="item_expects_an_answer",
            ),
            models.CheckConstraint(
                condition=Q(expected_rating=None) | Q(expected_rating__in=Rating.values),
                name="item_expected_rating_known",
            ),
            models.CheckConstraint(
                condition=Q(kind="REPEAT", repeats__isnull=False) | (~Q(kind="REPEAT") & Q(repeats=None)),
                name="item_repeat_of_another",
            ),
        ]


class TypeQuota(models.Model):
    """How many of the labels of each response one kind of rater gives. Without any, all kinds may fill it."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="quotas")
    annotator_type = models.CharField(max_length=16, choices=AnnotatorType.choices)
    n_labels = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "annotator_type"], name="quota_once_per_type"),
            one_of("annotator_type", AnnotatorType, name="quota_type_known"),
            models.CheckConstraint(condition=Q(n_labels__gte=1), name="quota_positive"),
        ]


class CategoryMildness(models.Model):
    """How mild a risk category is in a campaign, 1 grave to 5 mild, by the researcher and no verdict."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="mildness")
    risk_category = models.CharField(max_length=200)
    mildness = models.PositiveSmallIntegerField(default=USUAL_MILDNESS)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "risk_category"], name="mildness_once_per_category"),
            models.CheckConstraint(
                condition=Q(mildness__gte=LEAST_MILD, mildness__lte=MOST_MILD), name="mildness_in_range"
            ),
        ]


class CampaignText(models.Model):
    """One version of what a campaign tells its annotators. Append-only: no version is lost."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="texts")
    kind = models.CharField(max_length=16, choices=TextKind.choices)
    version = models.PositiveIntegerField()
    text = models.TextField(blank=True)
    text_hash = models.CharField(max_length=64)
    created_by = models.ForeignKey(Account, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "kind", "version"], name="campaign_text_once"),
            one_of("kind", TextKind, name="campaign_text_kind_known"),
        ]
