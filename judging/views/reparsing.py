"""Reading the stored replies of a pass again: the list of changes, then the change."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from annotation.models import Benchmark
from judging.choices import VerdictState
from judging.models import JudgePass
from judging.verdicts.reparsing import (
    MOST_LISTED,
    ReparsePlan,
    Rereading,
    apply_reparse,
    count_readable,
    plan_reparse,
)
from judging.views.context import account_of, benchmark_page, show_page
from judging.views.tables import Cell, Column, Row, Table, text_column
from judging.views.wording import counted, missing_words

# Reading takes about half a millisecond a reply; a page should not keep its reader longer than this takes.
MOST_ON_A_PAGE = 10_000
REASONS = {
    "NO_STORED_REPLY": "no reply is stored",
    "NOT_READ_AS_TEXT": "cut, blocked or refused as such, or the call failed",
    "STALE": "the text changed since, so what the judge saw is not at hand",
}


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_page
def reparse(request: HttpRequest, benchmark: Benchmark, public_id: str) -> HttpResponse:
    """What reading the replies again would change; a POST with the list's digest changes it."""
    passes = JudgePass.objects.select_related("benchmark", "rubric")
    judge_pass = get_object_or_404(passes, benchmark=benchmark, public_id=public_id)
    n_readable = count_readable(judge_pass)
    if n_readable > MOST_ON_A_PAGE:
        return show_page(
            request,
            "judging/reparse.html",
            benchmark=benchmark,
            tab="judges",
            answer=f"{judge_pass.name} has {counted(n_readable, 'stored reply', 'stored replies')}, too many "
            "to read while you wait.",
            judge_pass=judge_pass,
            most=MOST_ON_A_PAGE,
        )
    if request.method == "POST":
        plan = apply_reparse(judge_pass, digest=request.POST.get("digest", ""), actor=account_of(request))
        messages.success(
            request, f"{counted(plan.n_changed, 'verdict')} changed. What was said before is kept."
        )
        return redirect("judging:pass", slug=benchmark.slug, public_id=public_id)
    plan = plan_reparse(judge_pass)
    return show_page(
        request,
        "judging/reparse.html",
        benchmark=benchmark,
        tab="judges",
        answer=_answer(plan),
        judge_pass=judge_pass,
        plan=plan,
        changes=_change_table(plan) if plan.n_changed else None,
        rows=_row_table(plan, judge_pass) if plan.n_changed else None,
        left_out=[
            (REASONS.get(reason, missing_words(reason)), n) for reason, n in sorted(plan.left_out.items())
        ],
    )


def _answer(plan: ReparsePlan) -> str:
    read = counted(plan.n_read, "stored reply", "stored replies")
    if not plan.n_changed:
        return f"Reading {read} of {plan.judge_pass.name} again changes no verdict."
    return (
        f"Reading {read} of {plan.judge_pass.name} again would change {counted(plan.n_changed, 'verdict')}."
    )


def _change_table(plan: ReparsePlan) -> Table:
    return Table(
        id="changes",
        caption="What would change",
        columns=[text_column("Says now"), text_column("Would say"), Column("Verdicts")],
        rows=[
            Row([Cell(_in_words(before)), Cell(_in_words(after)), Cell(n, kind="count")])
            for (before, after), n in sorted(plan.changes.items())
        ],
    )


def _row_table(plan: ReparsePlan, judge_pass: JudgePass) -> Table:
    is_cut = plan.n_changed > len(plan.listed)
    return Table(
        id="changed-verdicts",
        caption="Verdicts that would change",
        note=f"The first {MOST_LISTED} of {plan.n_changed:,}; reparse_pass --out FILE lists all."
        if is_cut
        else None,
        columns=[
            text_column("Case"),
            text_column("Judge"),
            text_column("Says now"),
            text_column("Would say"),
        ],
        rows=[_row(changed, judge_pass) for changed in plan.listed],
    )


def _row(changed: Rereading, judge_pass: JudgePass) -> Row:
    before, after = changed.pair
    address = reverse(
        "judging:verdict",
        kwargs={
            "slug": judge_pass.benchmark.slug,
            "public_id": judge_pass.public_id,
            "response": changed.response,
            "judge": changed.judge,
        },
    )
    return Row(
        [
            Cell(changed.case_uid, href=address),
            Cell(changed.judge),
            Cell(_in_words(before)),
            Cell(_in_words(after)),
        ]
    )


def _in_words(short: str) -> str:
    """A reading in short (`Reading.short`) in words: `score 3`, `reply not understood (conflict)`."""
    state, _, value = short.partition(" ")
    if state == VerdictState.SCORED:
        return f"score {value}" if value[:1].isdigit() else value
    return f"{missing_words(state)} {value}".rstrip()
