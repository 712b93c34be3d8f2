"""The loops of all workers as their leases of slots show them: where, how many slots, and whether alive."""

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass

from django.conf import settings

from judging.choices import PassKind
from judging.models import SlotLease
from judging.queue.slots import beat_s, slot_lease_s

# A loop extends its lease with each beat; after so many missed ones its worker is taken for gone.
MISSED_BEATS = 3


@dataclass(frozen=True)
class Loop:
    """One loop of a worker at an endpoint. `slots` stay taken until `lease_until`, even by a dead one."""

    endpoint_name: str
    worker: str
    kind: PassKind
    slots: int
    lease_until: dt.datetime
    last_beat_at: dt.datetime
    is_alive: bool


def loops_at(endpoint_names: Collection[str], *, now: dt.datetime) -> list[Loop]:
    """Loops that hold slots at these endpoints now, by endpoint and name. One query."""
    leases = SlotLease.objects.filter(endpoint_name__in=endpoint_names, lease_until__gt=now)
    return [_seen(lease, now=now) for lease in leases.order_by("endpoint_name", "worker")]


def _seen(lease: SlotLease, *, now: dt.datetime) -> Loop:
    last_beat_at = lease.lease_until - dt.timedelta(seconds=slot_lease_s(settings.LEASE_S))
    return Loop(
        endpoint_name=lease.endpoint_name,
        worker=lease.worker,
        kind=PassKind(lease.kind),
        slots=lease.slots,
        lease_until=lease.lease_until,
        last_beat_at=last_beat_at,
        is_alive=now - last_beat_at <= dt.timedelta(seconds=MISSED_BEATS * beat_s(settings.LEASE_S)),
    )
