"""An adjudicator's decision in the place of a consensus: where it counts, and where it does not."""

import pytest

from judging.stats.aggregation import Consensus, consensus
from judging.stats.agreement import count_labels, measure_agreement
from judging.stats.records import AdjudicatedResponse, Evidence, HumanLabel, JudgeInfo
from tests.stats.evidence import labels_of, row, verdicts_of

TIED = [HumanLabel(7, "a", False), HumanLabel(7, "b", True)]
TWO_TO_ONE = [*TIED, HumanLabel(7, "c", False)]


@pytest.mark.parametrize("labels", [TIED, TWO_TO_ONE], ids=["tie", "majority-of-the-other-class"])
def test_decision_stands_whichever_way_the_labels_lean(labels: list[HumanLabel]) -> None:
    joint = consensus(labels, [AdjudicatedResponse(7, unacceptable=True)])[7]

    assert (joint.verdict, joint.source) == ("UNACCEPTABLE", "ADJUDICATION")
    assert (joint.n_acceptable, joint.n_unacceptable) == (len(labels) - 1, 1)


def test_decision_says_when_labels_came_after_it() -> None:
    outdated = AdjudicatedResponse(7, unacceptable=False, is_outdated=True)

    assert consensus(TIED, [outdated])[7] == Consensus("ACCEPTABLE", 1, 1, "ADJUDICATION", True)


def test_decision_on_a_response_without_labels_is_passed_over() -> None:
    assert set(consensus(TIED, [AdjudicatedResponse(8, unacceptable=True)])) == {7}


def test_without_decisions_the_labels_are_the_source() -> None:
    assert consensus(TIED)[7] == Consensus("CONTESTED", 1, 1, "LABELS", False)


def test_counts_hold_the_decided_responses_in_the_consensus() -> None:
    labels = [*labels_of("a", [0, 0, 0, 1]), *labels_of("b", [1, 1, 1, 1])]
    decided = [
        AdjudicatedResponse(0, unacceptable=True),
        AdjudicatedResponse(1, unacceptable=False, is_outdated=True),
    ]

    counts = count_labels(labels, decided)

    assert counts["n_responses"] == counts["n_consensus"] + counts["n_contested"] == 4
    assert (counts["n_contested"], counts["n_adjudicated"], counts["n_adjudicated_outdated"]) == (1, 2, 1)


def test_agreement_with_the_consensus_rests_on_the_decisions_and_the_alphas_do_not() -> None:
    n = 6
    evidence = Evidence(
        rows=tuple(row(item) for item in range(n)),
        labels=(*labels_of("a", [0, 0, 0, 0, 1, 1]), *labels_of("b", [1, 1, 0, 0, 1, 1])),
        verdicts=tuple(verdicts_of("j", [5, 5, 1, 1, 5, 5])),
        judges=(JudgeInfo("j", "J"),),
    )
    decided = Evidence(
        **{name: getattr(evidence, name) for name in ("rows", "labels", "verdicts", "judges")},
        adjudicated=(AdjudicatedResponse(0, unacceptable=True), AdjudicatedResponse(1, unacceptable=False)),
    )

    before = measure_agreement(evidence, rule=None, rule_name=None, n_resamples=10)
    after = measure_agreement(decided, rule=None, rule_name=None, n_resamples=10)

    with_consensus = [
        next(pair for pair in document["pairs"] if (pair["a"], pair["b"]) == ("j", "consensus"))
        for document in (before, after)
    ]
    assert [pair["n"] for pair in with_consensus] == [4, 6]
    # Rows: the judge; columns: the consensus. One decision follows the judge, one does not.
    assert with_consensus[1]["confusion"] == [[2, 0], [1, 3]]
    assert before["alpha"] == after["alpha"]
    assert (
        before["human_ceiling"]["mean_pairwise_binary_kappa"]
        == (after["human_ceiling"]["mean_pairwise_binary_kappa"])
    )
