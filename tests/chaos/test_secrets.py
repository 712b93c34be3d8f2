"""A key leaves this program in one header only, whatever is logged, refused or broken."""

import json
import signal
from functools import partial

import pytest

from tests.chaos.conftest import IS_POSTGRESQL, MakeSite
from tests.chaos.listeners import listening
from tests.chaos.processes import Installation, wait_until
from tests.passes import stage

TALKATIVE = {
    "CAREBENCH_TEST_LOG_LEVEL": "DEBUG",
    "DJANGO_DEBUG": "true",
    "OPENAI_LOG": "debug",
    "PYTHONASYNCIODEBUG": "1",
    "PYTHONFAULTHANDLER": "1",
}
TABLES = ("responses", "verdicts", "attempts", "results", "report")


@pytest.mark.long
def test_a_marker_key_is_nowhere_after_debug_logging_a_401_and_a_crash(make_site: MakeSite) -> None:
    """The provider that refuses the key repeats it, as some do; then a worker dies with a dump."""
    with make_site(environment=TALKATIVE) as site:
        provider = site.start_judging_provider("--latency-ms", "300")
        judge_pass = site.start_pass("--limit", "60")
        worker = site.start_worker()
        wait_until(partial(site.has_settled, 30), most_s=60)
        provider.kill()
        with listening(port=provider.port, repeats_key=True) as refusing:
            wait_until(site.is_over, most_s=60)
            resumed = site.finish(site.begin("manage.py", "resume_pass", judge_pass))
            started = site.finish(site.begin_pass("--limit", "5"))
        worker.send_signal(signal.SIGABRT)
        worker.wait(20)
        (site.folder / "endpoints.toml").write_text("not = [valid")
        site.start_worker()
        broken = site.finish(site.begin_pass("--limit", "4"))

        assert len(refusing.requests) >= 3
        assert site.status(judge_pass)["reason"] == "auth"
        assert [code for _, _, code in (resumed, started, broken)] == [1, 1, 1]
        assert "Fatal Python error: Aborted" in site.logs()
        said = [text for output, errors, _ in (resumed, started, broken) for text in (output, errors)]
        for place, text in {
            "logs": site.logs(),
            "database": everything_stored(site),
            "messages": everything_queued(site),
            "commands": "\n".join(said),
            "pages": pages(site, judge_pass),
            "exports": exports(site, judge_pass),
        }.items():
            assert text, place
            assert stage.MARKER_KEY not in text, place


def everything_stored(site: Installation) -> str:
    """Every value of every table; on SQLite the bytes of the files as well."""
    if IS_POSTGRESQL:
        names = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
    else:
        names = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1"
    parts = [repr(site.query(f'SELECT * FROM "{name}"')) for (name,) in site.query(names)]
    file = site.database.file
    if file is not None:
        parts += [path.read_bytes().decode("latin-1") for path in file.parent.glob(f"{file.name}*")]
    return "\n".join(parts)


def everything_queued(site: Installation) -> str:
    """Whatever the broker holds, in whatever form."""
    if site.broker is None:
        return "no broker"
    client = site.broker.client
    return f"broker {[(key, client.dump(key)) for key in client.scan_iter()]}"


def pages(site: Installation, judge_pass: str) -> str:
    """The pages that speak of passes, judges and endpoints, and the API's."""
    addresses = (
        "/research/b/judges/",
        f"/research/b/judges/{judge_pass}/",
        "/research/b/rows/",
        "/api/v1/passes/",
        "/api/v1/judges/",
        "/api/v1/verdicts/",
        "/health/",
    )
    return json.dumps(site.pages(*addresses))


def exports(site: Installation, judge_pass: str) -> str:
    """The tables of a pass as files."""
    parts = []
    given = ("--benchmark", "b", "--pass", judge_pass, "--format", "csv")
    for table in TABLES:
        path = str(site.folder / f"{table}.csv")
        site.manage("export_results", *given, "--table", table, "--out", path)
        parts += [found.read_text() for found in site.folder.glob(f"{table}*") if found.is_file()]
    return "\n".join(parts)
