"""Requests for labels: campaigns and their items."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.choices import CampaignState, ItemKind, Scale
from annotation.models.base import new_public_id, one_of
from annotation.models.material import Account, Benchmark, Response


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
