"""One text of a prompt and its response: as it is embedded, and as its copies are told."""

import hashlib

from judging.llm.disguises import normalise


def join_case(*, prompt: str, response: str) -> str:
    """Prompt and response as one text, for embedding."""
    return f"{prompt}\n\n{response}"


def hash_case(*, prompt: str, response: str) -> str:
    """SHA-256 of prompt and response together: a copy under another id has the same.

    Other capitals, white space, widths of letters and invisible marks make no other text.
    """
    plain_prompt, plain_response = _plain(prompt), _plain(response)
    # The length keeps ("ab", "c") and ("a", "bc") apart.
    return hash_text(f"{len(plain_prompt)}:{plain_prompt}{plain_response}")


def hash_text(text: str) -> str:
    """SHA-256 of a text in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(text: str) -> str:
    return " ".join(normalise(text).casefold().split())
