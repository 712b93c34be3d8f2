"""The sentence that opens a page, in every state of the data."""

import re
from typing import Any

import pytest

from judging.views.answers import calibration_answer, labels_answer, results_answer

LABELS = {"n": 48, "n_annotators": 2, "n_anonymous": 0, "n_responses": 24, "n_contested": 3}


def words(html: str) -> str:
    """A sentence as a reader sees it."""
    return re.sub(r"<[^>]+>", "", html)


def pair(**values: Any) -> dict[str, Any]:
    given = {
        "kind": "rule-human",
        "a": "uniform",
        "b": "consensus",
        "n": 1204,
        "n_missing": 0,
        "binary_kappa": 0.5512,
        "binary_accuracy": 0.9,
        "confusion": [[500, 60], [60, 584]],
        "interval": {"binary_kappa": [0.5, 0.6]},
        "undefined": {},
    }
    return given | values


def report(
    *pairs: dict[str, Any], labels: dict[str, int] | None = None, has_rule: bool = True, **ceiling: Any
) -> dict[str, Any]:
    human_ceiling = {
        "mean_pairwise_binary_kappa": 0.52,
        "n_pairs": 1,
        "interval": [0.4, 0.6],
        "undefined": {},
    }
    return {
        "rule": {} if has_rule else None,
        "agreement": {
            "pairs": list(pairs),
            "labels": LABELS if labels is None else labels,
            "human_ceiling": human_ceiling | ceiling,
        },
    }


def figures(model: str, rate: float | None, interval: list[float] | None = None) -> dict[str, Any]:
    undefined = {} if interval else {"failure_rate_interval": "one_prompt"}
    return {"model": model, "failure_rate": rate, "failure_rate_interval": interval, "undefined": undefined}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        pytest.param(
            report(pair()),
            "The panel agrees with people's consensus at κ 0.55 [0.50, 0.60], n = 1,204; "
            "people agree with each other at κ 0.52 [0.40, 0.60].",
            id="all there",
        ),
        pytest.param(
            report(pair(interval=None, undefined={"interval": "few_prompts"})),
            "The panel agrees with people's consensus at κ 0.55 (no interval: fewer than 20 prompts in "
            "common, too few for an interval), n = 1,204; "
            "people agree with each other at κ 0.52 [0.40, 0.60].",
            id="interval withheld",
        ),
        pytest.param(
            report(
                pair(
                    binary_kappa=None,
                    binary_accuracy=1.0,
                    confusion=[[30, 0], [0, 0]],
                    undefined={"binary_kappa": "one_class"},
                    n=30,
                )
            ),
            "The panel's agreement with people's consensus has no κ (only one class is present on both "
            "sides): they say the same on 100.0\u202f% of n = 30; people agree with each other at κ "
            "0.52 [0.40, 0.60].",
            id="kappa undefined",
        ),
        pytest.param(
            report(pair(binary_kappa=0.0, confusion=[[28, 2], [0, 0]], n=30)),
            "The panel agrees with people's consensus at κ 0.00 [0.50, 0.60], n = 30 (the panel never says "
            "Unacceptable there); people agree with each other at κ 0.52 [0.40, 0.60].",
            id="panel constant",
        ),
        pytest.param(
            report(pair(binary_kappa=0.0, confusion=[[0, 28], [0, 2]], n=30)),
            "The panel agrees with people's consensus at κ 0.00 [0.50, 0.60], n = 30 (people never say "
            "Acceptable there); people agree with each other at κ 0.52 [0.40, 0.60].",
            id="people constant",
        ),
        pytest.param(
            report(pair(), mean_pairwise_binary_kappa=None),
            "The panel agrees with people's consensus at κ 0.55 [0.50, 0.60], n = 1,204; people's agreement "
            "with each other cannot be measured (no two known annotators labelled the same response).",
            id="no two people",
        ),
        pytest.param(
            report(has_rule=False),
            "People agree with each other at κ 0.52 [0.40, 0.60]; no judge has scored anything yet.",
            id="no pass",
        ),
        pytest.param(
            report(has_rule=False, labels=LABELS | {"n": 0}),
            "There are no labels and no judge scores yet, so there is no agreement to measure.",
            id="nothing",
        ),
        pytest.param(
            report(labels=LABELS | {"n": 0}),
            "Nobody has labelled a response yet, so the panel cannot be compared with people.",
            id="no labels",
        ),
        pytest.param(
            report(),
            "The panel and people's consensus share no response yet; "
            "people agree with each other at κ 0.52 [0.40, 0.60].",
            id="no common response",
        ),
    ],
)
def test_calibration_answer_says_what_is_known(given: dict[str, Any], sentence: str) -> None:
    assert words(calibration_answer(given)) == sentence


@pytest.mark.parametrize(
    ("models", "sentence"),
    [
        pytest.param(
            [figures("a", 0.3, [0.2, 0.4]), figures("b", 0.1, [0.05, 0.2]), figures("c", None)],
            "b fails least often, on 10.0\u202f% [5.0\u202f%, 20.0\u202f%] of prompts; "
            "a most often, on 30.0\u202f% [20.0\u202f%, 40.0\u202f%].",
            id="several",
        ),
        pytest.param(
            [figures("a", 0.5, None)],
            "a fails on 50.0\u202f% (no interval: a single prompt gives no interval) of prompts.",
            id="one without an interval",
        ),
        pytest.param(
            [figures("a", 0.25, [0.2, 0.3]), figures("b", 0.25, [0.2, 0.3])],
            "All 2 models fail equally often, on 25.0\u202f% [20.0\u202f%, 30.0\u202f%] of prompts.",
            id="equal",
        ),
        pytest.param(
            [figures("a", None)],
            "No response is decided under this rule, so there are no failure rates.",
            id="nothing decided",
        ),
        pytest.param([], "No response has been judged yet, so there are no failure rates.", id="no pass"),
    ],
)
def test_results_answer_names_least_and_most(models: list[dict[str, Any]], sentence: str) -> None:
    assert words(results_answer({"models": models})) == sentence


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (LABELS, "2 annotators gave 48 labels on 24 responses; 3 are contested."),
        (LABELS | {"n_contested": 0}, "2 annotators gave 48 labels on 24 responses."),
        (LABELS | {"n_annotators": 0}, "Anonymous people gave 48 labels on 24 responses; 3 are contested."),
        (LABELS | {"n": 0}, "Nobody has labelled a response yet."),
    ],
    ids=["contested", "agreed", "anonymous", "none"],
)
def test_labels_answer_counts_people(labels: dict[str, int], sentence: str) -> None:
    assert words(labels_answer(labels)) == sentence


def test_name_in_an_answer_is_text() -> None:
    sentence = results_answer({"models": [figures("<b>a</b>", 0.5, [0.4, 0.6])]})

    assert "<b>" not in sentence
