"""Open, pause and close a campaign."""

from collections.abc import Sequence

from django.db import transaction

from annotation.audit import record_event
from annotation.choices import CampaignState
from annotation.errors import Conflict
from annotation.models import (
    Account,
    Campaign,
)


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
