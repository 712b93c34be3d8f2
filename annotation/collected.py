"""Storing what target models answered when they were asked here. The only writer of collected responses."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.choices import ResponseState, TokensSource
from annotation.importing.cells import hash_text
from annotation.models import Label, Response, new_public_id

MOST_REASON_CHARACTERS = 32


@dataclass(frozen=True, order=True)
class Place:
    """Where one response of a rollout stands: there is at most one for a prompt, model and rollout."""

    prompt_id: int
    target_model_id: int
    rollout: int


@dataclass(frozen=True, kw_only=True)
class CollectedResponse:
    """What one call to a target model came to.

    `text` is the answer as it came, empty unless there was one. `error` says why there is none.
    `settings` are those that were sent, with what is needed to ask the same again.
    """

    place: Place
    state: ResponseState
    text: str = ""
    error: str | None = None
    finish_reason: str | None = None
    n_tokens: int | None = None
    tokens_source: TokensSource | None = None
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class Standing:
    """The response that stands at a place after `store_collected`, and whether it is the one given."""

    response_id: int
    is_given: bool


def store_collected(responses: Sequence[CollectedResponse], *, now: dt.datetime) -> dict[Place, Standing]:
    """Store responses at places that are free. Must run inside a transaction.

    A place is free when no response stands there, or one in state ERROR that nobody labelled: that one is
    replaced in its row, so that what refers to it still does. Any other response stays as it is.

    Args:
        responses: at most one for each place.
        now: when they came.

    Returns:
        What stands at each place now. Three queries, and one for each replacement.

    Raises:
        ValueError: the database took one of them for no response.
    """
    wanted = {response.place: response for response in responses}
    standing = {place_of(found): found for found in _standing_at(wanted)}
    new = [_new_response(response, now=now) for place, response in wanted.items() if place not in standing]
    # Another transaction may take a place in this moment; its response then stays.
    Response.objects.bulk_create(new, ignore_conflicts=True)
    given = {response.public_id for response in new}
    for place, found in standing.items():
        if is_replaceable(found) and _replace(found, wanted[place], now=now):
            given.add(found.public_id)
    stored = {
        place_of(found): Standing(response_id=found.pk, is_given=found.public_id in given)
        for found in _at_places(wanted).only("pk", "public_id", "prompt_id", "target_model_id", "rollout")
        if place_of(found) in wanted
    }
    if len(stored) < len(wanted):
        # SQLite passes over a row that breaks any constraint, not only over one whose place is taken.
        raise ValueError(f"{len(wanted) - len(stored)} collected responses cannot be stored.")
    return stored


def with_labels(responses: QuerySet[Response]) -> QuerySet[Response]:
    """The responses with `has_label`: whether anybody labelled them, even if the label was taken back."""
    return responses.annotate(has_label=Exists(Label.objects.filter(item__response=OuterRef("pk"))))


def taken_places() -> Q:
    """Of responses `with_labels`: those whose place a collection must leave alone."""
    return ~Q(state=ResponseState.ERROR) | Q(has_label=True)


def is_replaceable(response: Response) -> bool:
    """Whether a collection may put an answer in the place of this response, read `with_labels`."""
    return response.state == ResponseState.ERROR and not response.has_label  # type: ignore[attr-defined]


def place_of(response: Response) -> Place:
    """The place of a response in a rollout.

    Raises:
        ValueError: it stands outside any rollout.
    """
    if response.rollout is None:
        raise ValueError("A response outside any rollout has no place in one.")
    return Place(response.prompt_id, response.target_model_id, response.rollout)


def _standing_at(places: Mapping[Place, object]) -> list[Response]:
    """What stands at the places, locked in the order of ids against another collection."""
    rows = with_labels(_at_places(places)).only(
        "pk", "public_id", "prompt_id", "target_model_id", "rollout", "state"
    )
    locked = rows.select_for_update(of=("self",), no_key=True)
    return [found for found in locked.order_by("pk") if place_of(found) in places]


def _at_places(places: Mapping[Place, object]) -> QuerySet[Response]:
    """Responses at the places, and some at others: a condition for each would be a query too long."""
    return Response.objects.filter(
        prompt_id__in={place.prompt_id for place in places},
        target_model_id__in={place.target_model_id for place in places},
        rollout__in={place.rollout for place in places},
    )


def _new_response(response: CollectedResponse, *, now: dt.datetime) -> Response:
    place = response.place
    return Response(
        public_id=new_public_id(),
        prompt_id=place.prompt_id,
        target_model_id=place.target_model_id,
        rollout=place.rollout,
        **_values(response, now=now),
    )


def _replace(found: Response, response: CollectedResponse, *, now: dt.datetime) -> bool:
    failed = Response.objects.filter(pk=found.pk, state=ResponseState.ERROR)
    return bool(failed.update(**_values(response, now=now)))


def _values(response: CollectedResponse, *, now: dt.datetime) -> dict[str, Any]:
    reason = response.finish_reason
    return {
        "state": response.state,
        "text": response.text,
        "text_hash": hash_text(response.text),
        "error": response.error,
        "finish_reason": reason[:MOST_REASON_CHARACTERS] if reason else None,
        "n_tokens": response.n_tokens,
        "tokens_source": response.tokens_source,
        "settings": dict(response.settings),
        "created_at": now,
    }
