"""One consistent view of the database for as long as a file takes to write."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from annotation.models import Benchmark


@contextmanager
def consistent_snapshot() -> Iterator[None]:
    """Read one state of the database, blocking no writer; writing is refused.

    PostgreSQL: a REPEATABLE READ, READ ONLY transaction. SQLite: in WAL mode a deferred
    transaction reads the state of its first read while others go on writing. Transactions here
    otherwise begin IMMEDIATE, which takes the one write lock and would block every label, so the
    thread's connection begins this one DEFERRED and refuses writes meanwhile.

    Raises:
        RuntimeError: a transaction is open already, whose view would be used instead.
    """
    if connection.vendor == "sqlite":
        with _deferred_and_read_only(connection), transaction.atomic(durable=True):
            _read_once()
            yield
        return
    with transaction.atomic(durable=True):
        # Within a test's transaction, which Django lets pass, the level can no longer be set.
        if len(connection.atomic_blocks) == 1:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        _read_once()
        yield


@contextmanager
def _deferred_and_read_only(sqlite: BaseDatabaseWrapper) -> Iterator[None]:
    sqlite.ensure_connection()
    usual_mode = sqlite.transaction_mode  # type: ignore[attr-defined]
    sqlite.transaction_mode = "DEFERRED"  # type: ignore[attr-defined]
    try:
        with sqlite.cursor() as cursor:
            cursor.execute("PRAGMA query_only = ON")
        yield
    finally:
        sqlite.transaction_mode = usual_mode  # type: ignore[attr-defined]
        with sqlite.cursor() as cursor:
            cursor.execute("PRAGMA query_only = OFF")


def _read_once() -> None:
    """The view is fixed by the first read, so that it begins here and not at the first row."""
    Benchmark.objects.exists()
