"""What a pass lacks and what can be done about it: judge it again, look at it, review it."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from annotation.models import Benchmark
from judging.choices import PassKind, PassSource
from judging.errors import PassError
from judging.forms.steering import RerunForm
from judging.models import JudgePass, Verdict
from judging.passes.rerunning import RerunPlan, can_be_rerun, plan_rerun, rerun_missing
from judging.verdicts.reparsing import ENDED, count_readable
from judging.views import listings
from judging.views.addresses import verdict_address
from judging.views.choosing import ReportChoice
from judging.views.context import account_of, benchmark_page
from judging.views.tables import Cell, Column, Row, Table, text_column
from judging.views.verdict import said_in_words
from judging.views.wording import counted, missing_words


@dataclass(frozen=True)
class Mending:
    """What `_mend_pass.html` shows of a pass.

    `form` is None when there is nothing to judge again; `n_replies` when none can be read again.
    """

    sentence: str
    why_new: str | None
    worst_cost: str | None
    n_poison: int
    form: RerunForm | None
    n_replies: int | None
    poison: Table | None
    n_rubric_like: int
    rubric_like_url: str


@require_POST
@benchmark_page
def rerun(request: HttpRequest, benchmark: Benchmark, public_id: str) -> HttpResponse:
    """Judge what a pass lacks, in the same pass or in one that takes over what holds."""
    passes = JudgePass.objects.select_related("benchmark", "rubric")
    judge_pass = get_object_or_404(passes, benchmark=benchmark, public_id=public_id)
    form = RerunForm(request.POST)
    if not form.is_valid():
        problems = " ".join(str(problem) for problems in form.errors.values() for problem in problems)
        raise PassError(f"The caps cannot be used. {problems}", code="bad_number")
    plan = plan_rerun(judge_pass)
    running = rerun_missing(judge_pass, actor=account_of(request), **form.cleaned_data)
    if plan.why_new is None:
        messages.success(
            request, "Going on with the missing rows. Reports follow this pass again when it is finished."
        )
    else:
        messages.success(request, f"A new pass has taken over the scores of {judge_pass.name} that hold.")
    return redirect("judging:pass", slug=benchmark.slug, public_id=running.public_id)


def mending_of(judge_pass: JudgePass, choice: ReportChoice) -> Mending:
    """What is missing of a pass, and the rows that want a look. Six queries at most."""
    plan = plan_rerun(judge_pass) if can_be_rerun(judge_pass) else None
    is_read = judge_pass.source == PassSource.JUDGED and judge_pass.state in ENDED
    return Mending(
        sentence=_sentence(plan),
        why_new=plan.why_new if plan else None,
        worst_cost=f"{plan.worst_cost:,.2f}" if plan and plan.worst_cost is not None else None,
        n_poison=plan.n_poison if plan else 0,
        form=RerunForm() if plan and (plan.n_rows or plan.n_poison) else None,
        n_replies=count_readable(judge_pass) or None if is_read else None,
        poison=_poison_table(listings.poison_rows(judge_pass)),
        n_rubric_like=listings.count_rubric_like(judge_pass),
        rubric_like_url=_review_address(judge_pass, choice),
    )


def _review_address(judge_pass: JudgePass, choice: ReportChoice) -> str:
    """The list of responses of a pass with text like a judge's answer."""
    if judge_pass.kind != PassKind.CLASSIFICATION:
        return choice.rows(rubric_like="on")
    # No report can be made of a classification, so the list stands beside the default one.
    taken_up = {"failure_mode": "ANY", "classification": judge_pass.public_id}
    return ReportChoice(judge_pass.benchmark).rows(rubric_like="on", **taken_up)


def _sentence(plan: RerunPlan | None) -> str:
    if plan is None or not plan.n_rows:
        return ""
    reasons = ", ".join(
        f"{n:,} {missing_words(state)}" for state, n in sorted(plan.counts.items(), key=lambda pair: -pair[1])
    )
    return f"{counted(plan.n_rows, 'verdict')} can be judged again: {reasons}."


def _poison_table(rows: list[Verdict]) -> Table | None:
    if not rows:
        return None
    return Table(
        id="poison",
        caption="Rows that stopped workers",
        note="A row that two workers died with is sent alone; with a third it is given up.",
        columns=[
            text_column("Case"),
            text_column("Model"),
            text_column("Judge"),
            text_column("State"),
            Column("Workers lost"),
        ],
        rows=[
            Row(
                [
                    Cell(row.response.prompt.case_uid, href=verdict_address(row)),
                    Cell(row.response.target_model.slug),
                    Cell(row.judge.slug),
                    Cell(said_in_words(row)),
                    Cell(row.n_deaths, kind="count"),
                ]
            )
            for row in rows
        ],
    )
