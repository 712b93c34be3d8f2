"""The processes of the benchmark. Each loads, waits for a word, works, and prints one JSON document.

prepare N            make N responses
begin N              start a pass over the first N
race N               rounds of the bare client and the engine, interleaved
work PASS            judge a pass to its end, as a worker of its own
label                store a label every 50 ms until told to end
"""

import argparse
import asyncio
import json
import resource
import statistics
import sys
import threading
import time
import uuid
from collections.abc import Sequence
from typing import Any

import django

WARM_UP = 64
N_ROUNDS = 3
LABEL_INTERVAL_S = 0.05
MOST_LABELS = 1_200
PAUSE_S = 0.2


def main() -> int:
    """Run the measure that is named."""
    parser = argparse.ArgumentParser()
    parser.add_argument("measure", choices=["prepare", "begin", "race", "work", "label"])
    parser.add_argument("argument", nargs="?", default="")
    parser.add_argument("--base-url", default="")
    parser.add_argument("--slots", type=int, default=64)
    options = parser.parse_args()
    django.setup()
    match options.measure:
        case "prepare":
            result = prepare(int(options.argument))
        case "begin":
            result = begin(int(options.argument))
        case "race":
            result = race(int(options.argument), base_url=options.base_url, slots=options.slots)
        case "work":
            result = work(options.argument)
        case "label":
            result = label()
    print(json.dumps(result), flush=True)
    return 0


def wait_for_word() -> None:
    """Say that all is loaded, and wait to be told to begin."""
    print("ready", flush=True)
    sys.stdin.readline()


def prepare(n: int) -> dict[str, Any]:
    """Make the database and `n` responses."""
    from django.core.management import call_command

    from benchmarks.engine_suite.material import make_responses

    wait_for_word()
    call_command("migrate", verbosity=0)
    make_responses(n)
    return {}


def begin(n: int) -> dict[str, Any]:
    """Start a pass over the first `n` responses."""
    from benchmarks.engine_suite.material import begin_pass

    wait_for_word()
    return {"pass": begin_pass(n).public_id}


def race(n: int, *, base_url: str, slots: int) -> dict[str, Any]:
    """Rounds of both by turns; seconds of each, and CPU seconds of the engine's."""
    from benchmarks.engine_suite.material import begin_pass, make_requests

    requests = make_requests(n)
    wait_for_word()
    asyncio.run(run_bare(base_url, requests[:WARM_UP], slots=slots))
    bare, engine, cpu = [], [], []
    for _ in range(N_ROUNDS):
        bare.append(asyncio.run(run_bare(base_url, requests, slots=slots)))
        judge_pass = begin_pass(n).public_id
        cpu_before = time.process_time()
        engine.append(run_engine(judge_pass))
        cpu.append(time.process_time() - cpu_before)
    request_bytes = statistics.mean(sum(len(part["content"]) for part in request) for request in requests)
    return {"bare": bare, "engine": engine, "cpu": cpu, "request_bytes": request_bytes}


async def run_bare(base_url: str, requests: Sequence[list[dict[str, str]]], *, slots: int) -> float:
    """Seconds for all requests by the SDK's default client behind a semaphore, nothing saved."""
    from openai import AsyncOpenAI

    from benchmarks.engine_suite.installation import MODEL

    free = asyncio.Semaphore(slots)
    async with AsyncOpenAI(api_key="bench", base_url=base_url, max_retries=0) as client:

        async def call(messages: Any) -> None:
            async with free:
                await client.chat.completions.create(
                    model=MODEL, messages=messages, temperature=0, max_tokens=1024
                )

        started = time.perf_counter()
        await asyncio.gather(*(call(messages) for messages in requests))
        return time.perf_counter() - started


def run_engine(public_id: str) -> float:
    """Seconds until every row of a pass is judged and saved.

    Raises:
        RuntimeError: a row or a call is missing.
    """
    from benchmarks.engine_suite.installation import ENDPOINT
    from judging.choices import PassKind
    from judging.loops import run_loop
    from judging.models import JudgePass, VerdictAttempt

    started = time.perf_counter()
    run_loop(ENDPOINT, PassKind.JUDGING, should_stop=lambda: False)
    seconds = time.perf_counter() - started
    judge_pass = JudgePass.objects.get(public_id=public_id)
    n_rows, n_scored = judge_pass.verdicts.count(), judge_pass.verdicts.filter(state="SCORED").count()
    n_attempts = VerdictAttempt.objects.filter(verdict__judge_pass=judge_pass).count()
    if not n_scored == n_attempts == n_rows:
        raise RuntimeError(f"{n_scored} scored rows and {n_attempts} attempts; expected {n_rows} of each.")
    return seconds


def work(public_id: str) -> dict[str, Any]:
    """Judge until the pass has ended; seconds, CPU seconds, peak memory, and how its rows stand."""
    import openai  # noqa: F401  (loaded before the clock runs)

    from benchmarks.engine_suite.installation import ENDPOINT
    from judging.choices import PassKind, PassState
    from judging.loops import run_loop, sweep
    from judging.models import JudgePass, VerdictAttempt

    judge_pass = JudgePass.objects.get(public_id=public_id)
    wait_for_word()
    started, cpu_before = time.perf_counter(), time.process_time()
    while True:
        run_loop(ENDPOINT, PassKind.JUDGING, should_stop=lambda: False)
        judge_pass.refresh_from_db()
        if judge_pass.state != PassState.RUNNING:
            break
        # A loop with nothing due for two seconds ends, and rows that wait for a retry may be due later.
        time.sleep(PAUSE_S)
        sweep()
    seconds, cpu_s = time.perf_counter() - started, time.process_time() - cpu_before
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "seconds": seconds,
        "cpu_s": cpu_s,
        "peak_mib": peak_kib / 1024,
        "n_attempts": VerdictAttempt.objects.filter(verdict__judge_pass=judge_pass).count(),
        "n_open": judge_pass.verdicts.filter(settled_at=None).count(),
        "n_scored": judge_pass.verdicts.filter(state="SCORED").count(),
    }


def label() -> dict[str, Any]:
    """Store an annotator's answers one after the other, as the page does; milliseconds that each took."""
    from annotation.choices import Rating
    from annotation.labelling import submit_label
    from annotation.models import Assignment, Response
    from tests import factories

    responses = Response.objects.select_related("prompt__benchmark").order_by("pk")[:MOST_LABELS]
    benchmark = responses[0].prompt.benchmark
    campaign, annotator = (
        factories.make_campaign(benchmark=benchmark),
        factories.make_annotator(benchmark=benchmark),
    )
    factories.make_membership(campaign=campaign, annotator=annotator)
    factories.make_consent(campaign=campaign, annotator=annotator)
    assignments = [
        factories.make_assignment(
            item=factories.make_item(campaign=campaign, response=response), annotator=annotator
        )
        for response in responses
    ]
    wait_for_word()
    ending = threading.Event()

    def wait_for_end() -> None:
        sys.stdin.readline()
        ending.set()

    threading.Thread(target=wait_for_end, daemon=True).start()
    took_ms = []
    for assignment in Assignment.objects.filter(pk__in=[one.pk for one in assignments]).order_by("pk"):
        if ending.wait(LABEL_INTERVAL_S):
            break
        started = time.perf_counter()
        submit_label(
            assignment=assignment,
            annotator=annotator,
            submission_id=uuid.uuid4(),
            rating=Rating.ACCEPTABLE,
            severity=1,
        )
        took_ms.append((time.perf_counter() - started) * 1000)
    return {"took_ms": took_ms}


if __name__ == "__main__":
    sys.exit(main())
