"""Who is in a campaign: the roster, the invitations, and what one person agreed to."""

import datetime as dt
from dataclasses import dataclass
from enum import StrEnum

from django.db.models import Case, CharField, Count, Exists, F, OuterRef, QuerySet, Subquery, Value, When
from django.db.models.functions import Now

from annotation.choices import AssignmentState, CampaignState
from annotation.models import (
    Account,
    Annotator,
    Assignment,
    Campaign,
    CategoryOptOut,
    Consent,
    Invitation,
    Label,
    Membership,
    Prompt,
)


@dataclass(frozen=True, kw_only=True)
class Person:
    """One row of a campaign's roster.

    `account_name` is None without an account and where the sign-in name is the code itself; `is_linked`
    tells the two apart. `consent` is the newest one, `has_consented` whether it is to the present text.
    """

    annotator: Annotator
    account_name: str | None
    is_linked: bool
    joined_at: dt.datetime
    last_seen_at: dt.datetime | None
    deactivated_at: dt.datetime | None
    trained_at: dt.datetime | None
    consent: Consent | None
    has_consented: bool
    n_labelled: int
    n_skipped: int
    n_open: int
    n_opted_out: int

    @property
    def has_withdrawn(self) -> bool:
        """True when the person took the newest consent back."""
        return self.consent is not None and self.consent.withdrawn_at is not None


class LinkState(StrEnum):
    """What has become of an invitation."""

    OPEN = "OPEN"
    USED = "USED"
    REVOKED = "REVOKED"
    EXPIRED = "EXPIRED"


@dataclass(frozen=True)
class Link:
    """One invitation on the roster."""

    invitation: Invitation
    state: LinkState


@dataclass(frozen=True)
class ConsentInForce:
    """One campaign to which a person has agreed, on the page of their consents."""

    campaign_id: str
    consented_at: dt.datetime
    is_open: bool


def roster_of(campaign: Campaign) -> list[Person]:
    """Everybody who is or was in the campaign, by code. Five queries.

    Labels are the current ones, of items of every kind, so an erased one counts nowhere.
    """
    members = (
        Membership.objects.filter(campaign=campaign)
        .select_related("annotator__account")
        .order_by("annotator__code")
    )
    newest = {
        consent.annotator_id: consent
        for consent in Consent.objects.filter(campaign=campaign).order_by("consented_at", "pk")
    }
    n_labelled = _counts(Label.objects.filter(item__campaign=campaign, is_current=True), "annotator")
    states = Assignment.objects.filter(item__campaign=campaign).order_by()
    n_by_state = {
        (annotator_id, state): n
        for annotator_id, state, n in states.values_list("annotator", "state").annotate(n=Count("pk"))
    }
    n_opted_out = _counts(
        CategoryOptOut.objects.filter(membership__campaign=campaign), "membership__annotator"
    )
    return [
        _person(
            member,
            consent=newest.get(member.annotator_id),
            present_version=campaign.consent_version,
            n_labelled=n_labelled.get(member.annotator_id, 0),
            n_skipped=n_by_state.get((member.annotator_id, AssignmentState.SKIPPED), 0),
            n_open=n_by_state.get((member.annotator_id, AssignmentState.OPEN), 0),
            n_opted_out=n_opted_out.get(member.annotator_id, 0),
        )
        for member in members
    ]


def invitations_of(campaign: Campaign) -> list[Link]:
    """The campaign's links, newest first. One query. The database's clock says which are too old."""
    invitations = Invitation.objects.filter(campaign=campaign).select_related("annotator")
    return [
        Link(invitation=invitation, state=LinkState(invitation.state))
        for invitation in invitations.annotate(
            state=Case(
                When(used_at__isnull=False, then=Value(LinkState.USED)),
                When(revoked_at__isnull=False, then=Value(LinkState.REVOKED)),
                When(expires_at__lte=Now(), then=Value(LinkState.EXPIRED)),
                default=Value(LinkState.OPEN),
                output_field=CharField(),
            )
        ).order_by("-created_at", "-pk")
    ]


def member_by_id(campaign: Campaign, annotator_public_id: str) -> Annotator | None:
    """An annotator of the campaign by public id. One query."""
    return (
        Annotator.objects.select_related("account")
        .filter(memberships__campaign=campaign, public_id=annotator_public_id)
        .first()
    )


def membership_by_id(campaign: Campaign, annotator_public_id: str) -> Membership | None:
    """An annotator's place in the campaign, with both loaded. One query."""
    return (
        Membership.objects.select_related("campaign", "annotator")
        .filter(campaign=campaign, annotator__public_id=annotator_public_id)
        .first()
    )


def categories_of(campaign: Campaign) -> list[str]:
    """The risk categories of the campaign's items, in alphabetical order. One query."""
    return list(
        Prompt.objects.filter(Exists(campaign.items.filter(response__prompt=OuterRef("pk"))))
        .order_by("risk_category")
        .values_list("risk_category", flat=True)
        .distinct()
    )


def opt_outs_of(membership: Membership) -> list[str]:
    """The categories that the person does not read, in alphabetical order. One query."""
    return list(membership.opt_outs.order_by("risk_category").values_list("risk_category", flat=True))


def earlier_consent(membership: Membership) -> Consent | None:
    """The newest standing consent to an earlier text of the campaign. One query."""
    return (
        Consent.objects.filter(
            campaign=membership.campaign_id,
            annotator=membership.annotator_id,
            version__lt=membership.campaign.consent_version,
            withdrawn_at=None,
        )
        .order_by("-version")
        .first()
    )


def consents_in_force(account: Account) -> list[ConsentInForce]:
    """The campaigns to which an account's person has agreed, in any state, newest first. One query."""
    newest = (
        Consent.objects.filter(
            campaign=OuterRef("campaign"), annotator=OuterRef("annotator"), withdrawn_at=None
        )
        .order_by("-consented_at")
        .values("consented_at")[:1]
    )
    memberships = (
        Membership.objects.filter(annotator__account=account)
        .annotate(consented_at=Subquery(newest))
        .filter(consented_at__isnull=False)
        .order_by(F("consented_at").desc(), "pk")
    )
    return [
        ConsentInForce(public_id, consented_at, state == CampaignState.OPEN)
        for public_id, consented_at, state in memberships.values_list(
            "campaign__public_id", "consented_at", "campaign__state"
        )
    ]


def _person(member: Membership, *, consent: Consent | None, present_version: int, **counts: int) -> Person:
    account = member.annotator.account
    has_own_name = account is not None and account.username != member.annotator.code
    return Person(
        annotator=member.annotator,
        account_name=account.username if account and has_own_name else None,
        is_linked=account is not None,
        joined_at=member.created_at,
        last_seen_at=member.last_seen_at,
        deactivated_at=member.deactivated_at,
        trained_at=member.trained_at,
        consent=consent,
        has_consented=consent is not None
        and consent.withdrawn_at is None
        and consent.version == present_version,
        **counts,
    )


def _counts(rows: QuerySet[Label] | QuerySet[CategoryOptOut], field: str) -> dict[int, int]:
    return dict(rows.order_by().values_list(field).annotate(n=Count("pk")))
