"""Annotators label blind: a marker in every hidden field reaches no page, header or redirect of theirs."""

import uuid

import pytest
from django.urls import reverse

from annotation.choices import AnnotatorType, Rating
from annotation.models import Account, Assignment, Label
from tests.annotation.desk import Desk, answer, item_url, join, make_desk, sent, take, url
from tests.conftest import signed_in
from tests.factories import make_benchmark, make_item, make_prompt, make_response, make_target_model

pytestmark = pytest.mark.django_db


def planted_desk() -> tuple[Desk, list[str]]:
    """A desk whose every hidden field holds a marker, with a colleague who has labelled and noted."""
    markers = [f"hidden{number:02d}x" for number in range(12)]
    slug, family, error, finish, name, canary, code, note, uid, mechanism, licence, user = markers
    benchmark = make_benchmark(canary=canary, licence=licence, attribution=licence)
    desk = make_desk(
        n_items=0, n_annotators=1, benchmark=benchmark, name=name, slug=name, labels_per_response=2
    )
    model = make_target_model(slug=slug, family=family)
    for number in range(3):
        prompt = make_prompt(benchmark=benchmark, case_uid=f"{uid}-{number}", risk_mechanism=mechanism)
        response = make_response(
            prompt=prompt, target_model=model, state="TRUNCATED", error=error, finish_reason=finish
        )
        make_item(campaign=desk.campaign, response=response)
    colleague = join(desk.campaign, AnnotatorType.SPECIALIST)
    type(colleague).objects.filter(pk=colleague.pk).update(code=code)
    Account.objects.filter(annotators=colleague).update(username=user)
    for _ in range(3):
        answer(take(desk, colleague), Rating.UNACCEPTABLE, note=note)
    hidden = [*Label.objects.values_list("public_id", flat=True)]
    hidden += [str(submission) for submission in Label.objects.values_list("submission_id", flat=True)]
    hidden += [*Assignment.objects.values_list("public_id", flat=True), colleague.public_id]
    for item in desk.campaign.items.select_related("response__prompt"):
        hidden += [item.public_id, item.response.public_id, item.response.prompt.public_id]
    return desk, markers + hidden


def test_no_annotator_answer_holds_a_hidden_value() -> None:
    desk, hidden = planted_desk()
    client = signed_in(desk.account)
    replies = [client.get(reverse("annotation:home"))]
    replies += [client.get(url(name, desk)) for name in ("consent", "withdraw", "next", "stop", "thanks")]
    first = take(desk)
    replies += [client.get(item_url(desk, first)), client.post(item_url(desk, first), sent("MAYBE"))]
    replies += [client.post(item_url(desk, first), sent(), headers={"accept": "application/json"})]
    replies += [client.get(item_url(desk, first)), client.post(item_url(desk, first), sent("UNACCEPTABLE"))]
    own = Label.objects.get(annotator=desk.annotator)
    replies += [client.post(url("undo", desk), {"label": own.public_id, "submission_id": str(uuid.uuid4())})]
    replies += [client.post(item_url(desk, first, "skip"), {"reason": "OTHER"})]
    replies += [client.get(url("next", desk)), client.post(url("undo", desk), {})]
    replies += [client.get(f"{url('next', desk)}?order=hidden&annotator__code=a")]
    replies += [client.get(path) for path in ("/research/", "/api/v1/labels/", "/admin/", "/no-such/")]

    sent_out = [f"{reply.headers}{reply.cookies}{reply.content.decode()}" for reply in replies]
    found = [
        (value, reply.request["PATH_INFO"])
        for value in hidden
        for reply, text in zip(replies, sent_out, strict=True)
        if value in text
    ]

    assert found == []
    assert {reply.status_code for reply in replies} >= {200, 302, 409, 422}
