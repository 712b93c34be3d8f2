"""How each endpoint of the file stands: key, limits, loops, waits, and its calls of the last hour."""

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db.models import Count

from judging.choices import PassState, VerdictState
from judging.llm.endpoints import Endpoint, load_endpoints
from judging.llm.keys import has_key
from judging.llm.proxies import effective_proxy
from judging.models import EndpointGate, Generation, JudgePass, Verdict
from judging.monitoring.calls import RecentCalls, read_ledger
from judging.monitoring.loops import Loop, loops_at
from judging.passes.seats import frozen_models
from judging.queue.gate import database_now


@dataclass(frozen=True, kw_only=True)
class EndpointStatus:
    """One endpoint now.

    `has_key` is None where no key is needed, and speaks of this process: a worker may have another
    environment. `proxy` is where calls really go first, None when they go straight. `n_in_hand` are rows
    that workers hold, in flight or about to be.
    """

    endpoint: Endpoint
    has_key: bool | None
    proxy: str | None
    waiting_until: dt.datetime | None
    loops: Sequence[Loop]
    n_in_hand: int
    calls: RecentCalls

    @property
    def n_slots_in_use(self) -> int:
        return sum(loop.slots for loop in self.loops)

    @property
    def is_in_use(self) -> bool:
        """Whether anything was called here, or is being called or waited for."""
        return bool(self.calls.n_calls or self.loops or self.n_in_hand or self.waiting_until)


@dataclass(frozen=True)
class EndpointOverview:
    """Every endpoint that offers a model or is in use, those in use first.

    A preset is left without a model when the file offers all of its models elsewhere. `missing` are called
    by running passes and named in no file.
    """

    statuses: Sequence[EndpointStatus]
    missing: Sequence[str]
    since: dt.datetime


def endpoint_overview() -> EndpointOverview:
    """The endpoints file's endpoints as they stand. Seven queries.

    Raises:
        EndpointError: the endpoints file cannot be read.
    """
    endpoints = load_endpoints(settings.ENDPOINTS_FILE)
    now = database_now()
    ledger = read_ledger(now=now)
    holds = dict(
        EndpointGate.objects.filter(name__in=endpoints, not_before__gt=now).values_list("name", "not_before")
    )
    loops = loops_at(list(endpoints), now=now)
    n_in_hand = _count_in_hand()
    statuses = [
        EndpointStatus(
            endpoint=endpoint,
            has_key=None if endpoint.key_variable is None else has_key(endpoint.key_variable),
            proxy=effective_proxy(
                endpoint.base_url, uses_environment_proxies=settings.USES_ENVIRONMENT_PROXIES
            ),
            waiting_until=holds.get(name),
            loops=[loop for loop in loops if loop.endpoint_name == name],
            n_in_hand=n_in_hand.get(name, 0),
            calls=ledger.at(name),
        )
        for name, endpoint in endpoints.items()
    ]
    shown = [status for status in statuses if status.endpoint.models or status.is_in_use]
    return EndpointOverview(
        statuses=sorted(shown, key=lambda status: (not status.is_in_use, status.endpoint.name)),
        missing=sorted(_called_now().difference(endpoints)),
        since=ledger.since,
    )


def _count_in_hand() -> Mapping[str, int]:
    """Rows in the hands of workers, by endpoint. Two queries."""
    n_rows: Counter[str] = Counter()
    for row_class in (Verdict, Generation):
        held = row_class.objects.filter(state=VerdictState.RUNNING, endpoint_name__isnull=False)
        n_rows.update(dict(held.order_by().values_list("endpoint_name").annotate(Count("pk"))))
    return n_rows


def _called_now() -> set[str]:
    running = JudgePass.objects.filter(state=PassState.RUNNING).values_list("configuration", flat=True)
    return {model["endpoint"] for configuration in running for model in frozen_models(configuration).values()}
