"""What the rule decided, response by response: results and the calibrated data set.

Both rest on `reports.grade_responses`, so that every row stands behind a figure of the report.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from annotation.models import Benchmark, Campaign, Response
from judging.errors import ExportError
from judging.exports.columns import Basis, Column, Kind, Row, Table, integers, numbers, texts
from judging.exports.requests import ExportRequest
from judging.reports import DEFAULT_SEED, ChosenRule, Grading, grade_responses
from judging.selectors import standing_labels

# An empty response, undecided here, that the pass reads as Acceptable.
BY_POLICY_COLUMN = Column("is_by_policy", Kind.BOOLEAN)


def open_results(benchmark: Benchmark, request: ExportRequest) -> Table:
    """The report's rows in the columns of `results.csv`, then what was missing.

    Responses that the report does not grade are left out and counted.
    """
    graded, basis = _grade(benchmark, request)
    left_out: Counter[str] = Counter()
    return Table(
        columns=(
            *texts("case_uid"),
            *integers("rollout"),
            *texts("risk_category", "risk_mechanism", "prompt", "model_response", "model"),
            *integers(*(f"{slug}_rating" for slug in graded.judges)),
            *numbers("weighted_score"),
            *texts("multijudge_verdict", "weighted_score_exact", "undecided_reason"),
            Column("missing_judges", Kind.JSON),
            *texts("response_state", "response_id"),
            BY_POLICY_COLUMN,
        ),
        rows=_result_rows(graded, left_out),
        basis=basis,
        left_out=left_out,
    )


def open_calibrated(benchmark: Benchmark, request: ExportRequest) -> Table:
    """Every response that was labelled or judged: labels, consensus, scores, verdict, what was missing.

    `is_graded` tells the rows of the report from labelled texts outside it.
    """
    graded, basis = _grade(benchmark, request)
    left_out: Counter[str] = Counter()
    of_judges = (
        column
        for slug in graded.judges
        for column in (*integers(f"{slug}_rating"), *texts(f"{slug}_rating_state"))
    )
    return Table(
        columns=(
            *texts("case_uid"),
            *integers("rollout"),
            *texts("risk_category", "risk_mechanism", "prompt", "response", "model"),
            *texts("response_state", "response_id"),
            *integers("n_labels", "n_acceptable", "n_unacceptable"),
            *texts("consensus"),
            Column("labels", Kind.JSON),
            *of_judges,
            *numbers("weighted_score", "weighted_score_low", "weighted_score_high"),
            *texts("weighted_score_exact", "verdict", "undecided_reason"),
            Column("missing_judges", Kind.JSON),
            Column("is_graded", Kind.BOOLEAN),
            BY_POLICY_COLUMN,
        ),
        rows=_calibrated_rows(graded, request.campaign, left_out),
        basis=basis,
        left_out=left_out,
    )


def exact_text(score: Fraction | None) -> str | None:
    """A weighted score without rounding: a decimal, or a fraction such as 5/3 where none is exact."""
    if score is None:
        return None
    rest, n_digits = score.denominator, 0
    for prime in (2, 5):
        n_factors = 0
        while rest % prime == 0:
            rest //= prime
            n_factors += 1
        n_digits = max(n_digits, n_factors)
    if rest != 1:
        return f"{score.numerator}/{score.denominator}"
    if not n_digits:
        return str(score.numerator)
    digits = str(int(score * 10**n_digits)).zfill(n_digits + 1)
    return f"{digits[:-n_digits]}.{digits[-n_digits:]}"


class _Graded:
    """Decisions, scores and labels by response id."""

    def __init__(self, grading: Grading, chosen: ChosenRule) -> None:
        from judging.stats.results import grade_rows

        evidence = grading.evidence
        self.benchmark = grading.benchmark
        self.consensus = grading.consensus
        self.judges = [judge.slug for judge in evidence.judges]
        self.graded_ids = {row.response_id for row in evidence.graded_rows()}
        # Labelled responses outside the report are decided too: they show what lacks.
        everything = replace(evidence, graded=frozenset(row.response_id for row in evidence.rows))
        self.by_id = {graded.row.response_id: graded for graded in grade_rows(everything, chosen.rule)}
        self.verdicts = {(verdict.response_id, verdict.judge): verdict for verdict in evidence.verdicts}

    def scores_of(self, response_id: int) -> list[int | None]:
        """The score of each judge of the pass, None where there is none."""
        found = (self.verdicts.get((response_id, slug)) for slug in self.judges)
        return [None if verdict is None else verdict.score for verdict in found]

    def states_of(self, response_id: int) -> list[str | None]:
        """The state of each judge's verdict, None where the judge has no row in the pass."""
        found = (self.verdicts.get((response_id, slug)) for slug in self.judges)
        return [None if verdict is None else verdict.state for verdict in found]

    def missing_of(self, response_id: int) -> dict[str, str]:
        """Why each judge that the rule lacks is missing."""
        graded = self.by_id[response_id]
        return dict(zip(graded.decision.missing, graded.missing_states, strict=True))


def _grade(benchmark: Benchmark, request: ExportRequest) -> tuple[_Graded, Basis]:
    from judging.stats.aggregation import rule_in_words

    grading = grade_responses(
        benchmark, judge_pass=request.judge_pass, rule=request.rule, campaign=request.campaign
    )
    if grading.judge_pass is None or grading.chosen is None:
        raise ExportError(
            f"The benchmark {benchmark.slug} has no finished pass with judges, so nothing was decided. "
            "Import judge scores or run a pass, then export.",
            code="no_pass",
        )
    chosen = grading.chosen
    short_names = {judge.slug: judge.short_name for judge in grading.evidence.judges}
    basis = Basis(
        judge_pass=grading.judge_pass,
        rule=chosen.rule.to_json(),
        rule_name=chosen.name,
        rule_source=chosen.source,
        rule_in_words=rule_in_words(chosen.rule, short_names),
        campaign=request.campaign,
        digest=grading.digest,
        seed=DEFAULT_SEED,
    )
    return _Graded(grading, chosen), basis


def _response_values(benchmark: Benchmark) -> Iterator[tuple[Any, ...]]:
    """Primary key, then case, rollout, category, mechanism, prompt, text, model, state and id."""
    values = Response.objects.filter(prompt__benchmark=benchmark).order_by("pk")
    return values.values_list(
        "pk",
        "prompt__case_uid",
        "rollout",
        "prompt__risk_category",
        "prompt__risk_mechanism",
        "prompt__text",
        "text",
        "target_model__slug",
        "state",
        "public_id",
    ).iterator()


def _result_rows(graded: _Graded, left_out: Counter[str]) -> Iterator[Row]:
    for pk, *described, state, public_id in _response_values(graded.benchmark):
        if pk not in graded.graded_ids:
            left_out["outside_any_rollout" if described[1] is None else "not_in_pass"] += 1
            continue
        decision = graded.by_id[pk].decision
        yield (
            *described,
            *graded.scores_of(pk),
            _number(decision.score),
            decision.verdict,
            exact_text(decision.score),
            decision.reason,
            graded.missing_of(pk),
            state,
            public_id,
            graded.by_id[pk].is_by_policy,
        )


def _calibrated_rows(graded: _Graded, campaign: Campaign | None, left_out: Counter[str]) -> Iterator[Row]:
    labels: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    for label in standing_labels(graded.benchmark, campaign):
        labels[label.response_id].append(
            {
                "annotator": label.annotator,
                "annotator_type": label.annotator_type,
                "rating": label.rating,
                "severity": label.severity,
            }
        )
    for pk, *described, state, public_id in _response_values(graded.benchmark):
        if pk not in graded.by_id:
            left_out["neither_labelled_nor_judged"] += 1
            continue
        decision, joint = graded.by_id[pk].decision, graded.consensus.get(pk)
        of_judges = zip(graded.scores_of(pk), graded.states_of(pk), strict=True)
        yield (
            *described,
            state,
            public_id,
            len(labels[pk]),
            joint.n_acceptable if joint else 0,
            joint.n_unacceptable if joint else 0,
            joint.verdict if joint else None,
            labels[pk],
            *(value for pair in of_judges for value in pair),
            _number(decision.score),
            _number(decision.low),
            _number(decision.high),
            exact_text(decision.score),
            decision.verdict,
            decision.reason,
            graded.missing_of(pk),
            pk in graded.graded_ids,
            graded.by_id[pk].is_by_policy,
        )


def _number(score: Fraction | None) -> float | None:
    """The nearest floating-point number; the verdict never rests on it."""
    return None if score is None else float(score)
