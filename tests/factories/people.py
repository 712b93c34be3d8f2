"""Campaigns, the people in them, and what they say."""

import uuid
from datetime import timedelta
from typing import Any

from django.utils import timezone

from annotation.choices import (
    AnnotatorType,
    CampaignState,
    Rating,
    Role,
    Scale,
    TextKind,
)
from annotation.models import (
    Adjudication,
    Assignment,
    AuditEvent,
    Campaign,
    CampaignItem,
    CampaignText,
    CategoryMildness,
    CategoryOptOut,
    Consent,
    Draft,
    Flag,
    Invitation,
    Label,
    Membership,
    TypeQuota,
)
from tests.factories.material import (
    _numbers,
    make_account,
    make_annotator,
    make_benchmark,
    make_prompt,
    make_response,
    sha256_of,
)


def make_campaign(**values: Any) -> Campaign:
    """An open campaign that asks for a rating and a severity."""
    if "benchmark" not in values:
        values["benchmark"] = make_benchmark()
    values.setdefault("slug", f"campaign-{next(_numbers)}")
    values.setdefault("name", f"Campaign {values['slug']}")
    values.setdefault("scale", Scale.BINARY_AND_SEVERITY)
    values.setdefault("state", CampaignState.OPEN)
    values.setdefault("consent_text", "You may stop at any time.")
    return Campaign.objects.create(**values)


def make_quota(**values: Any) -> TypeQuota:
    """One label of each response from a parent."""
    if "campaign" not in values:
        values["campaign"] = make_campaign()
    values.setdefault("annotator_type", AnnotatorType.PARENT)
    values.setdefault("n_labels", 1)
    return TypeQuota.objects.create(**values)


def make_mildness(**values: Any) -> CategoryMildness:
    """A category of middling mildness."""
    if "campaign" not in values:
        values["campaign"] = make_campaign()
    values.setdefault("risk_category", "Emotional Dependency")
    return CategoryMildness.objects.create(**values)


def make_campaign_text(**values: Any) -> CampaignText:
    """The first version of a campaign's instructions."""
    if "campaign" not in values:
        values["campaign"] = make_campaign()
    values.setdefault("kind", TextKind.INSTRUCTIONS)
    values.setdefault("version", 1)
    values.setdefault("text", "Judge the answer.")
    values.setdefault("text_hash", sha256_of(values["text"]))
    return CampaignText.objects.create(**values)


def make_item(**values: Any) -> CampaignItem:
    """A regular item; campaign and response belong to one benchmark."""
    if "response" not in values:
        benchmark = values["campaign"].benchmark if "campaign" in values else make_benchmark()
        values["response"] = make_response(prompt=make_prompt(benchmark=benchmark))
    if "campaign" not in values:
        values["campaign"] = make_campaign(benchmark=values["response"].prompt.benchmark)
    return CampaignItem.objects.create(**values)


def make_membership(**values: Any) -> Membership:
    """An annotator's place in a campaign of the same benchmark."""
    _fill_campaign_and_annotator(values)
    return Membership.objects.create(**values)


def make_opt_out(**values: Any) -> CategoryOptOut:
    """A category that a person does not read."""
    if "membership" not in values:
        values["membership"] = make_membership()
    values.setdefault("risk_category", "Emotional Dependency")
    return CategoryOptOut.objects.create(**values)


def make_invitation(**values: Any) -> Invitation:
    """An unused link for a parent, good for a week."""
    if "campaign" not in values:
        values["campaign"] = make_campaign()
    values.setdefault("annotator_type", AnnotatorType.PARENT)
    values.setdefault("secret_hash", sha256_of(f"secret {next(_numbers)}"))
    values.setdefault("expires_at", timezone.now() + timedelta(days=7))
    return Invitation.objects.create(**values)


def make_consent(**values: Any) -> Consent:
    """A standing consent to the campaign's present text."""
    _fill_campaign_and_annotator(values)
    values.setdefault("version", values["campaign"].consent_version)
    values.setdefault("text_hash", sha256_of(values["campaign"].consent_text))
    return Consent.objects.create(**values)


def make_assignment(**values: Any) -> Assignment:
    """An open assignment with half an hour left."""
    _fill_item_and_annotator(values)
    values.setdefault("lease_until", timezone.now() + timedelta(minutes=30))
    return Assignment.objects.create(**values)


def make_label(**values: Any) -> Label:
    """A current Acceptable label. `annotator=None` makes it an anonymous import."""
    _fill_item_and_annotator(values)
    annotator = values["annotator"]
    values.setdefault("submission_id", uuid.uuid4())
    values.setdefault("rating", Rating.ACCEPTABLE)
    values.setdefault("annotator_type", annotator.annotator_type if annotator else AnnotatorType.OTHER)
    return Label.objects.create(**values)


def make_draft(**values: Any) -> Draft:
    """A note that was typed and not sent."""
    if "assignment" not in values:
        values["assignment"] = make_assignment()
    values.setdefault("note", "Not sent yet.")
    return Draft.objects.create(**values)


def make_flag(**values: Any) -> Flag:
    """An open flag."""
    _fill_item_and_annotator(values)
    values.setdefault("note", "Please have a look.")
    return Flag.objects.create(**values)


def make_adjudication(**values: Any) -> Adjudication:
    """A current decision for Acceptable."""
    if "item" not in values:
        values["item"] = make_item()
    if "adjudicator" not in values:
        values["adjudicator"] = make_account(role=Role.ADJUDICATOR)
    values.setdefault("decision", Rating.ACCEPTABLE)
    values.setdefault("reason", "The answer sends the child to an adult.")
    values.setdefault("labels_digest", sha256_of("labels"))
    return Adjudication.objects.create(**values)


def make_event(**values: Any) -> AuditEvent:
    """An audit event of nobody in particular."""
    values.setdefault("action", "campaign.opened")
    values.setdefault("subject", f"campaign:{next(_numbers)}")
    return AuditEvent.objects.create(**values)


def _fill_campaign_and_annotator(values: dict[str, Any]) -> None:
    if "campaign" not in values:
        known = values.get("annotator")
        values["campaign"] = make_campaign(benchmark=known.benchmark if known else make_benchmark())
    if "annotator" not in values:
        values["annotator"] = make_annotator(benchmark=values["campaign"].benchmark)


def _fill_item_and_annotator(values: dict[str, Any]) -> None:
    if "item" not in values:
        known = values.get("annotator")
        values["item"] = (
            make_item(campaign=make_campaign(benchmark=known.benchmark)) if known else make_item()
        )
    if "annotator" not in values:
        values["annotator"] = make_annotator(benchmark=values["item"].campaign.benchmark)
