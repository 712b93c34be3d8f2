"""Consent, and its withdrawal."""

import hashlib

from django.db import transaction
from django.utils import timezone

from annotation.audit import record_event
from annotation.models import (
    Annotator,
    Campaign,
    Consent,
)
from annotation.permissions import lock_membership


def give_consent(*, campaign: Campaign, annotator: Annotator) -> Consent:
    """Record consent to the campaign's present text. Giving it twice changes nothing.

    Raises:
        NotAllowed: not a member.
    """
    with transaction.atomic():
        campaign = lock_membership(campaign_id=campaign.pk, annotator_id=annotator.pk).campaign
        consent, is_new = Consent.objects.get_or_create(
            campaign=campaign,
            annotator=annotator,
            version=campaign.consent_version,
            withdrawn_at=None,
            defaults={"text_hash": consent_hash(campaign)},
        )
        if is_new:
            _record_by_annotator("consent.given", campaign, annotator)
    return consent


def withdraw_consent(*, campaign: Campaign, annotator: Annotator) -> None:
    """End the person's consent: nothing more is shown or stored. Labels given before stay.

    Raises:
        NotAllowed: not a member.
    """
    with transaction.atomic():
        lock_membership(campaign_id=campaign.pk, annotator_id=annotator.pk)
        n_withdrawn = Consent.objects.filter(
            campaign=campaign, annotator=annotator, withdrawn_at=None
        ).update(withdrawn_at=timezone.now())
        if n_withdrawn:
            _record_by_annotator("consent.withdrawn", campaign, annotator)


def consent_hash(campaign: Campaign) -> str:
    """SHA-256 of exactly what the person reads before consenting."""
    return hashlib.sha256(f"{campaign.content_warning}\n\n{campaign.consent_text}".encode()).hexdigest()


def _record_by_annotator(action: str, campaign: Campaign, annotator: Annotator) -> None:
    record_event(
        actor=annotator.account,
        action=action,
        subject=f"campaign:{campaign.public_id}",
        annotator=annotator.public_id,
        version=campaign.consent_version,
    )
