"""The responses behind a number of a comparison."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.urls import reverse

from annotation.models import Response
from judging.models import JudgePass
from judging.reports import PassPair
from judging.stats.records import Evidence
from judging.views.tables import Cell, Column, Row, Table, text_column
from judging.views.wording import missing_words

if TYPE_CHECKING:
    from judging.stats.comparison import ComparedRow

Verdicts = Mapping[tuple[int, str], tuple[int | None, str]]
# Filters that say which responses, and nothing of what became of their verdicts.
WHERE_FILTERS = frozenset({"model", "category"})


def rows_behind(pair: PassPair, filters: Mapping[str, Any]) -> list["ComparedRow"]:
    """The compared responses that pass every filter; where none is about verdicts, those that differ.

    Args:
        pair: the passes and the rule.
        filters: cleaned data of `ComparedRowsForm`; blank values do not filter.
    """
    from judging.stats.comparison import pair_rows

    given = {name: value for name, value in filters.items() if value not in (None, "")}
    before, after = _verdicts(pair.evidence_before), _verdicts(pair.evidence_after)
    judge = given.get("judge")

    def passes(compared: "ComparedRow") -> bool:
        pk = compared.row.response_id
        found: dict[str, Any] = {
            "model": compared.row.model,
            "category": compared.row.category,
            "change": compared.change,
            "was": compared.before.verdict,
            "now": compared.after.verdict,
            "judge": judge,
        }
        if judge:
            found["score_was"] = before.get((pk, judge), (None, ""))[0]
            found["score_now"] = after.get((pk, judge), (None, ""))[0]
            found["score_change"] = _score_change(found["score_was"], found["score_now"])
        return all(found[name] == value for name, value in given.items())

    compared = pair_rows(pair.evidence_before, pair.evidence_after, rule=pair.chosen.rule)
    if is_of_differing(filters):
        return [row for row in compared if row.change != "SAME" and passes(row)]
    if given.get("change") == "ANY":
        del given["change"]
    return [row for row in compared if passes(row)]


def _score_change(was: int | None, now: int | None) -> str | None:
    """What became of one judge's score, a code of `SCORE_CHANGES`; None where it gave none in both passes."""
    if was is None or now is None:
        return "LOST" if was is not None else "GAINED" if now is not None else None
    return "SAME" if was == now else "HIGHER" if now > was else "LOWER"


def is_of_differing(filters: Mapping[str, Any]) -> bool:
    """Whether the filters leave open what became of the verdict, so that only those that differ are meant."""
    return WHERE_FILTERS.issuperset(name for name, value in filters.items() if value not in (None, ""))


def rows_table(compared: Sequence["ComparedRow"], responses: Sequence[Response], pair: PassPair) -> Table:
    """Verdicts and scores of these responses in both passes."""
    judges = [judge for judge in pair.evidence_after.judges if judge.slug in _judges(pair.evidence_before)]
    before, after = _verdicts(pair.evidence_before), _verdicts(pair.evidence_after)
    by_id = {response.pk: response for response in responses}
    return Table(
        id="changed-rows",
        caption="Responses",
        note="Of each judge: the score in the earlier pass, then in the later one.",
        columns=[
            text_column("Case"),
            text_column("Model"),
            Column("Rollout"),
            text_column("Earlier verdict"),
            text_column("Later verdict"),
            *(text_column(f"{judge.short_name} was, is") for judge in judges),
        ],
        rows=[
            Row(
                [
                    Cell(
                        by_id[row.row.response_id].prompt.case_uid,
                        href=_address(by_id[row.row.response_id], pair.after),
                    ),
                    Cell(row.row.model),
                    Cell(row.row.rollout, kind="count", reason="outside any rollout"),
                    Cell(row.before.verdict, kind="verdict"),
                    Cell(row.after.verdict, kind="verdict"),
                    *(
                        Cell(
                            _was_is(
                                before.get((row.row.response_id, judge.slug)),
                                after.get((row.row.response_id, judge.slug)),
                            )
                        )
                        for judge in judges
                    ),
                ]
            )
            for row in compared
            if row.row.response_id in by_id
        ],
    )


def _was_is(was: tuple[int | None, str] | None, now: tuple[int | None, str] | None) -> str:
    return f"{_said(was)} → {_said(now)}"


def _said(verdict: tuple[int | None, str] | None) -> str:
    if verdict is None:
        return "never judged"
    score, state = verdict
    return missing_words(state) if score is None else str(score)


def _address(response: Response, judge_pass: JudgePass) -> str:
    kwargs = {"slug": judge_pass.benchmark.slug, "public_id": response.public_id}
    return f"{reverse('judging:response', kwargs=kwargs)}?{urlencode({'pass': judge_pass.public_id})}"


def _judges(evidence: Evidence) -> set[str]:
    return {judge.slug for judge in evidence.judges}


def _verdicts(evidence: Evidence) -> Verdicts:
    return {
        (verdict.response_id, verdict.judge): (verdict.score, verdict.state) for verdict in evidence.verdicts
    }
