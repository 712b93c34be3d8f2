"""Seconds until the site's addresses are loaded, as every command and web worker pays them.

The statistics and figure libraries load inside functions; this shows what that saves.
"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
N_RUNS = 5
LOAD = "import django; django.setup(); import carebench_web.urls"
HEAVY = f"{LOAD}; import openai, scipy.stats, sklearn.metrics, altair, vl_convert, openpyxl"


def median_seconds(code: str) -> float:
    """Median wall time of `code` in a fresh interpreter, after one run to warm the disk."""
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "carebench_web.settings",
        "DJANGO_SECRET_KEY": "-" * 40,
    }
    seconds = []
    for _ in range(N_RUNS + 1):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, check=True)
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds[1:])


if __name__ == "__main__":
    light, heavy = median_seconds(LOAD), median_seconds(HEAVY)
    print(f"start-up {light:.2f} s; with every heavy library {heavy:.2f} s (median of {N_RUNS})")
