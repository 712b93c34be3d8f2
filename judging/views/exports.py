"""The Exports tab: every table in every format, as plain links."""

from collections.abc import Mapping

from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.views.decorators.http import require_safe

from annotation.models import Benchmark
from judging.errors import ExportError
from judging.exports.downloads import open_bundle, open_download
from judging.exports.exporting import SPREADSHEET_SAFE
from judging.exports.requests import ExportRequest
from judging.exports.tables import OF_BENCHMARK, OF_CLASSIFICATION, OF_LABELS, OF_PASS, OF_TWO_PASSES, TABLES
from judging.reports import choose_rule
from judging.reports.failure_modes import default_classification, newest_of
from judging.selectors import default_pass, find_pass, judges_of
from judging.views.choosing import ReportChoice, offered_choices, read_choice
from judging.views.context import benchmark_page, show_page
from judging.views.tables import Cell, Row, Table, text_column

TABLE_WORDS: Mapping[str, str] = {
    "prompts": "the prompts, in the paper's columns",
    "responses": "every response with its error",
    "labels": "current labels with annotator code, type, severity and rollout",
    "verdicts": "one row for each judge and response of the pass, in the paper's columns",
    "attempts": "every call that was made, with tokens, cost and latency",
    "results": "one row for each response: every judge's score, weighted score, verdict",
    "agreement": "every pair with all its figures and intervals",
    "report": "failure rates and severity for models, categories and cells",
    "failure_modes": "the failure mode of every Unacceptable response that was classified",
    "calibrated": "response, labels and consensus, scores, weighted score, verdict, what was missing",
}
FORMAT_LINKS: tuple[tuple[str, dict[str, str]], ...] = (
    ("CSV", {"format": "csv"}),
    ("Safe CSV", {"format": "csv", "flavour": SPREADSHEET_SAFE}),
    ("JSONL", {"format": "jsonl"}),
    ("XLSX", {"format": "xlsx"}),
    ("Parquet", {"format": "parquet"}),
)
BUNDLE, MANIFEST = "bundle", "manifest"
PARTS = ("file", BUNDLE, MANIFEST)


@require_safe
@benchmark_page
def show_exports(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Links to every table in every format, for the pass, rule and campaign in the address."""
    choice = read_choice(benchmark, request.GET)
    part = _read_part(request)
    judge_pass = choice.judge_pass or default_pass(benchmark)
    # Only so that a rule which cannot be used is refused here and not behind each link.
    choose_rule(benchmark, judges_of(judge_pass), choice.rule)
    names = [name for name in TABLES if name not in OF_PASS or judge_pass is not None]
    # Two passes are chosen on the page that compares them, which links to its table.
    names = [name for name in names if name not in OF_TWO_PASSES]
    if _has_no_classification(benchmark, choice):
        names = [name for name in names if name not in OF_CLASSIFICATION]
    return show_page(
        request,
        "judging/exports.html",
        benchmark=benchmark,
        tab="exports",
        answer=f"{len(names)} tables of {benchmark.name}, each from one snapshot of the data.",
        offered=offered_choices(choice),
        is_bundled=part == BUNDLE,
        judge_pass=judge_pass,
        table=_link_table(names, choice, part),
    )


def _has_no_classification(benchmark: Benchmark, choice: ReportChoice) -> bool:
    """Whether there are no failure modes of the chosen pass, or of any pass where none is chosen."""
    if choice.judge_pass is None:
        return default_classification(benchmark) is None
    return newest_of(choice.judge_pass) is None


@require_safe
@benchmark_page
def download_table(request: HttpRequest, benchmark: Benchmark, table: str, form: str) -> HttpResponseBase:
    """One table as a file; with `part=bundle` zipped beside its manifest, with `part=manifest` that alone."""
    choice = read_choice(benchmark, request.GET)
    part = _read_part(request)
    export = ExportRequest(
        table=table,
        format=form,
        judge_pass=choice.judge_pass,
        before=find_pass(benchmark, request.GET["before"]) if request.GET.get("before") else None,
        rule=choice.rule,
        campaign=choice.campaign,
        flavour=request.GET.get("flavour") or None,
    )
    download = (open_bundle if part == BUNDLE else open_download)(benchmark, export)
    if part == MANIFEST:
        download.file.close()
        return JsonResponse(download.manifest, json_dumps_params={"ensure_ascii": False, "indent": 2})
    return FileResponse(
        download.file, as_attachment=True, filename=download.name, content_type=download.content_type
    )


def _read_part(request: HttpRequest) -> str:
    part = request.GET.get("part") or "file"
    if part not in PARTS:
        raise ExportError(
            f"There is no part {part[:80]!r} of an export. Expected one of: {', '.join(PARTS)}.",
            code="unknown_part",
        )
    return part


def _link_table(names: list[str], choice: ReportChoice, part: str) -> Table:
    return Table(
        id="tables",
        caption="Tables",
        columns=[
            text_column("Table"),
            text_column("What it holds"),
            *(text_column(label) for label, _ in FORMAT_LINKS),
            text_column("Manifest"),
        ],
        rows=[
            Row(
                [
                    Cell(name),
                    Cell(TABLE_WORDS[name]),
                    *(
                        Cell(label, href=_address(choice, name, part=part, **values))
                        for label, values in FORMAT_LINKS
                    ),
                    Cell("Manifest", href=_address(choice, name, part=MANIFEST, format="csv")),
                ]
            )
            for name in names
        ],
    )


def _address(choice: ReportChoice, table: str, *, part: str, format: str, flavour: str | None = None) -> str:
    given = {"flavour": flavour, "part": None if part == "file" else part}
    kept = {name: value for name, value in given.items() if value}
    if table in OF_BENCHMARK:
        # Prompts and responses rest on no pass, rule or campaign.
        choice = ReportChoice(choice.benchmark)
    elif table in OF_LABELS:
        choice = ReportChoice(choice.benchmark, campaign=choice.campaign)
    return choice.address("export", filters=kept, table=table, form=format)
