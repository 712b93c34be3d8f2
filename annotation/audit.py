"""Writing audit events. Call inside the transaction of the act itself."""

from typing import Any

from annotation.models import Account, Annotator, AuditEvent


def record_event(*, actor: Account | None, action: str, subject: str, **detail: Any) -> None:
    """Store one audit event.

    Args:
        actor: who did it; None for a command or a worker.
        action: a verb phrase such as `campaign.opened`.
        subject: kind and public id, such as `campaign:3f2a...`.
        detail: small JSON values; never prompt, response or note text.
    """
    AuditEvent.objects.create(actor=actor, action=action, subject=subject, detail=detail)


def record_act_of(annotator: Annotator, *, action: str, subject: str, **detail: Any) -> None:
    """Store what an annotator did, and name the annotator only.

    No event can be changed later, so one that named the account beside the annotator would keep them
    linked after a withdrawal has cut the link everywhere else.
    """
    record_event(actor=None, action=action, subject=subject, annotator=annotator.public_id, **detail)
