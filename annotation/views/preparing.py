"""The campaign wizard: responses, labels, pace and care, known answers, check. Drafts wait between them."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.campaigns.creating import choose_again, create_campaign, discard_draft
from annotation.campaigns.known_answers import place_response, set_pass_mark
from annotation.campaigns.planning import plan_labels, set_pace
from annotation.choices import CampaignState, Scale
from annotation.errors import DomainError
from annotation.forms.campaigns import LabelsForm, ResponsesForm
from annotation.forms.preparing import NOT_HERE, KnownAnswerForm, PaceForm, PassMarkForm
from annotation.models import Benchmark, Campaign, Response
from annotation.permissions import SignedInRequest, reader_required
from annotation.selectors.candidates import known_answer_candidates
from annotation.selectors.outlines import campaign_outline, missing_before_opening
from annotation.selectors.responses import count_chosen
from annotation.views.refusals import INVALID, status_of

USUAL_LABELS = 2
CANDIDATES_ON_A_PAGE = 10
STEPS = {
    "campaign_responses": "Responses",
    "campaign_labels": "Labels",
    "campaign_texts": "Texts",
    "campaign_pace": "Pace and care",
    "campaign_known": "Known answers",
    "campaign_check": "Check",
}


@require_http_methods(["GET", "HEAD", "POST"])
@reader_required
def campaign_new(request: SignedInRequest, slug: str) -> HttpResponse:
    """Step 1 of a new campaign: count a choice of responses, or make a draft of it."""
    benchmark = get_object_or_404(Benchmark, slug=slug)
    if request.method != "POST":
        return _responses_page(request, benchmark, _asked(request, benchmark, initial={}))
    form = ResponsesForm(request.POST, benchmark=benchmark)
    if not form.is_valid():
        return _responses_page(request, benchmark, form, status=INVALID)
    draft = create_campaign(
        benchmark=benchmark,
        scale=Scale.BINARY_AND_SEVERITY,
        labels_per_response=USUAL_LABELS,
        created_by=request.user,
        state=CampaignState.DRAFT,
        **form.chosen,
    )
    return redirect("annotation:campaign_labels", campaign_id=draft.public_id)


@require_http_methods(["GET", "HEAD", "POST"])
@reader_required
def responses(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """Step 1 of a draft: choose again."""
    draft = campaign_or_404(campaign_id)
    if request.method != "POST":
        form = _asked(request, draft.benchmark, initial=ResponsesForm.initial_of(draft))
        return _responses_page(request, draft.benchmark, form, draft)
    form = ResponsesForm(request.POST, benchmark=draft.benchmark)
    if form.is_valid():
        try:
            choose_again(campaign=draft, actor=request.user, **form.chosen)
        except DomainError as error:
            form.add_error(None, error.message)
            return _responses_page(request, draft.benchmark, form, draft, status=status_of(error))
        return redirect("annotation:campaign_labels", campaign_id=campaign_id)
    return _responses_page(request, draft.benchmark, form, draft, status=INVALID)


@require_http_methods(["GET", "HEAD", "POST"])
@reader_required
def labels(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """Step 2: how many labels, and from whom."""
    draft = campaign_or_404(campaign_id)
    form, status = LabelsForm(request.POST or None, campaign=draft), 200
    if request.method == "POST":
        status = INVALID
        if form.is_valid():
            try:
                plan_labels(campaign=draft, plan=form.plan, actor=request.user)
                return redirect("annotation:campaign_texts", campaign_id=campaign_id)
            except DomainError as error:
                form.add_error(None, error.message)
                status = status_of(error)
    return show_step(request, "campaign_labels", draft, {"form": form}, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@reader_required
def pace(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """Step 4: dates, breaks, caps, and how mild each category is. Open to change until the end."""
    found = campaign_or_404(campaign_id)
    categories = {row.risk_category: row.mildness for row in campaign_outline(found).categories}
    form, status = PaceForm(request.POST or None, campaign=found, categories=categories), 200
    if request.method == "POST":
        status = INVALID
        if form.is_valid():
            try:
                set_pace(campaign=found, pace=form.pace, actor=request.user)
                return redirect(after_step(found, "campaign_known"))
            except DomainError as error:
                form.add_error(None, error.message)
                status = status_of(error)
    return show_step(request, "campaign_pace", found, {"form": form}, status=status)


@require_GET
@reader_required
def known(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """Step 5: which responses have a known answer."""
    return _known_page(request, campaign_or_404(campaign_id))


@require_POST
@reader_required
def place(request: SignedInRequest, campaign_id: str, response_id: str) -> HttpResponse:
    """Make one response a training, gold or regular item, or take it out."""
    found = campaign_or_404(campaign_id)
    response = get_object_or_404(Response, public_id=response_id, prompt__benchmark=found.benchmark)
    form, status = KnownAnswerForm(request.POST, prefix=response_id), INVALID
    if form.is_valid():
        try:
            place_response(campaign=found, response=response, place=form.place, actor=request.user)
            messages.success(request, f"Saved: {response.prompt.case_uid}, {form.place_in_words}.")
            return redirect(_known_address(request, found))
        except DomainError as error:
            form.add_error(None, error.message)
            status = status_of(error)
    return _known_page(request, found, refused=form, status=status)


@require_POST
@reader_required
def pass_mark(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """Settle the pass mark of the training items."""
    found = campaign_or_404(campaign_id)
    form, status = PassMarkForm(request.POST), INVALID
    if form.is_valid():
        try:
            set_pass_mark(campaign=found, actor=request.user, **form.cleaned_data)
            return redirect(after_step(found, "campaign_check"))
        except DomainError as error:
            form.add_error(None, error.message)
            status = status_of(error)
    return _known_page(request, found, mark=form, status=status)


@require_GET
@reader_required
def check(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """Step 6: what the draft comes to, and what it lacks, before anybody begins."""
    return show_check(request, campaign_or_404(campaign_id))


@require_POST
@reader_required
def discard(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """Take a draft away."""
    draft = campaign_or_404(campaign_id)
    try:
        discard_draft(campaign=draft, actor=request.user)
    except DomainError as error:
        messages.error(request, error.message)
        return show_check(request, draft, status=status_of(error))
    messages.success(request, f"The draft {draft.name} is gone.")
    return redirect("judging:labels", slug=draft.benchmark.slug)


def campaign_or_404(campaign_id: str) -> Campaign:
    """The campaign with its benchmark, for a researcher's page. One query."""
    return get_object_or_404(Campaign.objects.select_related("benchmark"), public_id=campaign_id)


def after_step(campaign: Campaign, next_step: str) -> str:
    """Where a saved step leads: on through the wizard, or back to a campaign that is under way."""
    name = next_step if campaign.state == CampaignState.DRAFT else "campaign"
    return reverse(f"annotation:{name}", kwargs={"campaign_id": campaign.public_id})


def show_step(
    request: SignedInRequest, step: str, campaign: Campaign, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    """One step of a campaign. Of a draft it stands in the row of steps."""
    shown = _frame(campaign.benchmark) | {"campaign": campaign, "is_draft": False} | context
    if campaign.state == CampaignState.DRAFT:
        shown |= {"is_draft": True, "steps": _steps(step, campaign)}
    return render(request, f"annotation/{step}.html", shown, status=status)


def show_check(request: SignedInRequest, campaign: Campaign, *, status: int = 200) -> HttpResponse:
    """The check of a campaign, also where opening or discarding it was refused."""
    outline = campaign_outline(campaign)
    context = {
        "outline": outline,
        "missing": missing_before_opening(campaign, outline),
        "has_people": campaign.memberships.exists() or campaign.invitations.exists(),
    }
    return show_step(request, "campaign_check", campaign, context, status=status)


def _frame(benchmark: Benchmark) -> dict[str, Any]:
    return {"benchmark": benchmark, "benchmarks": Benchmark.objects.order_by("name"), "tab": "labels"}


def _steps(present: str, campaign: Campaign | None) -> list[dict[str, Any]]:
    """The steps with their addresses; a campaign that is not made yet has none."""
    kwargs = {"campaign_id": campaign.public_id} if campaign else None
    return [
        {
            "label": label,
            "url": reverse(f"annotation:{name}", kwargs=kwargs) if kwargs else None,
            "is_present": name == present,
        }
        for name, label in STEPS.items()
    ]


def _asked(request: SignedInRequest, benchmark: Benchmark, initial: dict[str, Any]) -> ResponsesForm:
    """The choice in the address where there is one to count, else a fresh form."""
    return ResponsesForm(
        request.GET if "count" in request.GET else None, benchmark=benchmark, initial=initial
    )


def _responses_page(
    request: SignedInRequest,
    benchmark: Benchmark,
    form: ResponsesForm,
    draft: Campaign | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    counts = count_chosen(benchmark, form.chosen["responses"]) if form.is_bound and form.is_valid() else None
    is_settled = draft is not None and draft.state != CampaignState.DRAFT
    context = _frame(benchmark) | {
        "form": form,
        "counts": counts,
        "draft": draft,
        "is_settled": is_settled,
        "steps": None if is_settled else _steps("campaign_responses", draft),
    }
    return render(request, "annotation/campaign_responses.html", context, status=status)


def _known_page(
    request: SignedInRequest,
    campaign: Campaign,
    *,
    refused: KnownAnswerForm | None = None,
    mark: PassMarkForm | None = None,
    status: int = 200,
) -> HttpResponse:
    outline = campaign_outline(campaign)
    category = request.GET.get("category") or None
    candidates = known_answer_candidates(campaign, risk_category=category)
    page = Paginator(candidates, CANDIDATES_ON_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "outline": outline,
        "category": category,
        "page_obj": page,
        "candidates": [(response, _known_form(response, refused)) for response in page],
        "refused": refused,
        "query": request.GET.urlencode(),
        "mark": mark or PassMarkForm(initial={"pass_mark": campaign.pass_mark}),
    }
    return show_step(request, "campaign_known", campaign, context, status=status)


def _known_form(response: Any, refused: KnownAnswerForm | None) -> KnownAnswerForm:
    if refused is not None and refused.prefix == response.public_id:
        return refused
    initial = {
        "kind": response.item_kind or NOT_HERE,
        "expected_rating": response.item_expected,
        "feedback": response.item_feedback,
    }
    return KnownAnswerForm(prefix=response.public_id, initial=initial)


def _known_address(request: SignedInRequest, campaign: Campaign) -> str:
    address = reverse("annotation:campaign_known", kwargs={"campaign_id": campaign.public_id})
    query = request.GET.urlencode()
    return f"{address}?{query}" if query else address
