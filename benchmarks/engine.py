"""The judge engine, with every result and attempt saved, against a bare client that saves nothing.

Run from the checkout: `python -m benchmarks.engine [sqlite] [postgresql]`. Rounds are interleaved and
the medians compared. The provider is a process of its own on this machine with a fixed latency, so
that only the cost of the client differs. The bare client is the SDK's own: a gather of
`chat.completions.create` behind a semaphore.
"""

import argparse
import asyncio
import contextlib
import hashlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annotation.models import Benchmark

ROOT = Path(__file__).resolve().parent.parent
N_CALLS = 1_500
N_IN_FLIGHT = 64
LATENCY_MS = 200
TEXT_BYTES = 5_000
N_ROUNDS = 3
MODEL = "gpt-5.4"
KEY_VARIABLE = "CAREBENCH_BENCH_KEY"


def main() -> int:
    """Time the rounds on each database in a process of its own and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("databases", nargs="*", default=["sqlite", "postgresql"])
    parser.add_argument("--inside", metavar="URL", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        print(compare(options.databases[0], options.inside), flush=True)
        return 0
    with provider() as base_url:
        for database in options.databases:
            with database_environment(database, base_url) as environment:
                command = [sys.executable, "-m", "benchmarks.engine", database, "--inside", base_url]
                subprocess.run(command, cwd=ROOT, env=environment, check=True)
    return 0


@contextlib.contextmanager
def provider() -> Iterator[str]:
    """The loopback provider as a process; gives its base URL."""
    command = [sys.executable, "manage.py", "fake_provider", "--port", "0", "--latency-ms", str(LATENCY_MS)]
    environment = os.environ | {"DJANGO_SECRET_KEY": "-" * 40}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip() if process.stdout else ""
        finally:
            process.terminate()


@contextlib.contextmanager
def database_environment(database: str, base_url: str) -> Iterator[dict[str, str]]:
    """An environment with an empty database of the given kind, with its normal durability."""
    from tests.pgtemp import TempPG

    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("CAREBENCH_", "DJANGO_"))
    }
    with tempfile.TemporaryDirectory(prefix="carebench-bench-") as folder:
        endpoints = Path(folder, "endpoints.toml")
        endpoints.write_text(
            f'[[endpoint]]\nname = "bench"\nbase_url = "{base_url}"\nkey_variable = "{KEY_VARIABLE}"\n'
            f"allow_private = true\nmax_in_flight = {N_IN_FLIGHT}\n"
            f'[[endpoint.model]]\nslug = "{MODEL}"\nmodel_id = "{MODEL}"\n'
        )
        environment = kept | {
            "CAREBENCH_DATA_DIR": folder,
            "CAREBENCH_ENDPOINTS_FILE": str(endpoints),
            "DJANGO_SECRET_KEY": "-" * 40,
            "DJANGO_SETTINGS_MODULE": "carebench_web.settings",
            KEY_VARIABLE: "bench",
        }
        server = TempPG(durable=True) if database == "postgresql" else None
        if server is not None:
            environment["DATABASE_URL"] = server.url
        try:
            yield environment
        finally:
            if server is not None:
                server.stop()


def compare(database: str, base_url: str) -> str:
    """Interleaved rounds of both, on the database of this process; one line with the medians."""
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    benchmark = make_responses()
    requests = make_requests(benchmark)
    asyncio.run(run_bare(base_url, requests[:N_IN_FLIGHT]))
    bare, engine, cpu = [], [], []
    for _ in range(N_ROUNDS):
        bare.append(asyncio.run(run_bare(base_url, requests)))
        started = time.process_time()
        engine.append(run_engine(benchmark))
        cpu.append(time.process_time() - started)
    ratio = statistics.median(bare) / statistics.median(engine)
    n_bytes = sum(len(message["content"]) for message in requests[0])
    ideal_s = N_CALLS / N_IN_FLIGHT * LATENCY_MS / 1000
    rounds = ", ".join(f"{theirs / ours:.2f}" for theirs, ours in zip(bare, engine, strict=True))
    return (
        f"{database}: engine with all saved {statistics.median(engine):.2f} s, "
        f"bare client {statistics.median(bare):.2f} s: {ratio:.2f}x as fast (rounds {rounds}), "
        f"{ideal_s / statistics.median(engine):.0%} of the ideal {ideal_s:.2f} s, "
        f"{statistics.median(cpu) / N_CALLS * 1000:.1f} s CPU per 1,000 calls "
        f"({N_CALLS:,} calls of {n_bytes / 1000:.0f} kB, {LATENCY_MS} ms, "
        f"{N_IN_FLIGHT} in flight)"
    )


def make_responses() -> "Benchmark":
    """A benchmark with as many mild responses as calls."""
    from annotation.models import Benchmark, Prompt, Response, TargetModel

    benchmark = Benchmark.objects.create(slug="bench", name="Bench", is_simulated=True)
    model = TargetModel.objects.create(slug="model")
    prompt = Prompt.objects.create(
        benchmark=benchmark,
        case_uid="1",
        risk_category="Emotional Dependency",
        risk_mechanism="Companionship",
        text="How much time with a chatbot is too much for my child?",
    )
    for rollout in range(N_CALLS):
        text = (f"Answer {rollout}. Talk about it calmly, and agree on times together. " * 200)[:TEXT_BYTES]
        text_hash = hashlib.sha256(text.encode()).hexdigest()
        Response.objects.create(
            prompt=prompt, target_model=model, rollout=rollout, state="OK", text=text, text_hash=text_hash
        )
    return benchmark


def make_requests(benchmark: "Benchmark") -> list[list[dict[str, str]]]:
    """The messages that the engine will send, made beforehand for the bare client."""
    from annotation.models import Response
    from judging.llm.rubric import build_messages, load_bundled_rubric, parse_rubric

    rubric = parse_rubric(load_bundled_rubric("likert-v1"))
    responses = Response.objects.filter(prompt__benchmark=benchmark).select_related("prompt").order_by("pk")
    return [
        build_messages(
            rubric,
            prompt=response.prompt.text,
            response=response.text,
            risk_category=response.prompt.risk_category,
            tag="0123456789abcdef",
        )
        for response in responses
    ]


async def run_bare(base_url: str, requests: Sequence[list[dict[str, str]]]) -> float:
    """Seconds for all requests by the SDK's default client, nothing saved."""
    from openai import AsyncOpenAI

    free = asyncio.Semaphore(N_IN_FLIGHT)
    async with AsyncOpenAI(api_key="bench", base_url=base_url, max_retries=0) as client:

        async def call(messages: Any) -> None:
            async with free:
                await client.chat.completions.create(
                    model=MODEL, messages=messages, temperature=0, max_tokens=1024
                )

        started = time.perf_counter()
        await asyncio.gather(*(call(messages) for messages in requests))
        return time.perf_counter() - started


def run_engine(benchmark: "Benchmark") -> float:
    """Seconds until every row of a new pass is judged and saved."""
    from judging.choices import PassKind
    from judging.loops import run_loop
    from judging.models import VerdictAttempt
    from judging.passes.starting import PassRequest, start_pass

    judge_pass = start_pass(benchmark, PassRequest(judges=(MODEL,), rubric="likert-v1", again=True))
    started = time.perf_counter()
    run_loop("bench", PassKind.JUDGING, should_stop=lambda: False)
    seconds = time.perf_counter() - started
    n_scored = judge_pass.verdicts.filter(state="SCORED").count()
    n_attempts = VerdictAttempt.objects.filter(verdict__judge_pass=judge_pass).count()
    if not n_scored == n_attempts == N_CALLS:
        raise RuntimeError(f"{n_scored} scored rows and {n_attempts} attempts; expected {N_CALLS} of each.")
    return seconds


if __name__ == "__main__":
    sys.exit(main())
