"""Pages between two items: a break that is offered, and training with what is said after each item."""

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from annotation.care import break_due, end_break
from annotation.permissions import SignedInRequest, membership_of
from annotation.selectors import feedback_on, own_assignment, reading_of, training_round_of
from annotation.views.refusals import annotator_page


@require_http_methods(["GET", "POST"])
@annotator_page
def pause(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """Offer a break. Going on is always possible; coming back later is as good."""
    membership = membership_of(request.user, campaign_id)
    if request.method == "POST":
        end_break(membership)
        return redirect("annotation:next", campaign_id=campaign_id)
    reason = break_due(membership)
    if reason is None:
        return redirect("annotation:next", campaign_id=campaign_id)
    context = {
        "campaign": membership.campaign,
        "is_simulated": membership.campaign.benchmark.is_simulated,
        "reason": reason,
    }
    return render(request, "annotation/break.html", context)


@require_GET
@annotator_page
def training(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """What the training items are for, before the first of them."""
    membership = membership_of(request.user, campaign_id)
    training_round = training_round_of(membership)
    if not training_round.n_left:
        return redirect("annotation:next", campaign_id=campaign_id)
    context = {
        "campaign": membership.campaign,
        "is_simulated": membership.campaign.benchmark.is_simulated,
        "training": training_round,
    }
    return render(request, "annotation/training.html", context)


@require_GET
@annotator_page
def feedback(request: SignedInRequest, campaign_id: str, assignment_id: str) -> HttpResponse:
    """What the study expects of a training item that the person has answered."""
    membership = membership_of(request.user, campaign_id)
    assignment = own_assignment(membership, assignment_id)
    told = feedback_on(membership, assignment) if assignment else None
    if assignment is None or told is None:
        raise Http404
    reading = reading_of(assignment)
    context = {
        "campaign": membership.campaign,
        "is_simulated": membership.campaign.benchmark.is_simulated or reading.is_simulated,
        "feedback": told,
        "reading": reading,
    }
    return render(request, "annotation/training_feedback.html", context)
