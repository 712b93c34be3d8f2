"""What annotators are told, in versions that are all kept; and asking again under a newer one."""

import hashlib
import re
from dataclasses import asdict, dataclass

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from annotation.audit import record_event
from annotation.campaigns.changing import InvalidPlan, lock_unclosed
from annotation.choices import AssignmentState, CampaignState, ItemKind, TextKind
from annotation.models import Account, Assignment, Campaign, CampaignText, Consent, Label, Membership

LINE_END = re.compile(r"\r\n|\r")


@dataclass(frozen=True, kw_only=True)
class Texts:
    """What a campaign tells its annotators. Only the instructions are read as limited markdown."""

    instructions: str
    content_warning: str
    consent_text: str
    support_text: str


@dataclass(frozen=True)
class TextChange:
    """Which texts are other ones now, and how many labels were given under older instructions."""

    instructions_changed: bool
    consent_changed: bool
    support_changed: bool
    n_older_labels: int


def change_texts(*, campaign: Campaign, texts: Texts, actor: Account | None) -> TextChange:
    """Replace the texts of a campaign; every version that anybody can have read is kept.

    Line ends of another kind and white space around a text make no other text. Other instructions are a
    new version, which labels carry from then on. Another content warning or consent text is a new version
    of what is agreed to, so everybody is asked again. A draft was read by nobody: its texts change without
    a new version.

    Raises:
        Conflict: the campaign is closed.
        InvalidPlan: instructions or consent text are empty.
    """
    texts = Texts(**{name: LINE_END.sub("\n", text).strip() for name, text in asdict(texts).items()})
    if not texts.instructions or not texts.consent_text:
        raise InvalidPlan(
            "Instructions and consent text cannot be empty; nothing was changed. Write both, and save.",
            code="text_missing",
        )
    with transaction.atomic():
        stored = lock_unclosed(campaign)
        instructions_changed = stored.instructions != texts.instructions
        consent_changed = (stored.content_warning, stored.consent_text) != (
            texts.content_warning,
            texts.consent_text,
        )
        support_changed = stored.support_text != texts.support_text
        if stored.state != CampaignState.DRAFT:
            stored.instructions_version += instructions_changed
            stored.consent_version += consent_changed
        stored.instructions, stored.content_warning = texts.instructions, texts.content_warning
        stored.consent_text, stored.support_text = texts.consent_text, texts.support_text
        stored.save(
            update_fields=[
                "instructions",
                "instructions_version",
                "content_warning",
                "consent_text",
                "consent_version",
                "support_text",
            ]
        )
        if stored.state != CampaignState.DRAFT:
            keep_texts(stored, actor=actor)
        if instructions_changed or consent_changed or support_changed:
            record_event(
                actor=actor,
                action="campaign.texts_changed",
                subject=f"campaign:{stored.public_id}",
                instructions_version=stored.instructions_version,
                consent_version=stored.consent_version,
                support_changed=support_changed,
            )
        return TextChange(
            instructions_changed=instructions_changed,
            consent_changed=consent_changed,
            support_changed=support_changed,
            n_older_labels=labels_under_older_instructions(stored).count(),
        )


def keep_texts(campaign: Campaign, *, actor: Account | None) -> None:
    """Store the present versions of instructions and consent, unless they are. At most four queries.

    Call inside the transaction that makes them readable.
    """
    for kind, version, text in (
        (TextKind.INSTRUCTIONS, campaign.instructions_version, campaign.instructions),
        (TextKind.CONSENT, campaign.consent_version, consent_as_read(campaign)),
    ):
        CampaignText.objects.get_or_create(
            campaign=campaign,
            kind=kind,
            version=version,
            defaults={
                "text": text,
                "text_hash": hashlib.sha256(text.encode()).hexdigest(),
                "created_by": actor,
            },
        )


def consent_as_read(campaign: Campaign) -> str:
    """Exactly what a person reads before consenting; `consent_hash` is its SHA-256."""
    return f"{campaign.content_warning}\n\n{campaign.consent_text}"


def labels_under_older_instructions(campaign: Campaign) -> QuerySet[Assignment]:
    """Assignments whose standing label was given under older instructions, and whose person may return.

    Left out are training items and repeats, which measure a person at one moment, and people who were
    deactivated or have withdrawn.
    """
    older = Label.objects.filter(
        item=OuterRef("item"),
        annotator=OuterRef("annotator"),
        is_current=True,
        instructions_version__lt=campaign.instructions_version,
    )
    active = Membership.objects.filter(
        campaign=campaign, annotator=OuterRef("annotator"), deactivated_at=None
    )
    consenting = Consent.objects.filter(campaign=campaign, annotator=OuterRef("annotator"), withdrawn_at=None)
    return Assignment.objects.filter(
        Exists(older),
        Exists(active),
        Exists(consenting),
        item__campaign=campaign,
        item__kind__in=[ItemKind.REGULAR, ItemKind.GOLD],
        state=AssignmentState.LABELLED,
    )


def serve_again(*, campaign: Campaign, actor: Account | None) -> int:
    """Ask people to look again at what they labelled under older instructions.

    Their labels stand and count until they answer anew. Asking twice changes nothing more.

    Returns:
        How many answers are asked for again.

    Raises:
        Conflict: the campaign is closed.
    """
    with transaction.atomic():
        stored = lock_unclosed(campaign)
        # Nobody may be half-way through an answer, or a new label could count as an old one.
        list(Membership.objects.select_for_update(no_key=True).filter(campaign=stored).order_by("pk"))
        n_asked = labels_under_older_instructions(stored).update(state=AssignmentState.AGAIN)
        if n_asked:
            record_event(
                actor=actor,
                action="campaign.served_again",
                subject=f"campaign:{stored.public_id}",
                instructions_version=stored.instructions_version,
                n_assignments=n_asked,
            )
    return n_asked
