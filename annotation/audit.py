"""Writing audit events. Call inside the transaction of the act itself."""

from typing import Any

from annotation.models import Account, AuditEvent


def record_event(*, actor: Account | None, action: str, subject: str, **detail: Any) -> None:
    """Store one audit event.

    Args:
        actor: who did it; None for a command or a worker.
        action: a verb phrase such as `campaign.opened`.
        subject: kind and public id, such as `campaign:3f2a...`.
        detail: small JSON values; never prompt, response or note text.
    """
    AuditEvent.objects.create(actor=actor, action=action, subject=subject, detail=detail)
