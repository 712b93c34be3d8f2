"""What people said: assignments under leases, and labels as revisions that are only added."""

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from annotation.choices import AnnotatorType, AssignmentState, LabelAction, Rating, SkipReason
from annotation.models.base import new_public_id, one_of
from annotation.models.campaigns import CampaignItem
from annotation.models.people import Annotator

FIRST_SEVERITY, LAST_SEVERITY = 1, 5


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
