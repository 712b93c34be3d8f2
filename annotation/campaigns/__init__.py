"""Campaigns and the people in them: create, open, pause, close, invite, consent, withdraw.

Every act here leaves an audit event in its own transaction.
"""

from annotation.campaigns.adding import add_annotator, free_code
from annotation.campaigns.changing import InvalidPlan
from annotation.campaigns.consenting import OtherTextRead, consent_hash, give_consent
from annotation.campaigns.creating import (
    CHUNK_SIZE,
    IMPORTED_SLUG,
    MAX_SLUG_LENGTH,
    Invitee,
    NothingToLabel,
    choose_again,
    create_campaign,
    discard_draft,
    imported_campaign,
)
from annotation.campaigns.inviting import (
    MOST_DAYS,
    MOST_INVITATIONS_AT_ONCE,
    USUAL_DAYS,
    InvalidInvitation,
    InvitationGone,
    NewInvitation,
    accept_invitation,
    invite,
    join_by_invitation,
    open_invitation,
    revoke_invitation,
)
from annotation.campaigns.known_answers import Place, place_response, set_pass_mark
from annotation.campaigns.moving import NotReady, close_campaign, open_campaign, pause_campaign
from annotation.campaigns.opting_out import UnknownTheme, choose_opt_outs
from annotation.campaigns.planning import LabelPlan, Pace, plan_labels, set_pace
from annotation.campaigns.roster import deactivate, reactivate
from annotation.campaigns.texts import TextChange, Texts, change_texts, serve_again
from annotation.campaigns.withdrawing import Withdrawal, plan_withdrawal, withdraw_consent

__all__ = [
    "CHUNK_SIZE",
    "IMPORTED_SLUG",
    "MAX_SLUG_LENGTH",
    "MOST_DAYS",
    "MOST_INVITATIONS_AT_ONCE",
    "USUAL_DAYS",
    "InvalidInvitation",
    "InvalidPlan",
    "InvitationGone",
    "Invitee",
    "LabelPlan",
    "NewInvitation",
    "NotReady",
    "NothingToLabel",
    "OtherTextRead",
    "Pace",
    "Place",
    "TextChange",
    "Texts",
    "UnknownTheme",
    "Withdrawal",
    "accept_invitation",
    "add_annotator",
    "change_texts",
    "choose_again",
    "choose_opt_outs",
    "close_campaign",
    "consent_hash",
    "create_campaign",
    "deactivate",
    "discard_draft",
    "free_code",
    "give_consent",
    "imported_campaign",
    "invite",
    "join_by_invitation",
    "open_campaign",
    "open_invitation",
    "pause_campaign",
    "place_response",
    "plan_labels",
    "plan_withdrawal",
    "reactivate",
    "revoke_invitation",
    "serve_again",
    "set_pace",
    "set_pass_mark",
    "withdraw_consent",
]
