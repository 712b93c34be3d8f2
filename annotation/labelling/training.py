"""Training items: a round that is passed, or begun again. Call with the membership locked."""

from django.utils import timezone
from django.utils.translation import gettext

from annotation.choices import AssignmentState, ItemKind
from annotation.errors import Conflict
from annotation.models import Annotator, Assignment, CampaignItem, Membership
from annotation.selectors import TrainingRound, training_round_of


def settle_training(membership: Membership) -> TrainingRound | None:
    """Close the person's round of training when nothing of it is left, and say where they stand.

    A round that reaches the pass mark, or a campaign without one, lets the person go on to the other
    items. Otherwise every item that they answered is asked again; what they skipped stays skipped.
    Calling it again changes nothing. At most three queries; none once the person is trained.

    Args:
        membership: locked, with its campaign loaded.

    Returns:
        The round as it stands now; other items wait while `n_left` is not 0. None when the person has
        passed, or the campaign has no training items for them.
    """
    if membership.trained_at is not None:
        return None
    training = training_round_of(membership)
    if training.n_items == 0:
        return None
    if training.n_left:
        return training
    if training.reaches(membership.campaign.pass_mark):
        membership.trained_at = timezone.now()
        membership.save(update_fields=["trained_at"])
        return None
    membership.training_round += 1
    membership.save(update_fields=["training_round"])
    Assignment.objects.filter(
        item__campaign=membership.campaign_id,
        item__kind=ItemKind.TRAINING,
        annotator=membership.annotator_id,
        state=AssignmentState.LABELLED,
    ).update(state=AssignmentState.AGAIN)
    return TrainingRound(n_items=training.n_items, n_answered=0, n_right=0, n_left=training.n_answered)


def require_feedback_not_seen(item: CampaignItem, annotator: Annotator) -> None:
    """Check that an answer may be changed: not that to a training item whose feedback was shown.

    An item that is asked again may be answered anew. No query for items of other kinds.

    Raises:
        Conflict: it is a training item, answered, and not asked again.
    """
    if item.kind != ItemKind.TRAINING:
        return
    if Assignment.objects.filter(item=item, annotator=annotator, state=AssignmentState.LABELLED).exists():
        raise Conflict(
            gettext(
                "This was a practice text, and you have seen what the study expects. "
                "Your answer stays as it is. Go on with the next one."
            ),
            code="training_answered",
        )
