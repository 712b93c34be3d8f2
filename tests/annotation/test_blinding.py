"""Annotators label blind: what is hidden from them reaches no page, header, cookie or redirect of theirs."""

import pytest
from django.urls import reverse

from annotation.choices import Rating
from tests.annotation import planting
from tests.annotation.planting import Planted, planted_desk, the_same_ids
from tests.annotation.visiting import (
    Visit,
    every_address,
    everything_in,
    undone,
    visit_everything,
    without_what_passes,
)

pytestmark = pytest.mark.django_db

# Addresses of annotators that no signed-in visit reaches.
FOR_NOBODY_SIGNED_IN: set[str] = set()


def found(planted: Planted, visit: Visit) -> list[tuple[str, str]]:
    """Where a hidden value came out: its field, and the address that told it.

    A value that the address itself named is no news when an answer repeats the address.
    """
    texts = [(reply.request["PATH_INFO"], everything_in(reply)) for reply in visit.replies]
    return [
        (where, path)
        for value, where in planted.hidden.items()
        for path, text in texts
        if value in text and value not in path
    ]


def test_every_table_holds_a_marker() -> None:
    planted = planted_desk("hidden")

    assert {model.__name__ for model in planting.all_tables()} == planted.tables


def test_no_page_of_an_annotator_holds_a_hidden_value() -> None:
    planted = planted_desk("hidden")

    visit = visit_everything(planted.desk)

    assert found(planted, visit) == []
    assert {reply.status_code for reply in visit.replies} >= {200, 302, 409, 422}


def test_the_visit_reaches_every_page_of_annotators() -> None:
    visit = visit_everything(planted_desk("hidden").desk)

    mine = {name for name in annotator_addresses() if name not in FOR_NOBODY_SIGNED_IN}
    assert mine - visit.seen == set()


def test_no_other_address_tells_an_annotator_anything() -> None:
    planted = planted_desk("hidden")
    visit, item = Visit(planted.desk), planted.desk.items[0]
    ids = {"slug": item.campaign.benchmark.slug, "campaign_id": item.campaign.public_id}

    for address in every_address(lambda name: ids.get(name, item.response.public_id)):
        if address != reverse("logout"):
            visit.get(address)
            visit.get(f"{address}?annotator__code=x&ordering=-rating&format=csv&expand=verdicts")

    assert found(planted, visit) == []
    assert len({reply.request["PATH_INFO"] for reply in visit.replies}) > 100
    assert {reply.status_code for reply in visit.replies} <= {200, 302, 400, 404, 405}


@pytest.mark.parametrize("colleagues_say", [Rating.ACCEPTABLE, Rating.UNACCEPTABLE])
def test_what_is_hidden_changes_no_byte(colleagues_say: Rating) -> None:
    def visit(tag: str, rating: Rating) -> list[str]:
        with the_same_ids():
            return [
                without_what_passes(reply)
                for reply in visit_everything(planted_desk(tag, rating=rating).desk).replies
            ]

    one = undone(lambda: visit("hidden", Rating.ACCEPTABLE))
    other = undone(lambda: visit("secret", colleagues_say))

    assert one == other


def annotator_addresses() -> set[str]:
    """Names of the addresses that are annotators' own."""
    from annotation.urls import urlpatterns

    return {
        f"annotation:{pattern.name}"
        for pattern in urlpatterns
        if not str(pattern.pattern).startswith("manage/")
    }


def test_start_of_the_site_leads_an_annotator_to_their_tasks() -> None:
    visit = Visit(planted_desk("hidden").desk)

    assert visit.get("/").headers["Location"] == reverse("annotation:home")
