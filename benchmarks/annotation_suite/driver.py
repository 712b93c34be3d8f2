"""`python -m benchmarks.annotation_suite.driver`: people who label as fast as the pages come.

Reads {"port", "start", "sessions", "n_warm_up", "n_pairs"} from standard input, warms up, says "ready", waits
for a line, works, and prints {"seconds": wall time, "pairs_ms": [milliseconds of each pair], "cpu_s"}.
A pair is what the page does for one item: ask for the next one, follow to its page, send the answer.
"""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from tests.chaos.visitors import Visitor


def main() -> int:
    plan = json.loads(sys.stdin.readline())
    visitors = [
        Visitor(port=plan["port"], start=plan["start"], session=session) for session in plan["sessions"]
    ]
    with ThreadPoolExecutor(len(visitors)) as people:
        list(people.map(lambda visitor: label(visitor, plan["n_warm_up"]), visitors))
        print("ready", flush=True)
        sys.stdin.readline()
        started, cpu_before = time.perf_counter(), time.process_time()
        n_each = plan["n_pairs"] // len(visitors)
        pairs_ms = [took for took_ms in people.map(lambda v: label(v, n_each), visitors) for took in took_ms]
        seconds, cpu_s = time.perf_counter() - started, time.process_time() - cpu_before
    print(json.dumps({"seconds": seconds, "pairs_ms": pairs_ms, "cpu_s": cpu_s}), flush=True)
    return 0


def label(visitor: Visitor, n_pairs: int) -> list[float]:
    """Milliseconds of each of `n_pairs` pairs, one after the other.

    Raises:
        RuntimeError: there was nothing more to label, or an answer broke off.
    """
    took_ms: list[float] = []
    for _ in range(n_pairs):
        started = time.perf_counter()
        question = visitor.next_question()
        if question is None:
            raise RuntimeError(f"After {len(took_ms)} of {n_pairs} pairs there was no further item.")
        visitor.answer(question, "ACCEPTABLE")
        took_ms.append((time.perf_counter() - started) * 1000)
    if visitor.n_broken:
        raise RuntimeError(f"{visitor.n_broken} requests broke off, so the times say nothing.")
    return took_ms


if __name__ == "__main__":
    sys.exit(main())
