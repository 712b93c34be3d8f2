"""Looking after those who read: caps on what one person is shown, and breaks that are offered.

A cap stops a person until it is over; a break is offered and may be declined. Neither knows how fast
anyone works. These are spans of minutes in one person's day, so the web process's clock is good enough.
"""

import datetime as dt
from dataclasses import dataclass
from enum import StrEnum

from django.db import transaction
from django.db.models import Case, Exists, F, Value, When
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from annotation.models import GRAVE_UP_TO, Assignment, CategoryMildness, Membership
from annotation.permissions import lock_membership

# A person who was shown nothing new for so long has rested: what follows is another sitting.
SITTING_GAP = dt.timedelta(minutes=30)
LONG_AGO = dt.datetime.min.replace(tzinfo=dt.UTC)


class StopCode(StrEnum):
    """Which cap was reached."""

    DAY = "DAY"
    SITTING = "SITTING"


class BreakCode(StrEnum):
    """What made a break due."""

    TIME = "TIME"
    GRAVE = "GRAVE"


@dataclass(frozen=True)
class CareStop:
    """A cap that was reached: what each side is told, and when the person may go on."""

    code: StopCode
    until: dt.datetime
    to_annotator: str
    to_researcher: str


@dataclass(frozen=True)
class BreakReason:
    """Why a break is offered now, in a sentence for the person."""

    code: BreakCode
    to_annotator: str


def record_shown(membership: Membership, *, risk_category: str) -> None:
    """Count one item that is shown to the person for the first time. One query.

    Begins a new sitting when the last one is over. An item that is shown again is not counted.

    Args:
        membership: locked by the caller; its counts are as stored afterwards only when it is read again.
        risk_category: of the item's prompt; grave when the campaign's mildness says so.
    """
    now = timezone.now()
    is_grave = Exists(
        CategoryMildness.objects.filter(
            campaign=membership.campaign_id, risk_category=risk_category, mildness__lte=GRAVE_UP_TO
        )
    )
    one_if_grave = Case(When(is_grave, then=Value(1)), default=Value(0))
    own = Membership.objects.filter(pk=membership.pk)
    if now < _sitting_end(membership):
        own.update(
            last_seen_at=now,
            n_shown_in_sitting=F("n_shown_in_sitting") + 1,
            n_grave_since_break=F("n_grave_since_break") + one_if_grave,
        )
    else:
        own.update(
            sitting_began_at=now,
            last_seen_at=now,
            break_ended_at=now,
            n_shown_in_sitting=1,
            n_grave_since_break=one_if_grave,
        )


def stop_reason(membership: Membership) -> CareStop | None:
    """The cap that keeps the person from being shown a new item now, or None. At most one query.

    The day's cap counts what the person was first shown since midnight UTC in all tasks together: the
    same person reads them. The sitting's cap ends SITTING_GAP after the last new item.

    Args:
        membership: with its campaign loaded.
    """
    now = timezone.now()
    return _day_stop(membership, now) or _sitting_stop(membership, now)


def break_due(membership: Membership) -> BreakReason | None:
    """Why a break should be offered to the person now, or None. No query.

    Grave items come before minutes where both are due. Rest of SITTING_GAP is a break by itself.

    Args:
        membership: with its campaign loaded.
    """
    campaign, now = membership.campaign, timezone.now()
    if membership.break_ended_at is None or now >= _sitting_end(membership):
        return None
    n_grave = membership.n_grave_since_break
    if campaign.break_after_grave is not None and n_grave >= campaign.break_after_grave:
        return BreakReason(
            code=BreakCode.GRAVE,
            to_annotator=ngettext(
                "You have read %(n)s text on a hard theme since you began or last took a break.",
                "You have read %(n)s texts on hard themes since you began or last took a break.",
                n_grave,
            )
            % {"n": n_grave},
        )
    minutes = _minutes(now - membership.break_ended_at)
    if campaign.break_after_minutes is not None and minutes >= campaign.break_after_minutes:
        return BreakReason(
            code=BreakCode.TIME,
            to_annotator=gettext("You have been reading for a while."),
        )
    return None


def end_break(membership: Membership) -> None:
    """Note that the person goes on, rested or not: minutes and grave items count from zero again.

    What was shown in the sitting stays counted, so that no cap moves.

    Raises:
        NotAllowed: the annotator is no longer in the campaign.
    """
    with transaction.atomic():
        locked = lock_membership(campaign_id=membership.campaign_id, annotator_id=membership.annotator_id)
        Membership.objects.filter(pk=locked.pk).update(break_ended_at=timezone.now(), n_grave_since_break=0)


def _day_stop(membership: Membership, now: dt.datetime) -> CareStop | None:
    cap = membership.campaign.daily_cap
    if cap is None:
        return None
    midnight = now.astimezone(dt.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    n_shown = _n_shown_since(membership, midnight)
    if n_shown < cap:
        return None
    return CareStop(
        code=StopCode.DAY,
        until=midnight + dt.timedelta(days=1),
        to_annotator=ngettext(
            "You have been shown %(n)s text today, and nobody is asked to read more in one day. "
            "You can go on tomorrow.",
            "You have been shown %(n)s texts today, and nobody is asked to read more in one day. "
            "You can go on tomorrow.",
            n_shown,
        )
        % {"n": n_shown},
        to_researcher=f"They were shown {n_shown} items today (UTC), in all their tasks together; "
        f"this campaign shows one person at most {cap} a day.",
    )


def _sitting_stop(membership: Membership, now: dt.datetime) -> CareStop | None:
    cap, n_shown = membership.campaign.session_cap, membership.n_shown_in_sitting
    ends_at = _sitting_end(membership)
    if cap is None or now >= ends_at or n_shown < cap:
        return None
    return CareStop(
        code=StopCode.SITTING,
        until=ends_at,
        to_annotator=ngettext(
            "You have been shown %(n)s text in one go, and nobody is asked to read more without a rest. "
            "You can go on after half an hour of rest.",
            "You have been shown %(n)s texts in one go, and nobody is asked to read more without a rest. "
            "You can go on after half an hour of rest.",
            n_shown,
        )
        % {"n": n_shown},
        to_researcher=f"They were shown {n_shown} items in this sitting; this campaign shows one person at "
        f"most {cap}, and a new sitting begins {_minutes(SITTING_GAP)} minutes after the last new item.",
    )


def _minutes(span: dt.timedelta) -> int:
    """Whole minutes, rounded down."""
    return span // dt.timedelta(minutes=1)


def _sitting_end(membership: Membership) -> dt.datetime:
    """When the sitting in which the person was last shown something new is over, or was."""
    if membership.last_seen_at is None:
        return LONG_AGO
    return membership.last_seen_at + SITTING_GAP


def _n_shown_since(membership: Membership, since: dt.datetime) -> int:
    """Items first shown to the person since then, in all campaigns that their account works in."""
    return Assignment.objects.filter(
        first_shown_at__gte=since, annotator__account__annotators=membership.annotator_id
    ).count()
