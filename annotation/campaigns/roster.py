"""Who of a campaign's people may go on: deactivate, reactivate. Labels stay whatever happens here."""

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from annotation.audit import record_event
from annotation.choices import AssignmentState
from annotation.models import Account, Annotator, Assignment, Campaign, Membership
from annotation.permissions import lock_membership


def deactivate(*, campaign: Campaign, annotator: Annotator, actor: Account | None) -> None:
    """Show the person nothing more of the campaign and take nothing more from them.

    Their labels stay under the code. What they have in hand goes back to others at once. Doing it twice
    changes nothing.

    Raises:
        NotAllowed: not a member.
    """
    with transaction.atomic():
        membership = lock_membership(campaign_id=campaign.pk, annotator_id=annotator.pk)
        if membership.deactivated_at is not None:
            return
        Membership.objects.filter(pk=membership.pk).update(deactivated_at=timezone.now())
        n_returned = Assignment.objects.filter(
            item__campaign=campaign, annotator=annotator, state=AssignmentState.OPEN
        ).update(lease_until=Now())
        _record("campaign.annotator_deactivated", campaign, annotator, actor, n_returned=n_returned)


def reactivate(*, campaign: Campaign, annotator: Annotator, actor: Account | None) -> None:
    """Let a deactivated person go on where they were. Doing it twice changes nothing.

    Raises:
        NotAllowed: not a member.
    """
    with transaction.atomic():
        membership = lock_membership(campaign_id=campaign.pk, annotator_id=annotator.pk)
        if membership.deactivated_at is None:
            return
        Membership.objects.filter(pk=membership.pk).update(deactivated_at=None)
        _record("campaign.annotator_reactivated", campaign, annotator, actor)


def _record(
    action: str, campaign: Campaign, annotator: Annotator, actor: Account | None, **detail: int
) -> None:
    record_event(
        actor=actor,
        action=action,
        subject=f"campaign:{campaign.public_id}",
        annotator=annotator.public_id,
        **detail,
    )
