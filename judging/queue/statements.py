"""The statements that every row passes through, written for each database.

Raw SQL: one ORM update a row costs ten times as much, `bulk_update` forty, and neither carries the
guard. PostgreSQL takes a batch as one JSON document (arrays cost the driver three times as much), SQLite
row by row in one prepared statement.
"""

import datetime as dt
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Model

from judging.queue.work import Work


@dataclass(frozen=True, kw_only=True)
class RowsToClaim:
    """Which rows to take: due ones of one pass at one endpoint, oldest first.

    `fewer_deaths_than` leaves out rows that more workers died with; None takes all.
    """

    work: Work
    judge_pass_id: int
    endpoint_name: str
    worker: str
    now: dt.datetime
    lease_until: dt.datetime
    most: int
    is_ahead: bool
    fewer_deaths_than: int | None


@dataclass(frozen=True)
class ClaimedRow:
    """What the queue needs of a row that is now this worker's."""

    row_id: int
    token: int
    counters: dict[str, Any]
    n_deaths: int


def claim(wanted: RowsToClaim) -> list[ClaimedRow]:
    """Claim rows; those that another transaction holds are passed over. One statement."""
    table = _table_of(wanted.work.row_class)
    guards = ["judge_pass_id = %s", "endpoint_name = %s", "state = 'PENDING'"]
    values: list[Any] = [wanted.judge_pass_id, wanted.endpoint_name]
    guards.append("(not_before IS NULL OR not_before <= %s)")
    values.append(adapted(wanted.now))
    if wanted.fewer_deaths_than is not None:
        guards.append("n_deaths < %s")
        values.append(wanted.fewer_deaths_than)
    if wanted.is_ahead:
        guards.append("NOT is_ahead")
    chosen = f"SELECT id FROM {table} WHERE {' AND '.join(guards)} ORDER BY id LIMIT %s"
    if connection.vendor == "postgresql":
        # An array, so that the planner cannot run the locking query again for each row that it joins.
        among = f"id = ANY(ARRAY({chosen} FOR NO KEY UPDATE SKIP LOCKED))"
    else:
        among = f"id IN ({chosen})"
    sql = (
        f"UPDATE {table} SET state = 'RUNNING', token = token + 1, worker = %s, lease_until = %s, "
        f"not_before = NULL, is_ahead = %s WHERE {among} RETURNING id, token, counters, n_deaths"
    )
    first = [wanted.worker, adapted(wanted.lease_until), wanted.is_ahead]
    with connection.cursor() as cursor:
        cursor.execute(sql, [*first, *values, wanted.most])
        rows = sorted(cursor.fetchall())
    return [ClaimedRow(pk, token, json.loads(counters), n_deaths) for pk, token, counters, n_deaths in rows]


def lock_running(work: Work, ids: Sequence[int]) -> set[tuple[int, int]]:
    """Lock those of the rows that are in flight, in the order of their ids; gives id and token of each."""
    if not ids:
        return set()
    places = ", ".join(["%s"] * len(ids))
    sql = (
        f"SELECT id, token FROM {_table_of(work.row_class)} WHERE id IN ({places}) AND state = 'RUNNING' "
        f"ORDER BY id{' FOR NO KEY UPDATE' if connection.vendor == 'postgresql' else ''}"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, ids)
        return set(cursor.fetchall())


def update_rows(work: Work, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    """Write columns of rows in hand, and let go of them.

    Args:
        work: the kind of rows.
        columns: to be written.
        rows: values of the columns, then id and token; a row whose token is another by now is left alone.
    """
    if not rows:
        return
    table = _table_of(work.row_class)
    if connection.vendor == "postgresql":
        names = (*columns, "id", "token")
        assignments = ", ".join(f"{name} = new.{name}" for name in columns)
        sql = (
            f"UPDATE {table} AS old SET {assignments}, {_LET_GO} "
            f"FROM ({_records(work.row_class, names)}) AS new "
            "WHERE old.id = new.id AND old.token = new.token AND old.state = 'RUNNING'"
        )
        with connection.cursor() as cursor:
            cursor.execute(sql, [_document(names, rows)])
        return
    assignments = ", ".join(f"{name} = %s" for name in columns)
    sql = f"UPDATE {table} SET {assignments}, {_LET_GO} WHERE id = %s AND token = %s AND state = 'RUNNING'"
    with connection.cursor() as cursor:
        cursor.executemany(sql, rows)


def insert_attempts(
    work: Work, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> set[tuple[int, int]]:
    """Store attempts, each once.

    Args:
        work: the kind of rows.
        columns: the row's id, the token, then the others.
        rows: values of the columns.

    Returns:
        (row id, token) of those that were not stored before.
    """
    table, names = _table_of(work.attempt_class), ", ".join(columns)
    ignored = f"ON CONFLICT ({columns[0]}, {columns[1]}) DO NOTHING"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            sql = (
                f"INSERT INTO {table} ({names}) {_records(work.attempt_class, columns)} "
                f"{ignored} RETURNING {columns[0]}, {columns[1]}"
            )
            cursor.execute(sql, [_document(columns, rows)])
            return set(cursor.fetchall())
        # Nobody else writes while this transaction lasts, so what is not there now is new.
        ids = [row[0] for row in rows]
        places = ", ".join(["%s"] * len(ids))
        cursor.execute(f"SELECT {columns[0]}, token FROM {table} WHERE {columns[0]} IN ({places})", ids)
        stored = set(cursor.fetchall())
        places = ", ".join(["%s"] * len(columns))
        cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({places}) {ignored}", rows)
    return {(row[0], row[1]) for row in rows} - stored


def adapted(moment: dt.datetime) -> Any:
    """A time as the database's driver takes it in raw SQL."""
    return connection.ops.adapt_datetimefield_value(moment)


_LET_GO = "worker = NULL, lease_until = NULL, is_ahead = FALSE"


def _table_of(model: type[Model]) -> str:
    return connection.ops.quote_name(model._meta.db_table)


def _records(model: type[Model], columns: Sequence[str]) -> str:
    """A query that gives a document's rows, each column with its own type.

    Without a length: a cast to `varchar(16)` cuts what is longer, where storing it is refused. JSON comes
    as the text that it is stored as.
    """
    fields = {field.column: field for field in model._meta.concrete_fields}
    types = {name: (fields[name].cast_db_type(connection) or "text").partition("(")[0] for name in columns}
    read = ", ".join(f"{name} {'text' if types[name] == 'jsonb' else types[name]}" for name in columns)
    given = ", ".join(f"{name}::jsonb" if types[name] == "jsonb" else name for name in columns)
    return f"SELECT {given} FROM json_to_recordset(%s::json) AS record ({read})"


def _document(columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> str:
    return json.dumps([dict(zip(columns, row, strict=True)) for row in rows], default=str)
