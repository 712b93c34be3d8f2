"""Invitations: links that let one person each into a campaign, once.

A link carries a secret of 256 bits; only its hash is stored, so a link can be shown when it is made and
never again. Whoever opens it chooses a password and gets a random code, which is the sign-in name as well:
no name and no address of a person is asked for or stored.
"""

import datetime as dt
import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.accounts import create_account
from annotation.audit import record_event
from annotation.campaigns.adding import add_annotator, free_code
from annotation.choices import AnnotatorType, CampaignState, Role
from annotation.errors import Conflict, DomainError, Gone
from annotation.models import Account, Annotator, Campaign, Invitation

MOST_INVITATIONS_AT_ONCE = 100
USUAL_DAYS, MOST_DAYS = 14, 90


class InvalidInvitation(DomainError):
    """More links, or links that last longer, than can be made."""

    code = "invalid_invitation"


class InvitationGone(Gone):
    """The link leads nowhere any more: used, taken back, too old, or its campaign is over.

    `sign_in_name` is the name that was made by the link, when that account still exists: the person who
    used the link and did not see the page that followed can then sign in.
    """

    code = "invitation_gone"

    def __init__(self, message: str, *, sign_in_name: str | None = None) -> None:
        super().__init__(message)
        self.sign_in_name = sign_in_name


@dataclass(frozen=True)
class NewInvitation:
    """An invitation and its secret, which cannot be had again."""

    invitation: Invitation
    secret: str


def invite(
    *,
    campaign: Campaign,
    annotator_type: AnnotatorType,
    actor: Account | None,
    n_people: int = 1,
    n_days: int = USUAL_DAYS,
) -> list[NewInvitation]:
    """Make links for people of one kind.

    Args:
        n_people: how many links, each for one person.
        n_days: how long they can be used.

    Raises:
        InvalidInvitation: a number is out of range.
        Conflict: the campaign is closed.
    """
    if not (1 <= n_people <= MOST_INVITATIONS_AT_ONCE and 1 <= n_days <= MOST_DAYS):
        raise InvalidInvitation(
            f"{n_people} links for {n_days} days were asked for; expected 1 to {MOST_INVITATIONS_AT_ONCE} "
            f"links for 1 to {MOST_DAYS} days. Nothing was made."
        )
    with transaction.atomic():
        stored = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        if stored.state == CampaignState.CLOSED:
            raise Conflict(
                "The campaign is closed for good, so nobody can join it. Make another campaign.",
                code="wrong_state",
            )
        expires_at = timezone.now() + dt.timedelta(days=n_days)
        made = [_new_invitation(campaign, annotator_type, actor, expires_at) for _number in range(n_people)]
        Invitation.objects.bulk_create([new.invitation for new in made])
        record_event(
            actor=actor,
            action="campaign.invitations_made",
            subject=f"campaign:{campaign.public_id}",
            annotator_type=annotator_type,
            invitations=[new.invitation.public_id for new in made],
            expires_at=expires_at.isoformat(),
        )
    return made


def revoke_invitation(*, invitation: Invitation, actor: Account | None) -> None:
    """Take an unused link back. Doing it twice changes nothing.

    Raises:
        Conflict: somebody has used it; deactivate that person instead.
    """
    with transaction.atomic():
        locked = Invitation.objects.select_for_update(no_key=True).get(pk=invitation.pk)
        if locked.used_at is not None:
            raise Conflict(
                "Somebody has used this link already, so it cannot be taken back. Deactivate the person "
                "instead.",
                code="invitation_used",
            )
        if locked.revoked_at is None:
            locked.revoked_at = timezone.now()
            locked.save(update_fields=["revoked_at"])
            record_event(
                actor=actor,
                action="campaign.invitation_revoked",
                subject=f"campaign:{locked.campaign.public_id}",
                invitation=locked.public_id,
            )


def open_invitation(secret: str) -> Invitation:
    """The invitation behind a link, if it can be used. Looking changes nothing: messengers look as well.

    Raises:
        InvitationGone: it cannot be used (any more).
    """
    invitation = _by_secret(secret)
    _require_usable(invitation)
    return invitation


def accept_invitation(*, secret: str, password: str) -> Annotator:
    """Make an account for the person who opened a link, and let it into the campaign.

    Args:
        password: chosen by the person.

    Returns:
        The new annotator. Its code is the account's sign-in name.

    Raises:
        InvitationGone: the link cannot be used (any more).
        InvalidAccount: the password breaks a rule; the link can still be used.
    """

    def admit(invitation: Invitation) -> Annotator:
        code = free_code(invitation.campaign.benchmark_id)
        made = create_account(username=code, role=Role.ANNOTATOR, password=password)
        return _add(invitation, made.account, code=code)

    return _use(secret, admit)


def join_by_invitation(*, secret: str, account: Account) -> Annotator:
    """Let a person who has an account already into the campaign of a link, as the same annotator as before.

    Raises:
        InvitationGone: the link cannot be used (any more).
        Conflict: the person is in the campaign already, or counts as another kind of rater.
        NotAllowed: it is not an annotator's account.
    """

    def admit(invitation: Invitation) -> Annotator:
        if invitation.campaign.memberships.filter(annotator__account=account).exists():
            raise Conflict(
                _("You are part of this task already. The link is still unused: leave it to someone else."),
                code="already_a_member",
            )
        return _add(invitation, account)

    return _use(secret, admit)


def _use(secret: str, admit: Callable[[Invitation], Annotator]) -> Annotator:
    """Let one person in by a link, whoever comes first."""
    with transaction.atomic():
        # The lock comes by itself: rows joined to a locked one are those from before the wait.
        Invitation.objects.select_for_update(no_key=True).filter(secret_hash=_hash(secret)).first()
        invitation = _by_secret(secret)
        _require_usable(invitation)
        annotator = admit(invitation)
        invitation.used_at, invitation.annotator = timezone.now(), annotator
        invitation.save(update_fields=["used_at", "annotator"])
        record_event(
            actor=None,
            action="campaign.invitation_used",
            subject=f"campaign:{invitation.campaign.public_id}",
            invitation=invitation.public_id,
        )
    return annotator


def _add(invitation: Invitation, account: Account, *, code: str | None = None) -> Annotator:
    return add_annotator(
        campaign=invitation.campaign,
        account=account,
        annotator_type=AnnotatorType(invitation.annotator_type),
        actor=invitation.created_by,
        code=code,
    )


def _new_invitation(
    campaign: Campaign, annotator_type: AnnotatorType, actor: Account | None, expires_at: dt.datetime
) -> NewInvitation:
    secret = secrets.token_urlsafe(32)
    invitation = Invitation(
        campaign=campaign,
        annotator_type=annotator_type,
        secret_hash=_hash(secret),
        created_by=actor,
        expires_at=expires_at,
    )
    return NewInvitation(invitation, secret)


def _by_secret(secret: str) -> Invitation:
    invitation = (
        Invitation.objects.select_related("campaign__benchmark", "annotator__account")
        .filter(secret_hash=_hash(secret))
        .first()
    )
    if invitation is None:
        raise InvitationGone(
            _("This link is not known here. Check that it was copied whole, or ask for a new one.")
        )
    return invitation


def _require_usable(invitation: Invitation) -> None:
    if invitation.annotator is not None:
        account = invitation.annotator.account
        raise InvitationGone(
            _("This link has been used. Each link lets one person in, once."),
            sign_in_name=account.username
            if account and account.username == invitation.annotator.code
            else None,
        )
    if invitation.revoked_at is not None:
        raise InvitationGone(_("This link was taken back. Ask the person who sent it for a new one."))
    if invitation.expires_at <= timezone.now():
        raise InvitationGone(_("This link is too old. Ask the person who sent it for a new one."))
    if invitation.campaign.state == CampaignState.CLOSED:
        raise InvitationGone(_("The study is over, so nobody can join it any more. Thank you for coming."))


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
