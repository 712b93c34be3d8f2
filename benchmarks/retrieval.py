"""Finding the exemplars of a large pass: seconds, memory, and the same choices as a plain loop.

Run from the checkout: `python -m benchmarks.retrieval`. The search runs in processes of its own; its
memory is the highest that the process reached, less what it held before it had any vector. The vectors
are made up: cases of one category lie near each other, some are copies of what is judged.
"""

import math
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from judging.llm.embedding import normalise_rows
from judging.llm.exemplar_pool import ExemplarPool
from judging.llm.exemplars import PoolItem, QueryItem

ROOT = Path(__file__).resolve().parent.parent
N_QUERIES, N_POOL, N_DIMENSIONS = 3_500, 5_000, 1_536
N_CATEGORIES, N_CASES, N_COPIES = 12, 500, 300
N_ROUNDS = 3
K = 2
MIB = 2**20
STATUS = Path("/proc/self/status")

Vectors = NDArray[np.float32]


def main() -> int:
    """Time the search in fresh processes and print the medians; then compare its choices."""
    if sys.argv[1:] == ["--inside"]:
        print(*search_once())
        return 0
    command = [sys.executable, "-m", "benchmarks.retrieval", "--inside"]
    rounds = []
    for _ in range(N_ROUNDS):
        shown = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        rounds.append([float(word) for word in shown.stdout.split()])
    seconds, extra, with_vectors = np.median(rounds, axis=0)
    print(
        f"exemplars of {N_QUERIES:,} responses from a pool of {N_POOL:,}, {N_DIMENSIONS:,} dimensions: "
        f"{seconds:.2f} s (rounds {', '.join(f'{taken:.2f}' for taken, *_ in rounds)}), "
        f"{extra:.0f} MiB beside the vectors, {with_vectors:.0f} MiB with them",
        flush=True,
    )
    print(compare_choices())
    return 0


def search_once() -> tuple[float, float, float]:
    """Seconds of one search, and the MiB it took beside the vectors and with them."""
    before = _memory("VmRSS")
    queries, query_vectors, pool, pool_vectors = make_cases()
    _forget_peak()
    with_cases = _memory("VmRSS")
    started = time.perf_counter()
    choices = list(ExemplarPool(pool, pool_vectors, k=K).choose(queries, query_vectors))
    seconds = time.perf_counter() - started
    peak = _memory("VmHWM")
    if sum(len(choice.exemplars) for choice in choices) != 2 * K * N_QUERIES:
        raise RuntimeError("Not every response has its exemplars.")
    return seconds, (peak - with_cases) / MIB, (peak - before) / MIB


def compare_choices() -> str:
    """One line that says how long a plain loop takes, after it has chosen the same everywhere."""
    from tests.llm.plain_exemplars import choose_plainly

    queries, query_vectors, pool, pool_vectors = make_cases()
    choices = ExemplarPool(pool, pool_vectors, k=K).choose(queries, query_vectors)
    started = time.perf_counter()
    plain = list(choose_plainly(queries, query_vectors, pool, pool_vectors, k=K))
    seconds = time.perf_counter() - started
    n_other = sum(choice.exemplars != other for choice, other in zip(choices, plain, strict=True))
    if n_other:
        raise RuntimeError(f"{n_other} of {N_QUERIES} choices differ from those of the plain loop.")
    return f"the same {N_QUERIES:,} choices as a plain loop, which took {seconds:.1f} s"


def make_cases() -> tuple[list[QueryItem], Vectors, list[PoolItem], Vectors]:
    """Responses and labelled cases in categories; some cases are the text, or nearly, of a response."""
    generator = np.random.default_rng(20260629)
    centres = generator.normal(size=(N_CATEGORIES, N_DIMENSIONS)).astype(np.float32)
    vectors = generator.standard_normal((N_QUERIES + N_POOL, N_DIMENSIONS), dtype=np.float32)
    vectors += centres[generator.integers(0, N_CATEGORIES, len(vectors))]
    copied = generator.integers(0, N_QUERIES, N_COPIES)
    blur = generator.choice(np.array([0.0, 0.1, 0.2, 0.3], dtype=np.float32), size=(N_COPIES, 1))
    vectors[N_QUERIES : N_QUERIES + N_COPIES] *= blur
    vectors[N_QUERIES : N_QUERIES + N_COPIES] += vectors[copied]
    for start in range(0, len(vectors), 500):
        vectors[start : start + 500] = normalise_rows(vectors[start : start + 500].astype(np.float64))
    queries = [
        QueryItem(response_id=n, case_uid=str(n % N_CASES), text_hash=f"response-{n}")
        for n in range(N_QUERIES)
    ]
    pool = [
        PoolItem(
            response_id=N_QUERIES + n,
            case_uid=str(int(copied[n]) % N_CASES) if n < N_COPIES // 2 else f"other-{n % 800}",
            text_hash=f"response-{copied[n]}" if n < N_COPIES and blur[n, 0] == 0 else f"case-{n}",
            unacceptable=bool(generator.random() < 0.3),
        )
        for n in range(N_POOL)
    ]
    return queries, vectors[:N_QUERIES], pool, vectors[N_QUERIES:]


def _memory(name: str) -> float:
    """Bytes of this process by a line of its status: VmRSS now, VmHWM at the highest; NaN without Linux."""
    if not STATUS.exists():
        return math.nan
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(name))
    return float(line.split()[1]) * 1024


def _forget_peak() -> None:
    """Let VmHWM begin anew from what is held now."""
    if STATUS.exists():
        STATUS.with_name("clear_refs").write_text("5")


if __name__ == "__main__":
    sys.exit(main())
