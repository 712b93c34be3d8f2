"""The Labels tab: who labelled how much, in which campaigns, and where people differ."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from annotation.choices import AnnotatorType, CampaignState, Scale
from annotation.models import Benchmark
from judging.reports import count_labels
from judging.views import listings
from judging.views.answers import labels_answer
from judging.views.choosing import ReportChoice
from judging.views.context import benchmark_page, show_page
from judging.views.listings import ListedCampaign
from judging.views.tables import Cell, Column, Row, Table, count_cell, text_column


@require_safe
@benchmark_page
def show_labels(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Campaigns with counts, annotators with counts, consensus."""
    choice = ReportChoice(benchmark)
    labels = count_labels(benchmark)
    campaigns = listings.campaigns_of(benchmark)
    annotators = listings.labels_by_annotator(benchmark)
    return show_page(
        request,
        "judging/labels.html",
        benchmark=benchmark,
        tab="labels",
        answer=labels_answer(labels),
        campaigns=_campaign_table(campaigns) if campaigns else None,
        annotators=_annotator_table(annotators, choice) if annotators else None,
        consensus=_consensus_table(labels, choice) if annotators else None,
        new_campaign_url=reverse("annotation:campaign_new", kwargs={"slug": benchmark.slug}),
    )


def _campaign_table(campaigns: list[ListedCampaign]) -> Table:
    return Table(
        id="campaigns",
        caption="Campaigns",
        note="Current labels of regular items; labels that were taken back or revised do not count.",
        columns=[
            text_column("Campaign"),
            text_column("State"),
            text_column("Asks for"),
            Column("Items"),
            Column("Labels wanted", unit="per response"),
            Column("Annotators"),
            Column("Labels"),
            Column("Labelled", unit="responses"),
        ],
        rows=[_campaign_row(listed) for listed in campaigns],
    )


def _campaign_row(listed: ListedCampaign) -> Row:
    campaign = listed.campaign
    address = reverse("annotation:campaign", kwargs={"campaign_id": campaign.public_id})
    return Row(
        [
            Cell(campaign.name, href=address),
            Cell(CampaignState(campaign.state).label),
            Cell("severity too" if campaign.scale == Scale.BINARY_AND_SEVERITY else "rating only"),
            Cell(listed.n_items, kind="count"),
            Cell(campaign.labels_per_response, kind="count"),
            Cell(listed.n_members, kind="count"),
            Cell(listed.n_labels, kind="count"),
            Cell(listed.n_responses, kind="count"),
        ]
    )


def _annotator_table(annotators: list[dict[str, Any]], choice: ReportChoice) -> Table:
    return Table(
        id="annotators",
        caption="Annotators",
        note="Under their codes. Labels of every campaign; in agreement, the newest of several by one "
        "annotator on one response counts.",
        columns=[
            text_column("Code"),
            text_column("Type"),
            Column("Labels"),
            Column("Acceptable"),
            Column("Unacceptable"),
            Column("With a severity"),
        ],
        rows=[_annotator_row(entry, choice) for entry in annotators],
    )


def _annotator_row(entry: Mapping[str, Any], choice: ReportChoice) -> Row:
    code = entry["annotator__code"]
    n_labels = entry["n_acceptable"] + entry["n_unacceptable"]
    return Row(
        [
            Cell(code, reason="anonymous: imported without an annotator"),
            Cell(AnnotatorType(entry["annotator_type"]).label),
            count_cell(n_labels, choice.rows(annotator=code) if code else None),
            Cell(entry["n_acceptable"], kind="count"),
            Cell(entry["n_unacceptable"], kind="count"),
            Cell(entry["n_severities"], kind="count"),
        ]
    )


def _consensus_table(labels: Mapping[str, int], choice: ReportChoice) -> Table:
    """Labelled responses with and without a majority, from the report."""
    entries = (
        ("Labelled responses", labels["n_responses"], choice.rows(consensus="LABELLED")),
        ("A majority decides", labels["n_consensus"], choice.rows(consensus="AGREED")),
        (
            "Contested: as many Acceptable as Unacceptable",
            labels["n_contested"],
            choice.rows(consensus="CONTESTED"),
        ),
    )
    return Table(
        id="consensus",
        caption="Consensus",
        columns=[text_column("Responses"), Column("n", unit="responses")],
        rows=[Row([Cell(words), count_cell(n, href)]) for words, n, href in entries],
    )
