"""Let people into a campaign."""

import secrets

from django.db import transaction

from annotation.audit import record_event
from annotation.choices import AnnotatorType, Role
from annotation.errors import Conflict, NotAllowed
from annotation.models import Account, Annotator, Campaign, Membership


def add_annotator(
    *,
    campaign: Campaign,
    account: Account,
    annotator_type: AnnotatorType,
    actor: Account | None,
    code: str | None = None,
) -> Annotator:
    """Let a person work in a campaign. In each benchmark a person is one annotator under one random code.

    Args:
        code: for a person who is new to the benchmark, from `free_code`; drawn here when None.

    Raises:
        NotAllowed: the account is not an annotator's. Researchers see verdicts, so they cannot label blind.
        Conflict: in this benchmark the person already counts as another type.
    """
    if account.role != Role.ANNOTATOR:
        raise NotAllowed(
            f"{account.username} is a {account.get_role_display()}, who can see verdicts or other people's "
            "labels and so cannot label blind. Add an annotator account instead.",
            code="not_an_annotator",
        )
    with transaction.atomic():
        # One person at a time, so that two researchers cannot give one account two codes.
        Account.objects.select_for_update(no_key=True).get(pk=account.pk)
        annotator = Annotator.objects.filter(benchmark_id=campaign.benchmark_id, account=account).first()
        if annotator is None:
            annotator = Annotator.objects.create(
                benchmark_id=campaign.benchmark_id,
                account=account,
                code=code or free_code(campaign.benchmark_id),
                annotator_type=annotator_type,
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


def free_code(benchmark_id: int) -> str:
    """A random code that no annotator of the benchmark has, and nobody signs in with. Two queries a try."""
    while True:
        code = f"p-{secrets.token_hex(3)}"
        is_taken = (
            Annotator.objects.filter(benchmark_id=benchmark_id, code=code).exists()
            or Account.objects.filter(username=code).exists()
        )
        if not is_taken:
            return code
