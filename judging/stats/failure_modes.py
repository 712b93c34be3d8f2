"""How Unacceptable responses fail: shares of the failure modes that a classifier named.

Every response enters. A reply that names no mode is a bucket of its own in the denominator, since a
classifier is most at a loss where the material is worst; what was never answered is counted beside it.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from judging.stats.intervals import effective_size, wilson
from judging.stats.records import SCORED

# The classifier replied, and its reply is no mode.
UNPARSED_STATES: Final = ("PARSE_FAILED", "OUT_OF_RANGE", "REFUSED", "FILTERED", "TRUNCATED")
# What stands in place of a mode: the reply names none, or there is no reply.
UNPARSED: Final = "UNPARSED"
UNCLASSIFIED: Final = "UNCLASSIFIED"
NO_ANSWERS: Final = "no_answer"
ONE_PROMPT: Final = "one_prompt"


@dataclass(frozen=True, slots=True)
class ClassifiedRow:
    """One Unacceptable response in a classification; `mode` is present exactly when `state` is SCORED."""

    response_id: int
    prompt_id: int
    model: str
    category: str
    state: str
    mode: str | None

    def __post_init__(self) -> None:
        if (self.mode is not None) != (self.state == SCORED):
            raise ValueError(f"a row in state {self.state} cannot have the mode {self.mode}")

    @property
    def is_answered(self) -> bool:
        """Whether the classifier replied, with a mode or without."""
        return self.mode is not None or self.state in UNPARSED_STATES

    @property
    def bucket(self) -> str:
        """What the row is counted as: its mode, UNPARSED or UNCLASSIFIED."""
        return self.mode or (UNPARSED if self.is_answered else UNCLASSIFIED)


def measure_failure_modes(rows: Sequence[ClassifiedRow], *, modes: Sequence[str]) -> dict[str, Any]:
    """Count the modes.

    Args:
        rows: every response of the classification, whatever became of it.
        modes: all there are, in the order in which they are shown.

    Returns:
        `overall`, and `models`, `categories` and `cells`, lists in ascending order of name. Each entry has
        `n_responses`, of which `n_answered` are the denominator of every share and `n_unclassified` (by
        reason under `unclassified`) were never answered; `modes`, for each mode its count, share 0-1 and
        interval; `n_unparsed` with share and interval, by state under `unparsed`. The shares of the modes
        and of the unparsed sum to 1. Without an answer shares are None, and intervals too with answers to
        one prompt only, each with its reason under `undefined`.

        Intervals are Wilson's at the effective size, which allows for several responses to one prompt.
    """
    return {
        "overall": _measure(rows, modes),
        "models": _measure_groups(rows, modes, lambda row: {"model": row.model}),
        "categories": _measure_groups(rows, modes, lambda row: {"category": row.category}),
        "cells": _measure_groups(rows, modes, lambda row: {"model": row.model, "category": row.category}),
    }


def _measure_groups(
    rows: Sequence[ClassifiedRow], modes: Sequence[str], name: Callable[[ClassifiedRow], dict[str, str]]
) -> list[dict[str, Any]]:
    groups: dict[tuple[str, ...], list[ClassifiedRow]] = {}
    for row in rows:
        groups.setdefault(tuple(name(row).values()), []).append(row)
    return [{**name(groups[key][0]), **_measure(groups[key], modes)} for key in sorted(groups)]


def _measure(rows: Sequence[ClassifiedRow], modes: Sequence[str]) -> dict[str, Any]:
    answered = [row for row in rows if row.is_answered]
    unparsed = [row for row in answered if row.mode is None]
    left = [row for row in rows if not row.is_answered]
    without_mode = _share(answered, lambda row: row.mode is None)
    undefined: dict[str, str] = {}
    if not answered:
        undefined |= dict.fromkeys(("share", "interval"), NO_ANSWERS)
    elif len({row.prompt_id for row in answered}) < 2:
        undefined["interval"] = ONE_PROMPT
    return {
        "n_responses": len(rows),
        "n_prompts": len({row.prompt_id for row in rows}),
        "n_answered": len(answered),
        "modes": [_share_of_mode(answered, mode) for mode in modes],
        "n_unparsed": without_mode["n"],
        "unparsed_share": without_mode["share"],
        "unparsed_interval": without_mode["interval"],
        "unparsed": dict(sorted(Counter(row.state for row in unparsed).items())),
        "n_unclassified": len(left),
        "unclassified": dict(sorted(Counter(row.state for row in left).items())),
        "undefined": undefined,
    }


def _share_of_mode(answered: Sequence[ClassifiedRow], mode: str) -> dict[str, Any]:
    return {"mode": mode, **_share(answered, lambda row: row.mode == mode)}


def _share(answered: Sequence[ClassifiedRow], is_counted: Callable[[ClassifiedRow], bool]) -> dict[str, Any]:
    counts: dict[int, list[int]] = {}
    for row in answered:
        count = counts.setdefault(row.prompt_id, [0, 0])
        count[0] += is_counted(row)
        count[1] += 1
    counted = [counts[prompt_id][0] for prompt_id in sorted(counts)]
    totals = [counts[prompt_id][1] for prompt_id in sorted(counts)]
    share = sum(counted) / sum(totals) if totals else None
    n_eff = effective_size(counted, totals)
    interval = None if share is None or n_eff is None else list(wilson(share, n_eff))
    return {"n": sum(counted), "share": share, "interval": interval}
