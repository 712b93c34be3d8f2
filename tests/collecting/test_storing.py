"""Storing collected responses: free places are filled, failures replaced, everything else stays."""

from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from annotation.choices import ResponseState
from annotation.collected import CollectedResponse, Place, Standing, store_collected
from annotation.models import Prompt, Response, TargetModel
from tests.factories import make_item, make_label, make_prompt, make_response, make_target_model, sha256_of

pytestmark = pytest.mark.django_db

NEW = "A new answer, kind and plain."


def given(prompt: Prompt, model: TargetModel, **values: Any) -> CollectedResponse:
    """A complete response of rollout 0."""
    place = Place(prompt_id=prompt.pk, target_model_id=model.pk, rollout=values.pop("rollout", 0))
    defaults: dict[str, Any] = {"state": ResponseState.OK, "text": NEW, "settings": {"model_id": "m"}}
    return CollectedResponse(place=place, **(defaults | values))


def store(*responses: CollectedResponse) -> list[Standing]:
    with transaction.atomic():
        standing = store_collected(responses, now=timezone.now())
    return [standing[response.place] for response in responses]


def test_a_free_place_takes_the_response_with_all_that_is_known() -> None:
    prompt, model = make_prompt(), make_target_model()

    [stands] = store(given(prompt, model, finish_reason="stop", n_tokens=7, tokens_source="PROVIDER"))

    response = Response.objects.get(pk=stands.response_id)
    assert stands.is_given
    assert (response.state, response.text, response.text_hash) == ("OK", NEW, sha256_of(NEW))
    assert (response.finish_reason, response.n_tokens, response.tokens_source) == ("stop", 7, "PROVIDER")
    assert response.settings == {"model_id": "m"}
    assert response.error is None


@pytest.mark.parametrize("state", ["OK", "EMPTY", "FILTERED", "TRUNCATED"])
def test_what_a_model_did_answer_stays(state: str) -> None:
    text = "" if state == "EMPTY" else "What stood there before."
    old = make_response(state=state, text=text)

    [stands] = store(given(old.prompt, old.target_model))

    old.refresh_from_db()
    assert stands == Standing(response_id=old.pk, is_given=False)
    assert (old.state, old.text) == (state, text)


def test_a_failed_response_is_replaced_in_its_row() -> None:
    old = make_response(state="ERROR", text="", error="timeout: total deadline")

    [stands] = store(given(old.prompt, old.target_model))

    response = Response.objects.get()
    assert stands == Standing(response_id=old.pk, is_given=True)
    assert (response.public_id, response.state, response.text) == (old.public_id, "OK", NEW)
    assert response.error is None


def test_a_failed_response_with_a_label_stays() -> None:
    old = make_response(state="ERROR", text="", error="timeout")
    make_label(item=make_item(response=old))

    [stands] = store(given(old.prompt, old.target_model))

    old.refresh_from_db()
    assert not stands.is_given
    assert old.state == "ERROR"


def test_a_response_outside_any_rollout_takes_no_place() -> None:
    outside = make_response(rollout=None)

    [stands] = store(given(outside.prompt, outside.target_model))

    assert stands.is_given
    assert Response.objects.count() == 2


def test_places_that_cross_are_told_apart() -> None:
    prompts, models = [make_prompt(), make_prompt()], [make_target_model(), make_target_model()]
    old = make_response(prompt=prompts[0], target_model=models[1], rollout=0)

    first, second = store(given(prompts[0], models[0]), given(prompts[1], models[1], rollout=1))

    assert first.is_given
    assert second.is_given
    assert Response.objects.exclude(pk=old.pk).count() == 2


def test_a_long_finish_reason_is_cut() -> None:
    [stands] = store(given(make_prompt(), make_target_model(), finish_reason="r" * 100))

    assert Response.objects.get(pk=stands.response_id).finish_reason == "r" * 32


def test_what_no_row_can_hold_is_refused_on_every_database() -> None:
    bad = given(make_prompt(), make_target_model(), text="", state=ResponseState.OK)

    with pytest.raises(Exception, match=r"cannot be stored|response_ok_has_text"):
        store(bad)

    assert not Response.objects.exists()
