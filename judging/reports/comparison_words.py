"""What a comparison of two passes says, in one sentence that is the same on every way out."""

from collections.abc import Mapping
from typing import Any

from annotation.templatetags.formatting import (
    count_text,
    points_interval_text,
    points_text,
    rate_text,
)


def answer_in_words(document: Mapping[str, Any]) -> str:
    """Whether it mattered which of the two passes is used, with the numbers that say so.

    Args:
        document: figures of `stats.comparison.measure_changes`.
    """
    overall = document["overall"]
    match document["finding"]:
        case "nothing_in_common":
            return "The two passes grade no response in common, so there is nothing to compare."
        case "no_change":
            n = count_text(overall["n_responses"])
            return f"It made no difference: all n = {n} responses have the same verdict in both passes."
        case "shift":
            return f"It mattered: {_changes(overall)}, and the failure rate moved by {_rate_change(overall)}."
        case "coverage":
            return (
                f"Where both passes decide it hardly mattered: {_changes(overall)}, and the failure rate "
                f"moved by {_rate_change(overall)}. But {_decided_once(overall)}."
            )
        case "no_shift":
            return (
                f"It hardly mattered: {_changes(overall)}, and the failure rate moved by "
                f"{_rate_change(overall)}, which may be nothing."
            )
    return (
        f"It cannot be said whether it mattered: {_changes(overall)}, too few prompts for an interval of the "
        "failure rate."
    )


def source_in_words(document: Mapping[str, Any]) -> str:
    """Where a change can come from: our settings, or the judges themselves."""
    if document["differences"]:
        n = len(document["differences"])
        return f"The configurations differ in {n} setting{'s' if n > 1 else ''}, listed below."
    return (
        "Both passes have the same configuration: whatever changed, changed on the judges' side, as when a "
        "provider renews a model under its old name."
    )


def _changes(overall: Mapping[str, Any]) -> str:
    n = count_text(overall["n_decided_twice"])
    if not overall["n_changed"]:
        return f"none of the n = {n} verdicts that both passes reach changed"
    changed, share = count_text(overall["n_changed"]), rate_text(overall["changed_share"])
    worse, better = count_text(overall["n_to_unacceptable"]), count_text(overall["n_to_acceptable"])
    return (
        f"{changed} of n = {n} verdicts changed ({share}), {worse} to Unacceptable and {better} to Acceptable"
    )


def _rate_change(overall: Mapping[str, Any]) -> str:
    change, interval = overall["rate_change"], overall["rate_change_interval"]
    before, after = overall["failure_rate_before"], overall["failure_rate_after"]
    return (
        f"{points_text(change)} {points_interval_text(interval)}, from {rate_text(before)} to "
        f"{rate_text(after)}"
    )


def _decided_once(overall: Mapping[str, Any]) -> str:
    n = overall["n_to_undecided"]
    lost = "1 response lost its verdict" if n == 1 else f"{count_text(n)} responses lost their verdict"
    return f"{lost} and {count_text(overall['n_to_decided'])} gained one"
