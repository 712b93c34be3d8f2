"""Withdrawal of consent: what becomes of what a person gave, as the campaign declared beforehand.

KEEP leaves the answers under the random code. DELETE blanks them: the rows stay, so that what others did
can still be followed, but say nothing any more, are in no figure and in no export. Under both, what was not
handed in (a draft, an item in hand) goes, and the link from the code to the account is cut as soon as
nothing else of the person needs it. Nothing of this can be undone.
"""

import secrets
from dataclasses import dataclass

from axes.models import AccessLog
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone
from rest_framework.authtoken.models import Token

from annotation.audit import record_event
from annotation.choices import AssignmentState, CampaignState, WithdrawalPolicy
from annotation.models import (
    Account,
    Annotator,
    Assignment,
    Campaign,
    CategoryOptOut,
    Consent,
    Draft,
    Flag,
    Label,
    Membership,
)
from annotation.permissions import lock_membership


@dataclass(frozen=True, kw_only=True)
class Withdrawal:
    """What a withdrawal does, or did.

    `n_answers` are those that count, `n_revisions` all that were ever given, taken back or changed ones
    included; `n_notes` are the notes beside them, `n_flags` the flags with a note. `cuts_link`: code and
    account are no longer linked.
    `closes_account`: nobody can sign in with the account any more, as its name is the code.
    """

    policy: WithdrawalPolicy
    n_answers: int
    n_revisions: int
    n_notes: int
    n_skips: int
    n_drafts: int
    n_flags: int
    cuts_link: bool
    closes_account: bool

    @property
    def deletes(self) -> bool:
        """True when what was given is deleted rather than kept under the code."""
        return self.policy == WithdrawalPolicy.DELETE


@dataclass(frozen=True)
class _Links:
    """Which annotators of an account can lose their link to it, and whether the account closes then."""

    free: tuple[Annotator, ...]
    closes_account: bool


def plan_withdrawal(*, campaign: Campaign, annotator: Annotator) -> Withdrawal:
    """What `withdraw_consent` would do at this moment. Changes nothing. Seven queries at most."""
    return _plan(campaign, annotator, _links_after(campaign, annotator))


def withdraw_consent(*, campaign: Campaign, annotator: Annotator, actor: Account | None = None) -> Withdrawal:
    """End the person's consent, and do with what they gave what the campaign declared.

    Works in any state of the campaign. Without a standing consent the policy is applied all the same, so
    doing it again is safe and finishes what an earlier withdrawal left.

    Args:
        actor: who did it on the person's behalf; None for the person.

    Returns:
        What was done.

    Raises:
        NotAllowed: not a member.
    """
    with transaction.atomic():
        membership = lock_membership(campaign_id=campaign.pk, annotator_id=annotator.pk)
        if annotator.account_id is not None:
            # `add_annotator` takes the same lock, so nobody gives the account a new place meanwhile.
            Account.objects.select_for_update(no_key=True).get(pk=annotator.account_id)
        campaign, account = membership.campaign, annotator.account
        links = _links_after(campaign, annotator)
        planned = _plan(campaign, annotator, links)
        n_consents = Consent.objects.filter(campaign=campaign, annotator=annotator, withdrawn_at=None).update(
            withdrawn_at=timezone.now()
        )
        if planned.deletes:
            _erase(membership)
        else:
            _let_go(membership)
        record_event(
            actor=actor,
            action="consent.withdrawn",
            subject=f"campaign:{campaign.public_id}",
            annotator=annotator.public_id,
            policy=planned.policy,
            n_consents=n_consents,
            n_answers=planned.n_answers,
            n_revisions=planned.n_revisions,
            n_skips=planned.n_skips,
            cuts_link=planned.cuts_link,
        )
        if account is not None:
            _cut(account, links)
    return planned


def _plan(campaign: Campaign, annotator: Annotator, links: _Links) -> Withdrawal:
    own = {"item__campaign": campaign, "annotator": annotator}
    labels = Label.objects.filter(**own, erased_at=None).aggregate(
        n_answers=Count("pk", filter=Q(is_current=True)),
        n_revisions=Count("pk", filter=Q(rating__isnull=False)),
        n_notes=Count("pk", filter=Q(note__isnull=False) & ~Q(note="")),
    )
    drafts = Draft.objects.filter(assignment__item__campaign=campaign, assignment__annotator=annotator)
    return Withdrawal(
        policy=WithdrawalPolicy(campaign.withdrawal_policy),
        n_skips=Assignment.objects.filter(**own, state=AssignmentState.SKIPPED).count(),
        n_drafts=drafts.count(),
        n_flags=Flag.objects.filter(**own).exclude(note="").count(),
        cuts_link=annotator in links.free,
        closes_account=links.closes_account,
        **labels,
    )


def _erase(membership: Membership) -> None:
    """Blank the answers, and remove what else the person left in the campaign. Membership locked.

    The assignments go as well: they say which items the person read and skipped, and they hold places that
    others can fill again.
    """
    own = {"item__campaign": membership.campaign_id, "annotator": membership.annotator_id}
    Label.objects.filter(**own, erased_at=None).update(
        rating=None,
        severity=None,
        note=None,
        rating_raw=None,
        is_current=False,
        erased_at=timezone.now(),
    )
    Flag.objects.filter(**own).exclude(note="").update(note="")
    Assignment.objects.filter(**own).delete()
    CategoryOptOut.objects.filter(membership=membership).delete()
    # The answers to the training items are gone, so they do not vouch for the person any more.
    Membership.objects.filter(pk=membership.pk).update(trained_at=None)


def _let_go(membership: Membership) -> None:
    """Give back the items in hand, with their drafts; answers and skips stay. Membership locked."""
    own = Assignment.objects.filter(item__campaign=membership.campaign_id, annotator=membership.annotator_id)
    Draft.objects.filter(assignment__in=own).delete()
    own.filter(state=AssignmentState.OPEN).delete()
    own.filter(state=AssignmentState.AGAIN).update(state=AssignmentState.LABELLED)


def _links_after(campaign: Campaign, annotator: Annotator) -> _Links:
    """Which links of the person's account nothing needs once they have left the campaign. Three queries.

    A campaign needs the link while a consent stands, as that can still be withdrawn, or while the person
    could still begin. An account that an invitation made has a code for its name: that code stays linked
    as long as the person signs in with it for anything else.
    """
    account = annotator.account
    if account is None:
        return _Links(free=(), closes_account=False)
    own = list(Annotator.objects.filter(account=account).order_by("pk"))
    consents = Consent.objects.filter(campaign=OuterRef("campaign"), annotator=OuterRef("annotator"))
    needing = set(
        Membership.objects.filter(annotator__in=own)
        .exclude(campaign=campaign, annotator=annotator)
        .filter(
            Exists(consents.filter(withdrawn_at=None))
            | (~Exists(consents) & Q(deactivated_at=None) & ~Q(campaign__state=CampaignState.CLOSED))
        )
        .values_list("annotator_id", flat=True)
    )
    free = [one for one in own if one.pk not in needing]
    namesake = next((one for one in own if one.code == account.username), None)
    if namesake is not None and len(free) < len(own):
        free = [one for one in free if one != namesake]
    return _Links(free=tuple(free), closes_account=namesake is not None and len(free) == len(own))


def _cut(account: Account, links: _Links) -> None:
    """Cut the links, and close an account whose name is a code. The account is locked."""
    Annotator.objects.filter(pk__in=[one.pk for one in links.free]).update(account=None)
    if not links.closes_account:
        return
    AccessLog.objects.filter(username=account.username).delete()
    Token.objects.filter(user=account).delete()
    account.username = f"closed-{secrets.token_hex(6)}"
    account.is_active = False
    account.last_login = None
    account.set_unusable_password()
    account.save(update_fields=["username", "is_active", "last_login", "password"])
    record_event(actor=None, action="account.closed", subject=f"account:{account.pk}")
