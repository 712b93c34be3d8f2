"""Token counts before a call is made. After it, the provider's own `usage` is the truth."""

CHARACTERS_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """Rough number of tokens in a text: characters / 4, rounded up.

    An estimate whatever the model: tokenisers differ, and text that is not English costs more.
    Show it as an estimate and never mix it with counted tokens. Empty text gives 0.
    """
    return -(-len(text) // CHARACTERS_PER_TOKEN)
