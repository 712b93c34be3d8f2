"""Decide contested items. A decision is added beside the labels and never edits one."""

from django.db import transaction

from annotation.audit import record_event
from annotation.choices import ItemKind, Rating
from annotation.errors import Conflict, DomainError, NotAllowed
from annotation.models import Account, Adjudication, CampaignItem, Label
from annotation.selectors.adjudication import current_decisions, digest_of_labels

MAX_REASON_LENGTH = 2_000


class InvalidDecision(DomainError):
    """A decision that cannot stand: without a reason, or on an item that nobody contests."""

    code = "invalid_decision"


def decide(
    *,
    item: CampaignItem,
    decision: Rating,
    reason: str,
    labels_seen: str,
    decision_seen: str | None,
    adjudicator: Account,
) -> Adjudication:
    """Decide an item on which people differ, or decide it anew. The earlier decision stays in the history.

    Sending the same decision twice is one decision. Whether it takes the place of people's consensus was
    declared with the campaign (`adjudication_overrides`).

    Args:
        reason: why, in a sentence or two; researchers read it.
        labels_seen: `digest_of_labels` of the labels that were on the page.
        decision_seen: public id of the decision in force that was on the page, None for none.
        adjudicator: who decides; not one of those who labelled the item.

    Raises:
        NotAllowed: the account may not adjudicate, or labelled this item.
        InvalidDecision: no reason, too long a reason, no regular item, or nobody differs on it.
        Conflict: labels or another decision came since the page was opened.
    """
    reason = reason.strip()
    _check(item, reason, adjudicator)
    with transaction.atomic():
        # One decision after another: whoever comes second learns of the first.
        CampaignItem.objects.select_for_update(no_key=True).get(pk=item.pk)
        labels = list(Label.objects.filter(item=item, is_current=True))
        present = current_decisions([item]).get(item.pk)
        digest = digest_of_labels(label.public_id for label in labels)
        if present is not None and _is_the_same(present, decision, reason, digest, adjudicator):
            return present
        _check_what_was_seen(present, decision_seen=decision_seen, labels_have_changed=labels_seen != digest)
        if present is None and len({label.rating for label in labels}) < len(Rating.values):
            raise InvalidDecision(
                "People do not differ on this item, so there is nothing to decide. Choose a contested one.",
                code="not_contested",
            )
        Adjudication.objects.filter(item=item, is_current=True).update(is_current=False)
        made = Adjudication.objects.create(
            item=item, adjudicator=adjudicator, decision=decision, reason=reason, labels_digest=digest
        )
        record_event(
            actor=adjudicator,
            action="item.adjudicated",
            subject=f"item:{item.public_id}",
            decision=decision,
            n_labels=len(labels),
            replaces=present.public_id if present else None,
        )
    return made


def _check(item: CampaignItem, reason: str, adjudicator: Account) -> None:
    if not adjudicator.is_adjudicator:
        raise NotAllowed("Only adjudicators and researchers decide contested items.")
    if Label.objects.filter(item=item, annotator__account=adjudicator).exists():
        raise NotAllowed(
            "You labelled this item yourself, so somebody else decides it. Choose another item.",
            code="own_label",
        )
    if item.kind != ItemKind.REGULAR:
        raise InvalidDecision(
            "Only regular items are decided; training, gold and repeated items are in no figure.",
            code="not_regular",
        )
    if not reason or len(reason) > MAX_REASON_LENGTH:
        raise InvalidDecision(
            f"The reason has {len(reason):,} characters; expected 1 to {MAX_REASON_LENGTH:,}. "
            "Write in a sentence or two why you decided so.",
            code="reason_length",
        )


def _is_the_same(
    present: Adjudication, decision: Rating, reason: str, digest: str, adjudicator: Account
) -> bool:
    return (present.decision, present.reason, present.labels_digest, present.adjudicator_id) == (
        decision,
        reason,
        digest,
        adjudicator.pk,
    )


def _check_what_was_seen(
    present: Adjudication | None, *, decision_seen: str | None, labels_have_changed: bool
) -> None:
    if decision_seen != (present.public_id if present else None):
        raise Conflict(
            "Somebody decided this item since you opened it, so nothing was saved. Read the decision that "
            "is shown now; you can decide anew.",
            code="decided_meanwhile",
        )
    if labels_have_changed:
        raise Conflict(
            "The labels of this item changed since you opened it, so nothing was saved. Read those that are "
            "shown now, then decide.",
            code="labels_changed",
        )
