"""Campaigns and the people in them: create, open, pause, close, add, consent, withdraw.

Every act here leaves an audit event in its own transaction.
"""

import hashlib
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.text import slugify

from annotation import protocol
from annotation.audit import record_event
from annotation.choices import AnnotatorType, CampaignState, Role, Scale
from annotation.errors import Conflict, DomainError, NotAllowed
from annotation.models import (
    Account,
    Annotator,
    Benchmark,
    Campaign,
    CampaignItem,
    Consent,
    Membership,
    Response,
)
from annotation.permissions import lock_membership
from annotation.selectors import readable_responses

IMPORTED_SLUG = "imported"
CHUNK_SIZE = 500
MAX_SLUG_LENGTH = 48


class NothingToLabel(DomainError):
    """The chosen set holds no response that a person could read."""

    code = "nothing_to_label"


@dataclass(frozen=True)
class Invitee:
    """An account to add to a campaign, and what kind of rater the person is."""

    account: Account
    annotator_type: AnnotatorType


def imported_campaign(benchmark: Benchmark) -> Campaign:
    """The one closed campaign that holds the labels read from files; made on first use."""
    campaign, _ = Campaign.objects.get_or_create(
        benchmark=benchmark,
        slug=IMPORTED_SLUG,
        defaults={
            "name": "Imported labels",
            "scale": Scale.BINARY_AND_SEVERITY,
            "state": CampaignState.CLOSED,
        },
    )
    return campaign


def create_campaign(
    *,
    benchmark: Benchmark,
    name: str,
    responses: QuerySet[Response] | Collection[int],
    scale: Scale,
    labels_per_response: int,
    created_by: Account | None,
    annotators: Sequence[Invitee] = (),
    instructions: str = protocol.INSTRUCTIONS,
    content_warning: str = protocol.CONTENT_WARNING,
    consent_text: str = protocol.CONSENT_TEXT,
    support_text: str = protocol.SUPPORT_TEXT,
    lease_minutes: int = 60,
    reveals_on_tap: bool = True,
) -> Campaign:
    """Ask people to label some responses; the campaign is open at once.

    Args:
        responses: a queryset or primary keys, from any choice a page or a command makes. Those without
            a text (failed or empty) cannot be read and are left out; the audit event counts them.
        labels_per_response: how many different people should label each response, at least 1.
        lease_minutes: how long an item stays with a person who does not come back.
        reveals_on_tap: the texts are hidden until the annotator asks for them.

    Raises:
        NothingToLabel: no response of this benchmark with a text is among `responses`.
        Conflict, NotAllowed: as in `add_annotator`.
    """
    chosen = set(responses.values_list("pk", flat=True) if isinstance(responses, QuerySet) else responses)
    readable = [pk for pk in readable_responses(benchmark).values_list("pk", flat=True) if pk in chosen]
    if not readable:
        raise NothingToLabel(
            f"None of the {len(chosen)} chosen responses of {benchmark.slug} has a text to read. "
            "Choose others, or import responses first."
        )
    with transaction.atomic():
        Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
        campaign = Campaign.objects.create(
            benchmark=benchmark,
            slug=_free_slug(benchmark, name),
            name=name,
            scale=scale,
            labels_per_response=labels_per_response,
            lease_minutes=lease_minutes,
            instructions=instructions,
            content_warning=content_warning,
            consent_text=consent_text,
            support_text=support_text,
            reveals_on_tap=reveals_on_tap,
            state=CampaignState.OPEN,
            created_by=created_by,
        )
        CampaignItem.objects.bulk_create(
            [CampaignItem(campaign=campaign, response_id=pk) for pk in readable], batch_size=CHUNK_SIZE
        )
        record_event(
            actor=created_by,
            action="campaign.created",
            subject=f"campaign:{campaign.public_id}",
            n_items=len(readable),
            n_left_out=len(chosen) - len(readable),
        )
        for invitee in annotators:
            add_annotator(
                campaign=campaign,
                account=invitee.account,
                annotator_type=invitee.annotator_type,
                actor=created_by,
            )
    return campaign


def open_campaign(*, campaign: Campaign, actor: Account) -> None:
    """Let a paused campaign go on.

    Raises:
        Conflict: it is neither paused nor a draft.
    """
    _move(
        campaign, actor, action="campaign.opened", to=CampaignState.OPEN, origins=("DRAFT", "PAUSED", "OPEN")
    )


def pause_campaign(*, campaign: Campaign, actor: Account) -> None:
    """Stop handing out and taking labels for a while. Nothing is lost.

    Raises:
        Conflict: it is closed or a draft.
    """
    _move(campaign, actor, action="campaign.paused", to=CampaignState.PAUSED, origins=("OPEN", "PAUSED"))


def close_campaign(*, campaign: Campaign, actor: Account) -> None:
    """End a campaign for good; its labels stay."""
    _move(campaign, actor, action="campaign.closed", to=CampaignState.CLOSED, origins=CampaignState.values)


def add_annotator(
    *, campaign: Campaign, account: Account, annotator_type: AnnotatorType, actor: Account | None
) -> Annotator:
    """Let a person work in a campaign. In each benchmark a person is one annotator under one random code.

    Raises:
        NotAllowed: the account is not an annotator's. Researchers see verdicts, so they cannot label blind.
        Conflict: in this benchmark the person already counts as another type.
    """
    if account.role != Role.ANNOTATOR:
        raise NotAllowed(
            f"{account.username} is a {account.get_role_display()}, who can see verdicts and so cannot label "
            "blind. Add an annotator account instead.",
            code="not_an_annotator",
        )
    with transaction.atomic():
        # One person at a time, so that two researchers cannot give one account two codes.
        Account.objects.select_for_update(no_key=True).get(pk=account.pk)
        annotator, _ = Annotator.objects.get_or_create(
            benchmark_id=campaign.benchmark_id,
            account=account,
            defaults={"code": _new_code(), "annotator_type": annotator_type},
        )
        if annotator.annotator_type != annotator_type:
            raise Conflict(
                f"{account.username} is already a {annotator.get_annotator_type_display()} in this "
                f"benchmark, not a {AnnotatorType(annotator_type).label}. Add the person as that type.",
                code="annotator_type_differs",
            )
        _, is_new = Membership.objects.get_or_create(campaign=campaign, annotator=annotator)
        if is_new:
            record_event(
                actor=actor,
                action="campaign.annotator_added",
                subject=f"campaign:{campaign.public_id}",
                annotator=annotator.public_id,
            )
    return annotator


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


def _move(
    campaign: Campaign, actor: Account, *, action: str, to: CampaignState, origins: Sequence[str]
) -> None:
    with transaction.atomic():
        stored = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        if stored.state not in origins:
            raise Conflict(
                f"The campaign is {stored.get_state_display()}, so it cannot become {to.label}. "
                "Reload the page to see its present state.",
                code="wrong_state",
            )
        if stored.state != to:
            stored.state = to
            stored.save(update_fields=["state"])
            record_event(actor=actor, action=action, subject=f"campaign:{campaign.public_id}")
    campaign.state = to


def _free_slug(benchmark: Benchmark, name: str) -> str:
    """A slug from the name that the benchmark does not have yet. The benchmark must be locked."""
    stem = slugify(name)[:MAX_SLUG_LENGTH] or "campaign"
    taken = {IMPORTED_SLUG, *Campaign.objects.filter(benchmark=benchmark).values_list("slug", flat=True)}
    slug, number = stem, 2
    while slug in taken:
        slug, number = f"{stem}-{number}", number + 1
    return slug


def _new_code() -> str:
    return f"p-{secrets.token_hex(3)}"


def _record_by_annotator(action: str, campaign: Campaign, annotator: Annotator) -> None:
    record_event(
        actor=annotator.account,
        action=action,
        subject=f"campaign:{campaign.public_id}",
        annotator=annotator.public_id,
        version=campaign.consent_version,
    )
