"""What annotators are told: write it, keep its versions, ask again under newer instructions."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from annotation.campaigns.texts import TextChange, change_texts, labels_under_older_instructions, serve_again
from annotation.choices import CampaignState
from annotation.errors import DomainError
from annotation.forms.preparing import TextsForm
from annotation.models import Campaign
from annotation.permissions import SignedInRequest, reader_required
from annotation.views.preparing import after_step, campaign_or_404, show_step
from annotation.views.refusals import INVALID, status_of


@require_http_methods(["GET", "HEAD", "POST"])
@reader_required
def texts(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """Step 3 of a draft; later, the texts with their versions."""
    found = campaign_or_404(campaign_id)
    if request.method != "POST":
        return _texts_page(request, found, TextsForm(initial=TextsForm.initial_of(found)))
    form, status = TextsForm(request.POST), INVALID
    if form.is_valid():
        try:
            change = change_texts(campaign=found, texts=form.texts, actor=request.user)
        except DomainError as error:
            form.add_error(None, error.message)
            status = status_of(error)
        else:
            if found.state == CampaignState.DRAFT:
                return redirect(after_step(found, "campaign_pace"))
            messages.success(request, _what_changed(change))
            return redirect("annotation:campaign_texts", campaign_id=campaign_id)
    return _texts_page(request, found, form, status=status)


@require_POST
@reader_required
def ask_again(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """Ask people to look again at what they answered under older instructions."""
    found = campaign_or_404(campaign_id)
    try:
        n_asked = serve_again(campaign=found, actor=request.user)
    except DomainError as error:
        messages.error(request, error.message)
        form = TextsForm(initial=TextsForm.initial_of(found))
        return _texts_page(request, found, form, status=status_of(error))
    messages.success(
        request, f"Answers asked for again: {n_asked:,}. Each stands until the person answers anew."
    )
    return redirect("annotation:campaign_texts", campaign_id=campaign_id)


def _texts_page(
    request: SignedInRequest, campaign: Campaign, form: TextsForm, *, status: int = 200
) -> HttpResponse:
    context = {
        "form": form,
        "versions": campaign.texts.select_related("created_by").order_by("kind", "-version"),
        "n_older": labels_under_older_instructions(campaign).count(),
    }
    return show_step(request, "campaign_texts", campaign, context, status=status)


def _what_changed(change: TextChange) -> str:
    parts = []
    if change.instructions_changed:
        parts.append("The instructions have a new version, which labels carry from now on.")
    if change.consent_changed:
        parts.append("The consent text has a new version; everybody is asked again before going on.")
    if change.support_changed:
        parts.append("The support text is another one.")
    return " ".join(parts) or "Nothing was changed: the texts are the same as before."
