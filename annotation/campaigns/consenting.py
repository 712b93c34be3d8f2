"""Consent: what a person read and agreed to, when, and in which language."""

import hashlib

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.audit import record_act_of
from annotation.errors import Conflict
from annotation.models import Annotator, Campaign, Consent
from annotation.permissions import lock_membership


class OtherTextRead(Conflict):
    """The text changed between the page that was read and the button that was pressed."""

    code = "other_text_read"


def give_consent(
    *, campaign: Campaign, annotator: Annotator, read_hash: str | None = None, locale: str = "en"
) -> Consent:
    """Record consent to the campaign's present text. Giving it twice changes nothing.

    Args:
        read_hash: `consent_hash` of the text that stood on the page; None for the present one.
        locale: the language of the page.

    Raises:
        OtherTextRead: the campaign has another text by now; nothing is stored.
        NotAllowed: not a member.
    """
    with transaction.atomic():
        campaign = lock_membership(campaign_id=campaign.pk, annotator_id=annotator.pk).campaign
        present_hash = consent_hash(campaign)
        if read_hash is not None and read_hash != present_hash:
            raise OtherTextRead(
                _("The text has changed since you opened this page. Please read it again, then decide.")
            )
        consent, is_new = Consent.objects.get_or_create(
            campaign=campaign,
            annotator=annotator,
            version=campaign.consent_version,
            withdrawn_at=None,
            defaults={"text_hash": present_hash, "locale": locale},
        )
        if is_new:
            record_act_of(
                annotator,
                action="consent.given",
                subject=f"campaign:{campaign.public_id}",
                version=consent.version,
                text_hash=consent.text_hash,
                locale=consent.locale,
            )
    return consent


def consent_hash(campaign: Campaign) -> str:
    """SHA-256 of exactly what the person reads before consenting."""
    return hashlib.sha256(f"{campaign.content_warning}\n\n{campaign.consent_text}".encode()).hexdigest()
