"""The gate of an endpoint: the lock that every claim takes, the one clock, and the limits' state."""

import datetime as dt
from dataclasses import dataclass

from django.db import connection
from django.utils import timezone

from judging.llm.endpoints import Endpoint
from judging.models import EndpointGate
from judging.queue.buckets import Bucket

# Any number that no other part of the program locks.
_SUSPECTS_LOCK = 7_306_311


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
    for gate in EndpointGate.objects.select_for_update().filter(name=name):
        return gate
    EndpointGate.objects.get_or_create(name=name)
    return EndpointGate.objects.select_for_update().get(name=name)


def lock_suspects() -> None:
    """Let no other transaction look for suspect rows, at any endpoint, until this one ends.

    Taken after gate and passes, and nothing is waited for behind it.
    """
    # On SQLite the IMMEDIATE transaction is the lock.
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_SUSPECTS_LOCK])


def hold(gate: EndpointGate, *, until: dt.datetime) -> None:
    """Let no worker claim at the endpoint before `until`. A hold is only ever lengthened."""
    if gate.not_before is None or gate.not_before < until:
        gate.not_before = until
        EndpointGate.objects.filter(pk=gate.pk).update(not_before=until)


@dataclass
class Rates:
    """The rate limits of an endpoint as they stand under its lock; None for a limit that is not set.

    Tokens of a call are reserved with its claim as an estimate and corrected when they are known.
    """

    requests: Bucket | None
    tokens: Bucket | None

    @classmethod
    def of(cls, endpoint: Endpoint, gate: EndpointGate, *, now: dt.datetime, tokens_of_call: int) -> "Rates":
        """The limits now.

        Args:
            endpoint: says what the limits are.
            gate: says what is left of them; locked by this transaction.
            now: the database's time.
            tokens_of_call: the most that one call to be claimed reserves.
        """
        since, requests, tokens = gate.allowance_at, None, None
        if endpoint.requests_per_minute is not None:
            left = gate.request_allowance
            requests = Bucket.filled(endpoint.requests_per_minute, left=left, since=since, now=now)
        if endpoint.tokens_per_minute is not None:
            left, cost = gate.token_allowance, float(max(tokens_of_call, 1))
            tokens = Bucket.filled(endpoint.tokens_per_minute, left=left, since=since, now=now, cost=cost)
        return cls(requests, tokens)

    def n_calls(self, tokens_each: int) -> int | None:
        """How many calls of so many tokens are allowed now, None when there is no limit."""
        counts = []
        if self.requests is not None:
            counts.append(self.requests.n_calls())
        if self.tokens is not None:
            counts.append(self.tokens.n_calls(max(tokens_each, 1)))
        return min(counts) if counts else None

    def seconds_until(self, tokens_each: int) -> float:
        """How long until one call of so many tokens is allowed."""
        waits = [0.0]
        if self.requests is not None:
            waits.append(self.requests.seconds_until())
        if self.tokens is not None:
            waits.append(self.tokens.seconds_until(max(tokens_each, 1)))
        return max(waits)

    def reserve(self, n_calls: int, *, tokens_each: int) -> None:
        """Take claimed calls out of the buckets."""
        if self.requests is not None:
            self.requests = self.requests.less(n_calls)
        if self.tokens is not None:
            self.tokens = self.tokens.less(n_calls * tokens_each)

    def write(self, gate: EndpointGate, *, now: dt.datetime) -> None:
        """Store what is left, if there is any limit."""
        if self.requests is None and self.tokens is None:
            return
        EndpointGate.objects.filter(pk=gate.pk).update(
            request_allowance=self.requests.allowance if self.requests else 0.0,
            token_allowance=self.tokens.allowance if self.tokens else 0.0,
            allowance_at=now,
        )


def correct_tokens(gate: EndpointGate, n_tokens: int) -> None:
    """Take tokens beyond what was reserved out of the gate's bucket, or put them back when below 0."""
    if n_tokens:
        gate.token_allowance -= n_tokens
        EndpointGate.objects.filter(pk=gate.pk).update(token_allowance=gate.token_allowance)
