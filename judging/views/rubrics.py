"""Rubrics: their versions, one version with the passes that used it, a new version, two versions compared.

They belong to no benchmark. The pages stand under one, so that its tabs stay in reach.
"""

from collections import Counter
from http import HTTPStatus

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from annotation.models import Benchmark
from judging.choices import RubricScale
from judging.errors import DomainError, RubricError
from judging.forms.rubrics import RubricForm
from judging.llm.rubric import parse_rubric
from judging.models import JudgePass, Rubric
from judging.rubrics import DEFAULT_RUBRIC, create_rubric, find_rubric, known_rubrics
from judging.views.context import account_of, benchmark_page, show_page
from judging.views.rubric_diff import compare_texts
from judging.views.tables import Cell, Column, Row, Table, text_column
from judging.views.wording import counted, pass_state_words

MOST_PASSES_LISTED = 200


@require_safe
@benchmark_page
def list_rubrics(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Every version of every rubric, and how many passes used it."""
    rubrics = known_rubrics()
    names = {rubric.name for rubric in rubrics}
    used = JudgePass.objects.exclude(rubric=None).order_by().values_list("rubric__slug", flat=True)
    n_passes = Counter(used)
    return show_page(
        request,
        "judging/rubrics.html",
        benchmark=benchmark,
        tab="judges",
        answer=f"There are {counted(len(rubrics), 'version')} of {counted(len(names), 'rubric')}.",
        basis="A rubric is what each judge is asked. A version never changes; all benchmarks share them.",
        rubrics=Table(
            id="rubrics",
            caption="Versions",
            columns=[
                text_column("Version"),
                text_column("Asks for"),
                text_column("Edited from"),
                text_column("Written by"),
                Column("Written"),
                Column("Passes", unit="all benchmarks"),
            ],
            rows=[_rubric_row(rubric, benchmark, n_passes[rubric.slug]) for rubric in rubrics],
        ),
    )


@require_safe
@benchmark_page
def show_rubric(request: HttpRequest, benchmark: Benchmark, rubric: str) -> HttpResponse:
    """One version: its text, hash, origin, and the passes that used it."""
    version = _rubric_or_404(rubric)
    passes = JudgePass.objects.filter(rubric__slug=version.slug).select_related("benchmark")
    n_passes = passes.count()
    return show_page(
        request,
        "judging/rubric.html",
        benchmark=benchmark,
        tab="judges",
        answer=f"{version.slug} asks for {asks_in_words(version)}; it is used by {_passes(n_passes)}.",
        rubric=version,
        others=[other for other in known_rubrics() if other.slug != version.slug],
        compared_first=version.parent.slug if version.parent else None,
        passes=_pass_table(list(passes.order_by("-created_at", "-pk")[:MOST_PASSES_LISTED]), n_passes),
    )


@require_safe
@benchmark_page
def compare_rubrics(request: HttpRequest, benchmark: Benchmark, rubric: str) -> HttpResponse:
    """What makes this version of another one: by default of the one that it was edited from."""
    new = _rubric_or_404(rubric)
    old = _rubric_or_404(request.GET.get("with") or (new.parent or new).slug)
    diff = compare_texts(old.text, new.text)
    changes = f"{counted(diff.n_removed, 'line')} removed, {counted(diff.n_added, 'line')} added"
    return show_page(
        request,
        "judging/rubric_diff.html",
        benchmark=benchmark,
        tab="judges",
        answer=f"From {old.slug} to {new.slug}: {changes if diff.lines else 'the same text'}.",
        old=old,
        new=new,
        diff=diff,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_page
def new_rubric(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """The editor, holding the text of another version; by POST the next version is stored."""
    parent = _rubric_or_404(request.GET.get("from", DEFAULT_RUBRIC))
    form = RubricForm(request.POST) if request.method == "POST" else RubricForm.to_edit(parent)
    if form.is_bound and form.is_valid():
        try:
            made = create_rubric(**form.cleaned_data, parent=parent.slug, actor=account_of(request))
        except DomainError as error:
            form.refuse(error)
        else:
            messages.success(request, f"Stored as {made.slug}. It can be chosen for the next pass.")
            return redirect("judging:rubric", slug=benchmark.slug, rubric=made.slug)
    return show_page(
        request,
        "judging/new_rubric.html",
        benchmark=benchmark,
        tab="judges",
        form=form,
        parent=parent,
        status=HTTPStatus.UNPROCESSABLE_ENTITY if form.errors else HTTPStatus.OK,
    )


def asks_in_words(rubric: Rubric) -> str:
    """What a judge that is given the rubric answers."""
    try:
        parsed = parse_rubric(rubric.text)
    except RubricError:
        return "what this program cannot read"
    match rubric.scale:
        case RubricScale.LIKERT:
            asks = "two scores of 1-5" if parsed.asks_jailbreak else "one score of 1-5"
        case RubricScale.BINARY:
            asks = "a flag or no flag"
        case _:
            return f"a {RubricScale(rubric.scale).label}"
    return asks if parsed.exemplar is not None else f"{asks}, without exemplars"


def _passes(n: int) -> str:
    return counted(n, "pass", "passes") if n else "no pass"


def _rubric_or_404(slug: str) -> Rubric:
    # A text with NUL is none that PostgreSQL would compare.
    if "\0" in slug:
        raise Http404
    try:
        return find_rubric(slug)
    except DomainError as error:
        raise Http404 from error


def _rubric_row(rubric: Rubric, benchmark: Benchmark, n_passes: int) -> Row:
    address = reverse("judging:rubric", kwargs={"slug": benchmark.slug, "rubric": rubric.slug})
    author = rubric.created_by.get_username() if rubric.created_by else None
    return Row(
        [
            Cell(rubric.slug, href=address),
            Cell(asks_in_words(rubric)),
            Cell(rubric.parent.slug if rubric.parent else None, reason="not edited from another"),
            Cell(author, reason="ships with the program"),
            Cell(rubric.created_at if author else None, kind="moment", reason="ships with the program"),
            Cell(n_passes, kind="count", href=address if n_passes else None),
        ]
    )


def _pass_table(passes: list[JudgePass], n_passes: int) -> Table | None:
    if not passes:
        return None
    return Table(
        id="passes",
        caption="Passes that used it",
        note=f"The newest {len(passes):,} of {n_passes:,}." if n_passes > len(passes) else None,
        columns=[text_column("Pass"), text_column("Benchmark"), text_column("State"), Column("Started")],
        rows=[
            Row(
                [
                    Cell(
                        judge_pass.name,
                        href=reverse("judging:pass", args=[judge_pass.benchmark.slug, judge_pass.public_id]),
                    ),
                    Cell(judge_pass.benchmark.name),
                    Cell(pass_state_words(judge_pass.state)),
                    Cell(judge_pass.started_at, kind="moment", reason="not started"),
                ]
            )
            for judge_pass in passes
        ],
    )
