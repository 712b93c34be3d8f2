"""Flags: an annotator asks the lead of the study to look at an item, and a researcher says what was done."""

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext

from annotation.audit import record_act_of, record_event
from annotation.errors import Conflict, DomainError, NotAllowed
from annotation.models import Account, Annotator, Assignment, Flag
from annotation.permissions import ConsentMissing, has_consented, lock_membership

MAX_FLAG_NOTE = 2000


class InvalidFlag(DomainError):
    """The note is too long, or nothing was said about what was done."""

    code = "invalid_flag"


def raise_flag(*, assignment: Assignment, annotator: Annotator, note: str) -> Flag:
    """Ask the lead to look at the item in the annotator's hands. The answer, if any, stays as it is.

    While an earlier flag of theirs on the item waits, the note is added to it: sending the same twice
    makes one flag, and nothing that was written is lost. A flag is taken from a campaign in any state,
    since what it tells may be urgent.

    Args:
        assignment: the annotator's own.
        note: what the lead should know, up to `MAX_FLAG_NOTE` characters; may be empty.

    Raises:
        NotAllowed: somebody else's assignment, or not a member.
        ConsentMissing: no consent, or it was withdrawn; nothing is stored.
        InvalidFlag: the note is too long, alone or with what waits already.
    """
    if assignment.annotator_id != annotator.pk:
        raise NotAllowed(gettext("This text was given to somebody else. Go back to your own."))
    note = note.strip()
    with transaction.atomic():
        membership = lock_membership(campaign_id=assignment.item.campaign_id, annotator_id=annotator.pk)
        if not has_consented(membership):
            raise ConsentMissing(
                gettext(
                    "Nothing was saved, because there is no consent from you for this task. "
                    "Open the task again to read the text and decide."
                )
            )
        waiting = (
            Flag.objects.select_for_update()
            .filter(item=assignment.item_id, annotator=annotator, resolved_at=None)
            .first()
        )
        notes = waiting.note.split("\n\n") if waiting and waiting.note else []
        text = "\n\n".join(notes if not note or note in notes else [*notes, note])
        if len(text) > MAX_FLAG_NOTE:
            raise InvalidFlag(
                gettext(
                    "Your message has %(given)s characters; at most %(most)s can be sent. Shorten it, "
                    "then send it again."
                )
                % {"given": len(text), "most": MAX_FLAG_NOTE},
                code="flag_note_too_long",
            )
        if waiting is None:
            flag = Flag.objects.create(item=assignment.item, annotator=annotator, note=text)
            record_act_of(annotator, action="flag.raised", subject=f"flag:{flag.public_id}")
            return flag
        if waiting.note != text:
            waiting.note = text
            waiting.save(update_fields=["note"])
            record_act_of(annotator, action="flag.added_to", subject=f"flag:{waiting.public_id}")
        return waiting


def resolve_flag(*, flag: Flag, actor: Account, resolution: str) -> Flag:
    """Settle a flag, saying what was done. The time is the database's.

    Raises:
        InvalidFlag: `resolution` is blank or longer than `MAX_FLAG_NOTE` characters.
        Conflict: the flag was resolved already; what was said then stays.
    """
    resolution = resolution.strip()
    if not resolution or len(resolution) > MAX_FLAG_NOTE:
        raise InvalidFlag(
            f"What was done has {len(resolution)} characters; expected 1 to {MAX_FLAG_NOTE}. Say in a "
            "sentence what was done about it.",
            code="resolution_length",
        )
    with transaction.atomic():
        changed = Flag.objects.filter(pk=flag.pk, resolved_at=None).update(
            resolved_at=Now(), resolved_by=actor, resolution=resolution
        )
        if not changed:
            raise Conflict(
                "This flag was resolved meanwhile, and what was written then is kept. Reload the list.",
                code="flag_resolved",
            )
        record_event(actor=actor, action="flag.resolved", subject=f"flag:{flag.public_id}")
        flag.refresh_from_db()
    return flag
