"""Slots of an endpoint, shared by its loops: leased, so that their sum keeps the limit over all workers.

A loop holds slots and not rows: a row that it claimed ahead takes none until it is sent. Whoever leases
holds the lock of the endpoint's gate.
"""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from judging.choices import PassKind
from judging.models import SlotLease

# Loops that cannot all have the same share take the larger ones by turns.
TURN_S = 10.0
# A loop says so often that it lives. Its row leases are extended each third of their length.
MOST_BEAT_S = 5.0


def beat_s(lease_s: float) -> float:
    """How often a loop extends the lease of its slots."""
    return min(MOST_BEAT_S, lease_s / 3)


def slot_lease_s(lease_s: float) -> float:
    """How long slots are leased: never shorter than the rows that are in flight in them."""
    return lease_s + beat_s(lease_s)


@dataclass(frozen=True, kw_only=True)
class Grant:
    """What a loop may have in flight from now on.

    `slots` is its share: no call is begun beyond it. `held` is what the lease counts, and it is higher
    while calls above the share are still in flight.
    """

    slots: int
    held: int


def fair_shares(wanted: Mapping[str, int], *, most: int, turn: int = 0) -> dict[str, int]:
    """Divide slots among loops: what one does not want is left to the others, and no one gets less than
    another that wants no more.

    Args:
        wanted: by loop.
        most: slots to divide.
        turn: which loops get the larger shares when they are not all equal; any whole number.
    """
    names = sorted(wanted)
    start = turn % len(names) if names else 0
    # The larger shares go to those that come last here.
    order = sorted(names[start:] + names[:start], key=lambda name: wanted[name])
    shares, left = {}, most
    for position, name in enumerate(order):
        shares[name] = min(wanted[name], left // (len(order) - position))
        left -= shares[name]
    return shares


def lease_slots(
    endpoint_name: str,
    *,
    worker: str,
    kind: PassKind,
    wanted: int,
    in_use: int,
    most: int,
    lease_until: dt.datetime,
    now: dt.datetime,
) -> Grant:
    """Take a loop's share of an endpoint's slots. Must run under the lock of its gate.

    Args:
        endpoint_name: whose slots.
        worker: name of the loop.
        kind: of the passes that it works on.
        wanted: slots that it could use.
        in_use: calls that it has in flight, or may begin before it hears of its share.
        most: the endpoint's limit.
        lease_until: end of its lease, unless extended.
        now: ended leases of other loops are forgotten.
    """
    leases = list(SlotLease.objects.filter(endpoint_name=endpoint_name).order_by("pk"))
    ended = [lease.pk for lease in leases if lease.lease_until <= now and lease.worker != worker]
    if ended:
        SlotLease.objects.filter(pk__in=ended).delete()
    others = [lease for lease in leases if lease.worker != worker and lease.pk not in ended]
    mine = next((lease for lease in leases if lease.worker == worker), None)
    shares = fair_shares(
        {lease.worker: max(lease.wanted, lease.slots) for lease in others} | {worker: wanted},
        most=most,
        turn=int(now.timestamp() // TURN_S),
    )
    slots = max(min(shares[worker], most - sum(lease.slots for lease in others)), 0)
    grant = Grant(slots=slots, held=max(slots, in_use))
    if mine is None:
        SlotLease.objects.create(
            endpoint_name=endpoint_name,
            worker=worker,
            kind=kind,
            slots=grant.held,
            wanted=wanted,
            lease_until=lease_until,
        )
    elif (mine.slots, mine.wanted) != (grant.held, wanted) or mine.lease_until <= now:
        SlotLease.objects.filter(pk=mine.pk).update(slots=grant.held, wanted=wanted, lease_until=lease_until)
    return grant


def shrink_lease(endpoint_name: str, *, worker: str, slots: int) -> None:
    """Leave to the others what a loop has no rows for. Must run under the lock of the gate."""
    SlotLease.objects.filter(endpoint_name=endpoint_name, worker=worker).update(slots=slots, wanted=slots)


def extend_slots(*, worker: str, lease_until: dt.datetime) -> None:
    """Keep a loop's lease; part of its heartbeat."""
    SlotLease.objects.filter(worker=worker).update(lease_until=lease_until)


def release_slots(*, worker: str) -> None:
    """Give a loop's slots back; it has no call in flight any more."""
    SlotLease.objects.filter(worker=worker).delete()
