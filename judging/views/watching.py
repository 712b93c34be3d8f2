"""Monitoring a campaign: how it goes, its items, one item's labels under no name, and its flags."""

import csv
import io
from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotation.choices import CampaignState, SkipReason
from annotation.errors import DomainError
from annotation.flags import resolve_flag
from annotation.models import Campaign, CampaignItem, Flag
from annotation.permissions import SignedInRequest
from annotation.selectors.adjudication import labels_of_items, shuffled
from annotation.selectors.monitoring import flags_of, skips_on
from judging.errors import Conflict
from judging.forms.watching import ResolveForm
from judging.views import watching_tables as tables
from judging.views.agreement_tables import class_table, reliability_table
from judging.views.choosing import ReportChoice
from judging.views.context import researcher_page, show_page
from judging.views.wording import counted
from judging.watching import LISTS, count_campaign, watch_campaign

ITEMS_PER_PAGE = 50
FLAGS_PER_PAGE = 20


@require_safe
@researcher_page
def show_campaign(request: HttpRequest, campaign: str) -> HttpResponse:
    """Progress, label mix, skips, flags, reliability and agreement of one campaign."""
    found = _campaign_or_404(campaign)
    document = watch_campaign(found)
    choice = ReportChoice(found.benchmark, campaign=found)
    pairs = document["agreement"]["pairs"]
    return show_page(
        request,
        "judging/watch.html",
        benchmark=found.benchmark,
        tab="labels",
        campaign=found,
        answer=_answer(document),
        basis=_basis(document),
        tables=[
            tables.progress_table(document),
            tables.annotator_table(document),
            tables.type_table(document),
            tables.kind_table(document),
            tables.category_table(document),
            tables.skip_table(document),
            tables.quality_table(document),
        ],
        agreement=[class_table(pairs, choice), reliability_table(document["agreement"])] if pairs else [],
        n_flags_open=document["total"]["n_flags_open"],
        downloads=[
            (words, reverse("judging:watch_list", args=[found.public_id, name]))
            for name, words in LISTS.items()
        ],
        calibration_url=choice.address("calibration"),
    )


@require_safe
@researcher_page
def list_items(request: HttpRequest, campaign: str) -> HttpResponse:
    """Every item with its counts."""
    found = _campaign_or_404(campaign)
    document = count_campaign(found)
    page = Paginator(document["items"], ITEMS_PER_PAGE).get_page(request.GET.get("page"))
    return show_page(
        request,
        "judging/watch_items.html",
        benchmark=found.benchmark,
        tab="labels",
        campaign=found,
        answer=_answer(document),
        basis=_basis(document),
        table=tables.item_table(found, list(page)) if document["items"] else None,
        page_obj=page,
    )


@require_safe
@researcher_page
def show_item(request: HttpRequest, campaign: str, item: str) -> HttpResponse:
    """One item: everybody's label under a number of this item's own, skips and flags without names."""
    found = get_object_or_404(
        CampaignItem.objects.select_related("campaign__benchmark", "response__prompt"),
        public_id=item,
        campaign=_campaign_or_404(campaign),
    )
    labels = labels_of_items([found])[found.pk]
    return show_page(
        request,
        "judging/watch_item.html",
        benchmark=found.campaign.benchmark,
        tab="labels",
        campaign=found.campaign,
        item=found,
        answer=f"{counted(len(labels), 'label')} on this item; {found.campaign.labels_per_response} wanted.",
        labels=tables.label_table(shuffled(found, labels)) if labels else None,
        skips=[(SkipReason(reason).label, n) for reason, n in skips_on(found)],
        flags=list(flags_of(found.campaign).filter(item=found)),
        response_url=reverse(
            "judging:response", args=[found.campaign.benchmark.slug, found.response.public_id]
        ),
    )


@require_safe
@researcher_page
def list_flags(request: HttpRequest, campaign: str) -> HttpResponse:
    """What people asked the lead to look at, those that wait first."""
    return _flags_page(request, _campaign_or_404(campaign))


@require_POST
@researcher_page
def resolve(request: SignedInRequest, campaign: str, flag: str) -> HttpResponse:
    """Settle one flag."""
    found = _campaign_or_404(campaign)
    flagged = get_object_or_404(Flag, public_id=flag, item__campaign=found)
    form = ResolveForm(request.POST)
    if not form.is_valid():
        return _flags_page(request, found, (flagged, form), status=HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        resolve_flag(flag=flagged, actor=request.user, resolution=form.cleaned_data["resolution"])
    except DomainError as error:
        form.add_error(None, error.message)
        is_conflict = isinstance(error, Conflict)
        status = HTTPStatus.CONFLICT if is_conflict else HTTPStatus.UNPROCESSABLE_ENTITY
        return _flags_page(request, found, (flagged, form), status=status)
    messages.success(request, "Resolved.")
    return redirect("judging:watch_flags", campaign=campaign)


@require_safe
@researcher_page
def download_list(request: HttpRequest, campaign: str, name: str) -> HttpResponse:
    """One list of the document as CSV: the numbers of the page, with all their digits."""
    found = _campaign_or_404(campaign)
    if name not in LISTS:
        raise Http404
    rows = (watch_campaign(found) if name == "quality" else count_campaign(found))[name]
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return HttpResponse(
        text.getvalue(),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{found.slug}-{name}.csv"'},
    )


def _flags_page(
    request: HttpRequest,
    campaign: Campaign,
    refused: tuple[Flag, ResolveForm] | None = None,
    *,
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    """The list, with a form under each flag that waits; `refused` is shown with what was typed."""
    flags = flags_of(campaign)
    page = Paginator(flags, FLAGS_PER_PAGE).get_page(request.GET.get("page"))
    n_open = flags.filter(resolved_at=None).count()
    return show_page(
        request,
        "judging/watch_flags.html",
        benchmark=campaign.benchmark,
        tab="labels",
        status=status,
        campaign=campaign,
        answer=f"{counted(n_open, 'flag')} of {campaign.name} waiting to be looked at.",
        basis=f"Raised so far: {page.paginator.count:,}",
        page_obj=page,
        entries=[(flag, _form_of(flag, refused)) for flag in page],
        form=refused[1] if refused else None,
    )


def _form_of(flag: Flag, refused: tuple[Flag, ResolveForm] | None) -> ResolveForm | None:
    if flag.resolved_at is not None:
        return None
    if refused is not None and refused[0].pk == flag.pk:
        return refused[1]
    return ResolveForm(auto_id=f"id_{flag.public_id}_%s")


def _answer(document: dict[str, Any]) -> str:
    wanted = counted(document["labels_per_response"], "label")
    return (
        f"{document['n_full']:,} of {document['n_regular_items']:,} responses have the {wanted} that "
        "they need."
    )


def _basis(document: dict[str, Any]) -> str:
    total = document["total"]
    return " · ".join(
        (
            counted(total["n_labels"], "label"),
            f"{total['n_skipped']:,} skipped",
            f"{total['n_in_hand']:,} being read",
            counted(total["n_flags"], "flag") + f", {total['n_flags_open']:,} waiting",
        )
    )


def _campaign_or_404(public_id: str) -> Campaign:
    campaigns = Campaign.objects.exclude(state=CampaignState.DRAFT).select_related("benchmark")
    return get_object_or_404(campaigns, public_id=public_id)
