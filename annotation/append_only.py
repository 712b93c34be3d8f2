"""Triggers that refuse UPDATE and DELETE on append-only tables, for both databases.

Used by migrations of both apps. SQLite drops a table's triggers when a migration rebuilds the
table, so a migration that alters such a table must create them again; a test lists them.
"""

from collections.abc import Sequence
from typing import Any

POSTGRES_FUNCTION = """
CREATE OR REPLACE FUNCTION carebench_append_only() RETURNS trigger AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND (to_jsonb(NEW) - TG_ARGV::text[]) = (to_jsonb(OLD) - TG_ARGV::text[]) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'integrity_constraint_violation';
END;
$$ LANGUAGE plpgsql
"""


def create_triggers(
    connection: Any, *, table: str, columns: Sequence[str], mutable: Sequence[str] = ()
) -> None:
    """Make `table` append-only; only the `mutable` columns may still be updated.

    Args:
        connection: a Django connection (SQLite or PostgreSQL).
        table: table name.
        columns: every column name of the table.
        mutable: columns that an UPDATE may change, such as `is_current`.
    """
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(POSTGRES_FUNCTION)
            arguments = ", ".join(f"'{name}'" for name in mutable)
            cursor.execute(
                f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} "
                f"FOR EACH ROW EXECUTE FUNCTION carebench_append_only({arguments})"
            )
            return
        frozen = ", ".join(f'"{name}"' for name in columns if name not in mutable)
        for event, clause in (("update", f"UPDATE OF {frozen}"), ("delete", "DELETE")):
            cursor.execute(
                f"CREATE TRIGGER IF NOT EXISTS {table}_no_{event} BEFORE {clause} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is append-only: {event.upper()} refused'); END"
            )


def drop_triggers(connection: Any, *, table: str) -> None:
    """Take the triggers of `table` away again (migration backwards, test clean-up)."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(f"DROP TRIGGER IF EXISTS {table}_append_only ON {table}")
            return
        for event in ("update", "delete"):
            cursor.execute(f"DROP TRIGGER IF EXISTS {table}_no_{event}")
