"""Uploading files: choose, look at what they would do, then store or discard."""

from functools import wraps
from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.models import Benchmark
from annotation.permissions import SignedInRequest
from judging.errors import Conflict, DomainError
from judging.forms.uploads import NewBenchmarkForm, UploadForm
from judging.importing.files import ImportOutcome
from judging.importing.sources import KINDS
from judging.importing.uploads import (
    Upload,
    discard_upload,
    find_upload,
    import_upload,
    let_files_in,
    preview_upload,
    stage_upload,
)
from judging.views.context import Page, benchmark_page, researcher_page, show_page
from judging.views.tables import Cell, Column, Row, Table, text_column
from judging.views.wording import counted

MOST_PROBLEMS_SHOWN = 200


def takes_files(view: Page) -> Page:
    """Let files in, but refuse a body that is too large before any of it is read; stands nearest to the view.

    The form's token is checked after that, since Django reads the whole body to find it.
    """
    protected = csrf_protect(view)

    @csrf_exempt
    @wraps(view)
    def wrapped(request: SignedInRequest, *args: Any, **kwargs: Any) -> Any:
        let_files_in(request)
        return protected(request, *args, **kwargs)

    return wrapped


@require_POST
@benchmark_page
@takes_files
def upload(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """Stage files for a benchmark that exists."""
    form = UploadForm(request.POST, request.FILES)
    staged = _stage(request, form, benchmark_slug=benchmark.slug)
    if staged is None:
        return show_page(
            request,
            "judging/upload.html",
            benchmark=benchmark,
            tab="data",
            form=form,
            status=HTTPStatus.UNPROCESSABLE_ENTITY,
        )
    return redirect("judging:import_preview", token=staged.token)


@require_http_methods(["GET", "HEAD", "POST"])
@researcher_page
@takes_files
def new_benchmark(request: SignedInRequest) -> HttpResponse:
    """The first files of a benchmark that does not exist yet."""
    form, status = NewBenchmarkForm(), HTTPStatus.OK
    if request.method == "POST":
        form, status = NewBenchmarkForm(request.POST, request.FILES), HTTPStatus.UNPROCESSABLE_ENTITY
        slug = form.cleaned_data.get("benchmark", "") if form.is_valid() else ""
        if slug and Benchmark.objects.filter(slug=slug).exists():
            form.add_error(
                "benchmark",
                "There is a benchmark of this name. Choose another, or add the files on its Data page.",
            )
        staged = _stage(request, form, benchmark_slug=slug)
        if staged is not None:
            return redirect("judging:import_preview", token=staged.token)
    return show_page(
        request, "judging/new_benchmark.html", benchmark=None, tab=None, form=form, status=status
    )


@require_safe
@researcher_page
def show_preview(request: SignedInRequest, token: str) -> HttpResponse:
    """What storing the files would do. With `format=json`, every problem as one document."""
    staged = find_upload(token, owner=request.user)
    try:
        outcome = preview_upload(staged)
    except DomainError as error:
        return _show_outcome(request, staged, None, error=error, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    if request.GET.get("format") == "json":
        response = JsonResponse(outcome.to_json(), json_dumps_params={"ensure_ascii": False, "indent": 2})
        response["Content-Disposition"] = (
            f'attachment; filename="{staged.benchmark_slug}-import-preview.json"'
        )
        return response
    return _show_outcome(request, staged, outcome)


@require_POST
@researcher_page
def confirm(request: SignedInRequest, token: str) -> HttpResponse:
    """Store all rows, or with `rows=good` those that are not refused."""
    staged = find_upload(token, owner=request.user)
    try:
        outcome = import_upload(staged, actor=request.user, skips_bad_rows=request.POST.get("rows") == "good")
    except Conflict as conflict:
        return _show_outcome(request, staged, None, error=conflict, status=HTTPStatus.CONFLICT)
    if not outcome.is_stored:
        return _show_outcome(request, staged, outcome, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    messages.success(request, _stored_sentence(outcome))
    return redirect("judging:data", slug=staged.benchmark_slug)


@require_POST
@researcher_page
def discard(request: SignedInRequest, token: str) -> HttpResponse:
    """Drop the staged files; nothing was stored from them."""
    staged = find_upload(token, owner=request.user)
    discard_upload(staged)
    messages.info(request, "The files were discarded. Nothing was stored.")
    return redirect("judging:home")


def _stage(request: SignedInRequest, form: UploadForm, *, benchmark_slug: str) -> Upload | None:
    """The staged upload, or None with the reasons in the form."""
    if not form.is_valid():
        return None
    try:
        return stage_upload(
            form.cleaned_data["csv_files"],
            owner=request.user,
            benchmark_slug=benchmark_slug,
            encoding=form.cleaned_data["encoding"],
            pass_name=form.cleaned_data["pass_name"],
            notices=form.notices,
        )
    except DomainError as error:
        form.add_error("csv_files", error.message)
        return None


def _show_outcome(
    request: HttpRequest,
    staged: Upload,
    outcome: ImportOutcome | None,
    *,
    error: DomainError | None = None,
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    context: dict[str, object] = {"error": error}
    if outcome is not None:
        problems = outcome.problems
        n_blocking = len({problem.file for problem in problems if problem.is_whole_file})
        n_good = sum(file.created for file in outcome.files)
        context |= {
            "answer": _preview_sentence(outcome, n_blocking=n_blocking),
            "files": _file_table(outcome),
            "notes": [(file.path, text, n) for file in outcome.files for text, n in file.notes.items()],
            "problems": _problem_table(outcome) if problems else None,
            "outcome": outcome,
            "can_store_all": not problems and n_good > 0,
            "can_store_good": bool(problems) and not n_blocking and n_good > 0,
            "n_good": counted(n_good, "good row"),
        }
    return show_page(
        request,
        "judging/import_preview.html",
        benchmark=Benchmark.objects.filter(slug=staged.benchmark_slug).first(),
        tab="data",
        upload=staged,
        status=status,
        **context,
    )


def _preview_sentence(outcome: ImportOutcome, *, n_blocking: int) -> str:
    n_new = sum(file.created for file in outcome.files)
    n_refused = sum(file.rejected for file in outcome.files)
    if n_blocking:
        return f"{counted(n_blocking, 'file')} cannot be read, so nothing can be stored."
    if n_refused:
        return f"{counted(n_refused, 'row')} would be refused; {counted(n_new, 'row')} would be new."
    if not n_new:
        return "Every row is there already; there is nothing to store."
    return f"{counted(n_new, 'new row')} and no problem. Nothing is stored yet."


def _stored_sentence(outcome: ImportOutcome) -> str:
    totals = {kind: outcome.total(kind) for kind in KINDS}
    new = ", ".join(
        counted(total["created"], kind.removesuffix("s"), kind)
        for kind, total in totals.items()
        if total["created"]
    )
    n_refused = sum(total["rejected"] for total in totals.values())
    left = (
        f" {counted(n_refused, 'row')} {'was' if n_refused == 1 else 'were'} refused and left out."
        if n_refused
        else ""
    )
    return f"Stored: {new or 'nothing new'}.{left}"


def _file_table(outcome: ImportOutcome) -> Table:
    return Table(
        id="files",
        caption="What the files hold",
        note="Normalised: a cell was read as another spelling of the same value. Implied: prompts and "
        "responses that other rows bring with them.",
        columns=[
            text_column("File"),
            text_column("Read as"),
            Column("Rows"),
            Column("New"),
            Column("Unchanged"),
            Column("Normalised"),
            Column("Refused"),
            Column("Implied prompts"),
            Column("Implied responses"),
        ],
        rows=[
            Row(
                [
                    Cell(file.path),
                    Cell(file.kind, reason="not a file that is read"),
                    *(
                        Cell(n, kind="count")
                        for n in (
                            file.rows,
                            file.created,
                            file.unchanged,
                            file.normalised,
                            file.rejected,
                            file.implied["prompts"],
                            file.implied["responses"],
                        )
                    ),
                ]
            )
            for file in outcome.files
        ],
    )


def _problem_table(outcome: ImportOutcome) -> Table:
    shown = outcome.problems[:MOST_PROBLEMS_SHOWN]
    n_more = len(outcome.problems) - len(shown)
    return Table(
        id="problems",
        caption="Refused, and why",
        note=f"The first {MOST_PROBLEMS_SHOWN}; {n_more:,} more are in the download." if n_more else None,
        columns=[text_column("File"), Column("Line"), text_column("Column"), text_column("Reason")],
        rows=[
            Row(
                [
                    Cell(problem.file),
                    Cell(problem.line, kind="count", reason="the whole file"),
                    Cell(problem.column, reason="the whole row" if problem.line else "the whole file"),
                    Cell(problem.message),
                ]
            )
            for problem in shown
        ],
    )
