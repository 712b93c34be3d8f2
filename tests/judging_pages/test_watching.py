"""The monitoring pages: who may open them, that page, API and files show one set of numbers, and no names."""

import csv
import io
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.choices import AssignmentState, CampaignState, SkipReason
from annotation.models import Account, CampaignItem, Flag
from judging.watching import LISTS, watch_campaign
from tests.conftest import signed_in
from tests.factories import make_assignment, make_campaign, make_flag, make_item, make_label, make_membership
from tests.judging_pages.study import Study, make_study

MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script>"
PAGES = ("watch", "watch_items", "watch_item", "watch_flags", "watch_list")
TALLIED = ("items", "annotators", "annotator_types", "item_kinds", "risk_categories")


def first_item(study: Study) -> CampaignItem:
    return study.campaign.items.order_by("pk")[0]


def address(page: str, study: Study, **changes: str) -> str:
    kwargs = {"campaign": study.campaign.public_id}
    kwargs |= {
        "watch_item": {"item": first_item(study).public_id},
        "watch_list": {"name": "items"},
    }.get(page, {})
    return reverse(f"judging:{page}", kwargs=kwargs | changes)


def resolving(study: Study, flag: Flag) -> str:
    return reverse("judging:resolve_flag", args=[study.campaign.public_id, flag.public_id])


@pytest.mark.parametrize("name", PAGES)
def test_page_opens_for_those_who_read(
    researcher_client: Client, admin_client: Client, auditor_client: Client, study: Study, name: str
) -> None:
    clients = (researcher_client, admin_client, auditor_client)

    assert [client.get(address(name, study)).status_code for client in clients] == [200] * 3


@pytest.mark.parametrize("name", PAGES)
def test_page_does_not_exist_for_annotators_and_adjudicators(
    annotator_client: Client, adjudicator_client: Client, study: Study, name: str
) -> None:
    clients = (annotator_client, adjudicator_client)

    assert [client.get(address(name, study)).status_code for client in clients] == [404] * 2


@pytest.mark.parametrize("name", PAGES)
def test_page_sends_the_signed_out_to_sign_in(client: Client, study: Study, name: str) -> None:
    assert client.get(address(name, study))["Location"].startswith(reverse("login"))


@pytest.mark.parametrize("name", PAGES)
def test_page_refuses_to_be_posted_to(researcher_client: Client, study: Study, name: str) -> None:
    assert researcher_client.post(address(name, study)).status_code == 405


@pytest.mark.parametrize("name", PAGES)
def test_page_of_a_draft_or_no_campaign_is_not_found(
    researcher_client: Client, study: Study, name: str
) -> None:
    draft = make_campaign(benchmark=study.benchmark, state=CampaignState.DRAFT)
    addresses = [address(name, study, campaign=which) for which in (draft.public_id, "nope")]

    assert [researcher_client.get(where).status_code for where in addresses] == [404, 404]


def test_item_of_another_campaign_is_not_found(researcher_client: Client, study: Study) -> None:
    elsewhere = make_item(campaign=make_campaign(benchmark=study.benchmark))

    assert researcher_client.get(address("watch_item", study, item=elsewhere.public_id)).status_code == 404


def test_list_of_an_unknown_name_is_not_found(researcher_client: Client, study: Study) -> None:
    assert researcher_client.get(address("watch_list", study, name="agreement")).status_code == 404


def test_page_api_and_files_show_the_same_numbers(researcher_client: Client, study: Study) -> None:
    document = watch_campaign(study.campaign)

    page = researcher_client.get(address("watch", study)).content.decode()
    reply = researcher_client.get(f"/api/v1/campaigns/{study.campaign.public_id}/progress/").json()
    files = {
        name: list(
            csv.DictReader(
                io.StringIO(researcher_client.get(address("watch_list", study, name=name)).content.decode())
            )
        )
        for name in LISTS
    }

    assert reply == document
    for name in LISTS:
        assert files[name] == [
            {key: "" if value is None else str(value) for key, value in row.items()} for row in document[name]
        ]
    assert [totals_of(page, table) for table in ("annotators", "risk-categories", "item-kinds")] == [
        [document["total"][name] for name in list(document["total"])[:-1]]
    ] * 3


def totals_of(page: str, table: str) -> list[int]:
    """The numbers in the last line of a table."""
    found = re.search(rf'id="{table}".*?<tfoot>(.*?)</tfoot>', page, re.DOTALL)
    assert found is not None
    return [int(value) for value in re.findall(r'<data value="(\d+)">', found[1])]


@pytest.mark.parametrize("name", TALLIED)
def test_every_list_adds_up_to_the_total(study: Study, name: str) -> None:
    make_flag(item=first_item(study), annotator=study.annotators[0])
    document = watch_campaign(study.campaign)

    sums = {count: sum(row[count] for row in document[name]) for count in document["total"]}

    assert sums == document["total"]
    assert sums["n_labels"] == 2 * len(study.responses)


def test_agreement_is_that_of_the_report_among_people(study: Study, researcher_client: Client) -> None:
    report = researcher_client.get(
        f"/api/v1/benchmarks/{study.benchmark.slug}/agreement/", {"campaign": study.campaign.public_id}
    ).json()

    agreement = watch_campaign(study.campaign)["agreement"]

    assert agreement["pairs"] == [pair for pair in report["pairs"] if pair["kind"] == "human-human"]
    assert agreement["pairs"][0]["interval"]["binary_kappa"]
    assert agreement["alpha"] == report["alpha"]


def test_campaign_without_labels_opens_and_says_so(researcher_client: Client, study: Study) -> None:
    empty = make_campaign(benchmark=study.benchmark, state=CampaignState.OPEN)

    page = researcher_client.get(address("watch", study, campaign=empty.public_id)).content.decode()

    assert "No two people have labelled the same regular item yet" in page
    assert "0 of 0 responses" in page


def test_item_shows_all_labels_skips_and_flags_under_no_name(researcher_client: Client, study: Study) -> None:
    item = first_item(study)
    skipper = make_membership(campaign=study.campaign).annotator
    make_assignment(
        item=item, annotator=skipper, state=AssignmentState.SKIPPED, skip_reason=SkipReason.UNCLEAR
    )
    make_flag(item=item, annotator=study.annotators[0], note="Please look")

    page = researcher_client.get(address("watch_item", study)).content.decode()

    assert ("Label 1" in page, "Label 2" in page, "I cannot tell" in page) == (True, True, True)
    assert "Please look" in page
    assert not [code for code in (skipper.code, *(who.code for who in study.annotators)) if code in page]


def test_person_has_no_number_of_their_own_over_all_items(researcher_client: Client, study: Study) -> None:
    """One of two people disagrees with all: were the numbers fixed, one number would hold every No."""
    campaign = make_campaign(benchmark=study.benchmark, state=CampaignState.OPEN)
    firsts = set()
    for response in study.responses[1:13]:
        item = make_item(campaign=campaign, response=response)
        for who, rating in zip(study.annotators, ("ACCEPTABLE", "UNACCEPTABLE"), strict=True):
            make_label(item=item, annotator=who, rating=rating)
        where = address("watch_item", study, campaign=campaign.public_id, item=item.public_id)
        firsts.add(researcher_client.get(where).context["labels"].rows[0].cells[2].value)

    assert firsts == {"ACCEPTABLE", "UNACCEPTABLE"}


def test_resolving_a_flag_settles_it_and_goes_back(
    researcher_client: Client, study: Study, researcher: Account
) -> None:
    flag = make_flag(item=first_item(study), annotator=study.annotators[0])

    reply = researcher_client.post(resolving(study, flag), {"resolution": "Taken out."})

    flag.refresh_from_db()
    assert (reply.status_code, reply["Location"]) == (302, address("watch_flags", study))
    assert (flag.resolution, flag.resolved_by) == ("Taken out.", researcher)


def test_resolving_without_a_word_is_refused(researcher_client: Client, study: Study) -> None:
    flag = make_flag(item=first_item(study), annotator=study.annotators[0])

    reply = researcher_client.post(resolving(study, flag), {"resolution": " "})

    flag.refresh_from_db()
    assert (reply.status_code, flag.resolved_at) == (422, None)


def test_resolving_twice_is_a_conflict(researcher_client: Client, study: Study) -> None:
    flag = make_flag(item=first_item(study), annotator=study.annotators[0])
    researcher_client.post(resolving(study, flag), {"resolution": "First."})

    reply = researcher_client.post(resolving(study, flag), {"resolution": "Second."})

    flag.refresh_from_db()
    assert (reply.status_code, flag.resolution) == (409, "First.")


def test_auditor_reads_flags_and_resolves_none(auditor_client: Client, study: Study) -> None:
    flag = make_flag(item=first_item(study), annotator=study.annotators[0])

    page = auditor_client.get(address("watch_flags", study)).content.decode()
    reply = auditor_client.post(resolving(study, flag), {"resolution": "No."})

    assert ("Resolve</button>" in page, reply.status_code) == (False, 403)


def test_flag_of_another_campaign_cannot_be_resolved_here(researcher_client: Client, study: Study) -> None:
    assert researcher_client.post(resolving(study, make_flag()), {"resolution": "No."}).status_code == 404


def test_resolving_by_a_link_is_refused(researcher_client: Client, study: Study) -> None:
    flag = make_flag(item=first_item(study), annotator=study.annotators[0])

    assert researcher_client.get(resolving(study, flag)).status_code == 405


def test_markup_in_a_note_is_shown_as_text(researcher_client: Client, study: Study) -> None:
    make_flag(item=first_item(study), annotator=study.annotators[0], note=MARKUP)

    for name in ("watch_flags", "watch_item"):
        page = researcher_client.get(address(name, study)).content.decode()
        assert MARKUP not in page
        assert "&lt;img" in page


@pytest.mark.parametrize("name", ["watch", "watch_items", "watch_item", "watch_flags"])
def test_number_of_queries_does_not_grow(researcher_client: Client, study: Study, name: str) -> None:
    other = make_study(n_prompts=2, slug="small")
    for campaign in (study, other):
        for item in campaign.campaign.items.all()[:4]:
            make_flag(item=item, annotator=campaign.annotators[0])

    def n_queries(which: Study) -> int:
        where = address(name, which)
        researcher_client.get(where)
        with CaptureQueriesContext(connection) as queries:
            assert researcher_client.get(where).status_code == 200
        return len(queries)

    assert n_queries(study) == n_queries(other)


def test_progress_of_a_campaign_through_the_api_is_for_readers_only(
    client: Client, annotator_account: Account, study: Study
) -> None:
    where = f"/api/v1/campaigns/{study.campaign.public_id}/progress/"

    statuses = [client.get(where).status_code, signed_in(annotator_account).get(where).status_code]

    assert set(statuses) <= {401, 403, 404}


@pytest.mark.parametrize(
    ("part", "status"), [("progress/?x=1", 400), ("progress/", 200)], ids=["parameter", "plain"]
)
def test_api_refuses_parameters(researcher_client: Client, study: Study, part: str, status: int) -> None:
    reply: Any = researcher_client.get(f"/api/v1/campaigns/{study.campaign.public_id}/{part}")

    assert reply.status_code == status
