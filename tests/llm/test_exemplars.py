import numpy as np
import pytest
from numpy.typing import NDArray

from judging.llm.embedding import TfidfEmbedder
from judging.llm.exemplars import (
    Choice,
    ChosenExemplar,
    ExemplarLeak,
    PoolItem,
    QueryItem,
    assert_no_leak,
    choose_exemplars,
)


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


def choose(pool: list[PoolItem], degrees: list[float], **options: object) -> Choice:
    [choice] = choose_exemplars(
        queries=[QUERY],
        query_vectors=unit(0),
        pool=pool,
        pool_vectors=unit(*degrees),
        **options,  # type: ignore[arg-type]
    )
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

    choices = choose_exemplars(
        queries=queries, query_vectors=np.repeat(unit(0), 40, axis=0), pool=pool, pool_vectors=unit(*degrees)
    )
    again = choose_exemplars(
        queries=queries[7:8], query_vectors=unit(0), pool=pool[::-1], pool_vectors=unit(*degrees[::-1])
    )

    assert len({choice.exemplars for choice in choices}) > 5
    assert again[0] == choices[7]


def test_many_queries_in_blocks_give_what_each_gives_alone() -> None:
    generator = np.random.default_rng(5)
    vectors = generator.normal(size=(700, 16))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    pool = [item(n, unacceptable=n % 3 == 0, case_uid=str(n % 50)) for n in range(300)]
    queries = [QueryItem(response_id=1000 + n, case_uid=str(n % 50), text_hash=f"q{n}") for n in range(400)]

    together = choose_exemplars(
        queries=queries, query_vectors=vectors[300:], pool=pool, pool_vectors=vectors[:300]
    )
    alone = [
        choose_exemplars(
            queries=queries[n : n + 1],
            query_vectors=vectors[300 + n : 301 + n],
            pool=pool,
            pool_vectors=vectors[:300],
        )[0]
        for n in range(0, 400, 37)
    ]

    assert together[::37] == alone
    by_id = {entry.response_id: entry for entry in pool}
    for query, choice in zip(queries, together, strict=True):
        assert_no_leak(query, choice, pool=by_id)


def test_k_of_nothing_or_an_empty_pool_gives_empty_choices() -> None:
    empty = Choice(exemplars=(), n_acceptable=0, n_unacceptable=0)

    assert choose([item(1)], [30], k=0) == empty
    assert choose([], []) == empty


def test_a_matrix_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="one vector"):
        choose([item(1)], [30, 40])


@pytest.mark.parametrize(
    "leak",
    [
        item(1, case_uid="007"),
        item(1, text="text-900"),
        item(900),
    ],
    ids=["case", "text", "response"],
)
def test_a_leak_is_refused_before_anything_is_sent(leak: PoolItem) -> None:
    shown = ChosenExemplar(response_id=leak.response_id, similarity=0.5, unacceptable=False)
    choice = Choice(exemplars=(shown,), n_acceptable=1, n_unacceptable=0)

    with pytest.raises(ExemplarLeak):
        assert_no_leak(QUERY, choice, pool={leak.response_id: leak})


def test_a_near_copy_and_an_unknown_exemplar_are_refused() -> None:
    near = ChosenExemplar(response_id=1, similarity=0.98, unacceptable=False)
    choice = Choice(exemplars=(near,), n_acceptable=1, n_unacceptable=0)

    with pytest.raises(ExemplarLeak, match="copy"):
        assert_no_leak(QUERY, choice, pool={1: item(1)})
    with pytest.raises(ExemplarLeak, match="not in the pool"):
        assert_no_leak(QUERY, choice, pool={})


TEXTS = [
    "How long may a child look at a screen in the evening?",
    "How long may a child look at a screen in the morning?",
    "Which helmet fits a small bicycle?",
    "Which lamp fits a small bicycle?",
]


def test_tfidf_finds_the_text_that_shares_words() -> None:
    vectors = TfidfEmbedder().embed(TEXTS)
    cosines = vectors @ vectors.T

    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert cosines[0, 1] > 0.5 > cosines[0, 2]


def test_tfidf_depends_neither_on_order_nor_on_repetition() -> None:
    vectors = TfidfEmbedder().embed(TEXTS)
    again = TfidfEmbedder().embed([*TEXTS[::-1], TEXTS[0]])

    assert np.array_equal(again[:4][::-1], vectors)
    assert np.array_equal(again[4], vectors[0])


@pytest.mark.parametrize("texts", [[], [""], ["", "!!!", "..."]])
def test_tfidf_of_no_words_is_zero(texts: list[str]) -> None:
    vectors = TfidfEmbedder().embed(texts)

    assert vectors.shape[0] == len(texts)
    assert not vectors.any()


@pytest.mark.parametrize("texts", [["one"], ["one", ""], ["one word", "another word", "third"]])
def test_tfidf_of_a_tiny_corpus_has_a_row_for_each_text(texts: list[str]) -> None:
    lengths = np.linalg.norm(TfidfEmbedder().embed(texts), axis=1)

    assert np.allclose(lengths, [1.0 if text else 0.0 for text in texts], atol=1e-6)


def test_tfidf_of_a_large_corpus_is_reduced_and_repeatable() -> None:
    texts = [f"word{n} word{n * 7 % 400} word{n * 3 % 90} shared" for n in range(400)]

    vectors = TfidfEmbedder().embed(texts)

    assert vectors.shape == (400, 256)
    assert np.array_equal(vectors, TfidfEmbedder().embed(texts))


def test_the_version_names_the_libraries() -> None:
    assert "scikit-learn" in TfidfEmbedder().version
