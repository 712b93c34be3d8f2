"""Tables that only grow: what their triggers refuse on both databases, and what they let through."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from tests import factories as make
from tests.test_constraints import FACTORY_OF

APPEND_ONLY = {
    "Label": {"rating": "UNACCEPTABLE"},
    "CampaignText": {"text": "Another."},
    "Adjudication": {"decision": "UNACCEPTABLE"},
    "ResponseRevision": {"text": "Another."},
    "AuditEvent": {"action": "campaign.closed"},
    "VerdictAttempt": {"outcome": "timeout"},
    "GenerationAttempt": {"outcome": "timeout"},
    "VerdictRevision": {"score": 5},
    "Rubric": {"text": "Another wording."},
    "GradingRule": {"definition": {}},
}


@pytest.mark.django_db
@pytest.mark.parametrize(("model_name", "change"), APPEND_ONLY.items(), ids=list(APPEND_ONLY))
def test_append_only_row_changed_is_refused(model_name: str, change: dict[str, Any]) -> None:
    row = FACTORY_OF[model_name]()

    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        type(row)._base_manager.filter(pk=row.pk).update(**change)


@pytest.mark.django_db
@pytest.mark.parametrize("model_name", APPEND_ONLY)
def test_append_only_row_deleted_is_refused(model_name: str) -> None:
    row = FACTORY_OF[model_name]()

    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        type(row)._base_manager.filter(pk=row.pk).delete()


@pytest.mark.django_db
def test_label_may_cease_to_be_current() -> None:
    label = make.make_label()

    type(label).objects.filter(pk=label.pk).update(is_current=False)

    label.refresh_from_db()
    assert not label.is_current


BLANK = {"rating": None, "severity": None, "note": None, "rating_raw": None, "is_current": False}


@pytest.mark.django_db
def test_label_may_be_erased_once_and_for_good() -> None:
    label = make.make_label(note="A note.", severity=2)
    stored = type(label).objects.filter(pk=label.pk)

    stored.update(erased_at="2026-01-01T00:00:00Z", **BLANK)

    assert stored.values("rating", "severity", "note", "is_current").get() == {
        "rating": None,
        "severity": None,
        "note": None,
        "is_current": False,
    }
    for change in ({"rating": "ACCEPTABLE"}, {"erased_at": None}, {"erased_at": "2027-01-01T00:00:00Z"}):
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
            stored.update(**change)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "change",
    [
        {"rating": None},
        {"erased_at": "2026-01-01T00:00:00Z"},
        {"erased_at": "2026-01-01T00:00:00Z", **BLANK, "note": "kept"},
        {"erased_at": "2026-01-01T00:00:00Z", **BLANK, "revision": 9},
    ],
)
def test_label_may_not_be_erased_in_part_or_beside_a_change(change: dict[str, Any]) -> None:
    label = make.make_label(note="A note.")

    with pytest.raises(IntegrityError), transaction.atomic():
        type(label).objects.filter(pk=label.pk).update(**change)


@pytest.mark.django_db
def test_label_may_not_change_beside_ceasing_to_be_current() -> None:
    label = make.make_label()

    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        type(label).objects.filter(pk=label.pk).update(is_current=False, note="Changed my mind.")
