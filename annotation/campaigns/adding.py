"""Let people into a campaign."""

import secrets

from django.db import transaction

from annotation.audit import record_event
from annotation.choices import AnnotatorType, Role
from annotation.errors import Conflict, NotAllowed
from annotation.models import (
    Account,
    Annotator,
    Campaign,
    Membership,
)


def add_annotator(
    *, campaign: Campaign, account: Account, annotator_type: AnnotatorType, actor: Account | None
) -> Annotator:
    """Let a person work in a campaign. In each benchmark a person is one annotator under one random code.

    Raises:
        NotAllowed: the account is not an annotator's. Researchers see verdicts, so they cannot label blind.
        Conflict: in this benchmark the person already counts as another type.
    """
    if account.role != Role.ANNOTATOR:
        raise NotAllowed(
            f"{account.username} is a {account.get_role_display()}, who can see verdicts and so cannot label "
            "blind. Add an annotator account instead.",
            code="not_an_annotator",
        )
    with transaction.atomic():
        # One person at a time, so that two researchers cannot give one account two codes.
        Account.objects.select_for_update(no_key=True).get(pk=account.pk)
        annotator, _ = Annotator.objects.get_or_create(
            benchmark_id=campaign.benchmark_id,
            account=account,
            defaults={"code": _new_code(), "annotator_type": annotator_type},
        )
        if annotator.annotator_type != annotator_type:
            raise Conflict(
                f"{account.username} is already a {annotator.get_annotator_type_display()} in this "
                f"benchmark, not a {AnnotatorType(annotator_type).label}. Add the person as that type.",
                code="annotator_type_differs",
            )
        _, is_new = Membership.objects.get_or_create(campaign=campaign, annotator=annotator)
        if is_new:
            record_event(
                actor=actor,
                action="campaign.annotator_added",
                subject=f"campaign:{campaign.public_id}",
                annotator=annotator.public_id,
            )
    return annotator


def _new_code() -> str:
    return f"p-{secrets.token_hex(3)}"
