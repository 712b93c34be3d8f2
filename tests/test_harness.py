"""The tests' own machinery: flushing, and servers that start by themselves."""

import os

import psycopg
import pytest
import redis
from django.db import IntegrityError, connection, connections

from annotation.models import AuditEvent
from tests.factories import make_event, make_label
from tests.pgtemp import TempPG


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("turn", ["first", "second"])
def test_append_only_rows_are_flushed_and_protected_again(turn: str) -> None:
    assert AuditEvent.objects.count() == 0

    event = make_event(action=turn)
    make_label()

    with pytest.raises(IntegrityError, match="append-only"):
        event.delete()


@pytest.mark.django_db
def test_database_is_the_one_that_was_asked_for() -> None:
    assert connection.vendor == os.environ.get("CAREBENCH_TEST_DATABASE", "sqlite")


@pytest.mark.django_db(transaction=True)
def test_second_connection_sees_committed_rows() -> None:
    """Threads and other processes meet in one database, on SQLite too."""
    make_event(action="seen.elsewhere")
    other = connections.create_connection("default")
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT action FROM annotation_auditevent")

            assert cursor.fetchall() == [("seen.elsewhere",)]
    finally:
        other.close()


@pytest.mark.parametrize(("durable", "expected"), [(False, "off"), (True, "on")], ids=["fast", "durable"])
def test_temporary_postgresql_writes_to_disk_when_durable(durable: bool, expected: str) -> None:
    server = TempPG(durable=durable)
    try:
        with psycopg.connect(server.conninfo) as link:
            settings = [
                link.execute(f"SHOW {name}").fetchone()
                for name in ("fsync", "full_page_writes", "synchronous_commit")
            ]
    finally:
        server.stop()

    assert settings == [(expected,)] * 3
    assert not server.root.exists()


@pytest.mark.redis
def test_redis_answers(redis_url: str) -> None:
    client = redis.Redis(unix_socket_path=redis_url.removeprefix("redis+socket://"))

    assert client.ping()
