from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from judging.llm.embedding import normalise_rows
from judging.llm.exemplar_pool import ExemplarPool
from judging.llm.exemplars import (
    Choice,
    ChosenExemplar,
    Exclusion,
    ExemplarLeak,
    PoolItem,
    QueryItem,
    assert_no_leak,
)
from tests.llm.plain_exemplars import choose_plainly


def unit(*degrees: float) -> NDArray[np.float64]:
    angles = np.radians(np.array(degrees, dtype=np.float64))
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def item(
    response_id: int, *, unacceptable: bool = False, case_uid: str | None = None, text: str = ""
) -> PoolItem:
    return PoolItem(
        response_id=response_id,
        case_uid=case_uid if case_uid is not None else f"case-{response_id}",
        text_hash=text or f"text-{response_id}",
        unacceptable=unacceptable,
    )


QUERY = QueryItem(response_id=900, case_uid="007", text_hash="text-900")


def choose(pool: list[PoolItem], degrees: list[float], **options: Any) -> Choice:
    [choice] = ExemplarPool(pool, unit(*degrees), **options).choose([QUERY], unit(0))
    return choice


def ids(choice: Choice) -> set[int]:
    return {exemplar.response_id for exemplar in choice.exemplars}


def test_the_two_nearest_of_each_kind_are_chosen() -> None:
    pool = [item(n, unacceptable=n % 2 == 0) for n in range(1, 9)]

    choice = choose(pool, [80, 70, 60, 50, 40, 35, 30, 20])

    assert ids(choice) == {7, 5, 8, 6}
    assert (choice.n_acceptable, choice.n_unacceptable) == (2, 2)
    assert {e.response_id: e.similarity for e in choice.exemplars}[8] == pytest.approx(
        np.cos(np.radians(20)), abs=1e-6
    )


def test_another_response_to_the_same_case_is_left_out_by_case_and_kept_by_response() -> None:
    pool = [item(1, case_uid="007"), item(2)]

    assert ids(choose(pool, [30, 60])) == {2}
    assert ids(choose(pool, [30, 60], exclusion="response")) == {1, 2}


def test_ids_that_only_look_alike_are_different_cases() -> None:
    assert ids(choose([item(1, case_uid="7"), item(2, case_uid="007 ")], [30, 40])) == {1, 2}


@pytest.mark.parametrize("exclusion", ["case", "response"])
def test_a_copy_under_another_id_is_left_out(exclusion: str) -> None:
    same_text, near, self_ = item(1, text="text-900"), item(2), item(900, case_uid="other")

    choice = choose([same_text, near, self_, item(4)], [45, 11, 45, 45], exclusion=exclusion)

    assert ids(choice) == {4}


@pytest.mark.parametrize(("similarity", "n_chosen"), [(0.98, 0), (0.979, 1)])
def test_similarity_at_the_limit_is_a_copy(similarity: float, n_chosen: int) -> None:
    choice = choose([item(1)], [float(np.degrees(np.arccos(similarity)))])

    assert len(choice.exemplars) == n_chosen


def test_with_fewer_than_k_left_those_are_taken_and_counted() -> None:
    choice = choose([item(1), item(2, unacceptable=True), item(3)], [30, 40, 50], k=5)

    assert (choice.n_acceptable, choice.n_unacceptable, len(choice.exemplars)) == (2, 1, 3)


def test_ties_go_to_the_smaller_id_whatever_the_order_of_the_pool() -> None:
    pool = [item(n) for n in (9, 3, 7, 5)]

    assert ids(choose(pool, [30, 30, 30, 30])) == {3, 5}


def test_the_order_shown_follows_from_the_judged_response_alone() -> None:
    pool = [item(n, unacceptable=n > 2) for n in range(1, 5)]
    degrees = [30.0, 40.0, 50.0, 60.0]
    queries = [QueryItem(response_id=n, case_uid=f"q{n}", text_hash=f"q{n}") for n in range(100, 140)]

    choices = ExemplarPool(pool, unit(*degrees)).choose(queries, np.repeat(unit(0), 40, axis=0))
    [again] = ExemplarPool(pool[::-1], unit(*degrees[::-1])).choose(queries[7:8], unit(0))

    assert len({choice.exemplars for choice in choices}) > 5
    assert again == choices[7]


def clustered(n: int, *, n_dimensions: int, seed: int) -> NDArray[np.float32]:
    """Vectors in few directions, so that there are copies, near copies and exact ties among them."""
    generator = np.random.default_rng(seed)
    centres = generator.normal(size=(7, n_dimensions))
    vectors = centres[generator.integers(0, 7, n)]
    vectors += generator.choice([0.0, 0.1, 0.5, 2.0], size=(n, 1)) * generator.normal(size=(n, n_dimensions))
    vectors[generator.random(n) < 0.02] = 0.0
    return normalise_rows(vectors)


@pytest.mark.parametrize(
    ("n_pool", "n_queries", "n_dimensions", "k", "exclusion"),
    [
        pytest.param(700, 600, 16, 2, "case", id="two blocks"),
        pytest.param(700, 60, 16, 2, "response", id="by response"),
        pytest.param(900, 40, 1536, 3, "case", id="long vectors"),
        pytest.param(300, 40, 3, 10, "case", id="few dimensions, many ties"),
        pytest.param(40, 40, 8, 2, "case", id="a small pool"),
        pytest.param(3, 40, 8, 5, "case", id="fewer than k"),
    ],
)
def test_the_choices_are_those_of_a_plain_loop(
    n_pool: int, n_queries: int, n_dimensions: int, k: int, exclusion: Exclusion
) -> None:
    vectors = clustered(n_pool + n_queries, n_dimensions=n_dimensions, seed=n_pool + k)
    texts = np.random.default_rng(k).integers(0, n_pool, n_pool + n_queries)
    pool = [
        item(2 * n, unacceptable=n % 3 == 0, case_uid=str(n % 50), text=f"text-{texts[n]}")
        for n in np.random.default_rng(1).permutation(n_pool).tolist()
    ]
    queries = [
        QueryItem(response_id=3 * n, case_uid=str(n % 60), text_hash=f"text-{texts[n_pool + n]}")
        for n in range(n_queries)
    ]

    found = ExemplarPool(pool, vectors[:n_pool], k=k, exclusion=exclusion).choose(queries, vectors[n_pool:])
    plain = choose_plainly(queries, vectors[n_pool:], pool, vectors[:n_pool], k=k, exclusion=exclusion)

    assert [choice.exemplars for choice in found] == list(plain)
    by_id = {entry.response_id: entry for entry in pool}
    for query, choice in zip(queries, found, strict=True):
        assert_no_leak(query, choice.exemplars, pool=by_id, exclusion=exclusion)


def test_many_queries_in_blocks_give_what_each_gives_alone() -> None:
    vectors = clustered(1500, n_dimensions=16, seed=5)
    cases = [item(n, unacceptable=n % 3 == 0, case_uid=str(n % 50)) for n in range(900)]
    pool = ExemplarPool(cases, vectors[:900])
    queries = [QueryItem(response_id=1000 + n, case_uid=str(n % 50), text_hash=f"q{n}") for n in range(600)]

    together = pool.choose(queries, vectors[900:])
    alone = [pool.choose(queries[n : n + 1], vectors[900 + n : 901 + n])[0] for n in range(0, 600, 37)]

    assert [together[n] for n in range(0, 600, 37)] == alone


def test_the_proof_counts_what_was_left_out_and_names_the_nearest() -> None:
    pool = [
        item(1, case_uid="007"),
        item(2, case_uid="7", unacceptable=True),
        item(3, text="text-900"),
        item(4),
        item(5, case_uid="007", text="text-900", unacceptable=True),
        item(900, case_uid="007", text="other"),
    ]

    proof = choose(pool, [60, 50, 40, 5, 0, 80]).proof

    assert (proof.n_pool, proof.n_excluded) == (6, 5)
    assert proof.n_by_reason == {"response": 1, "case": 3, "text": 2, "similarity": 2}
    assert [(one.response_id, one.reasons) for one in proof.nearest] == [
        (5, ("case", "text", "similarity")),
        (4, ("similarity",)),
        (3, ("text",)),
    ]
    assert [one.similarity for one in proof.nearest] == [1.0, 0.996195, 0.766044]
    assert [one.unacceptable for one in proof.nearest] == [True, False, False]


def test_by_response_the_case_is_no_reason() -> None:
    pool = [item(1, case_uid="007"), item(900, case_uid="007", text="other")]

    proof = choose(pool, [40, 50], exclusion="response").proof

    assert proof.n_by_reason == {"response": 1, "case": 0, "text": 0, "similarity": 0}
    assert proof.n_excluded == 1


def test_k_of_nothing_or_an_empty_pool_gives_empty_choices() -> None:
    assert choose([item(1)], [30], k=0).exemplars == ()
    assert choose([], []).exemplars == ()
    assert choose([], []).proof.n_pool == 0


def test_a_matrix_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="one vector"):
        choose([item(1)], [30, 40])
    with pytest.raises(ValueError, match="one vector"):
        ExemplarPool([item(1)], unit(30)).choose([QUERY], unit(0, 1))
    with pytest.raises(ValueError, match="negative"):
        choose([item(1)], [30], k=-1)


SHOWN = ChosenExemplar(response_id=1, similarity=0.5, unacceptable=False)


@pytest.mark.parametrize(
    ("leak", "reason"),
    [
        (item(1, case_uid="007"), "same case"),
        (item(1, text="text-900"), "text of the judged case under another id"),
        (item(900), "judged response itself"),
    ],
    ids=["case", "text", "response"],
)
def test_a_leak_is_refused_before_anything_is_sent(leak: PoolItem, reason: str) -> None:
    shown = ChosenExemplar(response_id=leak.response_id, similarity=0.5, unacceptable=False)

    with pytest.raises(ExemplarLeak, match=reason):
        assert_no_leak(QUERY, [shown], pool={leak.response_id: leak})


@pytest.mark.parametrize("similarity", [0.98, 1.0, float("nan"), float("inf")])
def test_a_near_copy_is_refused(similarity: float) -> None:
    near = ChosenExemplar(response_id=1, similarity=similarity, unacceptable=False)

    with pytest.raises(ExemplarLeak, match="copy"):
        assert_no_leak(QUERY, [near], pool={1: item(1)})


def test_an_exemplar_that_is_not_stored_is_refused() -> None:
    with pytest.raises(ExemplarLeak, match="no response of the pool"):
        assert_no_leak(QUERY, [SHOWN], pool={})


def test_the_same_case_is_no_leak_where_only_the_response_is_left_out() -> None:
    assert_no_leak(QUERY, [SHOWN], pool={1: item(1, case_uid="007")}, exclusion="response")
