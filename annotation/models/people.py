"""Those who label: annotators, the campaigns they are in, what they consented to."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.choices import AnnotatorType
from annotation.models.base import new_public_id, one_of
from annotation.models.campaigns import Campaign
from annotation.models.material import Account, Benchmark

# Reports name people's joint reading so, beside the single annotators by their codes.
RESERVED_CODE = "consensus"


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


class Membership(models.Model):
    """An annotator who may work in a campaign."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="memberships")
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="memberships")
    created_at = models.DateTimeField(default=timezone.now)
    deactivated_at = models.DateTimeField(null=True, blank=True)
    # When the training items were passed; `training_round` counts how often they were begun again.
    trained_at = models.DateTimeField(null=True, blank=True)
    training_round = models.PositiveSmallIntegerField(default=1)
    # The sitting that the person is in: it ends when nothing is asked for during SITTING_GAP.
    sitting_began_at = models.DateTimeField(null=True, blank=True)
    last_seen_at = models.DateTimeField(null=True, blank=True)
    n_shown_in_sitting = models.PositiveIntegerField(default=0)
    # Since the last break: when it ended (or the sitting began), and grave items shown since.
    break_ended_at = models.DateTimeField(null=True, blank=True)
    n_grave_since_break = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "annotator"], name="membership_once")]


class CategoryOptOut(models.Model):
    """A risk category that a person does not want to read in a campaign."""

    membership = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="opt_outs")
    risk_category = models.CharField(max_length=200)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["membership", "risk_category"], name="opt_out_once_per_category")
        ]


class Invitation(models.Model):
    """A link that lets one person into a campaign, once. Only a hash of its secret is stored."""

    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="invitations")
    annotator_type = models.CharField(max_length=16, choices=AnnotatorType.choices)
    secret_hash = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(Account, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    used_at = models.DateTimeField(null=True, blank=True)
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, null=True, related_name="invitations")

    class Meta:
        constraints = [
            one_of("annotator_type", AnnotatorType, name="invitation_type_known"),
            models.CheckConstraint(
                condition=Q(used_at=None, annotator=None)
                | Q(used_at__isnull=False, annotator__isnull=False, revoked_at=None),
                name="invitation_used_by_one",
            ),
        ]


class Consent(models.Model):
    """A consent given to one version of a campaign's text; a withdrawal closes it."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="consents")
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="consents")
    version = models.PositiveIntegerField()
    text_hash = models.CharField(max_length=64)
    # The language in which it was read.
    locale = models.CharField(max_length=16, default="en")
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
