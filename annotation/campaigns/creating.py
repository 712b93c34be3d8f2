"""Make a campaign from a choice of responses."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet
from django.utils.text import slugify

from annotation import protocol
from annotation.audit import record_event
from annotation.campaigns.adding import add_annotator
from annotation.choices import AnnotatorType, CampaignState, Scale
from annotation.errors import DomainError
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


def _free_slug(benchmark: Benchmark, name: str) -> str:
    """A slug from the name that the benchmark does not have yet. The benchmark must be locked."""
    stem = slugify(name)[:MAX_SLUG_LENGTH] or "campaign"
    taken = {IMPORTED_SLUG, *Campaign.objects.filter(benchmark=benchmark).values_list("slug", flat=True)}
    slug, number = stem, 2
    while slug in taken:
        slug, number = f"{stem}-{number}", number + 1
    return slug
