"""Every decision on a contested item, those that were replaced as well."""

from collections.abc import Iterator

from annotation.choices import ItemKind
from annotation.models import Adjudication, Benchmark, Campaign, Label
from annotation.selectors.adjudication import is_outdated
from judging.exports.columns import Basis, Column, Kind, Row, Table, integers, texts, utc_text
from judging.exports.recorded import RATING_WORDS


def open_adjudications(benchmark: Benchmark, campaign: Campaign | None) -> Table:
    """One row for each decision, oldest first. Two queries.

    `is_current`: no later decision replaced it. `takes_the_consensus`: the campaign lets decisions stand
    in for people's consensus. `is_outdated`: the item's labels are others than those decided upon.
    Adjudicators are numbered by their first decision in the file; their names stay here.
    """
    return Table(
        columns=(
            *texts("case_uid"),
            *integers("rollout"),
            *texts("risk_category", "model", "campaign", "decision", "reason"),
            *(Column(name, Kind.BOOLEAN) for name in ("is_current", "takes_the_consensus", "is_outdated")),
            *texts("adjudicator", "decided_at", "adjudication_id", "response_id"),
        ),
        rows=_rows(benchmark, campaign),
        basis=Basis(campaign=campaign),
    )


def _rows(benchmark: Benchmark, campaign: Campaign | None) -> Iterator[Row]:
    decisions = Adjudication.objects.filter(
        item__kind=ItemKind.REGULAR, item__campaign__benchmark=benchmark
    ).select_related("item__campaign", "item__response__prompt", "item__response__target_model")
    if campaign is not None:
        decisions = decisions.filter(item__campaign=campaign)
    labels: dict[int, list[str]] = {}
    for item_id, public_id in Label.objects.filter(
        item__in=decisions.values("item"), is_current=True
    ).values_list("item", "public_id"):
        labels.setdefault(item_id, []).append(public_id)
    numbers: dict[int, int] = {}
    for decision in decisions.order_by("created_at", "pk").iterator():
        item, response = decision.item, decision.item.response
        yield (
            response.prompt.case_uid,
            response.rollout,
            response.prompt.risk_category,
            response.target_model.slug,
            item.campaign.slug,
            RATING_WORDS[decision.decision],
            decision.reason,
            decision.is_current,
            item.campaign.adjudication_overrides,
            is_outdated(decision, labels.get(item.pk, [])),
            f"adjudicator-{numbers.setdefault(decision.adjudicator_id, len(numbers) + 1)}",
            utc_text(decision.created_at),
            decision.public_id,
            response.public_id,
        )
