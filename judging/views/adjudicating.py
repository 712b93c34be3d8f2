"""Adjudication: which items people contest, and the page on which one of them is decided."""

from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from annotation.adjudicating import decide
from annotation.choices import CampaignState, Rating
from annotation.models import Account, Adjudication, Campaign, CampaignItem
from annotation.permissions import SignedInRequest
from annotation.selectors.adjudication import (
    decisions_on,
    digest_of_labels,
    is_outdated,
    labels_of_items,
    shuffled,
)
from judging.contested import STANDING_WORDS, ListedItem, Standing, listed_items, standings_of
from judging.errors import Conflict, DomainError, NotAllowed
from judging.forms.adjudicating import DecisionForm, StandingForm
from judging.views.context import adjudicator_page, show_page
from judging.views.tables import Cell, Column, Row, Table, count_cell, text_column
from judging.views.wording import counted

ITEMS_PER_PAGE = 50
SHOWN_ID_LENGTH = 8


@require_safe
@adjudicator_page
def show_campaigns(request: HttpRequest) -> HttpResponse:
    """Every campaign that ever opened, with how many of its items stand where."""
    campaigns = Campaign.objects.exclude(state=CampaignState.DRAFT).select_related("benchmark")
    standings = standings_of(list(campaigns.order_by("-created_at", "-pk")))
    n_to_decide = sum(found.counts[Standing.TO_DECIDE] for found in standings)
    return show_page(
        request,
        "judging/adjudication.html",
        benchmark=None,
        tab=None,
        answer=f"{counted(n_to_decide, 'contested item')} to be decided.",
        table=Table(
            id="campaigns",
            caption="Campaigns",
            columns=[
                text_column("Campaign"),
                *(Column(words) for words in STANDING_WORDS.values()),
                text_column("Benchmark"),
                text_column("Decisions"),
            ],
            rows=[
                Row(
                    [
                        Cell(found.campaign.name, href=_list_address(found.campaign)),
                        *(
                            count_cell(found.counts[standing], _list_address(found.campaign, standing))
                            for standing in STANDING_WORDS
                        ),
                        Cell(found.campaign.benchmark.name),
                        Cell(
                            "stand for the consensus"
                            if found.campaign.adjudication_overrides
                            else "change no figure"
                        ),
                    ]
                )
                for found in standings
            ],
        )
        if standings
        else None,
    )


@require_safe
@adjudicator_page
def list_items(request: HttpRequest, campaign: str) -> HttpResponse:
    """The items of one campaign on which people differ, those to be decided by default."""
    found = _campaign_or_404(campaign)
    listed = listed_items(found)
    form = StandingForm(request.GET if "standing" in request.GET else {"standing": Standing.TO_DECIDE.value})
    if not form.is_valid():
        raise DomainError(
            "The items cannot be listed so: the filter is not known. Open the list without it.",
            code="bad_filter",
        )
    wanted = form.cleaned_data["standing"]
    chosen = [item for item in listed if wanted in ("", item.standing)]
    n_to_decide = sum(item.standing == Standing.TO_DECIDE for item in listed)
    page = Paginator(chosen, ITEMS_PER_PAGE).get_page(request.GET.get("page"))
    return show_page(
        request,
        "judging/contested.html",
        benchmark=found.benchmark,
        tab="labels",
        campaign=found,
        answer=f"{counted(n_to_decide, 'contested item')} of {found.name} to be decided.",
        what_decisions_do=_what_decisions_do(found),
        form=form,
        page_obj=page,
        table=_item_table(found, list(page)) if chosen else None,
        all_url=_list_address(found, None),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@adjudicator_page
def decide_item(request: SignedInRequest, campaign: str, item: str) -> HttpResponse:
    """One item: the texts, everybody's label under no name, decisions so far; a POST decides."""
    found = get_object_or_404(
        CampaignItem.objects.select_related("campaign__benchmark", "response__prompt"),
        public_id=item,
        campaign=_campaign_or_404(campaign),
    )
    if request.method != "POST":
        return _item_page(request, found)
    form = DecisionForm(request.POST)
    if not form.is_valid():
        return _item_page(request, found, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        decide(
            item=found,
            decision=Rating(form.cleaned_data["decision"]),
            reason=form.cleaned_data["reason"],
            labels_seen=form.cleaned_data["labels_seen"],
            decision_seen=form.cleaned_data["decision_seen"] or None,
            adjudicator=request.user,
        )
    except NotAllowed:
        raise
    except DomainError as error:
        form.add_error(None, error.message)
        is_conflict = isinstance(error, Conflict)
        status = HTTPStatus.CONFLICT if is_conflict else HTTPStatus.UNPROCESSABLE_ENTITY
        return _item_page(request, found, form, status=status)
    messages.success(request, "Decided. The labels stay as they are.")
    return redirect("judging:contested", campaign=campaign)


def _item_page(
    request: SignedInRequest,
    item: CampaignItem,
    form: DecisionForm | None = None,
    *,
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    """The page with the labels as they are now, so that a second look after a conflict sees them."""
    labels = labels_of_items([item])[item.pk]
    decisions = decisions_on(item)
    present = next((decision for decision in decisions if decision.is_current), None)
    label_ids = [label.public_id for label in labels]
    seen = {
        "labels_seen": digest_of_labels(label_ids),
        "decision_seen": present.public_id if present else "",
    }
    form = _showing_again(form, seen) if form else DecisionForm(initial=seen)
    return show_page(
        request,
        "judging/decide.html",
        benchmark=item.campaign.benchmark,
        tab="labels",
        status=status,
        item=item,
        answer=_answer(labels, present),
        labels=shuffled(item, labels),
        decisions=decisions,
        is_outdated=present is not None and is_outdated(present, label_ids),
        what_decisions_do=_what_decisions_do(item.campaign),
        form=form if _may_decide(request.user, labels, present) else None,
        list_url=_list_address(item.campaign),
        response_url=_response_address(request.user, item, present),
    )


def _showing_again(form: DecisionForm, seen: dict[str, str]) -> DecisionForm:
    """The same answers and errors, over what stands on the page now."""
    again = DecisionForm({name: form.data.get(name, "") for name in form.fields} | seen)
    again.full_clean()
    for message in form.non_field_errors():
        again.add_error(None, str(message))
    return again


def _may_decide(account: Account, labels: list[Any], present: Adjudication | None) -> bool:
    if not account.is_adjudicator:
        return False
    return present is not None or len({label.rating for label in labels}) == len(Rating.values)


def _response_address(account: Account, item: CampaignItem, present: Adjudication | None) -> str | None:
    """The response with its model and verdicts, once the item is decided: before that they would sway."""
    if present is None or not account.is_reader:
        return None
    return reverse("judging:response", args=[item.campaign.benchmark.slug, item.response.public_id])


def _answer(labels: list[Any], present: Adjudication | None) -> str:
    n_acceptable = sum(label.rating == Rating.ACCEPTABLE for label in labels)
    said = f"{n_acceptable} said Acceptable, {len(labels) - n_acceptable} Unacceptable"
    return f"{said}; decided: {Rating(present.decision).label}." if present else f"{said}."


def _item_table(campaign: Campaign, listed: list[ListedItem]) -> Table:
    return Table(
        id="items",
        caption="Items",
        note="In an order that means nothing. Labels are those of this campaign.",
        columns=[
            text_column("Item"),
            text_column("Risk category"),
            Column("Acceptable", unit="labels"),
            Column("Unacceptable", unit="labels"),
            Column("Wanted", unit="labels"),
            text_column("Standing"),
            text_column("Decision"),
        ],
        rows=[
            Row(
                [
                    Cell(
                        entry.item.public_id[:SHOWN_ID_LENGTH],
                        href=reverse("judging:decide", args=[campaign.public_id, entry.item.public_id]),
                    ),
                    Cell(entry.item.response.prompt.risk_category),
                    Cell(entry.n_acceptable, kind="count"),
                    Cell(entry.n_unacceptable, kind="count"),
                    Cell(campaign.labels_per_response, kind="count"),
                    Cell(STANDING_WORDS[entry.standing]),
                    Cell(
                        entry.decision.decision if entry.decision else None,
                        kind="verdict",
                        reason="not decided",
                    ),
                ]
            )
            for entry in listed
        ],
    )


def _what_decisions_do(campaign: Campaign) -> str:
    if campaign.adjudication_overrides:
        return "takes the place of people's consensus"
    return "is kept beside the consensus and changes no figure"


def _list_address(campaign: Campaign, standing: Standing | None = Standing.TO_DECIDE) -> str:
    address = reverse("judging:contested", args=[campaign.public_id])
    return f"{address}?standing={standing.value if standing else ''}"


def _campaign_or_404(public_id: str) -> Campaign:
    campaigns = Campaign.objects.exclude(state=CampaignState.DRAFT).select_related("benchmark")
    return get_object_or_404(campaigns, public_id=public_id)
