"""The gate of an endpoint: the lock that every claim takes, the one clock, and the limits' state."""

import datetime as dt

from django.db import connection
from django.utils import timezone

from judging.models import EndpointGate

ALLOWANCE_BURST_S = 1.0
# An endpoint that was not asked for this long starts with an empty bucket again.
ALLOWANCE_REST_S = 5.0


def database_now() -> dt.datetime:
    """The one clock of all leases: the database's on PostgreSQL, this machine's on SQLite."""
    if connection.vendor != "postgresql":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        return cursor.fetchone()[0]


def lock_gate(name: str) -> EndpointGate:
    """The gate of an endpoint, under this transaction's lock."""
    # On SQLite the IMMEDIATE transaction is the lock.
    gate = EndpointGate.objects.select_for_update().filter(name=name).first()
    if gate is None:
        EndpointGate.objects.get_or_create(name=name)
        gate = EndpointGate.objects.select_for_update().get(name=name)
    return gate


def hold(gate: EndpointGate, *, until: dt.datetime) -> None:
    """Let no worker claim at the endpoint before `until`. A hold is only ever lengthened."""
    if gate.not_before is None or gate.not_before < until:
        gate.not_before = until
        EndpointGate.objects.filter(pk=gate.pk).update(not_before=until)


def request_allowance(gate: EndpointGate, rate_per_s: float, now: dt.datetime) -> float:
    """Requests that the rate limit allows now: a bucket of one second's worth that starts empty."""
    if gate.allowance_at is None:
        return 0.0
    elapsed_s = (now - gate.allowance_at).total_seconds()
    if elapsed_s > ALLOWANCE_REST_S and elapsed_s * rate_per_s > 1:
        return 0.0
    size = max(rate_per_s * ALLOWANCE_BURST_S, 1.0)
    return min(size, gate.request_allowance + max(elapsed_s, 0.0) * rate_per_s)
