"""What people said: assignments under leases, and labels as revisions that are only added."""

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from annotation.choices import AnnotatorType, AssignmentState, LabelAction, Rating, SkipReason, TextView
from annotation.models.base import new_public_id, one_of
from annotation.models.campaigns import CampaignItem
from annotation.models.material import Account
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
    first_shown_at = models.DateTimeField(null=True, blank=True)
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
    # How the texts stood on the page, and for how long it was read, idle time apart; null when not known.
    text_view = models.CharField(max_length=16, choices=TextView.choices, null=True)
    active_ms = models.PositiveIntegerField(null=True)
    created_at = models.DateTimeField(default=timezone.now)
    # Set when a withdrawal blanked what was said. Such a row is in no figure and never comes back.
    erased_at = models.DateTimeField(null=True)

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
                | (~Q(action="RETRACTED") & Q(rating__isnull=False, rating__in=Rating.values))
                | Q(erased_at__isnull=False),
                name="label_rating_unless_retracted",
            ),
            models.CheckConstraint(
                condition=Q(erased_at=None)
                | Q(rating=None, severity=None, note=None, rating_raw=None, is_current=False),
                name="label_erased_is_blank",
            ),
            models.CheckConstraint(
                condition=Q(text_view=None) | Q(text_view__in=TextView.values), name="label_text_view_known"
            ),
            models.CheckConstraint(
                condition=Q(severity=None) | Q(severity__gte=FIRST_SEVERITY, severity__lte=LAST_SEVERITY),
                name="label_severity_in_scale",
            ),
            one_of("action", LabelAction, name="label_action_known"),
            one_of("annotator_type", AnnotatorType, name="label_annotator_type_known"),
        ]
        indexes = [models.Index(F("item"), condition=Q(is_current=True), name="label_current_by_item")]


class Draft(models.Model):
    """What a person has typed and chosen for an item without answering yet."""

    assignment = models.OneToOneField(Assignment, on_delete=models.CASCADE, related_name="draft")
    note = models.TextField(blank=True)
    severity = models.PositiveSmallIntegerField(null=True)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(severity=None) | Q(severity__gte=FIRST_SEVERITY, severity__lte=LAST_SEVERITY),
                name="draft_severity_in_scale",
            )
        ]


class Flag(models.Model):
    """Something in an item that the lead of the study should look at."""

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    item = models.ForeignKey(CampaignItem, on_delete=models.PROTECT, related_name="flags")
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="flags")
    note = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolved_by = models.ForeignKey(Account, on_delete=models.PROTECT, null=True, related_name="+")
    resolution = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["item", "annotator"], condition=Q(resolved_at=None), name="flag_one_open"
            )
        ]


class Adjudication(models.Model):
    """A decision on a contested item, with its reason. Append-only; it never edits a label."""

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    item = models.ForeignKey(CampaignItem, on_delete=models.PROTECT, related_name="adjudications")
    adjudicator = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+")
    decision = models.CharField(max_length=16, choices=Rating.choices)
    reason = models.TextField()
    # The labels that were decided upon: a digest, so that a later label shows the decision to be older.
    labels_digest = models.CharField(max_length=64)
    is_current = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["item"], condition=Q(is_current=True), name="adjudication_one_current"
            ),
            one_of("decision", Rating, name="adjudication_decision_known"),
            models.CheckConstraint(condition=~Q(reason=""), name="adjudication_has_reason"),
        ]
