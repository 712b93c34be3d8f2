import pytest

from judging.llm.tokens import estimate_message_tokens, estimate_tokens


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("é" * 8, 2)])
def test_an_estimate_is_a_quarter_of_the_characters_rounded_up(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_messages_cost_their_text_and_some_framing() -> None:
    messages = [{"role": "system", "content": "abcd"}, {"role": "user", "content": ""}]

    assert estimate_message_tokens(messages) == 1 + 2 * 4
