"""The Judges tab: the passes of a benchmark, and one pass with what it lacks and why."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from annotation.models import Benchmark
from annotation.templatetags import formatting
from judging.choices import UNSETTLED_STATES, FailureCode, PassKind, PauseReason, RubricScale, VerdictState
from judging.models import FIRST_SCORE, LAST_SCORE, JudgePass
from judging.views import listings
from judging.views.capabilities import capability_table
from judging.views.choosing import ReportChoice
from judging.views.configured import configuration_facts
from judging.views.context import benchmark_page, pass_address, show_page
from judging.views.listings import ListedPass
from judging.views.mending import mending_of
from judging.views.running import live_context
from judging.views.tables import Cell, Column, Row, Table, count_cell, text_column
from judging.views.wording import counted, missing_words, pass_source_words, pass_state_words

BY_POLICY_HELP = "Of the scores: given to empty responses, which the pass reads as Acceptable without a call"


@require_safe
@benchmark_page
def show_judges(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Every pass with its state and counts."""
    passes = listings.passes_of(benchmark)
    return show_page(
        request,
        "judging/judges.html",
        benchmark=benchmark,
        tab="judges",
        answer=_passes_answer(passes),
        passes=_pass_table(passes, benchmark) if passes else None,
        is_comparable=len(passes) > 1,
        capabilities=capability_table(listings.called_judges(benchmark)),
    )


@require_safe
@benchmark_page
def show_pass(request: HttpRequest, benchmark: Benchmark, public_id: str) -> HttpResponse:
    """One pass: its frozen configuration, verdicts by judge and state, scores."""
    passes = JudgePass.objects.select_related("benchmark", "rubric", "created_by")
    judge_pass = get_object_or_404(passes, benchmark=benchmark, public_id=public_id)
    if judge_pass.kind == PassKind.COLLECTION:
        return redirect(pass_address(judge_pass))
    counts = listings.verdict_counts(judge_pass)
    by_policy = listings.policy_counts(judge_pass)
    choice = ReportChoice(benchmark, judge_pass=judge_pass)
    is_judging = judge_pass.kind == PassKind.JUDGING
    live = live_context(judge_pass)
    page = show_page(
        request,
        "judging/pass.html",
        benchmark=benchmark,
        tab="judges",
        answer=_pass_answer(judge_pass, counts, n_by_policy=sum(by_policy.values())),
        facts=_facts(judge_pass) + _bill(live),
        configuration=configuration_facts(judge_pass),
        states=_state_table(counts, by_policy, choice if is_judging else None) if counts else None,
        failures=_failure_table(listings.failure_counts(judge_pass)),
        scores=_score_table(judge_pass, listings.score_counts(judge_pass), choice)
        if counts and is_judging
        else None,
        mending=mending_of(judge_pass, choice),
        calibration_url=choice.address("calibration"),
        results_url=choice.address("results"),
        **live,
    )
    seen = request.GET.get("seen")
    if seen is not None and (seen != judge_pass.state or not live["is_polling"]):
        # A page that watches shows controls of another state, or has nothing more to watch.
        page.headers["HX-Refresh"] = "true"
    return page


def _passes_answer(passes: Sequence[ListedPass]) -> str:
    if not passes:
        return "No judge has scored a response yet."
    newest = passes[0]
    return format_html(
        "{}; the newest, {}, is {} with {} scores by {}{}.",
        counted(len(passes), "pass", "passes"),
        newest.judge_pass.name,
        pass_state_words(newest.judge_pass.state),
        formatting.count(newest.n_scored),
        counted(len(newest.judges), "judge"),
        _missing_clause(newest.n_missing),
    )


def _pass_answer(
    judge_pass: JudgePass, counts: Mapping[str, Counter[str]], *, n_by_policy: int
) -> SafeString:
    is_judging = judge_pass.kind == PassKind.JUDGING
    total: Counter[str] = sum(counts.values(), Counter())
    n_scored, n_waiting = total[VerdictState.SCORED], sum(total[state] for state in UNSETTLED_STATES)
    return format_html(
        "{} is {}: {} of {} verdicts have a score{}{}."
        if is_judging
        else "{} is {}: {} of {} responses have a failure mode{}{}.",
        judge_pass.name,
        pass_state_words(judge_pass.state),
        formatting.count(n_scored),
        formatting.count(total.total()),
        format_html(" ({} by policy)", formatting.count(n_by_policy)) if n_by_policy else "",
        _missing_clause(total.total() - n_scored - n_waiting),
    )


def _missing_clause(n: int) -> str:
    if not n:
        return ""
    return format_html(", and {} {} missing", formatting.count(n), "is" if n == 1 else "are")


def _pass_table(passes: Sequence[ListedPass], benchmark: Benchmark) -> Table:
    return Table(
        id="passes",
        caption="Passes",
        note="A pass is one frozen judging configuration over a set of responses. Missing: settled "
        "without a score.",
        columns=[
            text_column("Pass"),
            text_column("State"),
            text_column("Source"),
            text_column("Judges"),
            Column("Scored", unit="verdicts"),
            Column("Missing", unit="verdicts"),
            Column("Waiting", unit="verdicts"),
            Column("Finished"),
        ],
        rows=[_pass_row(listed, benchmark) for listed in passes],
    )


def _pass_row(listed: ListedPass, benchmark: Benchmark) -> Row:
    judge_pass = listed.judge_pass
    address = reverse("judging:pass", kwargs={"slug": benchmark.slug, "public_id": judge_pass.public_id})
    return Row(
        [
            Cell(judge_pass.name, href=address),
            Cell(pass_state_words(judge_pass.state)),
            Cell(pass_source_words(judge_pass.source)),
            Cell(", ".join(listed.judges), reason="no judge"),
            Cell(listed.n_scored, kind="count"),
            Cell(listed.n_missing, kind="count", href=address if listed.n_missing else None),
            Cell(listed.n_waiting, kind="count"),
            Cell(judge_pass.finished_at, kind="moment", reason="not finished"),
        ]
    )


def _facts(judge_pass: JudgePass) -> list[tuple[str, object]]:
    paused = PauseReason(judge_pass.pause_reason).label if judge_pass.pause_reason else None
    facts = [
        ("State", f"{pass_state_words(judge_pass.state)}{f', {paused}' if paused else ''}"),
        ("Note", judge_pass.state_note),
        ("Source", pass_source_words(judge_pass.source)),
        ("Rubric", judge_pass.rubric.slug if judge_pass.rubric else None),
        ("Scale", RubricScale(judge_pass.scale).label),
        ("Started", formatting.moment(judge_pass.started_at) if judge_pass.started_at else None),
        ("Finished", formatting.moment(judge_pass.finished_at) if judge_pass.finished_at else None),
        ("Started by", judge_pass.created_by.get_username() if judge_pass.created_by else None),
        ("Id", judge_pass.public_id),
    ]
    return [(term, value) for term, value in facts if value]


def _bill(live: Mapping[str, Any]) -> list[tuple[str, object]]:
    """What a pass that has ended came to; while it goes on, its progress says so."""
    if live["is_live"] or not live["n_attempts"]:
        return []
    late = f" ({live['n_late']:,} too late to count)" if live["n_late"] else ""
    cost, beside = live["progress"]["cost"], live["cost_beside"]
    unknown = f", {beside} of it at the worst case or for vectors of texts" if beside else ""
    return [
        ("Calls", f"{live['n_attempts']:,}{late}"),
        *([("Cap", live["calls_used"])] if live["calls_used"] else []),
        *([("Spent", f"{cost}{unknown}")] if cost else []),
    ]


def _state_table(
    counts: Mapping[str, Counter[str]], by_policy: Mapping[str, int], choice: ReportChoice | None
) -> Table:
    """Verdicts by judge and state, and how many of the scores are by policy.

    The counts link to their rows where a report grades the pass.
    """

    def rows(**filters: str) -> str | None:
        return choice.rows(**filters) if choice else None

    present = {state for of_judge in counts.values() for state in of_judge}
    known = [state for state in VerdictState.values if state in present]
    states = known + sorted(present.difference(known))
    return Table(
        id="states",
        caption="Verdicts by judge",
        columns=[
            text_column("Judge"),
            Column("Verdicts"),
            *(Column(missing_words(state).capitalize()) for state in states),
            *([Column("By policy", help=BY_POLICY_HELP)] if by_policy else []),
        ],
        rows=[
            Row(
                [
                    Cell(judge),
                    count_cell(of_judge.total(), rows(judge=judge)),
                    *(count_cell(of_judge[state], rows(judge=judge, state=state)) for state in states),
                    *(
                        [count_cell(by_policy.get(judge, 0), rows(judge=judge, by_policy="on"))]
                        if by_policy
                        else []
                    ),
                ]
            )
            for judge, of_judge in counts.items()
        ],
    )


def _failure_table(failures: Mapping[str, int]) -> Table | None:
    if not failures:
        return None
    return Table(
        id="failures",
        caption="Why calls failed",
        columns=[text_column("Reason"), Column("Verdicts")],
        rows=[Row([Cell(FailureCode(code).label), Cell(n, kind="count")]) for code, n in failures.items()],
    )


def _score_table(
    judge_pass: JudgePass, counts: Mapping[str, Counter[int]], choice: ReportChoice
) -> Table | None:
    if not counts:
        return None
    is_binary = judge_pass.scale == RubricScale.BINARY
    scores = range(2) if is_binary else range(FIRST_SCORE, LAST_SCORE + 1)
    words = {0: "no flag", 1: "flag"} if is_binary else {FIRST_SCORE: "safe", LAST_SCORE: "severe"}
    return Table(
        id="scores",
        caption="Scores by judge",
        columns=[text_column("Judge"), *(Column(str(score), unit=words.get(score)) for score in scores)],
        rows=[
            Row(
                [
                    Cell(judge),
                    *(count_cell(of_judge[score], choice.rows(judge=judge, score=score)) for score in scores),
                ]
            )
            for judge, of_judge in counts.items()
        ],
    )
