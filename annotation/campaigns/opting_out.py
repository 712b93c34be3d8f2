"""Themes that a person does not want to read."""

from collections.abc import Collection

from django.db import transaction

from annotation.audit import record_act_of
from annotation.choices import AssignmentState
from annotation.errors import DomainError
from annotation.models import Annotator, Assignment, Campaign, CategoryOptOut
from annotation.permissions import lock_membership
from annotation.selectors import categories_of


class UnknownTheme(DomainError):
    """A risk category that no item of the campaign has."""

    code = "unknown_theme"


def choose_opt_outs(*, campaign: Campaign, annotator: Annotator, risk_categories: Collection[str]) -> None:
    """Set the categories of which the person is shown nothing (more). Answers given before stay.

    An item in hand of such a category is given back, so that it is not the next one shown.

    Args:
        risk_categories: all that are not to be read; none puts every category back.

    Raises:
        UnknownTheme: a category is not in the campaign; nothing is changed.
        NotAllowed: not a member.
    """
    wanted = set(risk_categories)
    known = categories_of(campaign)
    unknown = sorted(wanted - set(known))
    if unknown:
        raise UnknownTheme(
            f"There is no theme {unknown[0][:80]!r} in this task; expected one of {', '.join(known)}. "
            "Nothing was changed."
        )
    with transaction.atomic():
        membership = lock_membership(campaign_id=campaign.pk, annotator_id=annotator.pk)
        before = set(membership.opt_outs.values_list("risk_category", flat=True))
        if before == wanted:
            return
        membership.opt_outs.exclude(risk_category__in=wanted).delete()
        CategoryOptOut.objects.bulk_create(
            [
                CategoryOptOut(membership=membership, risk_category=category)
                for category in sorted(wanted - before)
            ]
        )
        Assignment.objects.filter(
            annotator=annotator,
            item__campaign=campaign,
            item__response__prompt__risk_category__in=wanted,
            state=AssignmentState.OPEN,
        ).delete()
        # How many, not which: what a person cannot bear to read is theirs to say, and no event is erased.
        record_act_of(
            annotator,
            action="campaign.themes_chosen",
            subject=f"campaign:{campaign.public_id}",
            n_opted_out=len(wanted),
        )
