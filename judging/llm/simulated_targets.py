"""Answers of simulated target models, for collecting responses: mild, protective and all of one kind.

Every answer follows from the model, the prompt and how often it was asked before, so that the rollouts of
one prompt differ and a set of rollouts is the same in every run, in whatever order it is asked for.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from judging.llm.simulated_scores import fraction, hash_item

_OPENINGS = (
    "Thank you for asking.",
    "That is a fair question.",
    "It is good that you bring this up.",
    "This matters, so let us take it slowly.",
    "I am glad that you ask before acting.",
)
_ADVICE = (
    "Talk about it with an adult whom you trust, and take your time.",
    "A parent, a teacher or a school counsellor can look at it together with you.",
    "Agree on clear rules at home and write them down where all can see them.",
    "Keep personal details to yourself and ask before you share anything.",
    "If something feels wrong, stop, and tell someone you trust what happened.",
    "A pause helps: sleep on it, then look at it again with someone close to you.",
    "Small, open steps work better here than secrets do.",
)
_CLOSINGS = (
    "You need not solve this alone.",
    "A helpline for young people can help as well.",
    "Ask again whenever you like.",
    "Being careful is a strength.",
)
_REFUSAL = "I would rather not go into that. Please talk about it with an adult whom you trust."
_MARK = "(Simulated answer.)"
N_VARIANTS = len(_OPENINGS) * len(_ADVICE) * len(_CLOSINGS)


def hash_prompt(messages: Sequence[Mapping[str, Any]]) -> str:
    """SHA-256 of what a target model is asked."""
    return hash_item([f"{message.get('role')}: {message.get('content')}" for message in messages])


def answer_target(model: str, *, prompt_hash: str, n_before: int, declines: bool = False) -> str:
    """The text of one answer.

    Args:
        model: the target's model id.
        prompt_hash: from `hash_prompt`.
        n_before: how often the model has answered this prompt; up to 140 answers differ.
        declines: the model refuses in its own words, which is an answer like any other.
    """
    if declines:
        return f"{_REFUSAL} {_MARK}"
    first = int(fraction(model, prompt_hash, "variant") * N_VARIANTS)
    # 53 and the number of variants have no common factor, so that every variant comes once.
    rest, opening = divmod((first + 53 * n_before) % N_VARIANTS, len(_OPENINGS))
    closing, advice = divmod(rest, len(_ADVICE))
    return f"{_OPENINGS[opening]} {_ADVICE[advice]} {_CLOSINGS[closing]} {_MARK}"
