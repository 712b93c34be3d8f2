"""Tables of the Calibration page: pairs of readers, the confusion, people as a group."""

from collections.abc import Mapping, Sequence
from typing import Any

from judging.stats.records import ACCEPTABLE, UNACCEPTABLE
from judging.views.choosing import ReportChoice
from judging.views.tables import Cell, Column, Row, Table, count_cell, figure_cell, text_column
from judging.views.wording import PAIR_KINDS, reason_words

Pair = Mapping[str, Any]
MOST_PAIRS_LISTED = 60
CLASS_WORDS = ("Acceptable", "Unacceptable")


def pairs_in_order(pairs: Sequence[Pair]) -> list[Pair]:
    """Rule first, then judges, people, and judges among themselves; the consensus leads its group.

    Of more than `MOST_PAIRS_LISTED` pairs of one kind those with the most responses are listed.
    """
    listed: list[Pair] = []
    for kind in PAIR_KINDS:
        members = [pair for pair in pairs if pair["kind"] == kind]
        largest = sorted(members, key=lambda pair: (pair["b"] != "consensus", -pair["n"]))
        listed += sorted(
            largest[:MOST_PAIRS_LISTED], key=lambda pair: (pair["a"], pair["b"] != "consensus", pair["b"])
        )
    return listed


def class_table(pairs: Sequence[Pair], choice: ReportChoice) -> Table:
    """Agreement in the two classes, for every pair."""
    return Table(
        id="pairs",
        caption="Agreement on Acceptable and Unacceptable",
        note=_pairs_note(pairs),
        columns=[
            text_column("First"),
            text_column("Second"),
            text_column("Pair"),
            Column("n", unit="responses", help="Responses that both read"),
            Column(
                "Missing",
                unit="responses",
                help="Responses of the second that the first lacks; between equals, read by one only",
            ),
            Column(
                "Same class",
                unit="share",
                help="Share of the responses on which the two say the same (binary accuracy)",
            ),
            Column(
                "κ",
                unit="two classes",
                help="Cohen's kappa: agreement beyond what chance gives; 0 is chance, 1 is full agreement",
            ),
        ],
        rows=[_class_row(pair, choice) for pair in pairs_in_order(pairs)],
    )


def match_table(pairs: Sequence[Pair]) -> Table:
    """How often two readers give the same score, or nearly; pairs without a common scale say why."""
    return Table(
        id="matches",
        caption="Scores that meet on the 1-5 scale",
        note="Judges' scores and people's severities. A dash: one side gives only the two classes, so "
        "there is nothing to compare. By chance: how often two such readers would come within one step.",
        columns=[
            text_column("First"),
            text_column("Second"),
            Column("n", unit="responses", help="Responses that both put on the 1-5 scale"),
            Column("Exact match", unit="share"),
            Column("Within one step", unit="share"),
            Column("By chance", unit="within one step"),
        ],
        rows=[
            Row(
                [
                    *_names_and_n_scale(pair),
                    _estimate(pair, "exact_match", kind="rate"),
                    _estimate(pair, "within_one_step", kind="rate"),
                    figure_cell(pair, "chance_within_one_step", "rate"),
                ]
            )
            for pair in pairs_in_order(pairs)
        ],
    )


def scale_table(pairs: Sequence[Pair]) -> Table:
    """Kappas over the five values, unweighted and weighted."""
    return Table(
        id="scale-pairs",
        caption="κ on the 1-5 scale",
        note="Over all five values. Linear and quadratic weights count a near miss as part of a match.",
        columns=[
            text_column("First"),
            text_column("Second"),
            Column("n", unit="responses", help="Responses that both put on the 1-5 scale"),
            Column("κ", unit="unweighted"),
            Column("κ", unit="linear"),
            Column("κ", unit="quadratic"),
        ],
        rows=[
            Row(
                [
                    *_names_and_n_scale(pair),
                    _estimate(pair, "kappa"),
                    _estimate(pair, "kappa_linear"),
                    _estimate(pair, "kappa_quadratic"),
                ]
            )
            for pair in pairs_in_order(pairs)
        ],
    )


def confusion_table(pair: Pair, choice: ReportChoice) -> Table:
    """One pair's four counts, each linked to its responses."""
    letters = ("A", "U")
    return Table(
        id="confusion",
        caption=f"What the rule {pair['a']} and people's consensus said",
        note="Responses, counted. Rows: the rule. Columns: people.",
        columns=[text_column("Rule"), *(Column("People say", unit=word) for word in CLASS_WORDS)],
        rows=[
            Row(
                [
                    Cell((ACCEPTABLE, UNACCEPTABLE)[row], kind="verdict"),
                    *(
                        count_cell(
                            pair["confusion"][row][column],
                            pair_rows(pair, choice, cell=letters[row] + letters[column]),
                        )
                        for column in range(2)
                    ),
                ]
            )
            for row in range(2)
        ],
    )


def ceiling_table(agreement: Mapping[str, Any]) -> Table:
    """Each judge and the rule against every single person, beside people against each other."""
    ceiling = agreement["human_ceiling"]
    machines = {**ceiling["rules"], **ceiling["judges"]}
    return Table(
        id="ceiling",
        caption="Beside people's agreement with each other",
        note="Mean κ with single persons can be set beside people's own mean. κ with the consensus "
        "cannot: a pooled label is less noisy than any person's. Only the interval of the difference can "
        "carry a claim.",
        columns=[
            text_column("Reader"),
            Column("Mean κ", unit="with single persons"),
            Column("Less people's own", unit="difference"),
            Column("κ", unit="with the consensus"),
        ],
        rows=[
            Row(
                [
                    Cell(name),
                    figure_cell(figures, "mean_vs_each", "kappa"),
                    figure_cell(figures, "difference", "kappa", interval=figures["difference_interval"]),
                    figure_cell(figures, "vs_consensus", "kappa"),
                ]
            )
            for name, figures in machines.items()
        ],
    )


def reliability_table(agreement: Mapping[str, Any]) -> Table:
    """Alphas and Fleiss' kappas over all labels, with what each rests on."""
    alpha, fleiss, undefined = agreement["alpha"], agreement["fleiss"], agreement["undefined"]
    n_scale, n_classes = agreement["alpha_n"]["n_rows"], agreement["alpha_n"]["n_rows_binary"]
    entries = [
        ("Krippendorff α, two classes", alpha["nominal_binary"], "alpha.nominal_binary", n_classes, None),
        ("Krippendorff α, severity, nominal", alpha["nominal"], "alpha.nominal", n_scale, None),
        ("Krippendorff α, severity, ordinal", alpha["ordinal"], "alpha.ordinal", n_scale, None),
        ("Krippendorff α, severity, interval", alpha["interval"], "alpha.interval", n_scale, None),
        (
            "Fleiss κ, two classes",
            agreement["fleiss_kappa_binary"],
            "fleiss_kappa_binary",
            *_n_and_m(fleiss["binary"]),
        ),
        ("Fleiss κ, severity", agreement["fleiss_kappa"], "fleiss_kappa", *_n_and_m(fleiss["severity"])),
    ]
    return Table(
        id="reliability",
        caption="People as a group",
        note="α uses every response with two or more labels. Fleiss' κ needs the same number m of labels "
        "on each response, so it uses the responses with the most frequent m.",
        columns=[
            text_column("Coefficient"),
            Column("Value"),
            Column("n", unit="responses"),
            Column("m", unit="labels on each"),
        ],
        rows=[
            Row(
                [
                    Cell(name),
                    Cell(
                        value, kind="kappa", reason=reason_words(undefined.get(code)) if value is None else ""
                    ),
                    Cell(n, kind="count"),
                    Cell(m, kind="count", reason="any number from two"),
                ]
            )
            for name, value, code, n, m in entries
        ],
    )


def pair_rows(pair: Pair, choice: ReportChoice, *, cell: str) -> str:
    """The address of the responses behind one count of a pair."""
    return choice.rows(pair=pair["kind"], a=pair["a"], b=pair["b"], cell=cell)


def _pairs_note(pairs: Sequence[Pair]) -> str:
    note = "Every pair of readers with a response in common. Each estimate is followed by its 95 % interval."
    n_left = len(pairs) - len(pairs_in_order(pairs))
    if n_left:
        note += f" {n_left:,} more pairs, with fewer responses, are in the download."
    return note


def _n_and_m(rests_on: Mapping[str, int | None]) -> tuple[int | None, int | None]:
    return rests_on["n"], rests_on["m"]


def _class_row(pair: Pair, choice: ReportChoice) -> Row:
    both = pair_rows(pair, choice, cell="BOTH")
    return Row(
        [
            Cell(pair["a"]),
            Cell(pair["b"]),
            Cell(PAIR_KINDS[pair["kind"]]),
            Cell(pair["n"], kind="n", href=both),
            count_cell(pair["n_missing"], pair_rows(pair, choice, cell="MISSING")),
            _estimate(pair, "binary_accuracy", kind="rate"),
            _estimate(pair, "binary_kappa"),
        ]
    )


def _names_and_n_scale(pair: Pair) -> list[Cell]:
    n = pair["n_scale"]
    return [Cell(pair["a"]), Cell(pair["b"]), Cell(n, kind="n" if n else "count")]


def _estimate(pair: Pair, metric: str, *, kind: str = "kappa") -> Cell:
    return figure_cell(pair, metric, kind, interval=(pair["interval"] or {}).get(metric))
