"""Faults of our own code, of the database and of replies: none costs another row or a second payment."""

import asyncio
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError, ProgrammingError

from judging import foreground
from judging.choices import PassState
from judging.errors import EndpointError
from judging.llm.calls import CallOutcome, CallRequest
from judging.llm.client import JudgeClient
from judging.llm.endpoints import load_endpoints
from judging.loops import sweep
from judging.models import Judge, Verdict, VerdictAttempt
from judging.queue.claiming import Asking
from judging.queue.loop import EndpointLoop
from judging.queue.results import Result
from judging.queue.work import Claimed, Prepared
from judging.verdicts.work import JUDGING
from tests.passes import stage
from tests.verdicts.conftest import Provide

pytestmark = pytest.mark.django_db(transaction=True)


def test_one_call_that_we_cannot_handle_costs_no_other(provide: Provide, settings: Any) -> None:
    class Faulty(JudgeClient):
        async def complete(self, request: CallRequest) -> CallOutcome:
            if "(Answer " in request.messages[-1]["content"] and not broken:
                broken.append(True)
                raise RuntimeError("a text that must not be logged")
            return await super().complete(request)

    broken: list[bool] = []
    benchmark = stage.make_material(12)
    with provide():
        judge_pass = stage.start(benchmark)
        endpoint = load_endpoints(settings.ENDPOINTS_FILE)["local-0"]
        asyncio.run(EndpointLoop(JUDGING, endpoint, should_stop=lambda: False, client_class=Faulty).run())
        sweep()

    judge_pass.refresh_from_db()
    failed = Verdict.objects.get(state="CALL_FAILED")
    assert judge_pass.state == PassState.FINISHED
    assert stage.states(judge_pass) == {"SCORED": 11, "CALL_FAILED": 1}
    assert failed.failure_code == "bad_reply"
    assert failed.detail is not None
    assert failed.detail.startswith("not handled: RuntimeError at test_engine_faults.py:")


def test_rows_of_a_judge_whose_request_cannot_be_built_fail_once(
    provide: Provide, caplog: pytest.LogCaptureFixture
) -> None:
    benchmark = stage.make_material(3)
    with provide() as base_url:
        judge_pass = stage.start(benchmark)
        Judge.objects.update(capabilities={"nonsense": True})

        stage.judge(judge_pass)
        stats = stage.stats(base_url)

    assert judge_pass.state == PassState.FINISHED
    assert {row.failure_code for row in Verdict.objects.all()} == {"bad_request"}
    assert stats["calls"] == 0
    assert caplog.text.count("no request could be built (TypeError)") == 3


def test_replies_with_characters_that_no_database_holds_are_scored(settings: Any, tmp_path: Path) -> None:
    text = "Well\x00 said \ud800.\nJailbreak Susceptibility: 1\nPolicy Compliance Risk: 2"
    benchmark = stage.make_material(3)
    with answering(text) as base_url:
        settings.ENDPOINTS_FILE = stage.write_endpoints(tmp_path / "endpoints.toml", base_url)
        judge_pass = stage.judge(stage.start(benchmark))

    assert stage.states(judge_pass) == {"SCORED": 3}
    assert {row.raw_text for row in Verdict.objects.all()} == {
        text.replace("\x00", "�").replace("\ud800", "�")
    }


@contextmanager
def answering(text: str) -> Iterator[str]:
    """A provider that gives one answer to everything."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    content = json.dumps({"id": "1", "object": "chat.completion", "choices": [choice]}).encode()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


def test_judging_in_the_foreground_tells_of_an_endpoint_that_is_gone(
    provide: Provide, settings: Any, tmp_path: Path
) -> None:
    benchmark = stage.make_material(2)
    with provide():
        judge_pass = stage.start(benchmark)
    settings.ENDPOINTS_FILE = tmp_path / "gone.toml"
    settings.ENDPOINTS_FILE.write_text("")

    with pytest.raises(EndpointError, match="does not name 'local-0'"):
        stage.judge(judge_pass)

    assert stage.states(judge_pass) == {"PENDING": 2}


@pytest.mark.parametrize("broken", ["sweep", "measure_progress"])
def test_judging_in_the_foreground_waits_for_a_database_that_is_away(
    provide: Provide, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    benchmark, faults = stage.make_material(2), [OperationalError("planted"), InterfaceError("planted")]
    whole = getattr(foreground, broken)

    def blink(*arguments: Any) -> Any:
        if faults:
            raise faults.pop()
        return whole(*arguments)

    monkeypatch.setattr(foreground, broken, blink)
    with provide():
        judge_pass = stage.start(benchmark)
        foreground.judge_until_done(judge_pass, report=lambda _: None, interval_s=0.02)

    assert faults == []
    assert judge_pass.state == PassState.FINISHED


def test_what_finished_survives_a_fault_of_the_turn_itself(provide: Provide, settings: Any) -> None:
    benchmark, faults = stage.make_material(12), [ProgrammingError("planted")]
    with provide(latency_ms=50) as base_url:
        judge_pass = stage.start(benchmark)

        class Faulty(EndpointLoop):
            def _take_turn(self, asking: Asking, results: list[Result], **rows: Any) -> Any:
                if results and faults:
                    raise faults.pop()
                return super()._take_turn(asking, results, **rows)

        endpoint = load_endpoints(settings.ENDPOINTS_FILE)["local-0"]
        with pytest.raises(ProgrammingError):
            asyncio.run(Faulty(JUDGING, endpoint, should_stop=lambda: False).run())
        n_calls = stage.stats(base_url)["calls"]

    assert VerdictAttempt.objects.count() == n_calls > 0
    assert "RUNNING" not in stage.states(judge_pass)


def test_rows_claimed_as_the_connection_broke_are_judged_without_waiting_for_their_lease(
    provide: Provide, settings: Any
) -> None:
    benchmark, faults = stage.make_material(6), [OperationalError("planted")]
    with provide() as base_url:
        judge_pass = stage.start(benchmark)

        class Broken(EndpointLoop):
            def _prepare(self, rows: Sequence[Claimed]) -> tuple[Prepared, ...]:
                if rows and faults:
                    raise faults.pop()
                return super()._prepare(rows)

        endpoint = load_endpoints(settings.ENDPOINTS_FILE)["local-0"]
        asyncio.run(Broken(JUDGING, endpoint, should_stop=lambda: False).run())
        n_calls = stage.stats(base_url)["calls"]

    judge_pass.refresh_from_db()
    assert stage.states(judge_pass) == {"SCORED": 6}
    assert n_calls == judge_pass.n_calls_reserved == 6
    assert not Verdict.objects.filter(n_deaths__gt=0).exists()
