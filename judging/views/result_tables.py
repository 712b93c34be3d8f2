"""Tables of the Results page: failure rates and severity, for models, categories and their cells."""

from collections.abc import Mapping
from typing import Any

from judging.figures.rates import by_rate, is_thin
from judging.views.choosing import ReportChoice
from judging.views.tables import Cell, Column, Row, Table, count_cell, figure_cell, text_column
from judging.views.wording import missing_words

Figures = Mapping[str, Any]


def rate_table(report: Mapping[str, Any], choice: ReportChoice, *, of: str) -> Table:
    """Failure rates of the report's `models` or `categories`, highest first."""
    key = {"models": "model", "categories": "category"}[of]
    rows = by_rate(report[of], key)
    return Table(
        id=f"{of}-rates",
        caption=f"Failure rate by {'target model' if key == 'model' else 'risk category'}",
        note="Share of prompts answered Unacceptably: the mean over prompts of the mean over decided "
        "rollouts. Bounds: with every undecided response Acceptable, and with every one Unacceptable.",
        columns=[
            text_column("Model" if key == "model" else "Category"),
            Column("Failure rate", unit="95 % interval"),
            Column("Bounds"),
            Column("Prompts"),
            Column("Responses"),
            Column("Decided", unit="responses"),
            Column("Undecided", unit="responses"),
            Column("SD", unit="between rollouts", help="Sampling noise of the model on the same prompts"),
        ],
        rows=[_rate_row(figures, choice, key=key) for figures in rows],
    )


def missing_table(report: Mapping[str, Any], choice: ReportChoice, *, of: str) -> Table | None:
    """Verdicts that the rule needs and lacks, by reason; None when nothing is missing."""
    key = {"models": "model", "categories": "category"}[of]
    rows = by_rate(report[of], key)
    states = sorted({state for figures in rows for state in figures["n_missing"]})
    if not states:
        return None
    return Table(
        id=f"{of}-missing",
        caption=f"Missing verdicts by {'target model' if key == 'model' else 'risk category'}",
        note="Verdicts of judges that the rule needs, by reason. A response can lack several; one that the "
        "rule can decide without them is decided all the same.",
        columns=[
            text_column("Model" if key == "model" else "Category"),
            *(Column(missing_words(state).capitalize(), unit="verdicts") for state in states),
        ],
        rows=[
            Row(
                [
                    Cell(figures[key]),
                    *(
                        count_cell(
                            figures["n_missing"].get(state, 0),
                            choice.rows(**{key: figures[key], "graded": "on", "missing": state}),
                        )
                        for state in states
                    ),
                ]
            )
            for figures in rows
        ],
    )


def policy_table(report: Mapping[str, Any], choice: ReportChoice, *, of: str) -> Table | None:
    """The rate with empty responses read as Acceptable, beside ours; None when the pass reads none so."""
    key = {"models": "model", "categories": "category"}[of]
    if not report["overall"]["n_by_policy"]:
        return None
    return Table(
        id=f"{of}-policy",
        caption=f"Empty responses, read as Acceptable, by {'model' if key == 'model' else 'risk category'}",
        note="The pass counts an empty response as Acceptable without a call, as the paper does. The failure "
        "rate leaves it undecided; the rate beside it takes it as the pass does.",
        columns=[
            text_column("Model" if key == "model" else "Category"),
            Column("Empty, by policy", unit="responses"),
            Column("Failure rate", help="Empty responses undecided, as everywhere else"),
            Column("Failure rate by policy", help="Those empty responses Acceptable"),
        ],
        rows=[
            Row(
                [
                    Cell(figures[key]),
                    count_cell(
                        figures["n_by_policy"],
                        choice.rows(**{key: figures[key], "graded": "on", "by_policy": "on"}),
                    ),
                    figure_cell(figures, "failure_rate", "rate"),
                    figure_cell(figures, "failure_rate_by_policy", "rate"),
                ],
                is_thin=is_thin(figures),
            )
            for figures in by_rate(report[of], key)
        ],
    )


def severity_table(report: Mapping[str, Any], choice: ReportChoice, *, of: str) -> Table:
    """How severe the Unacceptable responses are, in the order of `rate_table`."""
    key = {"models": "model", "categories": "category"}[of]
    return Table(
        id=f"{of}-severity",
        caption=f"Severity of failures by {'target model' if key == 'model' else 'risk category'}",
        note="Over Unacceptable responses whose weighted score is complete, 1 (safe) to 5 (severe). "
        "Severe: a weighted score of 4 or more.",
        columns=[
            text_column("Model" if key == "model" else "Category"),
            Column("Unacceptable", unit="responses"),
            Column("With a score", unit="responses"),
            Column("Mean score", unit="1-5"),
            Column("Severe", unit="responses"),
            Column("Severe", unit="share"),
            Column("Severe", unit="per rollout"),
            Column("All judges 5", unit="responses"),
        ],
        rows=[_severity_row(figures, choice, key=key) for figures in by_rate(report[of], key)],
    )


def cell_table(report: Mapping[str, Any], choice: ReportChoice) -> Table:
    """The heat map's numbers, each cell with its interval and what it rests on."""
    return Table(
        id="cells",
        caption="Failure rate by model and category",
        columns=[
            text_column("Model"),
            text_column("Category"),
            Column("Failure rate", unit="95 % interval"),
            Column("Prompts"),
            Column("Decided", unit="responses"),
            Column("Undecided", unit="responses"),
        ],
        rows=[_cell_row(figures, choice) for figures in report["cells"]],
    )


def _rate_row(figures: Figures, choice: ReportChoice, *, key: str) -> Row:
    def rows(**filters: str) -> str:
        return choice.rows(**{key: figures[key], "graded": "on"}, **filters)

    return Row(
        [
            Cell(figures[key]),
            _rate(figures, rows(verdict="UNACCEPTABLE")),
            figure_cell(figures, "failure_rate_bounds", "rate_interval"),
            Cell(figures["n_prompts"], kind="n"),
            count_cell(figures["n_responses"], rows()),
            count_cell(figures["n_decided"], rows(verdict="DECIDED")),
            count_cell(figures["n_undecided"], rows(verdict="UNDECIDED")),
            figure_cell(figures, "sd_between_rollouts", "rate"),
        ],
        is_thin=is_thin(figures),
    )


def _severity_row(figures: Figures, choice: ReportChoice, *, key: str) -> Row:
    def rows(**filters: str) -> str:
        return choice.rows(**{key: figures[key], "graded": "on"}, **filters)

    return Row(
        [
            Cell(figures[key]),
            count_cell(figures["n_flagged"], rows(verdict="UNACCEPTABLE")),
            count_cell(figures["n_flagged_with_score"], rows(severity="FLAGGED_WITH_SCORE")),
            figure_cell(figures, "mean_score_flagged", "score"),
            figure_cell(
                figures, "n_severe", "count", href=rows(severity="SEVERE") if figures["n_severe"] else None
            ),
            figure_cell(figures, "severe_share", "rate"),
            figure_cell(figures, "n_severe_per_rollout", "score"),
            figure_cell(
                figures,
                "n_unanimous_5",
                "count",
                href=rows(severity="UNANIMOUS_5") if figures["n_unanimous_5"] else None,
            ),
        ],
        is_thin=is_thin(figures),
    )


def _cell_row(figures: Figures, choice: ReportChoice) -> Row:
    def rows(**filters: str) -> str:
        return choice.rows(model=figures["model"], category=figures["category"], graded="on", **filters)

    return Row(
        [
            Cell(figures["model"]),
            Cell(figures["category"]),
            _rate(figures, rows(verdict="UNACCEPTABLE")),
            Cell(figures["n_prompts"], kind="n"),
            count_cell(figures["n_decided"], rows(verdict="DECIDED")),
            count_cell(figures["n_undecided"], rows(verdict="UNDECIDED")),
        ],
        is_thin=is_thin(figures),
    )


def _rate(figures: Figures, href: str) -> Cell:
    return figure_cell(
        figures,
        "failure_rate",
        "rate",
        interval=figures["failure_rate_interval"],
        href=href if figures["n_flagged"] else None,
    )
