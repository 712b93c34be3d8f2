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


# An erasure blanks some columns of a row, once and for good, in one UPDATE that says when.
ERASURE_STAMP = "erased_at"

POSTGRES_ERASURE_FUNCTION = """
CREATE OR REPLACE FUNCTION carebench_append_only_but_erasure() RETURNS trigger AS $$
DECLARE
    mutable text[] := string_to_array(TG_ARGV[0], ',');
    erasable text[] := string_to_array(TG_ARGV[1], ',');
BEGIN
    IF TG_OP = 'UPDATE' AND (to_jsonb(NEW) - mutable) = (to_jsonb(OLD) - mutable) THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'UPDATE' AND OLD.erased_at IS NULL AND NEW.erased_at IS NOT NULL
        AND (to_jsonb(NEW) - mutable - erasable - 'erased_at')
            = (to_jsonb(OLD) - mutable - erasable - 'erased_at')
        AND NOT EXISTS (
            SELECT 1 FROM jsonb_each_text(to_jsonb(NEW)) AS one
            WHERE one.key = ANY(erasable) AND one.value IS NOT NULL
        )
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'integrity_constraint_violation';
END;
$$ LANGUAGE plpgsql
"""


def create_triggers(
    connection: Any,
    *,
    table: str,
    columns: Sequence[str],
    mutable: Sequence[str] = (),
    erasable: Sequence[str] = (),
) -> None:
    """Make `table` append-only; only the `mutable` columns may still be updated.

    Args:
        connection: a Django connection (SQLite or PostgreSQL).
        table: table name.
        columns: every column name of the table.
        mutable: columns that an UPDATE may change, such as `is_current`.
        erasable: columns that one UPDATE may set to NULL, all together and with `erased_at`.
    """
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql" and erasable:
            cursor.execute(POSTGRES_ERASURE_FUNCTION)
            cursor.execute(
                f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} FOR EACH ROW "
                f"EXECUTE FUNCTION carebench_append_only_but_erasure"
                f"('{','.join(mutable)}', '{','.join(erasable)}')"
            )
            return
        if connection.vendor == "postgresql":
            cursor.execute(POSTGRES_FUNCTION)
            arguments = ", ".join(f"'{name}'" for name in mutable)
            cursor.execute(
                f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} "
                f"FOR EACH ROW EXECUTE FUNCTION carebench_append_only({arguments})"
            )
            return
        blanked = [*erasable, ERASURE_STAMP] if erasable else []
        frozen = ", ".join(f'"{name}"' for name in columns if name not in (*mutable, *blanked))
        if erasable:
            are_blank = " AND ".join(f'NEW."{name}" IS NULL' for name in erasable)
            cursor.execute(
                f"CREATE TRIGGER IF NOT EXISTS {table}_no_change BEFORE UPDATE OF "
                f"{', '.join(blanked)} ON {table} WHEN NOT (OLD.erased_at IS NULL AND NEW.erased_at "
                f"IS NOT NULL AND {are_blank}) "
                f"BEGIN SELECT RAISE(ABORT, '{table} is append-only: UPDATE refused'); END"
            )
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
        for event in ("update", "delete", "change"):
            cursor.execute(f"DROP TRIGGER IF EXISTS {table}_no_{event}")
