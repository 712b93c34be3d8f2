"""Which report a page shows: pass, rule and campaign as the address names them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from annotation.models import Benchmark, Campaign
from judging.models import JudgePass
from judging.reports import Grading, build_report, fitting_rules, grade_responses
from judging.selectors import default_pass, find_campaign, find_pass, judges_of, passes_of

CHOICE_NAMES = ("pass", "rule", "campaign")


@dataclass(frozen=True)
class ReportChoice:
    """The arguments of one report, and the part of the address that repeats them."""

    benchmark: Benchmark
    judge_pass: JudgePass | None = None
    rule: str | None = None
    campaign: Campaign | None = None

    def report(self) -> dict[str, Any]:
        """`build_report` with these arguments."""
        return build_report(
            self.benchmark, judge_pass=self.judge_pass, rule=self.rule, campaign=self.campaign
        )

    def grading(self) -> Grading:
        """`grade_responses` with these arguments: the rows behind `report`."""
        return grade_responses(
            self.benchmark, judge_pass=self.judge_pass, rule=self.rule, campaign=self.campaign
        )

    @property
    def parameters(self) -> dict[str, str]:
        given = {
            "pass": self.judge_pass.public_id if self.judge_pass else None,
            "rule": self.rule,
            "campaign": self.campaign.public_id if self.campaign else None,
        }
        return {name: value for name, value in given.items() if value}

    def address(self, page: str, /, *, filters: Mapping[str, Any] | None = None, **kwargs: str) -> str:
        """The page `judging:<page>` of this benchmark, for the same report."""
        path = reverse(f"judging:{page}", kwargs={"slug": self.benchmark.slug, **kwargs})
        query = urlencode(self.parameters | dict(filters or {}))
        return f"{path}?{query}" if query else path

    def rows(self, **filters: Any) -> str:
        """The list of the responses behind a number; filters as in `RowFilterForm`."""
        return self.address("rows", filters=filters)


def read_choice(benchmark: Benchmark, query: QueryDict) -> ReportChoice:
    """Find what the address names. At most two queries; the rule is looked up by the report.

    Raises:
        DomainError: no such pass or campaign in this benchmark.
    """
    pass_name, campaign_name = query.get("pass", "").strip(), query.get("campaign", "").strip()
    return ReportChoice(
        benchmark=benchmark,
        judge_pass=find_pass(benchmark, pass_name) if pass_name else None,
        rule=query.get("rule", "").strip() or None,
        campaign=find_campaign(benchmark, campaign_name) if campaign_name else None,
    )


@dataclass(frozen=True)
class Option:
    """One entry of a select."""

    value: str
    label: str
    is_chosen: bool


def offered_choices(choice: ReportChoice) -> dict[str, list[Option]]:
    """What the filters of a page offer: passes, rules and campaigns of the benchmark. Five queries."""
    judge_pass = choice.judge_pass or default_pass(choice.benchmark)
    passes = [
        (found.public_id, f"{found.name} ({found.state.lower()})") for found in passes_of(choice.benchmark)
    ]
    campaigns = choice.benchmark.campaigns.order_by("name").values_list("public_id", "name")
    return {
        "pass": _options(
            passes,
            chosen=judge_pass.public_id if judge_pass else None,
            none="no pass" if not passes else None,
        ),
        "rule": _options(_offered_rules(choice, judge_pass), chosen=choice.rule, none="the default"),
        "campaign": _options(
            campaigns, chosen=choice.campaign.public_id if choice.campaign else None, none="all campaigns"
        ),
    }


def _offered_rules(choice: ReportChoice, judge_pass: JudgePass | None) -> list[tuple[str, str]]:
    names = fitting_rules(choice.benchmark, judges_of(judge_pass))
    rules = [(name, name) for name in names]
    if names and choice.rule and choice.rule not in names:
        rules.append((choice.rule, "as given in the address"))
    return rules


def _options(values: Iterable[tuple[str, str]], *, chosen: str | None, none: str | None) -> list[Option]:
    options = [Option(value=value, label=label, is_chosen=value == chosen) for value, label in values]
    if none is not None:
        options.insert(0, Option(value="", label=none, is_chosen=chosen is None))
    return options
