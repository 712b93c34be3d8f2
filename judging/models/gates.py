"""What all workers together must respect at one endpoint."""

from django.db import models
from django.db.models import Q

from annotation.models import one_of
from judging.choices import PassKind


class EndpointGate(models.Model):
    """The limits' state of one endpoint; locked by every claim."""

    name = models.CharField(max_length=100, unique=True)
    not_before = models.DateTimeField(null=True)
    # Token buckets for requests and for tokens a minute: how much was left, and when that was true.
    request_allowance = models.FloatField(default=0)
    token_allowance = models.FloatField(default=0)
    allowance_at = models.DateTimeField(null=True)


class SlotLease(models.Model):
    """How many calls one loop may have in flight at an endpoint, for as long as the lease lasts.

    The sum over all loops never exceeds the endpoint's limit. `wanted` is what the loop could use, so that
    the others know how much to leave.
    """

    endpoint_name = models.CharField(max_length=100)
    worker = models.CharField(max_length=100)
    kind = models.CharField(max_length=16, choices=PassKind.choices, default=PassKind.JUDGING)
    slots = models.PositiveIntegerField()
    wanted = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["endpoint_name", "worker"], name="slot_lease_once_per_loop"),
            one_of("kind", PassKind, name="slot_lease_kind_known"),
            models.CheckConstraint(condition=~Q(worker=""), name="slot_lease_has_worker"),
        ]
