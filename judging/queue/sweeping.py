"""What every worker does once a second: mend what dead workers left, and find due work."""

from collections.abc import Collection
from typing import NamedTuple

from django.db.models import Q

from judging.choices import PassKind, PassState, VerdictState
from judging.models import EndpointGate
from judging.passes.control import finish_passes, settle_cancelled
from judging.queue.gate import database_now
from judging.queue.leases import release_overdue
from judging.queue.work import Work


class LoopKey(NamedTuple):
    """What one loop works on: the rows of one kind of pass at one endpoint."""

    endpoint_name: str
    kind: PassKind


def sweep(works: Collection[Work]) -> list[LoopKey]:
    """Release overdue rows, close cancelled ones, finish done passes.

    Safe to run in any number of workers at once.

    Returns:
        The loops that should run, as they have due rows.
    """
    # Kinds that share a table share its overdue rows.
    for work in {work.row_class: work for work in works}.values():
        release_overdue(work)
    settle_cancelled()
    finish_passes()
    return due_loops(works)


def due_loops(works: Collection[Work]) -> list[LoopKey]:
    """Endpoints and kinds with a row that may be claimed now. A query a table, and one more."""
    now = database_now()
    due: set[LoopKey] = set()
    for row_class in {work.row_class for work in works}:
        rows = row_class.objects.filter(
            Q(not_before=None) | Q(not_before__lte=now),
            state=VerdictState.PENDING,
            judge_pass__state=PassState.RUNNING,
            endpoint_name__isnull=False,
        )
        pairs = rows.order_by().values_list("endpoint_name", "judge_pass__kind").distinct()
        due |= {LoopKey(name, PassKind(kind)) for name, kind in pairs if name is not None}
    names = {key.endpoint_name for key in due}
    waiting = set(
        EndpointGate.objects.filter(name__in=names, not_before__gt=now).values_list("name", flat=True)
    )
    return sorted(key for key in due if key.endpoint_name not in waiting)
