"""Campaigns and the people in them: create, open, pause, close, add, consent, withdraw.

Every act here leaves an audit event in its own transaction.
"""

from annotation.campaigns.adding import add_annotator
from annotation.campaigns.consenting import consent_hash, give_consent, withdraw_consent
from annotation.campaigns.creating import (
    CHUNK_SIZE,
    IMPORTED_SLUG,
    MAX_SLUG_LENGTH,
    Invitee,
    NothingToLabel,
    create_campaign,
    imported_campaign,
)
from annotation.campaigns.moving import close_campaign, open_campaign, pause_campaign

__all__ = [
    "CHUNK_SIZE",
    "IMPORTED_SLUG",
    "MAX_SLUG_LENGTH",
    "Invitee",
    "NothingToLabel",
    "add_annotator",
    "close_campaign",
    "consent_hash",
    "create_campaign",
    "give_consent",
    "imported_campaign",
    "open_campaign",
    "pause_campaign",
    "withdraw_consent",
]
