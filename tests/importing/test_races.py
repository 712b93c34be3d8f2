"""Two imports at once: one is stored, the other says so and stores nothing."""

import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from annotation.models import Label, Prompt, Response
from judging.errors import Conflict
from judging.importing import files
from judging.importing.files import ImportOutcome
from judging.models import Verdict
from tests.importing.sheets import (
    Row,
    import_paths,
    import_rows,
    label_row,
    response_row,
    score_row,
    write_folder,
)

pytestmark = pytest.mark.django_db(transaction=True)


def import_at_once(
    folders: Iterable[Path], monkeypatch: pytest.MonkeyPatch
) -> list[ImportOutcome | Conflict]:
    """Import each folder in a thread of its own; none stores before all have planned."""
    folders = list(folders)
    everyone_has_planned = threading.Barrier(len(folders), timeout=30)
    make_plan = files._make_plan
    results: list[ImportOutcome | Conflict] = []

    def plan_and_wait(*args: Any, **options: Any) -> Any:
        plan = make_plan(*args, **options)
        everyone_has_planned.wait()
        return plan

    def run(folder: Path) -> None:
        try:
            results.append(import_paths([folder]))
        except Conflict as conflict:
            results.append(conflict)
        finally:
            connection.close()

    with monkeypatch.context() as patch:
        patch.setattr(files, "_make_plan", plan_and_wait)
        threads = [threading.Thread(target=run, args=(folder,)) for folder in folders]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    return results


TABLES: dict[str, dict[str, list[Row]]] = {
    "all kinds": {"responses": [response_row()], "labels": [label_row()], "scores": [score_row()]},
    "anonymous labels": {"labels": [label_row(annotator="")]},
    "scores": {"scores": [score_row()]},
}


@pytest.mark.parametrize("tables", TABLES.values(), ids=TABLES.keys())
@pytest.mark.parametrize("is_known", [False, True], ids=["new benchmark", "known benchmark"])
def test_one_of_two_equal_imports_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tables: dict[str, list[Row]], is_known: bool
) -> None:
    if is_known or "responses" not in tables:
        import_rows(tmp_path / "before", responses=[response_row()])
    folder = write_folder(tmp_path / "rows", **tables)

    results = import_at_once([folder, folder], monkeypatch)

    conflicts = [result for result in results if isinstance(result, Conflict)]
    assert [conflict.code for conflict in conflicts] == ["import_conflict"]
    assert len(results) == 2
    assert (Prompt.objects.count(), Response.objects.count()) == (1, 1)
    assert (Label.objects.count(), Verdict.objects.count()) == (
        len(tables.get("labels", [])),
        "scores" in tables,
    )


def test_refused_import_goes_through_when_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = write_folder(tmp_path / "first", labels=[label_row()])
    second = write_folder(tmp_path / "second", labels=[label_row(), label_row(annotator="ann-2")])

    import_at_once([first, second], monkeypatch)
    import_paths([first])
    import_paths([second])

    assert sorted(Label.objects.values_list("annotator__code", flat=True)) == ["ann-1", "ann-2"]
