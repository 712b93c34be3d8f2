"""What goes on around an answer: the look of the page, drafts, flags, and the person's own answers."""

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from annotation.flags import raise_flag
from annotation.forms import DraftForm, FlagForm, LookForm
from annotation.labelling import InvalidAnswer, save_draft
from annotation.permissions import SignedInRequest, has_consented, membership_of, wants_json
from annotation.preferences import change_look
from annotation.selectors import own_answers, own_assignment, own_label_by_id
from annotation.views.refusals import annotator_page

ANSWERS_PER_PAGE = 50


@require_POST
@annotator_page
def look(request: SignedInRequest) -> HttpResponse:
    """Change how texts look for this person, and go back to the page that they were on."""
    form = LookForm(request.POST)
    if not form.is_valid():
        raise InvalidAnswer(gettext("That look is not known here. Go back and choose one that is offered."))
    change_look(account=request.user, **form.look())
    back = form.cleaned_data["next"]
    is_ours = url_has_allowed_host_and_scheme(
        back, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return redirect(back if is_ours else "annotation:home")


@require_GET
@annotator_page
def answers(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """What the person has answered and skipped, each with the way to change it."""
    membership = membership_of(request.user, campaign_id)
    if not has_consented(membership):
        return redirect("annotation:consent", campaign_id=campaign_id)
    context = {
        "campaign": membership.campaign,
        "is_simulated": membership.campaign.benchmark.is_simulated,
        "page_obj": Paginator(own_answers(membership), ANSWERS_PER_PAGE).get_page(request.GET.get("page")),
    }
    return render(request, "annotation/answers.html", context)


@require_POST
@annotator_page
def draft(request: SignedInRequest, campaign_id: str, assignment_id: str) -> HttpResponse:
    """Keep what was typed and chosen so far."""
    membership = membership_of(request.user, campaign_id)
    assignment = own_assignment(membership, assignment_id)
    form = DraftForm(request.POST)
    if assignment is None:
        raise Http404
    if not form.is_valid():
        raise InvalidAnswer(
            gettext(
                "The note is too long or the severity is not known, so it was not kept. Shorten the note."
            )
        )
    shown = form.cleaned_data["revises"]
    save_draft(
        assignment=assignment,
        annotator=membership.annotator,
        label=own_label_by_id(membership, shown) if shown else None,
        note=form.cleaned_data["note"],
        severity=form.cleaned_data["severity"],
    )
    if wants_json(request):
        return JsonResponse({"kept": True})
    return redirect("annotation:item", campaign_id=campaign_id, assignment_id=assignment_id)


@require_POST
@annotator_page
def flag(request: SignedInRequest, campaign_id: str, assignment_id: str) -> HttpResponse:
    """Tell the lead of the study that an item needs a look. The item stays in the person's hands."""
    membership = membership_of(request.user, campaign_id)
    assignment = own_assignment(membership, assignment_id)
    form = FlagForm(request.POST)
    if assignment is None:
        raise Http404
    if not form.is_valid():
        raise InvalidAnswer(gettext("The note is too long, so nothing was sent. Go back and shorten it."))
    raise_flag(assignment=assignment, annotator=membership.annotator, note=form.cleaned_data["note"])
    path = reverse("annotation:item", args=[campaign_id, assignment_id])
    return redirect(f"{path}?told")
