import numpy as np
import pytest

from judging.llm.embedding import TfidfEmbedder

TEXTS = [
    "How long may a child look at a screen in the evening?",
    "How long may a child look at a screen in the morning?",
    "Which helmet fits a small bicycle?",
    "Which lamp fits a small bicycle?",
]


def test_tfidf_finds_the_text_that_shares_words() -> None:
    vectors = TfidfEmbedder().learn(TEXTS)
    cosines = vectors @ vectors.T

    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert cosines[0, 1] > 0.5 > cosines[0, 2]


def test_tfidf_depends_neither_on_order_nor_on_repetition() -> None:
    vectors = TfidfEmbedder().learn(TEXTS)
    again = TfidfEmbedder().learn([*TEXTS[::-1], TEXTS[0]])

    assert np.array_equal(again[:4][::-1], vectors)
    assert np.array_equal(again[4], vectors[0])


def test_what_else_is_embedded_changes_no_vector() -> None:
    embedder = TfidfEmbedder()
    pool = embedder.learn(TEXTS)

    alone = embedder.embed(TEXTS[:1])
    among_others = embedder.embed(["Which lamp?", "Unheard of words", TEXTS[0]])

    assert np.array_equal(alone[0], pool[0])
    assert np.array_equal(among_others[2], pool[0])
    assert among_others[0] @ pool[3] > among_others[0] @ pool[2]


def test_words_that_the_pool_has_not_are_like_nothing() -> None:
    embedder = TfidfEmbedder()
    embedder.learn(TEXTS)

    assert not embedder.embed(["unheard", ""]).any()


@pytest.mark.parametrize("texts", [[], [""], ["", "!!!", "..."]])
def test_tfidf_of_no_words_is_zero(texts: list[str]) -> None:
    embedder = TfidfEmbedder()

    vectors = embedder.learn(texts)

    assert vectors.shape[0] == len(texts)
    assert not vectors.any()
    assert embedder.embed(["a word"]).shape[1] == vectors.shape[1]


@pytest.mark.parametrize("texts", [["one"], ["one", ""], ["one word", "another word", "third"]])
def test_tfidf_of_a_tiny_pool_has_a_row_for_each_text(texts: list[str]) -> None:
    lengths = np.linalg.norm(TfidfEmbedder().learn(texts), axis=1)

    assert np.allclose(lengths, [1.0 if text else 0.0 for text in texts], atol=1e-6)


def test_tfidf_of_a_large_pool_is_reduced_and_repeatable() -> None:
    texts = [f"word{n} word{n * 7 % 400} word{n * 3 % 90} shared" for n in range(400)]

    vectors = TfidfEmbedder().learn(texts)

    assert vectors.shape == (400, 256)
    assert np.array_equal(vectors, TfidfEmbedder().learn(texts))


def test_the_version_names_the_libraries() -> None:
    assert "scikit-learn" in TfidfEmbedder().version
