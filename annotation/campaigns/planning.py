"""What a campaign asks of people: how many labels and from whom, at what pace, with what care."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from django.db import transaction

from annotation.audit import record_event
from annotation.campaigns.changing import InvalidPlan, lock_draft, lock_unclosed
from annotation.choices import AnnotatorType, Scale, WithdrawalPolicy
from annotation.models import (
    LEAST_MILD,
    MOST_MILD,
    Account,
    Campaign,
    CategoryMildness,
    TypeQuota,
)


@dataclass(frozen=True, kw_only=True)
class LabelPlan:
    """What is asked for. Settled once the campaign opens: labels before and after must mean the same.

    `quotas` says how many of the labels of each response one kind of rater gives; without any, all kinds
    may give them.
    """

    scale: Scale
    labels_per_response: int
    quotas: Mapping[AnnotatorType, int]
    repeat_percent: int
    repeat_after_days: int
    withdrawal_policy: WithdrawalPolicy
    adjudication_overrides: bool


@dataclass(frozen=True, kw_only=True)
class Pace:
    """When and how people work. May change until the campaign is closed; None is no bound."""

    opens_on: dt.date | None
    closes_on: dt.date | None
    lease_minutes: int
    reveals_on_tap: bool
    break_after_minutes: int | None
    break_after_grave: int | None
    daily_cap: int | None
    session_cap: int | None
    mildness: Mapping[str, int]


def plan_labels(*, campaign: Campaign, plan: LabelPlan, actor: Account | None) -> None:
    """Settle how many labels a draft asks for, and from whom.

    Raises:
        Conflict: it is no draft any more.
        InvalidPlan: the quotas do not add up to the labels wanted, or a number is outside its range.
    """
    _check_plan(plan)
    values = {name: value for name, value in asdict(plan).items() if name != "quotas"}
    with transaction.atomic():
        stored = lock_draft(campaign)
        Campaign.objects.filter(pk=stored.pk).update(**values)
        TypeQuota.objects.filter(campaign=stored).delete()
        TypeQuota.objects.bulk_create(
            TypeQuota(campaign=stored, annotator_type=kind, n_labels=n) for kind, n in plan.quotas.items()
        )
        record_event(
            actor=actor,
            action="campaign.labels_planned",
            subject=f"campaign:{stored.public_id}",
            labels_per_response=plan.labels_per_response,
            quotas=dict(plan.quotas),
        )


def set_pace(*, campaign: Campaign, pace: Pace, actor: Account | None) -> None:
    """Settle dates, lease, breaks, caps and the mildness of categories.

    Raises:
        Conflict: the campaign is closed.
        InvalidPlan: the last day is before the first, or a mildness is outside 1-5.
    """
    if pace.opens_on and pace.closes_on and pace.closes_on < pace.opens_on:
        raise InvalidPlan(
            f"The last day {pace.closes_on} is before the first day {pace.opens_on}. "
            "Choose the same day or a later one.",
            code="dates_out_of_order",
        )
    outside = [name for name, value in pace.mildness.items() if not LEAST_MILD <= value <= MOST_MILD]
    if outside:
        raise InvalidPlan(
            f"The mildness of {', '.join(outside)} is outside {LEAST_MILD}-{MOST_MILD}. "
            f"Choose {LEAST_MILD} for the gravest to {MOST_MILD} for the mildest.",
            code="mildness_outside_range",
        )
    values = {name: value for name, value in asdict(pace).items() if name != "mildness"}
    with transaction.atomic():
        stored = lock_unclosed(campaign)
        Campaign.objects.filter(pk=stored.pk).update(**values)
        CategoryMildness.objects.filter(campaign=stored).delete()
        CategoryMildness.objects.bulk_create(
            CategoryMildness(campaign=stored, risk_category=name, mildness=value)
            for name, value in pace.mildness.items()
        )
        record_event(
            actor=actor,
            action="campaign.pace_set",
            subject=f"campaign:{stored.public_id}",
            **{name: str(value) if isinstance(value, dt.date) else value for name, value in values.items()},
            mildness=dict(pace.mildness),
        )


def _check_plan(plan: LabelPlan) -> None:
    if plan.labels_per_response < 1 or any(n < 1 for n in plan.quotas.values()):
        raise InvalidPlan(
            "Every number of labels must be at least 1. Leave out a kind of rater that gives none.",
            code="too_few_labels",
        )
    if not 0 <= plan.repeat_percent <= 100 or plan.repeat_after_days < 1:
        raise InvalidPlan(
            f"Repeats: {plan.repeat_percent} per cent after {plan.repeat_after_days} days were given; "
            "expected 0 to 100 per cent, after at least one day.",
            code="repeats_outside_range",
        )
    n_from_kinds = sum(plan.quotas.values())
    if plan.quotas and n_from_kinds != plan.labels_per_response:
        raise InvalidPlan(
            f"Labels from the kinds of raters together: {n_from_kinds}; wanted for each response: "
            f"{plan.labels_per_response}. Make the two equal, or leave all kinds blank, so that anybody may "
            "give them.",
            code="quotas_do_not_add_up",
        )
