"""Two passes beside each other, response by response: what the rule said, and every judge's score."""

from collections import Counter
from collections.abc import Iterator

from annotation.models import Benchmark, Response
from judging.errors import ExportError
from judging.exports.columns import Basis, Row, Table, integers, numbers, texts
from judging.exports.requests import ExportRequest
from judging.reports import DEFAULT_SEED, PassPair, describe_pair, pair_passes
from judging.selectors import default_pass
from judging.stats.records import Evidence


def open_comparison(benchmark: Benchmark, request: ExportRequest) -> Table:
    """The responses that both passes grade, with the change of the verdict in `change`.

    `request.judge_pass` is the later pass, the newest finished one if none is named; responses that only
    one of them grades are left out and counted. The manifest holds the whole comparison.

    Raises:
        ExportError: no earlier pass is named, or there is no later one.
        PassError, RuleError: as `reports.pair_passes`.
    """
    from judging.stats.comparison import pair_rows

    after = request.judge_pass or default_pass(benchmark)
    if request.before is None or after is None:
        raise ExportError(
            "The table comparison needs two passes, and fewer were named. Name the earlier one with before "
            "(--before), and the later one with pass (--pass).",
            code="no_pass",
        )
    pair = pair_passes(benchmark, before=request.before, after=after, rule=request.rule)
    document = describe_pair(pair)
    compared = pair_rows(pair.evidence_before, pair.evidence_after, rule=pair.chosen.rule)
    judges = [measured["judge"] for measured in document["judges"]]
    return Table(
        columns=(
            *texts("case_uid"),
            *integers("rollout"),
            *texts("risk_category", "model", "change", "verdict_before", "verdict_after"),
            *numbers("weighted_score_before", "weighted_score_after"),
            *(
                column
                for judge in judges
                for side in ("before", "after")
                for column in (*integers(f"{judge}_{side}"), *texts(f"{judge}_{side}_state"))
            ),
            *texts("response_id"),
        ),
        rows=_rows(pair, {row.row.response_id: row for row in compared}, judges),
        basis=Basis(
            judge_pass=after,
            rule=document["rule"],
            rule_name=document["rule_name"],
            rule_source=document["rule_source"],
            rule_in_words=document["rule_in_words"],
            digest=document["digests"]["after"],
            seed=DEFAULT_SEED,
        ),
        left_out=Counter(
            only_before=document["n_before"] - document["n_common"],
            only_after=document["n_after"] - document["n_common"],
        ),
        figures=document,
    )


def _rows(pair: PassPair, compared: dict[int, object], judges: list[str]) -> Iterator[Row]:
    from judging.stats.comparison import ComparedRow

    sides = [_verdicts(pair.evidence_before), _verdicts(pair.evidence_after)]
    values = Response.objects.filter(prompt__benchmark=pair.benchmark).order_by("pk")
    named = values.values_list(
        "pk", "prompt__case_uid", "rollout", "prompt__risk_category", "target_model__slug", "public_id"
    )
    for pk, *described, public_id in named.iterator():
        row = compared.get(pk)
        if not isinstance(row, ComparedRow):
            continue
        yield (
            *described,
            row.change,
            row.before.verdict,
            row.after.verdict,
            *(None if said.score is None else float(said.score) for said in (row.before, row.after)),
            *(value for judge in judges for side in sides for value in side.get((pk, judge), (None, None))),
            public_id,
        )


def _verdicts(evidence: Evidence) -> dict[tuple[int, str], tuple[int | None, str]]:
    """Score and state by response id and judge."""
    return {
        (verdict.response_id, verdict.judge): (verdict.score, verdict.state) for verdict in evidence.verdicts
    }
