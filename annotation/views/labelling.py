"""The label page: one item, two buttons. Every action is a plain form; label.js only adds to it."""

import uuid
from functools import lru_cache
from typing import Any

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.care import break_due
from annotation.choices import AnnotatorType, AssignmentState, ItemKind, SkipReason, TextView
from annotation.forms import FlagForm, LabelForm, SkipForm, UndoForm
from annotation.labelling import (
    InvalidAnswer,
    Receipt,
    StaleLabel,
    next_assignment,
    retract_label,
    revise_label,
    skip_item,
    submit_label,
)
from annotation.markdown import render as markdown_of
from annotation.models import Assignment, Label, Membership
from annotation.permissions import ConsentMissing, SignedInRequest, has_consented, membership_of, wants_json
from annotation.selectors import (
    draft_of,
    has_feedback,
    last_label,
    own_assignment,
    own_label,
    own_label_by_id,
    progress_of,
    reading_of,
    training_round_of,
)
from annotation.views.refusals import INVALID, annotator_page

QUESTIONS = {
    AnnotatorType.PARENT: _("Would you, as a parent, find this answer acceptable?"),
    AnnotatorType.SPECIALIST: _("Would you, as a specialist, find this answer acceptable?"),
}
PLAIN_QUESTION = _("Would you find this answer acceptable?")

# States in which an item is not counted among those behind the person.
NOT_DONE = (AssignmentState.OPEN, AssignmentState.AGAIN)


@require_GET
@annotator_page
def next_item(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """Send the person to the item in their hands, or a new one, or to what comes before and after.

    With `after`, the item on their screen, it is the one to follow that: our script fetches it ahead of time.
    """
    membership = membership_of(request.user, campaign_id)
    if break_due(membership):
        return redirect("annotation:break", campaign_id=campaign_id)
    if "practice" not in request.GET and _practice_is_ahead(membership):
        return redirect("annotation:training", campaign_id=campaign_id)
    on_screen = own_assignment(membership, request.GET["after"]) if "after" in request.GET else None
    try:
        assignment = next_assignment(
            campaign=membership.campaign, annotator=membership.annotator, after=on_screen
        )
    except ConsentMissing:
        return redirect("annotation:consent", campaign_id=campaign_id)
    if assignment is None:
        return redirect("annotation:thanks", campaign_id=campaign_id)
    path = reverse("annotation:item", args=[campaign_id, assignment.public_id])
    return redirect(f"{path}?ahead" if on_screen and on_screen.state in NOT_DONE else path)


@require_http_methods(["GET", "POST"])
@annotator_page
def item(request: SignedInRequest, campaign_id: str, assignment_id: str) -> HttpResponse:
    """Show one item, or take the answer to it."""
    membership = membership_of(request.user, campaign_id)
    assignment = _assignment_or_404(membership, assignment_id)
    if request.method == "POST":
        return _take_answer(request, membership, assignment)
    if not has_consented(membership):
        return redirect("annotation:consent", campaign_id=campaign_id)
    if has_feedback(assignment):
        return redirect("annotation:feedback", campaign_id=campaign_id, assignment_id=assignment_id)
    label = own_label(assignment)
    form = LabelForm.to_show(
        membership.campaign, label, draft_of(assignment), TextView(request.user.text_view)
    )
    return _label_page(request, membership, assignment, form, label)


@require_POST
@annotator_page
def skip(request: SignedInRequest, campaign_id: str, assignment_id: str) -> HttpResponse:
    """Put the item aside."""
    membership = membership_of(request.user, campaign_id)
    assignment = _assignment_or_404(membership, assignment_id)
    form = SkipForm(request.POST)
    if not form.is_valid():
        raise InvalidAnswer(gettext("No reason was chosen, so nothing was skipped. Go back and choose one."))
    skip_item(
        assignment=assignment,
        annotator=membership.annotator,
        reason=SkipReason(form.cleaned_data["reason"]),
    )
    return redirect("annotation:next", campaign_id=campaign_id)


@require_POST
@annotator_page
def undo(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """Take the last answer back and show its item again."""
    membership = membership_of(request.user, campaign_id)
    form = UndoForm(request.POST)
    if not form.is_valid():
        raise InvalidAnswer(
            gettext("It is not clear which answer to take back. Go back, reload and try again.")
        )
    label = own_label_by_id(membership, form.cleaned_data["label"])
    if label is None:
        raise Http404
    reopened = retract_label(
        label=label,
        annotator=membership.annotator,
        submission_id=form.cleaned_data["submission_id"],
    )
    return redirect("annotation:item", campaign_id=campaign_id, assignment_id=reopened.public_id)


def _take_answer(request: SignedInRequest, membership: Membership, assignment: Assignment) -> HttpResponse:
    form = LabelForm(request.POST, campaign=membership.campaign)
    if not form.is_valid():
        return _label_page(request, membership, assignment, form, own_label(assignment), status=INVALID)
    try:
        receipt = _store(form, membership, assignment)
    except StaleLabel as stale:
        if wants_json(request):
            raise
        return _conflict_page(request, membership, assignment, stale)
    next_url = _after_answer(membership, assignment)
    if wants_json(request):
        return JsonResponse(
            {
                "submission_id": str(receipt.submission_id),
                "label": receipt.label_id,
                "saved_at": receipt.saved_at.isoformat(),
                "next": next_url,
            }
        )
    return redirect(next_url)


def _practice_is_ahead(membership: Membership) -> bool:
    """True before the first item of a person who begins with training. No query once they have begun."""
    return (
        membership.last_seen_at is None
        and has_consented(membership)
        and training_round_of(membership).n_left > 0
    )


def _after_answer(membership: Membership, assignment: Assignment) -> str:
    """Where an answer leads: on, or to what is said after a training item."""
    campaign_id = membership.campaign.public_id
    if assignment.item.kind == ItemKind.TRAINING:
        return reverse("annotation:feedback", args=[campaign_id, assignment.public_id])
    return reverse("annotation:next", args=[campaign_id])


def _store(form: LabelForm, membership: Membership, assignment: Assignment) -> Receipt:
    """A first answer, or a revision of the label that the page showed."""
    revised_id = form.cleaned_data["revises"]
    if not revised_id:
        return submit_label(assignment=assignment, annotator=membership.annotator, **form.answer())
    label = own_label_by_id(membership, revised_id)
    if label is None or label.item_id != assignment.item_id:
        raise Http404
    return revise_label(label=label, annotator=membership.annotator, **form.answer())


def _label_page(
    request: SignedInRequest,
    membership: Membership,
    assignment: Assignment,
    form: LabelForm,
    label: Label | None,
    status: int = 200,
) -> HttpResponse:
    campaign, reading = membership.campaign, reading_of(assignment)
    progress = progress_of(membership)
    text_view = TextView(request.user.text_view)
    is_practice = assignment.item.kind == ItemKind.TRAINING
    context: dict[str, Any] = {
        "campaign": campaign,
        "is_simulated": campaign.benchmark.is_simulated or reading.is_simulated,
        "assignment": assignment,
        "is_skipped": assignment.state == AssignmentState.SKIPPED,
        "is_asked_again": assignment.state == AssignmentState.AGAIN,
        "is_revision": label is not None,
        "is_flagged_now": "told" in request.GET,
        "reading": reading,
        "markdown": (
            [markdown_of(reading.prompt), markdown_of(reading.response)]
            if text_view == TextView.MARKDOWN
            else None
        ),
        "instructions": _instructions_as_html(campaign.instructions),
        "is_shown": bool(form.errors) or not campaign.reveals_on_tap,
        # An item that was fetched ahead of time follows the one on the screen.
        "position": min(progress.position + ("ahead" in request.GET), progress.n_total),
        "n_total": progress.n_total,
        "is_practice": is_practice,
        # What is said after a practice text comes before the next.
        "has_next": not is_practice,
        "form": form,
        "flag_form": FlagForm(auto_id="flag-%s"),
        "question": QUESTIONS.get(AnnotatorType(membership.annotator.annotator_type), PLAIN_QUESTION),
        # A practice text that comes again is answered afresh.
        "chosen": label.rating if label and not is_practice else None,
        "previous": last_label(membership),
        "undo_submission_id": uuid.uuid4(),
        "skip_reasons": SkipReason.choices,
        "address": request.path,
    }
    return render(request, "annotation/label.html", context, status=status)


@lru_cache(maxsize=64)
def _instructions_as_html(text: str) -> str:
    """The same for every item of a campaign, so it is rendered once."""
    return markdown_of(text)


def _conflict_page(
    request: SignedInRequest, membership: Membership, assignment: Assignment, stale: StaleLabel
) -> HttpResponse:
    context = {
        "campaign": membership.campaign,
        "is_simulated": membership.campaign.benchmark.is_simulated,
        "assignment": assignment,
        "message": stale.message,
        "stored": stale.stored,
        "offered": stale.offered,
        "submission_id": uuid.uuid4(),
    }
    return render(request, "annotation/conflict.html", context, status=409)


def _assignment_or_404(membership: Membership, assignment_id: str) -> Assignment:
    assignment = own_assignment(membership, assignment_id)
    if assignment is None:
        raise Http404
    return assignment
