"""What was done, by whom."""

from django.db import models
from django.utils import timezone

from annotation.models.material import Account


class AuditEvent(models.Model):
    """What was done, by whom, on what. Written in the act's own transaction; append-only."""

    at = models.DateTimeField(default=timezone.now)
    actor = models.ForeignKey(Account, on_delete=models.PROTECT, null=True, related_name="+")
    action = models.CharField(max_length=64)
    subject = models.CharField(max_length=128)
    detail = models.JSONField(default=dict)

    class Meta:
        indexes = [models.Index(fields=["subject", "at"], name="audit_by_subject")]
