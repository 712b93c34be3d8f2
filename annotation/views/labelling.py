"""The label page: one item, two buttons. Every action is a plain form; label.js only adds to it."""

import uuid
from typing import Any

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.choices import AnnotatorType, AssignmentState, SkipReason
from annotation.forms import LabelForm, SkipForm, UndoForm
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
from annotation.models import Assignment, Membership
from annotation.permissions import ConsentMissing, SignedInRequest, has_consented, membership_of, wants_json
from annotation.selectors import (
    last_label,
    own_assignment,
    own_label,
    own_label_by_id,
    progress_of,
    reading_of,
)
from annotation.views.refusals import INVALID, annotator_page

QUESTIONS = {
    AnnotatorType.PARENT: "Would you, as a parent, find this answer acceptable?",
    AnnotatorType.SPECIALIST: "Would you, as a specialist, find this answer acceptable?",
}
PLAIN_QUESTION = "Would you find this answer acceptable?"


@require_GET
@annotator_page
def next_item(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """Send the person to the item in their hands, or a new one, or to what comes before and after."""
    membership = membership_of(request.user, campaign_id)
    try:
        assignment = next_assignment(campaign=membership.campaign, annotator=membership.annotator)
    except ConsentMissing:
        return redirect("annotation:consent", campaign_id=campaign_id)
    if assignment is None:
        return redirect("annotation:thanks", campaign_id=campaign_id)
    return redirect("annotation:item", campaign_id=campaign_id, assignment_id=assignment.public_id)


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
    form = LabelForm.to_show(membership.campaign, own_label(assignment))
    return _label_page(request, membership, assignment, form)


@require_POST
@annotator_page
def skip(request: SignedInRequest, campaign_id: str, assignment_id: str) -> HttpResponse:
    """Put the item aside."""
    membership = membership_of(request.user, campaign_id)
    assignment = _assignment_or_404(membership, assignment_id)
    form = SkipForm(request.POST)
    if not form.is_valid():
        raise InvalidAnswer("No reason was chosen, so nothing was skipped. Go back and choose one.")
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
        raise InvalidAnswer("It is not clear which answer to take back. Go back, reload and try again.")
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
        return _label_page(request, membership, assignment, form, status=INVALID)
    try:
        receipt = _store(form, membership, assignment)
    except StaleLabel as stale:
        if wants_json(request):
            raise
        return _conflict_page(request, membership, assignment, stale)
    next_url = reverse("annotation:next", kwargs={"campaign_id": membership.campaign.public_id})
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
    status: int = 200,
) -> HttpResponse:
    label = own_label(assignment)
    previous, reading = last_label(membership), reading_of(assignment)
    context: dict[str, Any] = {
        "campaign": membership.campaign,
        "is_simulated": membership.campaign.benchmark.is_simulated or reading.is_simulated,
        "assignment": assignment,
        "is_skipped": assignment.state == AssignmentState.SKIPPED,
        "is_revision": label is not None,
        "reading": reading,
        "is_shown": bool(form.errors) or not membership.campaign.reveals_on_tap,
        "progress": progress_of(membership),
        "form": form,
        "question": QUESTIONS.get(AnnotatorType(membership.annotator.annotator_type), PLAIN_QUESTION),
        "chosen": label.rating if label else None,
        "previous": previous,
        "undo_submission_id": uuid.uuid4(),
        "skip_reasons": SkipReason.choices,
    }
    return render(request, "annotation/label.html", context, status=status)


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
