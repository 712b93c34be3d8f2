"""Two passes beside each other: did it matter, and which verdicts changed?"""

from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from annotation.models import Benchmark
from judging.choices import PassState
from judging.errors import DomainError
from judging.forms.comparing import ComparedRowsForm
from judging.models import JudgePass
from judging.reports import (
    PassPair,
    comparable_passes,
    compare_passes,
    describe_pair,
    fitting_rules,
    pair_passes,
)
from judging.reports.comparison_words import source_in_words
from judging.selectors import find_pass
from judging.views.choosing import Option
from judging.views.comparison_figure import KIND, NAME, inline_figure
from judging.views.comparison_rows import is_of_differing, rows_behind, rows_table
from judging.views.comparison_tables import (
    difference_table,
    groups_table,
    judges_table,
    score_tables,
    verdict_table,
)
from judging.views.context import benchmark_page, show_page
from judging.views.drawing import FORMS
from judging.views.listings import listed_responses
from judging.views.wording import counted, pass_state_words

ROWS_PER_PAGE = 50
KNOWN_NAMES = ("before", "after", "rule", "page")
HOW = (
    "A response is compared when both passes grade it. The rule decides it twice, once from the scores of "
    "each pass; a stale or missing score counts as missing in its own pass.",
    "The failure rate of each pass is taken over the responses that both decide: the mean over prompts of "
    "the mean over the prompt's responses. Its interval, and every other here, comes from drawing whole "
    "prompts again, both passes together.",
    "It mattered when the interval of the change leaves out zero. κ compares the verdicts of the two "
    "passes; for a judge with scores 1-5 it is weighted by the squared distance.",
)


@dataclass(frozen=True)
class PairChoice:
    """The two passes and the rule that the address names."""

    benchmark: Benchmark
    before: JudgePass
    after: JudgePass
    rule: str | None

    @property
    def parameters(self) -> dict[str, str]:
        """The part of the address that repeats the choice."""
        named = {"before": self.before.public_id, "after": self.after.public_id}
        return named | ({"rule": self.rule} if self.rule else {})

    def address(self, **filters: Any) -> str:
        """This page, with the rows that the filters choose."""
        path = reverse("judging:compare", kwargs={"slug": self.benchmark.slug})
        return f"{path}?{urlencode(self.parameters | filters)}{'#rows' if filters else ''}"

    def figure(self, form: str) -> str:
        """The figure of this page as a file."""
        path = reverse("judging:compare_figure", kwargs={"slug": self.benchmark.slug, "form": form})
        return f"{path}?{urlencode(self.parameters)}"

    def download(self, form: str) -> str:
        """The table comparison of these passes as a file."""
        path = reverse(
            "judging:export", kwargs={"slug": self.benchmark.slug, "table": "comparison", "form": form}
        )
        given = {"before": self.before.public_id, "pass": self.after.public_id, "rule": self.rule}
        return f"{path}?{urlencode({name: value for name, value in given.items() if value})}"


@require_safe
@benchmark_page
def show_comparison(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Did it matter which of two passes is used; the changes by model, judge and row."""
    passes = comparable_passes(benchmark)
    choice = _read_choice(benchmark, passes, request.GET)
    if choice is None:
        return show_page(
            request,
            "judging/compare.html",
            benchmark=benchmark,
            tab="judges",
            answer="Two passes are needed for a comparison, and there are fewer.",
        )
    pair = pair_passes(benchmark, before=choice.before, after=choice.after, rule=choice.rule)
    document = describe_pair(pair)
    form = _read_filters(document, request.GET)
    behind = rows_behind(pair, form.cleaned_data)
    page = Paginator(behind, ROWS_PER_PAGE).get_page(request.GET.get("page"))
    responses = listed_responses([compared.row.response_id for compared in page])
    return show_page(
        request,
        "judging/compare.html",
        benchmark=benchmark,
        tab="judges",
        answer=document["answer"],
        basis=source_in_words(document),
        report=document,
        choice=choice,
        offered=_offered(choice, passes, pair),
        unfinished=[one.name for one in (choice.before, choice.after) if one.state != PassState.FINISHED],
        figure=inline_figure(document, choice.figure),
        verdicts=verdict_table(document, choice),
        models=groups_table(document["models"], "model", choice),
        categories=groups_table(document["categories"], "category", choice),
        judges=judges_table(document["judges"], choice, pair),
        scores=score_tables(document["judges"], choice, pair),
        differences=difference_table(document) if document["differences"] else None,
        left_out=_left_out(document),
        how={"paragraphs": HOW, "facts": [("Rule", document["rule_in_words"]), ("Seed", document["seed"])]},
        shown_fields=[form[name] for name in form.ALWAYS_SHOWN],
        kept_fields=list(choice.parameters.items()),
        rows_sentence=f"{counted(len(behind), 'response')} {_in_words(form)}.",
        rows=rows_table(list(page), responses, pair) if behind else None,
        page_obj=page,
        csv_url=choice.download("csv"),
        jsonl_url=choice.download("jsonl"),
        xlsx_url=choice.download("xlsx"),
    )


@require_safe
@benchmark_page
def download_comparison(request: HttpRequest, benchmark: Benchmark, form: str) -> HttpResponse:
    """The figure of the chosen passes as SVG, PNG, or its numbers as CSV."""
    choice = _read_choice(benchmark, comparable_passes(benchmark), request.GET)
    if form not in FORMS or choice is None:
        raise Http404
    document = compare_passes(benchmark, before=choice.before, after=choice.after, rule=choice.rule)
    content_type, write = FORMS[form]
    response = HttpResponse(write(KIND, document), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{benchmark.slug}-{NAME}.{form}"'
    return response


def _read_choice(benchmark: Benchmark, passes: list[JudgePass], query: QueryDict) -> PairChoice | None:
    """The passes of the address; by default the newest finished one and the newest of its kind before it."""
    if len(passes) < 2:
        return None
    named = {side: query.get(side, "").strip() for side in ("before", "after")}
    finished = [judge_pass for judge_pass in passes if judge_pass.state == PassState.FINISHED]
    before = find_pass(benchmark, named["before"]) if named["before"] else None
    after = find_pass(benchmark, named["after"]) if named["after"] else None
    if after is None:
        after = next((found for found in [*finished, *passes] if found != before), passes[0])
    if before is None:
        others = [found for found in [*finished, *passes] if found != after]
        twins = [found for found in others if found.digest == after.digest]
        before = (twins or others)[0]
    return PairChoice(benchmark, before, after, query.get("rule", "").strip() or None)


def _read_filters(document: dict[str, Any], query: QueryDict) -> ComparedRowsForm:
    """The filters of the rows.

    Raises:
        DomainError: an unknown filter, or a value that it does not take.
    """
    form = ComparedRowsForm(
        query,
        models=[group["model"] for group in document["models"]],
        categories=[group["category"] for group in document["categories"]],
        judges=[judge["judge"] for judge in document["judges"]],
    )
    unknown = sorted(set(query).difference(form.fields, KNOWN_NAMES))
    if unknown:
        raise DomainError(
            f"The filter {unknown[0][:80]!r} is not known. Known: {', '.join([*KNOWN_NAMES, *form.fields])}. "
            "Remove it from the address.",
            code="unknown_filter",
        )
    if not form.is_valid():
        name, errors = next(iter(form.errors.items()))
        raise DomainError(
            f"The filter {name!r} cannot be used: {errors[0]} Change it, or open the page without filters.",
            code="bad_filter",
        )
    return form


def _offered(choice: PairChoice, passes: list[JudgePass], pair: PassPair) -> dict[str, list[Option]]:
    scales = {judge.slug: judge.is_binary for judge in pair.evidence_before.judges}
    common = [judge for judge in pair.evidence_after.judges if scales.get(judge.slug) == judge.is_binary]
    names = fitting_rules(choice.benchmark, common)
    if choice.rule and choice.rule not in names:
        names = [*names, choice.rule]
    labels = [(found.public_id, f"{found.name} ({pass_state_words(found.state)})") for found in passes]
    return {
        side: [Option(value, label, value == chosen.public_id) for value, label in labels]
        for side, chosen in (("before", choice.before), ("after", choice.after))
    } | {
        "rule": [
            Option("", "the default", not choice.rule),
            *(Option(name, name if len(name) < 65 else "as given", name == choice.rule) for name in names),
        ]
    }


def _left_out(document: dict[str, Any]) -> list[tuple[str, int]]:
    n_common, overall = document["n_common"], document["overall"]
    counts = [
        ("graded in the earlier pass alone", document["n_before"] - n_common),
        ("graded in the later pass alone", document["n_after"] - n_common),
        ("not decided in both passes", overall["n_responses"] - overall["n_decided_twice"]),
    ]
    return [(reason, n) for reason, n in counts if n]


def _in_words(form: ComparedRowsForm) -> str:
    words = [form.words_of(name) for name in form.fields if form.cleaned_data.get(name) not in (None, "")]
    return ", ".join(["whose verdict differs", *words] if is_of_differing(form.cleaned_data) else words)
