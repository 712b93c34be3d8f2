"""Versions of rubrics: what is offered, how the next one is numbered, what is refused."""

import threading
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from annotation.models import Account, AuditEvent
from judging.errors import Conflict, DomainError, PassError, RubricError
from judging.llm.rubric import load_bundled_rubric
from judging.models import Rubric
from judging.rubrics import (
    MAX_CHARACTERS,
    create_rubric,
    find_rubric,
    known_rubrics,
    offered_rubrics,
    store_rubric,
)
from tests.factories import make_rubric

pytestmark = pytest.mark.django_db


def text(change: str = "One more sentence.") -> str:
    """A usable rubric, one sentence off the one that ships."""
    return load_bundled_rubric("likert-v1").replace("Work in this order.", f"Work in this order. {change}")


def create(**values: Any) -> Rubric:
    return create_rubric(**{"name": "likert", "text": text(), "parent": None, "actor": None, **values})


def test_the_next_version_follows_the_one_that_ships(researcher: Account) -> None:
    rubric = create(parent="likert-v1", actor=researcher)

    assert (rubric.slug, rubric.version, rubric.scale) == ("likert-v2", 2, "LIKERT")
    assert rubric.parent is not None
    assert rubric.parent.slug == "likert-v1"
    assert rubric.created_by == researcher


def test_a_new_name_begins_with_one_and_the_next_counts_on() -> None:
    slugs = [create(name="mild", text=text(change)).slug for change in ("First.", "Second.")]

    assert slugs == ["mild-v1", "mild-v2"]


def test_storing_is_audited_without_the_text(researcher: Account) -> None:
    rubric = create(parent="likert-v1", actor=researcher)

    event = AuditEvent.objects.get(action="rubric.created")
    assert (event.actor, event.subject) == (researcher, "rubric:likert-v2")
    assert event.detail == {"parent": "likert-v1", "sha256": rubric.text_hash}


def test_line_ends_of_a_browser_make_no_other_text() -> None:
    stored = create(text=text().replace("\n", "\r\n"))

    assert stored.text == text()


@pytest.mark.parametrize(
    "stored_text", [load_bundled_rubric("likert-v1"), text("Mine.")], ids=["ships", "own"]
)
def test_exactly_the_same_text_is_refused_and_named(stored_text: str) -> None:
    own = create(name="own", text=text("Mine."))

    with pytest.raises(Conflict) as caught:
        create(name="other", text=stored_text)

    assert caught.value.code == "same_rubric"
    assert ("likert-v1" if stored_text != own.text else own.slug) in caught.value.message
    assert Rubric.objects.count() == 1


@pytest.mark.parametrize(
    ("values", "expected", "code"),
    [
        pytest.param({"text": "no sections"}, RubricError, "bad_rubric", id="no section"),
        pytest.param({"text": text("{{sorce}}")}, RubricError, "bad_rubric", id="unknown placeholder"),
        pytest.param({"text": text("x" * MAX_CHARACTERS)}, RubricError, "bad_rubric", id="too long"),
        pytest.param({"text": text("\0")}, RubricError, "bad_rubric", id="NUL"),
        pytest.param({"text": text("\ud800")}, RubricError, "bad_rubric", id="lone surrogate"),
        pytest.param({"name": ""}, RubricError, "bad_rubric_name", id="no name"),
        pytest.param({"name": "two words"}, RubricError, "bad_rubric_name", id="blank in the name"),
        pytest.param({"name": "n" * 49}, RubricError, "bad_rubric_name", id="long name"),
        pytest.param({"name": "mild\n"}, RubricError, "bad_rubric_name", id="newline in the name"),
        pytest.param({"parent": "nothing-v1"}, PassError, "unknown_rubric", id="unknown parent"),
    ],
)
def test_what_cannot_be_used_is_refused_and_nothing_stored(
    values: dict[str, Any], expected: type[DomainError], code: str
) -> None:
    with pytest.raises(expected) as caught:
        create(**values)

    assert caught.value.code == code
    assert not Rubric.objects.exists()
    assert not AuditEvent.objects.filter(action="rubric.created").exists()


@pytest.mark.parametrize("values", [{"text": "another"}, {"slug": "other-v9"}], ids=["text", "slug"])
def test_a_stored_version_refuses_every_change(values: dict[str, str]) -> None:
    rubric = create()

    with pytest.raises(DatabaseError), transaction.atomic():
        Rubric.objects.filter(pk=rubric.pk).update(**values)


def test_known_are_the_shipped_and_the_stored_newest_first() -> None:
    create()
    store_rubric(find_rubric("binary-v1"))

    slugs = [rubric.slug for rubric in known_rubrics()]

    assert slugs.index("likert-v2") == slugs.index("likert-v1") - 1
    assert slugs.count("binary-v1") == 1


def test_offered_says_what_each_asks() -> None:
    offered = {rubric.slug: rubric for rubric in offered_rubrics()}

    assert (offered["likert-v1"].asks_jailbreak, offered["likert-v1"].takes_exemplars) == (True, True)
    assert (offered["binary-v1"].scale, offered["binary-v1"].asks_jailbreak) == ("BINARY", False)


def test_what_no_judging_pass_may_use_is_not_offered() -> None:
    make_rubric(slug="unreadable-v1", text="no sections")
    make_rubric(slug="modes-v1", scale="FAILURE_MODE")

    assert not {"unreadable-v1", "modes-v1"} & {rubric.slug for rubric in offered_rubrics()}


@pytest.mark.django_db(transaction=True)
def test_versions_stored_at_once_get_numbers_of_their_own() -> None:
    barrier, slugs = threading.Barrier(4), []

    def press(n: int) -> None:
        barrier.wait()
        try:
            slugs.append(create(name="race", text=text(f"Number {n}.")).slug)
        finally:
            connection.close()

    threads = [threading.Thread(target=press, args=[n]) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(slugs) == ["race-v1", "race-v2", "race-v3", "race-v4"]


@pytest.mark.django_db(transaction=True)
def test_the_same_text_stored_twice_at_once_is_one_version() -> None:
    barrier, outcomes = threading.Barrier(2), []

    def press() -> None:
        barrier.wait()
        try:
            outcomes.append(create(name="twice").slug)
        except Conflict as conflict:
            outcomes.append(conflict.code)
        finally:
            connection.close()

    threads = [threading.Thread(target=press) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(outcomes) == ["same_rubric", "twice-v1"]
