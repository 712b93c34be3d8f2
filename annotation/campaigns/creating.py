"""Make a campaign from a choice of responses; choose again, or discard, while it is a draft."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.text import slugify

from annotation import protocol
from annotation.audit import record_event
from annotation.campaigns.adding import add_annotator
from annotation.campaigns.changing import lock_draft
from annotation.campaigns.texts import keep_texts
from annotation.choices import AnnotatorType, CampaignState, ItemKind, Scale
from annotation.errors import Conflict, DomainError
from annotation.models import (
    Account,
    Benchmark,
    Campaign,
    CampaignItem,
    Response,
)
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
    support_text: str = "",
    lease_minutes: int = 60,
    reveals_on_tap: bool = True,
    selection: Mapping[str, Any] | None = None,
    state: CampaignState = CampaignState.OPEN,
) -> Campaign:
    """Ask people to label some responses; the campaign is open at once, or waits as a draft.

    Args:
        responses: a queryset or primary keys, from any choice a page or a command makes. Those without
            a text (failed or empty) cannot be read and are left out; the audit event counts them.
        labels_per_response: how many different people should label each response, at least 1.
        lease_minutes: how long an item stays with a person who does not come back.
        reveals_on_tap: the texts are hidden until the annotator asks for them.
        selection: how the responses were chosen, for the record: small JSON values.
        state: OPEN, or DRAFT for a campaign that is still being prepared.

    Raises:
        NothingToLabel: no response of this benchmark with a text is among `responses`.
        ValueError: `state` is neither of the two.
        Conflict, NotAllowed: as in `add_annotator`.
    """
    if state not in (CampaignState.OPEN, CampaignState.DRAFT):
        raise ValueError(f"A new campaign is open or a draft, not {state}.")
    readable, n_left_out = _readable_among(responses, benchmark)
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
            selection=selection,
            state=state,
            created_by=created_by,
        )
        _add_items(campaign, readable)
        if state == CampaignState.OPEN:
            keep_texts(campaign, actor=created_by)
        record_event(
            actor=created_by,
            action="campaign.created",
            subject=f"campaign:{campaign.public_id}",
            n_items=len(readable),
            n_left_out=n_left_out,
        )
        for invitee in annotators:
            add_annotator(
                campaign=campaign,
                account=invitee.account,
                annotator_type=invitee.annotator_type,
                actor=created_by,
            )
    return campaign


def choose_again(
    *,
    campaign: Campaign,
    name: str,
    responses: QuerySet[Response] | Collection[int],
    selection: Mapping[str, Any] | None,
    actor: Account | None,
) -> None:
    """Give a draft another name and other regular items. Training and gold items stay.

    Args:
        responses, selection: as in `create_campaign`.

    Raises:
        NothingToLabel: as in `create_campaign`.
        Conflict: it is no draft any more.
    """
    readable, n_left_out = _readable_among(responses, campaign.benchmark)
    with transaction.atomic():
        stored = lock_draft(campaign)
        stored.name, stored.selection = name, selection
        stored.save(update_fields=["name", "selection"])
        CampaignItem.objects.filter(campaign=stored, kind=ItemKind.REGULAR).delete()
        known = set(stored.items.values_list("response_id", flat=True))
        _add_items(stored, [pk for pk in readable if pk not in known])
        record_event(
            actor=actor,
            action="campaign.responses_chosen",
            subject=f"campaign:{stored.public_id}",
            n_items=len(readable),
            n_left_out=n_left_out,
        )


def discard_draft(*, campaign: Campaign, actor: Account | None) -> None:
    """Take a draft away with its items. Only the audit trail remembers it.

    Raises:
        Conflict: it is no draft any more, or people were invited or added.
    """
    with transaction.atomic():
        stored = lock_draft(campaign)
        if stored.memberships.exists() or stored.invitations.exists():
            raise Conflict(
                "People were invited to this draft or are in it already, so it cannot be discarded. "
                "Close it instead.",
                code="draft_has_people",
            )
        for rows in (stored.items, stored.quotas, stored.mildness):
            rows.all().delete()
        record_event(
            actor=actor,
            action="campaign.discarded",
            subject=f"campaign:{stored.public_id}",
            slug=stored.slug,
        )
        stored.delete()


def _readable_among(
    responses: QuerySet[Response] | Collection[int], benchmark: Benchmark
) -> tuple[list[int], int]:
    """Primary keys of those that a person can read, in a fixed order, and how many others there were."""
    chosen = set(responses.values_list("pk", flat=True) if isinstance(responses, QuerySet) else responses)
    readable = readable_responses(benchmark).order_by("pk").values_list("pk", flat=True)
    among = [pk for pk in readable if pk in chosen]
    if not among:
        raise NothingToLabel(
            f"None of the {len(chosen)} chosen responses of {benchmark.slug} has a text to read. "
            "Choose others, or import responses first."
        )
    return among, len(chosen) - len(among)


def _add_items(campaign: Campaign, response_ids: Sequence[int]) -> None:
    CampaignItem.objects.bulk_create(
        [CampaignItem(campaign=campaign, response_id=pk) for pk in response_ids], batch_size=CHUNK_SIZE
    )


def _free_slug(benchmark: Benchmark, name: str) -> str:
    """A slug from the name that the benchmark does not have yet. The benchmark must be locked."""
    stem = slugify(name)[:MAX_SLUG_LENGTH] or "campaign"
    taken = {IMPORTED_SLUG, *Campaign.objects.filter(benchmark=benchmark).values_list("slug", flat=True)}
    slug, number = stem, 2
    while slug in taken:
        slug, number = f"{stem}-{number}", number + 1
    return slug
