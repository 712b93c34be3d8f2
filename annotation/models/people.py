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
