"""The sentence that opens a page, from the report's own numbers, and the line it rests on."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from annotation.templatetags import formatting
from judging.figures.rates import by_rate
from judging.views.choosing import ReportChoice
from judging.views.wording import counted, reason_words


def panel_pair(agreement: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The rule with people's consensus; None when they share no response."""
    for pair in agreement["pairs"]:
        if pair["kind"] == "rule-human" and pair["b"] == "consensus":
            return pair
    return None


def calibration_answer(report: Mapping[str, Any]) -> str:
    """How well the rule agrees with people, and people with each other."""
    agreement = report["agreement"]
    if report["rule"] is None:
        if not agreement["labels"]["n"]:
            return "There are no labels and no judge scores yet, so there is no agreement to measure."
        return format_html("{}; no judge has scored anything yet.", _people(agreement, "People"))
    pair, people = panel_pair(agreement), _people(agreement, "people")
    if not agreement["labels"]["n"]:
        return "Nobody has labelled a response yet, so the panel cannot be compared with people."
    if pair is None:
        return format_html("The panel and people's consensus share no response yet; {}.", people)
    if pair["binary_kappa"] is None:
        reason = reason_words(pair["undefined"].get("binary_kappa"))
        return format_html(
            "The panel's agreement with people's consensus has no κ ({}): they say the same on {} of n = "
            "{}; {}.",
            reason,
            formatting.rate(pair["binary_accuracy"]),
            formatting.count(pair["n"]),
            people,
        )
    interval = (pair["interval"] or {}).get("binary_kappa")
    return format_html(
        "The panel agrees with people's consensus at κ {}{}, n = {}{}; {}.",
        formatting.kappa(pair["binary_kappa"]),
        _interval(interval, _interval_reason(pair)),
        formatting.count(pair["n"]),
        _constant(pair),
        people,
    )


def calibration_basis(report: Mapping[str, Any], choice: ReportChoice) -> SafeString:
    """n, and what was left out, each count linked to its responses."""
    labels, pair = report["agreement"]["labels"], panel_pair(report["agreement"])
    parts = [
        format_html(
            "{} labels by {} on {} responses",
            _linked(labels["n"], None),
            counted(labels["n_annotators"], "annotator"),
            _linked(labels["n_responses"], choice.rows(consensus="LABELLED")),
        )
    ]
    left_out = []
    if labels["n_contested"]:
        left_out.append(
            format_html("{} contested", _linked(labels["n_contested"], choice.rows(consensus="CONTESTED")))
        )
    if pair and pair["n_missing"]:
        href = choice.rows(pair=pair["kind"], a=pair["a"], b=pair["b"], cell="MISSING")
        left_out.append(format_html("{} without a verdict", _linked(pair["n_missing"], href)))
    if left_out:
        parts.append(format_html("left out: {}", _joined(left_out, ", ")))
    return _joined(parts, " · ")


def results_answer(report: Mapping[str, Any]) -> str:
    """Which model fails least and which most often."""
    ranked = [
        figures for figures in by_rate(report["models"], "model") if figures["failure_rate"] is not None
    ]
    if not report["models"]:
        return "No response has been judged yet, so there are no failure rates."
    if not ranked:
        return "No response is decided under this rule, so there are no failure rates."
    if len(ranked) == 1:
        return format_html("{} fails on {} of prompts.", ranked[0]["model"], _rate(ranked[0]))
    most, least = ranked[0], ranked[-1]
    if most["failure_rate"] == least["failure_rate"]:
        return format_html("All {} models fail equally often, on {} of prompts.", len(ranked), _rate(most))
    return format_html(
        "{} fails least often, on {} of prompts; {} most often, on {}.",
        least["model"],
        _rate(least),
        most["model"],
        _rate(most),
    )


def results_basis(report: Mapping[str, Any], choice: ReportChoice) -> SafeString:
    """How many responses the rates rest on, and how many the rule leaves undecided."""
    overall = report["overall"]
    parts = [
        format_html(
            "n = {} responses to {}, {} decided",
            _linked(overall["n_responses"], choice.rows(graded="on")),
            counted(overall["n_prompts"], "prompt"),
            _linked(overall["n_decided"], choice.rows(graded="on", verdict="DECIDED")),
        )
    ]
    if overall["n_undecided"]:
        href = choice.rows(graded="on", verdict="UNDECIDED")
        parts.append(format_html("left out: {} undecided", _linked(overall["n_undecided"], href)))
    return _joined(parts, " · ")


def labels_answer(labels: Mapping[str, int]) -> str:
    """How many labels there are, and how far people differ."""
    if not labels["n"]:
        return "Nobody has labelled a response yet."
    n_contested = labels["n_contested"]
    contested = format_html(
        "; {} {} contested", formatting.count(n_contested), "is" if n_contested == 1 else "are"
    )
    return format_html(
        "{} gave {} labels on {} responses{}.",
        counted(labels["n_annotators"], "annotator") if labels["n_annotators"] else "Anonymous people",
        formatting.count(labels["n"]),
        formatting.count(labels["n_responses"]),
        contested if n_contested else "",
    )


def _people(agreement: Mapping[str, Any], word: str) -> SafeString:
    """The clause on people's agreement with each other; `word` is People or people."""
    ceiling = agreement["human_ceiling"]
    mean = ceiling["mean_pairwise_binary_kappa"]
    if mean is None:
        why = _why_no_ceiling(agreement)
        return format_html("{}'s agreement with each other cannot be measured ({})", word, why)
    return format_html(
        "{} agree with each other at κ {}{}",
        word,
        formatting.kappa(mean),
        _interval(
            ceiling["interval"], reason_words(ceiling["undefined"].get("interval.mean_pairwise_binary_kappa"))
        ),
    )


def _constant(pair: Mapping[str, Any]) -> str:
    """A clause where one side gives a single class, which makes κ exactly 0 whatever they agree on."""
    of_panel = pair["confusion"]
    of_people = list(zip(*of_panel, strict=True))
    for who, says, tables in (("the panel", "says", of_panel), ("people", "say", of_people)):
        for word, counts in zip(("Acceptable", "Unacceptable"), tables, strict=True):
            if not any(counts):
                return f" ({who} never {says} {word} there)"
    return ""


def _why_no_ceiling(agreement: Mapping[str, Any]) -> str:
    if any(pair["kind"] == "human-human" for pair in agreement["pairs"]):
        return "no two of them have a defined κ"
    return "no two known annotators labelled the same response"


def _interval_reason(pair: Mapping[str, Any]) -> str:
    undefined = pair["undefined"]
    return reason_words(undefined.get("interval") or undefined.get("interval.binary_kappa"))


def _interval(bounds: Sequence[float] | None, reason: str) -> SafeString:
    if bounds is None:
        return format_html(" (no interval: {})", reason)
    return format_html(" {}", formatting.interval(bounds))


def _rate(figures: Mapping[str, Any]) -> SafeString:
    interval = figures["failure_rate_interval"]
    if interval is None:
        reason = reason_words(figures["undefined"].get("failure_rate_interval"))
        return format_html("{} (no interval: {})", formatting.rate(figures["failure_rate"]), reason)
    return format_html("{} {}", formatting.rate(figures["failure_rate"]), formatting.rate_interval(interval))


def _linked(n: int, href: str | None) -> SafeString:
    shown = formatting.count(n)
    return format_html('<a href="{}">{}</a>', href, shown) if href and n else shown


def _joined(parts: Sequence[SafeString], separator: str) -> SafeString:
    return format_html_join(separator, "{}", ((part,) for part in parts))
