"""Which campaigns may still change, and the lock under which they do."""

from annotation.choices import CampaignState
from annotation.errors import Conflict, DomainError
from annotation.models import Campaign


class InvalidPlan(DomainError):
    """What was asked of a campaign cannot be, whatever its state."""

    code = "invalid_plan"


def lock_unclosed(campaign: Campaign) -> Campaign:
    """The campaign as it is now, locked until the transaction ends.

    Raises:
        Conflict: it is closed.
    """
    stored = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if stored.state == CampaignState.CLOSED:
        raise Conflict(
            "The campaign is closed for good, so nothing about it can change. Make a new campaign instead.",
            code="campaign_closed",
        )
    return stored


def lock_draft(campaign: Campaign) -> Campaign:
    """The campaign as it is now, locked until the transaction ends.

    Raises:
        Conflict: it is no draft any more, so people may have begun under what would change.
    """
    stored = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if stored.state != CampaignState.DRAFT:
        raise Conflict(
            f"The campaign is {stored.get_state_display()}; this can change only while it is a draft. "
            "Make a new campaign instead.",
            code="no_draft",
        )
    return stored
