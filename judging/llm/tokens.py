"""Token counts before a call is made. After it, the provider's own `usage` is the truth."""

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bpe_openai import Encoding

CHARACTERS_PER_TOKEN = 4
VOCABULARY = "o200k_base"
# The library refuses texts of more than 200,000 tokens, and a character is at most four.
_PIECE_CHARACTERS = 50_000


def estimate_tokens(text: str) -> int:
    """Rough number of tokens in a text: characters / 4, rounded up.

    An estimate whatever the model: tokenisers differ, and text that is not English costs more.
    Show it as an estimate and never mix it with counted tokens. Empty text gives 0.
    """
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def count_tokens(texts: Iterable[str]) -> int:
    """Number of tokens in all texts together, in OpenAI's vocabulary `o200k_base`.

    Exact for OpenAI's newer models, and near for those of other makers, whose vocabularies differ.
    Text that looks like a special token counts as the plain text that it is. A text of more than
    50,000 characters is counted in pieces, which may add one token for each.

    The first count in a process loads the vocabulary: half a second and 140 MB.
    """
    encoding = _load_vocabulary()
    return sum(
        len(encoding.encode_ordinary(text[start : start + _PIECE_CHARACTERS]))
        for text in texts
        for start in range(0, len(text), _PIECE_CHARACTERS)
    )


@cache
def _load_vocabulary() -> "Encoding":
    """The vocabulary, kept: the library builds its tables anew each time that it is asked for one."""
    import bpe_openai

    return bpe_openai.get_encoding(VOCABULARY)
