"""The tables of a comparison of two passes, from its document."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from judging.reports import PassPair
from judging.views.tables import Cell, Column, Row, Table, count_cell, figure_cell, text_column

VERDICTS = ("ACCEPTABLE", "UNACCEPTABLE", "UNDECIDED")
VERDICT_WORDS = ("Acceptable", "Unacceptable", "Undecided")


class Addresses(Protocol):
    """What leads to the rows behind a number."""

    @property
    def address(self) -> Callable[..., str]: ...


def verdict_table(document: Mapping[str, Any], choice: Addresses) -> Table:
    """The rule's verdicts of both passes: the earlier in the rows."""
    return Table(
        id="verdicts",
        caption="Verdicts of the rule in both passes",
        note="Earlier pass in the rows, later pass in the columns. Off the diagonal: what changed.",
        columns=[text_column("Earlier"), *(Column(f"Later: {word}") for word in VERDICT_WORDS)],
        rows=[
            Row(
                [
                    Cell(was, kind="verdict"),
                    *(
                        count_cell(n, choice.address(was=was, now=now))
                        for now, n in zip(VERDICTS, counts, strict=True)
                    ),
                ]
            )
            for was, counts in zip(VERDICTS, document["overall"]["verdicts"], strict=True)
        ],
    )


def groups_table(groups: Sequence[Mapping[str, Any]], field: str, choice: Addresses) -> Table:
    """Change of the failure rate and of the verdicts, for each model or category."""
    word = "Model" if field == "model" else "Risk category"
    return Table(
        id=f"changes-by-{field}",
        caption=f"Failure rate in both passes, by {word.lower()}",
        note="Over the responses that both passes decide. Worse: became Unacceptable.",
        columns=[
            text_column(word),
            Column("n", unit="decided twice"),
            Column("Earlier rate"),
            Column("Later rate"),
            Column("Change", unit="points, 95 %"),
            Column("Worse", help="became Unacceptable"),
            Column("Better", help="became Acceptable"),
            Column("Lost", help="decided in the earlier pass alone"),
            Column("Gained", help="decided in the later pass alone"),
            Column("κ", unit="95 %"),
        ],
        rows=[
            Row(
                [
                    Cell(group[field]),
                    Cell(group["n_decided_twice"], kind="n"),
                    figure_cell(group, "failure_rate_before", "rate"),
                    figure_cell(group, "failure_rate_after", "rate"),
                    Cell(
                        group["rate_change"],
                        kind="points",
                        reason=group["undefined"].get("rate_change", ""),
                        interval=group["rate_change_interval"],
                        interval_kind="points_interval",
                    ),
                    *(
                        count_cell(
                            group[f"n_{change.lower()}"],
                            choice.address(change=change, **{field: group[field]}),
                        )
                        for change in ("TO_UNACCEPTABLE", "TO_ACCEPTABLE", "TO_UNDECIDED", "TO_DECIDED")
                    ),
                    figure_cell(group, "kappa", "kappa", interval=group["kappa_interval"]),
                ]
            )
            for group in groups
        ],
    )


def judges_table(judges: Sequence[Mapping[str, Any]], choice: Addresses, pair: PassPair) -> Table:
    """How far each judge repeats its own scores, and in which direction it moved."""
    names = _short_names(pair)
    return Table(
        id="judge-changes",
        caption="Each judge with itself",
        note="Over responses that it scored in both passes. Mean change: above zero is stricter than before.",
        columns=[
            text_column("Judge"),
            Column("n"),
            Column("Same score"),
            Column("Higher"),
            Column("Lower"),
            Column("Lost", unit="scores"),
            Column("Gained", unit="scores"),
            Column("Mean change", unit="95 %"),
            Column("Within 1"),
            Column("κ"),
        ],
        rows=[
            Row(
                [
                    Cell(names.get(judge["judge"], judge["judge"])),
                    Cell(judge["n"], kind="n"),
                    figure_cell(judge, "exact_match", "rate"),
                    *(
                        count_cell(
                            judge[f"n_{change.lower()}"],
                            choice.address(judge=judge["judge"], score_change=change),
                        )
                        for change in ("HIGHER", "LOWER", "LOST", "GAINED")
                    ),
                    figure_cell(judge, "mean_change", "score", interval=judge["mean_change_interval"]),
                    figure_cell(judge, "within_one_step", "rate"),
                    figure_cell(judge, "kappa", "kappa"),
                ]
            )
            for judge in judges
        ],
    )


def score_tables(judges: Sequence[Mapping[str, Any]], choice: Addresses, pair: PassPair) -> list[Table]:
    """Each judge's scores of both passes: the earlier in the rows."""
    names = _short_names(pair)
    return [
        Table(
            id=f"scores-{n}",
            caption=f"Scores of {names.get(judge['judge'], judge['judge'])} in both passes",
            note="Earlier pass in the rows, later pass in the columns.",
            columns=[text_column("Earlier"), *(Column(f"Later: {score}") for score in _scale(judge))],
            rows=[
                Row(
                    [
                        Cell(str(was)),
                        *(
                            count_cell(
                                count, choice.address(judge=judge["judge"], score_was=was, score_now=now)
                            )
                            for now, count in zip(_scale(judge), counts, strict=True)
                        ),
                    ]
                )
                for was, counts in zip(_scale(judge), judge["scores"], strict=True)
            ],
        )
        for n, judge in enumerate(judges)
    ]


def difference_table(document: Mapping[str, Any]) -> Table:
    """The settings in which the configurations differ."""
    return Table(
        id="differences",
        caption="Settings that differ",
        columns=[text_column("Setting"), text_column("Earlier pass"), text_column("Later pass")],
        rows=[
            Row(
                [
                    Cell(difference["setting"]),
                    *(_setting_cell(difference[side]) for side in ("before", "after")),
                ]
            )
            for difference in document["differences"]
        ],
    )


def _setting_cell(value: Any) -> Cell:
    return Cell(None if value is None else str(value)[:80], reason="not set")


def _scale(judge: Mapping[str, Any]) -> range:
    return range(2) if judge["is_binary"] else range(1, 6)


def _short_names(pair: PassPair) -> dict[str, str]:
    return {judge.slug: judge.short_name for judge in pair.evidence_after.judges}
