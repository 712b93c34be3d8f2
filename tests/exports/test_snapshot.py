"""An export sees one state of the database and holds nobody up."""

import threading
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from annotation.models import Campaign, Label
from judging.exports import exporting
from judging.exports.snapshot import consistent_snapshot
from judging.models import Report
from tests.exports.reading import export, read_rows
from tests.exports.study import Study, make_study
from tests.factories import make_item, make_label, make_response

WAIT_SECONDS = 10.0


@pytest.fixture
def study(transactional_db: None) -> Study:
    return make_study()


def in_another_connection(act: Any) -> None:
    """Run `act` in a thread of its own, and raise what it raised."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            act()
        except BaseException as error:
            failures.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(WAIT_SECONDS)
    assert not thread.is_alive(), "the other connection was blocked"
    if failures:
        raise failures[0]


def add_label(study: Study) -> None:
    """A label on a new response, committed."""
    with transaction.atomic():
        response = make_response(
            prompt=study.responses[0].prompt, target_model=study.responses[0].target_model, rollout=7
        )
        make_label(item=make_item(campaign=study.campaign, response=response), annotator=study.parent)


def test_export_while_a_label_arrives_shows_the_state_before_it(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "PROGRESS_STEP", 5)
    n_before = Label.objects.count()
    told: list[int] = []

    def add_once(n_rows: int) -> None:
        if not told:
            in_another_connection(lambda: add_label(study))
        told.append(n_rows)

    outcome = export(study.benchmark, "labels", "jsonl", tmp_path, on_progress=add_once)

    assert told == [5, 10, 15]
    assert len(read_rows(outcome.path)) == 19
    assert outcome.manifest["benchmark_counts"]["responses"] == 10
    assert Label.objects.count() == n_before + 1
    assert len(read_rows(export(study.benchmark, "labels", "jsonl", tmp_path).path)) == 20


def test_snapshot_does_not_see_what_others_commit(study: Study) -> None:
    n_before = Label.objects.count()

    with consistent_snapshot():
        in_another_connection(lambda: add_label(study))
        n_inside = Label.objects.count()

    assert n_inside == n_before
    assert Label.objects.count() == n_before + 1


def test_snapshot_refuses_writes_and_allows_them_afterwards(study: Study) -> None:
    with pytest.raises(DatabaseError), consistent_snapshot():
        Campaign.objects.update(name="changed")

    assert Campaign.objects.update(name="changed") == Campaign.objects.count()


def test_snapshot_that_fails_gives_the_connection_back(study: Study) -> None:
    with pytest.raises(KeyboardInterrupt), consistent_snapshot():
        raise KeyboardInterrupt

    assert not connection.in_atomic_block
    with transaction.atomic():
        Campaign.objects.update(name="changed")


def test_snapshot_inside_a_transaction_is_refused(study: Study) -> None:
    with transaction.atomic(), pytest.raises(RuntimeError), consistent_snapshot():
        pass

    assert Campaign.objects.update(name="changed") == Campaign.objects.count()


@pytest.mark.parametrize("table", ["report", "agreement"])
def test_export_of_figures_stores_no_report(study: Study, tmp_path: Path, table: str) -> None:
    export(study.benchmark, table, "csv", tmp_path)

    assert Report.objects.count() == 0
