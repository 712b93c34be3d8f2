"""Fixtures for all tests: people, their clients, a Redis server.

Rows made by migrations are gone after the first transactional test, as Django empties every table.
A transactional test that needs them asks for `django_db_serialized_rollback`.
"""

import gc
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from django.db import connection, transaction
from django.test import Client

from annotation.choices import Role
from annotation.models import Account
from tests.factories import make_account
from tests.services import MISSING, find_redis, skip_without

# With the scientific libraries loaded each full collection walks a million objects, and a test run
# would make thousands: a tenth of its time.
gc.set_threshold(100_000, 50, 100)


@pytest.fixture(scope="session", autouse=True)
def tables_are_emptied_quickly() -> Iterator[None]:
    """Lift all triggers while Django empties the tables after a transactional test.

    SQLite empties by DELETE, which append-only tables refuse. PostgreSQL would truncate every table, a
    file each; rows are deleted instead, where there are any.
    """
    operations_class = connection.ops.__class__
    flush = operations_class.execute_sql_flush

    def flush_without_triggers(operations: Any, sql_list: list[str]) -> None:
        connection = operations.connection
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
            triggers = cursor.fetchall()
            for name, _ in triggers:
                cursor.execute(f'DROP TRIGGER "{name}"')
            flush(operations, sql_list)
            for _, definition in triggers:
                cursor.execute(definition)

    def delete_what_there_is(operations: Any, _: list[str]) -> None:
        connection = operations.connection
        tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            # Triggers and foreign keys look away, so the order does not matter.
            cursor.execute("SET LOCAL session_replication_role = replica")
            cursor.execute(
                " UNION ALL ".join(f"SELECT '{table}' WHERE EXISTS (TABLE {table})" for table in tables)
            )
            for (table,) in cursor.fetchall():
                cursor.execute(f"DELETE FROM {table}")

    empty = flush_without_triggers if connection.vendor == "sqlite" else delete_what_there_is
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operations_class, "execute_sql_flush", empty)
        yield


@pytest.fixture
def annotator_account(db: None) -> Account:
    return make_account(role=Role.ANNOTATOR, username="annotator")


@pytest.fixture
def researcher(db: None) -> Account:
    return make_account(role=Role.RESEARCHER, username="researcher")


@pytest.fixture
def admin_account(db: None) -> Account:
    return make_account(role=Role.ADMIN, username="admin", is_staff=True, is_superuser=True)


@pytest.fixture
def annotator_client(annotator_account: Account) -> Client:
    return signed_in(annotator_account)


@pytest.fixture
def researcher_client(researcher: Account) -> Client:
    return signed_in(researcher)


@pytest.fixture
def admin_client(admin_account: Account) -> Client:
    return signed_in(admin_account)


def signed_in(account: Account) -> Client:
    """A client with a session of `account`."""
    client = Client()
    client.force_login(account)
    return client


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """Address of an empty Redis of this session, as `CELERY_BROKER_URL` takes it."""
    program = find_redis()
    if program is None:
        skip_without("Redis")
    folder = Path(tempfile.mkdtemp(prefix="carebench-redis-"))
    socket = folder / "redis.sock"
    server = subprocess.Popen(
        [program, "--port", "0", "--unixsocket", str(socket), "--save", "", "--appendonly", "no"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 10
        while not socket.exists() and server.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        redis.Redis(unix_socket_path=str(socket)).ping()
        yield f"redis+socket://{socket}"
    finally:
        server.terminate()
        server.wait(10)
        shutil.rmtree(folder, ignore_errors=True)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Repeat at the end, loudly, what could not be tested."""
    reasons = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])]
    for program in ("Chromium", "Redis"):
        n_skipped = sum(f"{program} {MISSING}" in reason for reason in reasons)
        if n_skipped:
            terminalreporter.write_sep(
                "!", f"{n_skipped} TESTS SKIPPED: {program} {MISSING}", red=True, bold=True
            )
