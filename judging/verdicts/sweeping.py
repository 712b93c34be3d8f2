"""What every worker does once a second: mend what dead workers left, and find due work."""

from django.db.models import Q

from judging.choices import PassState, VerdictState
from judging.models import EndpointGate, Verdict
from judging.passes.control import finish_passes, settle_cancelled
from judging.verdicts.claiming import database_now
from judging.verdicts.leases import release_overdue


def sweep() -> list[str]:
    """Release overdue rows, close cancelled ones, finish done passes.

    Safe to run in any number of workers at once.

    Returns:
        Names of the endpoints that have due rows, for which a loop should run.
    """
    release_overdue()
    settle_cancelled()
    finish_passes()
    return due_endpoints()


def due_endpoints() -> list[str]:
    """Endpoints with a row that may be claimed now. Two queries."""
    now = database_now()
    due = Verdict.objects.filter(
        Q(not_before=None) | Q(not_before__lte=now),
        state=VerdictState.PENDING,
        judge_pass__state=PassState.RUNNING,
        endpoint_name__isnull=False,
    )
    rows = due.order_by().values_list("endpoint_name", flat=True).distinct()
    names = {name for name in rows if name is not None}
    waiting = EndpointGate.objects.filter(name__in=names, not_before__gt=now).values_list("name", flat=True)
    return sorted(names.difference(waiting))
