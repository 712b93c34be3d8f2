"""The import as a whole: all or nothing, dry runs, files and folders, notices and the audit."""

from pathlib import Path

import pytest
from django.apps import apps
from pytest_django import DjangoAssertNumQueries

from annotation.choices import Role
from annotation.models import Account, AuditEvent, Benchmark, Label, Prompt, Response, TargetModel
from judging.errors import DomainError
from judging.importing.files import BenchmarkNotices
from judging.models import Verdict
from judging.reports import build_report
from tests.factories import make_account
from tests.importing.sheets import (
    BENCHMARK,
    Row,
    codes,
    counts,
    import_paths,
    import_rows,
    label_row,
    notes,
    prompt_row,
    response_row,
    score_row,
    write_folder,
    write_rows,
)

pytestmark = pytest.mark.django_db


def all_tables() -> dict[str, list[Row]]:
    """One good row of each kind."""
    return {
        "prompts": [prompt_row()],
        "responses": [response_row()],
        "labels": [label_row()],
        "scores": [score_row()],
    }


def n_rows_everywhere() -> dict[str, int]:
    """Row counts of every table of both apps."""
    models = [*apps.get_app_config("annotation").get_models(), *apps.get_app_config("judging").get_models()]
    return {model.__name__: model._default_manager.count() for model in models}


@pytest.fixture
def account(db: None) -> Account:
    return make_account(role=Role.RESEARCHER)


def test_one_bad_row_in_any_file_stores_nothing(tmp_path: Path) -> None:
    tables = all_tables() | {"scores": [score_row(), score_row(score="9", judge="judge-b")]}
    before = n_rows_everywhere()

    outcome = import_rows(tmp_path, **tables)

    assert not outcome.is_stored
    assert counts(outcome, "scores") == (1, 0, 1)
    assert n_rows_everywhere() == before


def test_skipping_bad_rows_stores_the_others_and_reports_them(tmp_path: Path) -> None:
    tables = all_tables() | {"scores": [score_row(), score_row(score="9", judge="judge-b")]}

    outcome = import_rows(tmp_path, {"skips_bad_rows": True}, **tables)

    assert outcome.is_stored
    assert codes(outcome) == [("score_out_of_range", 3, "score")]
    assert (Prompt.objects.count(), Response.objects.count()) == (1, 1)
    assert (Label.objects.count(), Verdict.objects.count()) == (1, 1)


def test_skipping_bad_rows_does_not_skip_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, **all_tables())
    (folder / "judge_scores.csv").write_bytes(b"case_uid,\xff\n")
    before = n_rows_everywhere()

    outcome = import_paths([folder], skips_bad_rows=True)

    assert [problem.is_whole_file for problem in outcome.problems] == [True]
    assert not outcome.is_stored
    assert n_rows_everywhere() == before


def test_problems_of_all_files_are_named_at_once(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, **all_tables() | {"labels": [label_row(human_rating="1")]})
    (folder / "prompts.csv").write_bytes(b"\xff\xfe")
    (folder / "judge_scores.csv").write_text("case_uid\n")

    outcome = import_paths([folder])

    assert [(problem.file, problem.code) for problem in outcome.problems] == [
        ("prompts.csv", "encoding"),
        ("annotated_responses.csv", "bad_rating"),
        ("judge_scores.csv", "missing_column"),
    ]


@pytest.mark.parametrize("is_known", [False, True], ids=["new benchmark", "known benchmark"])
def test_dry_run_stores_nothing_at_all(tmp_path: Path, is_known: bool) -> None:
    if is_known:
        import_rows(tmp_path, labels=[label_row()])
    before = n_rows_everywhere()
    notices = BenchmarkNotices(licence="CC BY 4.0")

    outcome = import_rows(tmp_path, {"is_dry_run": True, "notices": notices}, **all_tables())

    assert codes(outcome) == []
    assert counts(outcome, "scores") == (1, 0, 0)
    assert outcome.new_judges == ["judge-a"]
    assert n_rows_everywhere() == before
    assert list(Response.objects.values_list("rollout", flat=True)) == ([None] if is_known else [])
    assert not Benchmark.objects.filter(licence__isnull=False).exists()


def test_dry_run_counts_what_the_import_then_does(tmp_path: Path) -> None:
    tables = all_tables() | {"labels": [label_row(), label_row(annotator="", exemplar_response="Other")]}

    preview = import_rows(tmp_path, {"is_dry_run": True}, **tables)
    outcome = import_rows(tmp_path, **tables)

    assert [file.to_json() for file in outcome.files] == [file.to_json() for file in preview.files]


def test_ignored_file_with_the_columns_of_a_table_says_so(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, **all_tables())
    (folder / "annotated_responses.csv").rename(folder / "labels.csv")

    outcome = import_paths([folder])

    (ignored,) = [file for file in outcome.files if file.path == "labels.csv"]
    assert ignored.kind is None
    assert "its columns are those of labels" in next(iter(ignored.notes))


def test_folder_takes_files_of_the_known_names_and_ignores_others(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, **all_tables())
    for name in ("expected.json", "prompts.jsonl", "responses.xlsx", "notes.csv", ".hidden.csv"):
        (folder / name).write_text("anything")
    (folder / "inner").mkdir()
    write_rows(folder / "inner" / "prompts.csv", [prompt_row(case_uid="inner")])

    outcome = import_paths([folder])

    assert outcome.is_stored
    assert {file.path: file.kind for file in outcome.files} == {
        "prompts.csv": "prompts",
        "responses.csv": "responses",
        "annotated_responses.csv": "labels",
        "judge_scores.csv": "scores",
        "expected.json": None,
        "prompts.jsonl": None,
        "responses.xlsx": None,
        "notes.csv": None,
    }
    assert notes(outcome)["ignored: not a name that is read"] == 4


@pytest.mark.parametrize("kind", ["prompts", "responses", "labels", "scores"])
def test_named_file_of_another_name_is_told_by_its_columns(tmp_path: Path, kind: str) -> None:
    import_rows(tmp_path / "first", responses=[response_row()])
    path = write_rows(tmp_path / "my table.txt", all_tables()[kind])

    outcome = import_paths([path])

    assert codes(outcome) == []
    assert [file.kind for file in outcome.files] == [kind]


@pytest.mark.parametrize(
    "name", ["data.jsonl", "DATA.XLSX", "data.xls", "data.parquet", "data.zip", "data.json"]
)
def test_named_file_of_another_format_is_refused_by_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("{}")

    outcome = import_paths([path])

    assert codes(outcome) == [("unsupported_format", None, None)]
    assert outcome.problems[0].message.startswith(f"{name} is ")
    assert "Save it as CSV (UTF-8)" in outcome.problems[0].message
    assert not Benchmark.objects.exists()


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"a,b\n1,2\n", "unknown_table"), (b"", "no_rows"), (b"a\xff", "encoding"), (b"PK\x03\x04", "not_text")],
    ids=["other columns", "empty", "other encoding", "archive"],
)
def test_named_file_that_is_no_table_is_refused(tmp_path: Path, content: bytes, code: str) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(content)
    good = write_rows(tmp_path / "prompts.csv", [prompt_row()])

    outcome = import_paths([path, good], skips_bad_rows=True)

    assert [problem.code for problem in outcome.problems] == [code]
    assert not outcome.is_stored


@pytest.mark.parametrize("name", ["missing.csv", "missing"])
def test_path_that_leads_nowhere_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(DomainError, match="There is no file or folder") as refusal:
        import_paths([tmp_path / name])

    assert refusal.value.code == "no_such_file"


def test_folder_without_a_known_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "prompts.jsonl").write_text("{}")

    with pytest.raises(DomainError, match=r"expected prompts\.csv, responses\.csv"):
        import_paths([tmp_path])


def test_file_given_twice_is_read_once(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, prompts=[prompt_row()])

    outcome = import_paths([folder, folder / "prompts.csv", folder])

    assert [file.path for file in outcome.files] == ["prompts.csv"]
    assert counts(outcome, "prompts") == (1, 0, 0)


def test_two_files_of_one_name_are_told_apart_by_their_paths(tmp_path: Path) -> None:
    first = write_folder(tmp_path / "first", prompts=[prompt_row()])
    second = write_folder(tmp_path / "second", prompts=[prompt_row(prompt="Something else")])

    outcome = import_paths([first, second])

    assert [file.path for file in outcome.files] == [str(first / "prompts.csv"), str(second / "prompts.csv")]
    assert outcome.problems[0].file == str(second / "prompts.csv")
    assert f"{first / 'prompts.csv'} line 2" in outcome.problems[0].message


def test_files_are_read_in_the_order_of_their_kinds(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, **all_tables())
    names = ["judge_scores.csv", "annotated_responses.csv", "responses.csv", "prompts.csv"]

    outcome = import_paths([folder / name for name in names])

    assert [file.kind for file in outcome.files] == ["prompts", "responses", "labels", "scores"]
    assert outcome.is_stored


@pytest.mark.parametrize("slug", ["", "two words", "naïve", "a/b", "a.b", "x" * 65, "a\n"], ids=ascii)
def test_name_that_cannot_be_a_benchmark_is_refused(tmp_path: Path, slug: str) -> None:
    with pytest.raises(DomainError, match="cannot name a benchmark") as refusal:
        import_rows(tmp_path, {"benchmark_slug": slug}, prompts=[prompt_row()])

    assert refusal.value.code == "bad_benchmark_name"


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, "a\x00"], ids=ascii)
def test_name_that_cannot_be_a_pass_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(DomainError, match="cannot name a pass"):
        import_rows(tmp_path, {"pass_name": name}, **all_tables())


@pytest.mark.parametrize(
    "notices",
    [
        BenchmarkNotices(licence="x" * 201),
        BenchmarkNotices(canary="x" * 201),
        BenchmarkNotices(attribution="\x00"),
    ],
    ids=["long licence", "long canary", "NUL"],
)
def test_notice_that_cannot_be_stored_is_refused(tmp_path: Path, notices: BenchmarkNotices) -> None:
    with pytest.raises(DomainError, match="Shorten it") as refusal:
        import_rows(tmp_path, {"notices": notices}, prompts=[prompt_row()])

    assert refusal.value.code == "bad_notice"
    assert not Benchmark.objects.exists()


def test_changed_notices_are_stored_and_audited(tmp_path: Path, account: Account) -> None:
    first = BenchmarkNotices(licence="CC BY 4.0", canary="canary-1")
    second = BenchmarkNotices(licence="CC0", canary="canary-1", attribution=" ")
    import_rows(tmp_path, {"notices": first}, prompts=[prompt_row()])

    import_rows(tmp_path, {"notices": second, "actor": account}, prompts=[prompt_row()])

    benchmark = Benchmark.objects.get()
    assert (benchmark.licence, benchmark.canary, benchmark.attribution) == ("CC0", "canary-1", None)
    event = AuditEvent.objects.filter(action="benchmark.notices_changed").latest("pk")
    assert (event.actor, event.subject) == (account, f"benchmark:{BENCHMARK}")
    assert event.detail == {"changes": {"licence": {"from": "CC BY 4.0", "to": "CC0"}}}


@pytest.mark.parametrize(
    "notices", [None, BenchmarkNotices(), BenchmarkNotices(licence="CC BY 4.0")], ids=repr
)
def test_notices_that_stay_are_not_audited(tmp_path: Path, notices: BenchmarkNotices | None) -> None:
    import_rows(tmp_path, {"notices": BenchmarkNotices(licence="CC BY 4.0")}, prompts=[prompt_row()])

    import_rows(tmp_path, {"notices": notices}, prompts=[prompt_row()])

    assert Benchmark.objects.get().licence == "CC BY 4.0"
    assert AuditEvent.objects.filter(action="benchmark.notices_changed").count() == 1


def test_import_is_audited_with_actor_and_totals_and_without_texts(tmp_path: Path, account: Account) -> None:
    import_rows(tmp_path, {"actor": account}, **all_tables())

    actions = AuditEvent.objects.order_by("pk").values_list("action", "actor")
    assert list(actions) == [("labels.imported", account.pk), ("files.imported", account.pk)]
    event = AuditEvent.objects.get(action="files.imported")
    assert event.detail["totals"]["scores"] == {"created": 1, "unchanged": 0, "rejected": 0}
    assert event.detail["content"]["new_responses"] == 1


def test_benchmarks_are_apart_and_share_models(tmp_path: Path) -> None:
    for slug in ("one", "two"):
        outcome = import_rows(tmp_path, {"benchmark_slug": slug}, **all_tables())
        assert counts(outcome, "labels") == (1, 0, 0)

    assert Prompt.objects.count() == 2
    assert TargetModel.objects.count() == 1


def test_dry_run_takes_the_same_queries_for_more_rows(
    tmp_path: Path, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    import_rows(tmp_path, **all_tables())
    annotators = [label_row(annotator=f"ann-{n}") for n in range(20)]
    judges = [score_row(judge=f"judge-{n}") for n in range(20)]

    with django_assert_num_queries(10):
        import_rows(tmp_path, {"is_dry_run": True}, **all_tables())
    with django_assert_num_queries(10):
        import_rows(tmp_path, {"is_dry_run": True}, **all_tables() | {"labels": annotators, "scores": judges})


def test_progress_is_told_file_by_file(tmp_path: Path) -> None:
    told: list[str] = []

    import_rows(tmp_path, {"report_progress": told.append}, prompts=[prompt_row()], labels=[label_row()])

    assert told == ["reading prompts.csv", "reading annotated_responses.csv", "storing"]


def test_published_rule_reads_in_short_names(tmp_path: Path) -> None:
    judges = ["gemini_3_1_pro", "gpt_5_4", "opus_4_6"]
    import_rows(tmp_path, responses=[response_row()], scores=[score_row(judge=judge) for judge in judges])

    report = build_report(Benchmark.objects.get())

    assert report["rule_source"] == "published"
    assert report["rule_in_words"] == "Opus ≥ 2, or GPT ≥ 4, or GPT = 3 and Gemini = 5"
