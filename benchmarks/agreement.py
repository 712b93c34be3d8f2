"""What counting per prompt saves: our bootstrap against resampling rows, in one run.

Run from the checkout: `python -m benchmarks.agreement`. Also times a whole agreement document for
150 annotators with 70,000 labels, three judges and the published rule.
"""

import random
from time import perf_counter

import numpy as np

from judging.stats.aggregation import published_rule
from judging.stats.agreement import measure_agreement
from judging.stats.classification import Counts, Floats, cross_table, kappas
from judging.stats.intervals import resample_tables
from judging.stats.records import Evidence, HumanLabel, JudgeInfo, JudgeVerdict, ResponseRow

N_PROMPTS = 500
N_RESPONSES = 3_500
N_RESAMPLES = 2_000
N_ANNOTATORS = 150
N_LABELS = 70_000
JUDGES = (("gemini-3.1-pro", "Gemini"), ("gpt-5.4", "GPT"), ("claude-opus-4.6", "Opus"))


def compare_bootstraps() -> str:
    """Time 2,000 clustered resamples of one kappa, by counts and by rows."""
    generator = np.random.default_rng(1)
    prompts = np.arange(N_RESPONSES) % N_PROMPTS
    human = generator.integers(0, 2, N_RESPONSES)
    judge = np.where(generator.random(N_RESPONSES) < 0.8, human, 1 - human)

    started = perf_counter()
    tables = np.zeros((N_PROMPTS, 4), dtype=np.int64)
    np.add.at(tables, (prompts, judge * 2 + human), 1)
    by_counts = kappas(resample_tables(tables.reshape(-1, 2, 2), n_resamples=N_RESAMPLES, seed=1))
    seconds_by_counts = perf_counter() - started

    started = perf_counter()
    by_rows = _resample_rows(prompts, judge, human)
    seconds_by_rows = perf_counter() - started
    return (
        f"{N_RESAMPLES:,} resamples of {N_PROMPTS} prompts, {N_RESPONSES:,} rows: "
        f"by counts {seconds_by_counts:.3f} s (SD {by_counts.std():.4f}), "
        f"by rows {seconds_by_rows:.3f} s (SD {by_rows.std():.4f}), "
        f"ratio {seconds_by_rows / seconds_by_counts:.0f}"
    )


def time_agreement() -> str:
    """Time every figure of a large campaign."""
    evidence = _large_campaign()
    started = perf_counter()
    document = measure_agreement(evidence, rule=published_rule(), rule_name="published")
    seconds = perf_counter() - started
    n_pairs = len(document["pairs"])
    return f"agreement of {N_ANNOTATORS} annotators, {N_LABELS:,} labels, {n_pairs:,} pairs: {seconds:.1f} s"


def _resample_rows(prompts: Counts, judge: Counts, human: Counts) -> Floats:
    generator = np.random.default_rng(1)
    rows_of = [np.flatnonzero(prompts == prompt) for prompt in range(N_PROMPTS)]
    values = []
    for _ in range(N_RESAMPLES):
        rows = np.concatenate([rows_of[prompt] for prompt in generator.integers(0, N_PROMPTS, N_PROMPTS)])
        values.append(kappas(cross_table(judge[rows], human[rows], 2)))
    return np.array(values)


def _large_campaign() -> Evidence:
    generator = random.Random(1)
    rows = [
        ResponseRow(item, item % N_PROMPTS, f"model-{item % 7}", f"category-{item % 12}", 0, "OK")
        for item in range(N_RESPONSES)
    ]
    severity = [generator.choice((1, 1, 1, 2, 3, 4, 5)) for _ in rows]
    labels = []
    for item in range(N_RESPONSES):
        for annotator in generator.sample(range(N_ANNOTATORS), N_LABELS // N_RESPONSES):
            seen = min(5, max(1, severity[item] + generator.choice((-1, 0, 0, 1))))
            labels.append(HumanLabel(item, f"annotator-{annotator:03}", seen >= 2, seen))
    verdicts = [
        JudgeVerdict(
            item, slug, "SCORED", min(5, max(1, severity[item] + generator.choice((-1, 0, 0, 0, 1))))
        )
        for slug, _ in JUDGES
        for item in range(N_RESPONSES)
    ]
    judges = tuple(JudgeInfo(slug, short_name) for slug, short_name in JUDGES)
    return Evidence(tuple(rows), tuple(labels), tuple(verdicts), judges)


if __name__ == "__main__":
    print(compare_bootstraps())
    print(time_agreement())
