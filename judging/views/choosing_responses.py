"""Choosing responses for a campaign by what judges said of them."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from annotation.campaigns import create_campaign
from annotation.choices import CampaignState, Scale
from annotation.models import Benchmark
from judging.choosing import ScoredChoice
from judging.forms.choosing import ScoreChoiceForm
from judging.views.context import account_of, benchmark_page, show_page
from judging.views.wording import counted

USUAL_LABELS = 2


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_page
def choose(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """The form; a POST counts what it comes to, or makes a draft campaign of it."""
    if request.method != "POST":
        return _page(request, benchmark, ScoreChoiceForm(benchmark=benchmark))
    form = ScoreChoiceForm(request.POST, benchmark=benchmark)
    if not form.is_valid():
        return _page(request, benchmark, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    if not form.makes_a_draft:
        return _page(request, benchmark, form, form.chosen)
    draft = create_campaign(
        benchmark=benchmark,
        name=form.cleaned_data["name"],
        responses=form.chosen.response_ids,
        scale=Scale.BINARY_AND_SEVERITY,
        labels_per_response=USUAL_LABELS,
        created_by=account_of(request),
        selection=form.chosen.selection,
        state=CampaignState.DRAFT,
    )
    return redirect("annotation:campaign_labels", campaign_id=draft.public_id)


def _page(
    request: HttpRequest,
    benchmark: Benchmark,
    form: ScoreChoiceForm,
    chosen: ScoredChoice | None = None,
    *,
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    return show_page(
        request,
        "judging/choose_responses.html",
        benchmark=benchmark,
        tab="labels",
        status=status,
        answer=_answer(chosen) if chosen else None,
        basis=_basis(chosen) if chosen else None,
        form=form,
    )


def _answer(chosen: ScoredChoice) -> str:
    return f"{counted(len(chosen.response_ids), 'response')} chosen of {chosen.n_fitting:,} that fit."


def _basis(chosen: ScoredChoice) -> str:
    return (
        f"Looked at {counted(chosen.n_considered, 'readable response')} · left out: "
        f"{chosen.n_without_score:,} without the scores that this needs, "
        f"{chosen.n_considered - chosen.n_without_score - chosen.n_fitting:,} that do not fit"
    )
