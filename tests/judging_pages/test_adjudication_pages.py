"""The pages of adjudication: what is listed where, what a decision does, what a page keeps to itself."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.choices import CampaignState, Rating
from annotation.models import Account, Adjudication, CampaignItem, Label
from judging.contested import Standing, listed_items, standings_of
from judging.reports import build_report, grade_responses
from tests.factories import (
    make_adjudication,
    make_campaign,
    make_item,
    make_label,
    make_prompt,
    make_response,
    make_target_model,
)
from tests.judging_pages.study import Study, linked_counts

MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script>"


def contested_of(study: Study) -> CampaignItem:
    return next(
        listed.item for listed in listed_items(study.campaign) if listed.standing == Standing.TO_DECIDE
    )


def address(name: str, study: Study, item: CampaignItem | None = None) -> str:
    arguments = {
        "adjudication": [],
        "contested": [study.campaign.public_id],
        "decide": [study.campaign.public_id, (item or contested_of(study)).public_id],
    }
    return reverse(f"judging:{name}", args=arguments[name])


def answer_on(client: Client, where: str, **changes: str) -> Any:
    """Post what the page holds, with a decision for Unacceptable."""
    initial = client.get(where).context["form"].initial
    return client.post(
        where, initial | {"decision": "UNACCEPTABLE", "reason": "It gives no way out."} | changes
    )


@pytest.mark.parametrize("name", ["adjudication", "contested", "decide"])
def test_page_opens_for_those_who_decide_or_read(
    adjudicator_client: Client,
    researcher_client: Client,
    admin_client: Client,
    auditor_client: Client,
    study: Study,
    name: str,
) -> None:
    clients = (adjudicator_client, researcher_client, admin_client, auditor_client)

    assert [client.get(address(name, study)).status_code for client in clients] == [200] * 4


@pytest.mark.parametrize("name", ["adjudication", "contested", "decide"])
def test_page_does_not_exist_for_annotators(annotator_client: Client, study: Study, name: str) -> None:
    assert annotator_client.get(address(name, study)).status_code == 404


@pytest.mark.parametrize("name", ["adjudication", "contested", "decide"])
def test_page_sends_the_signed_out_to_sign_in(client: Client, study: Study, name: str) -> None:
    assert client.get(address(name, study))["Location"].startswith(reverse("login"))


@pytest.mark.parametrize("name", ["adjudication", "contested"])
def test_list_refuses_to_be_posted_to(adjudicator_client: Client, study: Study, name: str) -> None:
    assert adjudicator_client.post(address(name, study)).status_code == 405


def test_item_of_another_campaign_or_none_is_not_found(adjudicator_client: Client, study: Study) -> None:
    elsewhere = make_item(campaign=make_campaign(benchmark=study.benchmark))
    draft = make_item(campaign=make_campaign(benchmark=study.benchmark, state=CampaignState.DRAFT))

    wanted = [
        address("decide", study, elsewhere),
        reverse("judging:contested", args=["nowhere"]),
        reverse("judging:contested", args=[draft.campaign.public_id]),
    ]

    assert [adjudicator_client.get(where).status_code for where in wanted] == [404] * 3


def test_front_door_leads_an_adjudicator_to_the_contested_items(adjudicator_client: Client) -> None:
    assert adjudicator_client.get(reverse("home"))["Location"] == reverse("judging:adjudication")


def test_adjudicator_is_shown_nothing_else_of_the_benchmark(adjudicator_client: Client, study: Study) -> None:
    html = adjudicator_client.get(address("decide", study)).content.decode()

    assert reverse("judging:calibration", args=[study.benchmark.slug]) not in html
    assert reverse("judging:home") + '"' not in html


def test_item_names_neither_model_nor_judge_nor_person(researcher_client: Client, study: Study) -> None:
    item = contested_of(study)

    html = researcher_client.get(address("decide", study, item)).content.decode()

    hidden = [item.response.target_model.slug, *(judge.slug for judge in study.judges)]
    hidden += [annotator.code for annotator in study.annotators]
    assert [text for text in hidden if text in html] == []
    assert item.response.public_id not in html


def test_item_shows_every_label_and_its_texts(adjudicator_client: Client, study: Study) -> None:
    item = contested_of(study)
    Label.objects.filter(item=item).update(is_current=False)
    for rating, note in ((Rating.ACCEPTABLE, "It is kind."), (Rating.UNACCEPTABLE, "It names no adult.")):
        make_label(item=item, rating=rating, note=note)

    html = adjudicator_client.get(address("decide", study, item)).content.decode()

    assert all(text in html for text in ("It is kind.", "It names no adult.", item.response.text))
    assert "1 said Acceptable, 1 Unacceptable." in html


def test_decision_is_kept_and_shown_with_its_reason(adjudicator_client: Client, study: Study) -> None:
    item = contested_of(study)
    where = address("decide", study, item)

    sent = answer_on(adjudicator_client, where)

    assert (sent.status_code, sent["Location"]) == (302, address("contested", study))
    assert Adjudication.objects.get(item=item).decision == Rating.UNACCEPTABLE
    assert "It gives no way out." in adjudicator_client.get(where).content.decode()


def test_decision_after_a_label_came_conflicts_and_shows_it(adjudicator_client: Client, study: Study) -> None:
    item = contested_of(study)
    where = address("decide", study, item)
    initial = adjudicator_client.get(where).context["form"].initial
    make_label(item=item, note="Came late.")

    sent = adjudicator_client.post(
        where, initial | {"decision": "UNACCEPTABLE", "reason": "It gives no way out."}
    )
    html = sent.content.decode()

    assert sent.status_code == 409
    assert "Came late." in html
    assert "It gives no way out." in html
    again = {name: sent.context["form"].data[name] for name in sent.context["form"].fields}
    assert adjudicator_client.post(where, again).status_code == 302


@pytest.mark.parametrize(
    "changes",
    [{"decision": "MAYBE"}, {"reason": " "}, {"labels_seen": ""}],
    ids=["decision", "reason", "seen"],
)
def test_decision_that_is_no_decision_is_invalid(
    adjudicator_client: Client, study: Study, changes: dict[str, str]
) -> None:
    assert answer_on(adjudicator_client, address("decide", study), **changes).status_code == 422
    assert not Adjudication.objects.exists()


def test_auditor_decides_nothing(auditor_client: Client, study: Study) -> None:
    where = address("decide", study)

    assert auditor_client.get(where).context["form"] is None
    assert auditor_client.post(where, {"decision": "ACCEPTABLE", "reason": "x"}).status_code == 403
    assert not Adjudication.objects.exists()


def test_markup_in_texts_notes_and_reasons_is_shown_as_text(adjudicator_client: Client, study: Study) -> None:
    item = contested_of(study)
    item.response.prompt.text = item.response.text = MARKUP
    item.response.prompt.save()
    item.response.save()
    make_label(item=item, note=MARKUP)
    make_adjudication(item=item, reason=MARKUP)

    html = adjudicator_client.get(address("decide", study, item)).content.decode()

    assert "<img src=x" not in html
    assert "<script>alert" not in html


def test_unknown_standing_is_refused(adjudicator_client: Client, study: Study) -> None:
    sent = adjudicator_client.get(address("contested", study), {"standing": "PERHAPS"})

    assert sent.status_code == 422
    assert "not known" in sent.content.decode()


def make_item_with(study: Study, *ratings: Rating) -> CampaignItem:
    response = make_response(prompt=make_prompt(benchmark=study.benchmark), target_model=make_target_model())
    item = make_item(campaign=study.campaign, response=response)
    for rating in ratings:
        make_label(item=item, rating=rating)
    return item


A, U = Rating.ACCEPTABLE, Rating.UNACCEPTABLE


@pytest.mark.parametrize(
    ("ratings", "wanted", "state", "standing"),
    [
        ((A, U), 2, CampaignState.OPEN, Standing.TO_DECIDE),
        ((A, U), 3, CampaignState.OPEN, Standing.WAITING),
        ((A, U), 3, CampaignState.CLOSED, Standing.TO_DECIDE),
        ((A, U, U), 3, CampaignState.OPEN, Standing.MAJORITY),
        ((A, A), 2, CampaignState.OPEN, None),
    ],
    ids=["tie", "tie-so-far", "tie-for-good", "majority", "unanimous"],
)
def test_item_stands_where_its_labels_put_it(
    study: Study, ratings: tuple[Rating, ...], wanted: int, state: CampaignState, standing: Standing | None
) -> None:
    item = make_item_with(study, *ratings)
    study.campaign.labels_per_response, study.campaign.state = wanted, state
    study.campaign.save()

    found = {listed.item: listed.standing for listed in listed_items(study.campaign)}

    assert found.get(item) == standing


def test_decided_item_stands_apart_until_its_labels_change(study: Study, adjudicator_client: Client) -> None:
    item = make_item_with(study, A, U)
    answer_on(adjudicator_client, address("decide", study, item))
    decided = {listed.item: listed.standing for listed in listed_items(study.campaign)}[item]
    make_label(item=item)
    changed = {listed.item: listed.standing for listed in listed_items(study.campaign)}[item]

    assert (decided, changed) == (Standing.DECIDED, Standing.OUTDATED)


def test_every_count_on_the_front_page_is_the_length_of_its_list(
    adjudicator_client: Client, study: Study
) -> None:
    make_item_with(study, A, U, U)
    (found,) = standings_of([study.campaign])

    for standing in Standing:
        listed = adjudicator_client.get(address("contested", study), {"standing": standing.value})
        assert listed.context["page_obj"].paginator.count == found.counts[standing]
    assert found.counts[Standing.TO_DECIDE] == 6
    assert found.counts.total() == len(listed_items(study.campaign))


@pytest.mark.parametrize("name", ["adjudication", "contested", "decide"])
def test_page_needs_the_same_queries_however_much_there_is(
    adjudicator_client: Client, study: Study, name: str, django_assert_max_num_queries: Any
) -> None:
    item = contested_of(study)
    counts = []
    for _ in range(2):
        with django_assert_max_num_queries(20) as captured:
            adjudicator_client.get(address(name, study, item))
        counts.append(len(captured))
        for _ in range(5):
            make_item_with(study, A, U)
            make_label(item=item)
        other = make_campaign(benchmark=study.benchmark)
        make_label(item=make_item(campaign=other))

    assert counts[0] == counts[1]


def decide_first(study: Study, adjudicator: Account) -> CampaignItem:
    """Decide the first contested item as Unacceptable, in a campaign whose decisions override."""
    study.campaign.adjudication_overrides = True
    study.campaign.save()
    item = contested_of(study)
    make_adjudication(item=item, adjudicator=adjudicator, decision=U)
    return item


def test_decision_enters_report_counts_rows_and_response(
    researcher_client: Client, study: Study, adjudicator: Account
) -> None:
    before = build_report(study.benchmark)["agreement"]["labels"]
    item = decide_first(study, adjudicator)
    after = build_report(study.benchmark)["agreement"]["labels"]

    assert (before["n_adjudicated"], after["n_adjudicated"]) == (0, 1)
    assert after["n_contested"] == before["n_contested"] - 1
    assert grade_responses(study.benchmark).consensus[item.response_id].verdict == U
    html = researcher_client.get(reverse("judging:labels", args=[study.benchmark.slug])).content.decode()
    (link,) = [href for href, n in linked_counts(html) if "consensus=ADJUDICATED" in href and n == 1]
    assert researcher_client.get(link).context["page_obj"].paginator.count == 1
    page = researcher_client.get(
        reverse("judging:response", args=[study.benchmark.slug, item.response.public_id])
    ).content.decode()
    assert "an adjudicator says Unacceptable (1 said Acceptable, 1 Unacceptable)" in page
    assert "where decisions take the place of the consensus" in page


def test_decision_that_does_not_override_changes_no_figure(study: Study) -> None:
    before = build_report(study.benchmark)
    make_adjudication(item=contested_of(study), decision=U)

    assert build_report(study.benchmark)["digest"] == before["digest"]


def test_decision_of_another_campaign_is_left_out_where_one_is_chosen(
    study: Study, adjudicator: Account
) -> None:
    decide_first(study, adjudicator)
    other = make_campaign(benchmark=study.benchmark, adjudication_overrides=True)

    found = [
        build_report(study.benchmark, campaign=campaign)["agreement"]["labels"]["n_adjudicated"]
        for campaign in (None, study.campaign, other)
    ]

    assert found == [1, 1, 0]


def test_calibration_names_the_decided_responses(
    researcher_client: Client, study: Study, adjudicator: Account
) -> None:
    decide_first(study, adjudicator)

    html = researcher_client.get(reverse("judging:calibration", args=[study.benchmark.slug])).content.decode()

    (link,) = [href for href, n in linked_counts(html) if "consensus=ADJUDICATED" in href and n == 1]
    assert "decided by an adjudicator" in html
    assert researcher_client.get(link).context["page_obj"].paginator.count == 1
