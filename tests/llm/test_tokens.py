from time import process_time

import pytest

from judging.llm.tokens import count_tokens, estimate_tokens


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("é" * 8, 2)])
def test_an_estimate_is_a_quarter_of_the_characters_rounded_up(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        # From the published o200k_base vocabulary: each common word with its leading space is one token.
        pytest.param("hello world", 2, id="two words"),
        pytest.param("", 0, id="empty"),
        pytest.param("a\x00b", 3, id="control character"),
        pytest.param("\ud800", 1, id="lone surrogate"),
    ],
)
def test_a_count_is_that_of_the_vocabulary(text: str, tokens: int) -> None:
    assert count_tokens([text]) == tokens


def test_a_special_token_in_a_text_counts_as_plain_text() -> None:
    assert count_tokens(["<|endoftext|>"]) > 1


def test_counts_of_several_texts_add_up() -> None:
    assert count_tokens(["hello world", "hello world"]) == 4


def test_a_text_beyond_the_library_s_limit_is_counted_in_pieces() -> None:
    n_words = 400_000

    counted = count_tokens(["calm " * n_words])

    assert n_words <= counted <= n_words + 2 * len("calm " * n_words) / 50_000


def test_the_vocabulary_is_loaded_once_in_a_process() -> None:
    count_tokens(["calm"])
    began = process_time()

    for _ in range(100):
        count_tokens(["calm"])

    # Loading it takes the library some 80 ms, so that 100 times would be 8 s.
    assert process_time() - began < 1
