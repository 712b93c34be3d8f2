"""Correcting the text of a response: what a file got wrong, never what a model answered.

Nobody's label may come to stand beside a text that they did not read. So a response that was labelled, or
that a person has before them, keeps its text. What it said before is kept.
"""

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from annotation.audit import record_event
from annotation.choices import AssignmentState, CorrectionReason, ResponseState
from annotation.errors import Conflict, DomainError
from annotation.importing.cells import hash_text
from annotation.importing.tables import MAX_CELL_BYTES
from annotation.models import Account, Assignment, CampaignItem, Label, Response, ResponseRevision


class UnusableText(DomainError):
    """A text that no response can have."""

    code = "unusable_text"


def correct_response(
    response: Response, *, text: str, reason: CorrectionReason, actor: Account | None = None
) -> Response:
    """Give a response another text. Verdicts on the earlier text are stale from then on.

    The response is complete afterwards, whatever state it was in; what belonged to the earlier text, such
    as its length in tokens, is unset. Locks the response and its items, so that no item of it is handed out
    meanwhile.

    Args:
        response: whose text is wrong.
        text: the right one, exactly.
        reason: what was wrong.
        actor: who corrects it.

    Returns:
        The response as it now is.

    Raises:
        UnusableText: blank, the same as before, too long, or not storable.
        Conflict: it was labelled, somebody reads it at the moment, or another response to the same prompt
            outside any rollout has this text.
    """
    _check(text)
    try:
        with transaction.atomic():
            locked = Response.objects.select_for_update(no_key=True).get(pk=response.pk)
            if text == locked.text:
                raise UnusableText("This is the text that the response has already. Nothing was changed.")
            items = CampaignItem.objects.filter(response=locked).order_by("pk")
            item_ids = list(items.select_for_update(no_key=True).values_list("pk", flat=True))
            refuse_labelled(locked)
            _refuse_read(item_ids)
            revision = ResponseRevision.objects.create(
                response=locked,
                text=locked.text,
                text_hash=locked.text_hash,
                state=locked.state,
                error=locked.error,
                finish_reason=locked.finish_reason,
                reason=CorrectionReason(reason),
                actor=actor,
            )
            locked.text, locked.text_hash = text, hash_text(text)
            locked.state, locked.error, locked.finish_reason = ResponseState.OK, None, None
            locked.n_tokens = locked.tokens_source = None
            locked.save()
            record_event(
                actor=actor,
                action="response.corrected",
                subject=f"response:{locked.public_id}",
                reason=revision.reason,
                state_before=revision.state,
                text_hash_before=revision.text_hash,
                text_hash=locked.text_hash,
            )
    except IntegrityError as error:
        raise Conflict(
            "Another response of this model to the same prompt has this text already, outside any rollout. "
            "Use that one.",
            code="same_text",
        ) from error
    return locked


def refuse_labelled(response: Response) -> None:
    """Check that no label is about the response's text.

    Raises:
        Conflict: there is one, whether it still counts or not.
    """
    if Label.objects.filter(item__response=response).exists():
        raise Conflict(
            "The response has been labelled, and labels are about the text that people read. Import the "
            "right text as a response of its own.",
            code="response_labelled",
        )


def _check(text: str) -> None:
    if not text.strip():
        raise UnusableText("The text is blank; expected what the model answered. Paste the whole answer.")
    if (size := len(text.encode("utf-8", "surrogatepass"))) > MAX_CELL_BYTES:
        raise UnusableText(
            f"The text has {size:,} bytes; a response may have {MAX_CELL_BYTES:,}, as in a file. Shorten it."
        )
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise UnusableText(
            "The text holds characters that cannot be stored (a zero byte or half of a surrogate pair). "
            "Remove them."
        )


def _refuse_read(item_ids: list[int]) -> None:
    """Refuse while a reader has the text before them; put items back that nobody reads any more."""
    opened = Assignment.objects.filter(item__in=item_ids, state=AssignmentState.OPEN)
    if opened.filter(lease_until__gt=Now()).exists():
        raise Conflict(
            "An annotator has the response before them at this moment. Try again when they have gone on, or "
            "pause the campaign.",
            code="response_being_read",
        )
    # An answer to the earlier text may still come from a page that was left open: it finds no assignment.
    opened.delete()
