"""A campaign with people ready to label, for the tests of this folder."""

import uuid
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from annotation.campaigns import add_annotator, give_consent
from annotation.choices import AnnotatorType, Rating, Role
from annotation.labelling import Receipt, next_assignment, submit_label
from annotation.models import Account, Annotator, Assignment, Campaign, CampaignItem
from tests.factories import make_account, make_campaign, make_item


@dataclass
class Desk:
    """One open campaign, its items, and the annotators who have consented."""

    campaign: Campaign
    items: list[CampaignItem]
    annotators: list[Annotator]

    @property
    def annotator(self) -> Annotator:
        return self.annotators[0]

    @property
    def account(self) -> Account:
        account = self.annotator.account
        assert account is not None
        return account


def make_desk(*, n_items: int = 3, n_annotators: int = 1, **campaign_values: Any) -> Desk:
    """A campaign of `n_items`, by default on the binary scale with one label each."""
    campaign_values.setdefault("scale", "BINARY")
    campaign = make_campaign(**campaign_values)
    items = [make_item(campaign=campaign) for _ in range(n_items)]
    annotators = [join(campaign) for _ in range(n_annotators)]
    return Desk(campaign, items, annotators)


def join(campaign: Campaign, annotator_type: AnnotatorType = AnnotatorType.PARENT) -> Annotator:
    """A new person in the campaign, who has consented."""
    account = make_account(role=Role.ANNOTATOR)
    annotator = add_annotator(campaign=campaign, account=account, annotator_type=annotator_type, actor=None)
    give_consent(campaign=campaign, annotator=annotator)
    return annotator


def take(desk: Desk, annotator: Annotator | None = None) -> Assignment:
    """The next assignment, which the test expects to exist."""
    assignment = next_assignment(campaign=desk.campaign, annotator=annotator or desk.annotator)
    assert assignment is not None
    return assignment


def answer(assignment: Assignment, rating: Rating = Rating.ACCEPTABLE, **values: Any) -> Receipt:
    """Submit a label for the assignment under a new submission id."""
    values.setdefault("submission_id", uuid.uuid4())
    return submit_label(assignment=assignment, annotator=assignment.annotator, rating=rating, **values)


def url(name: str, desk: Desk, **kwargs: str) -> str:
    return reverse(f"annotation:{name}", kwargs={"campaign_id": desk.campaign.public_id, **kwargs})


def item_url(desk: Desk, assignment: Assignment, name: str = "item") -> str:
    return url(name, desk, assignment_id=assignment.public_id)


def sent(value: str = "ACCEPTABLE", **values: Any) -> dict[str, Any]:
    """What the form sends."""
    return {"value": value, "note": "", "revises": "", "submission_id": str(uuid.uuid4()), **values}
