"""Grading rules as values: parsed, checked and written back without losing a digit.

What a rule does with scores is in `aggregation`; nothing here compares a score.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil, lcm
from typing import Final, Literal, cast, get_args

from judging.errors import RuleError
from judging.stats.records import JudgeInfo

Kind = Literal["weighted_mean", "uniform_mean", "majority", "any_flag", "single_judge"]
MissingPolicy = Literal["bounds", "strict", "renormalised"]

KINDS: Final = get_args(Kind)
MISSING_POLICIES: Final = get_args(MissingPolicy)
MEAN_KINDS: Final = ("weighted_mean", "uniform_mean")
DEFAULT_CUT: Final = 2

PUBLISHED_WEIGHTS: Final = {"gemini-3.1-pro": "0.05", "gpt-5.4": "0.25", "claude-opus-4.6": "0.70"}
PUBLISHED_THRESHOLD: Final = "1.7"

_DECIMAL = re.compile(r"-?[0-9]{1,3}(\.[0-9]{1,20})?", re.ASCII)
_KEYS: Final = {
    "weighted_mean": {"weights", "threshold"},
    "uniform_mean": {"judges", "threshold"},
    "majority": {"judges", "cut"},
    "any_flag": {"judges", "cut"},
    "single_judge": {"judges", "cut"},
}


@dataclass(frozen=True, slots=True)
class Rule:
    """How the verdicts of several judges become one. Make one with `parse_rule`.

    `judges` are in ascending order, so that equal rules compare equal; `weights` line up with
    them (empty unless `weighted_mean`). `is_binary` says that the judges answer 0 / 1: it is a
    fact about the judges, set by `check_rule_against`, and not part of the stored rule.
    """

    kind: Kind
    judges: tuple[str, ...]
    weights: tuple[Decimal, ...] = ()
    threshold: Decimal | None = None
    cut: int | None = None
    missing: MissingPolicy = "bounds"
    is_binary: bool = False

    @property
    def is_mean(self) -> bool:
        """Whether the rule has a weighted score (the others count votes)."""
        return self.kind in MEAN_KINDS

    @property
    def scale(self) -> tuple[int, ...]:
        """The scores a judge of this rule can give, ascending."""
        return (0, 1) if self.is_binary else (1, 2, 3, 4, 5)

    @property
    def voters(self) -> tuple[str, ...]:
        """The judges that can change the verdict: all but those of weight 0."""
        return integer_form(self).judges

    def to_json(self) -> dict[str, object]:
        """Return the canonical JSON form; `parse_rule` gives the same rule back."""
        document: dict[str, object] = {"kind": self.kind}
        if self.kind == "weighted_mean":
            document["weights"] = {
                judge: decimal_text(weight) for judge, weight in zip(self.judges, self.weights, strict=True)
            }
        else:
            document["judges"] = list(self.judges)
        if self.threshold is not None:
            document["threshold"] = decimal_text(self.threshold)
        if self.cut is not None:
            document["cut"] = self.cut
        document["missing"] = self.missing
        return document


@dataclass(frozen=True, slots=True)
class IntegerForm:
    """A rule over whole numbers: the score is sum(weight × score) ÷ `denominator`.

    The verdict is Unacceptable when that sum reaches `needed`. For votes each weight is 1 and
    `needed` is None.
    """

    judges: tuple[str, ...]
    weights: tuple[int, ...]
    denominator: int
    needed: int | None


@lru_cache(maxsize=1024)
def integer_form(rule: Rule) -> IntegerForm:
    """Return the judges that count, with weights as integers over one denominator."""
    weights = [Fraction(weight) for weight in rule.weights] or [Fraction(1)] * len(rule.judges)
    denominator = lcm(*(weight.denominator for weight in weights))
    scaled = {
        judge: int(weight * denominator) for judge, weight in zip(rule.judges, weights, strict=True) if weight
    }
    total = sum(scaled.values())
    needed = None if rule.threshold is None else ceil(Fraction(rule.threshold) * total)
    return IntegerForm(tuple(scaled), tuple(scaled.values()), total, needed)


def decimal_text(value: Decimal) -> str:
    """Write a decimal without exponent or trailing zeros: 0.70 is 0.7."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def published_rule() -> Rule:
    """Return the paper's rule: weights 0.05 / 0.25 / 0.70, Unacceptable from 1.7."""
    return parse_rule(
        {"kind": "weighted_mean", "weights": PUBLISHED_WEIGHTS, "threshold": PUBLISHED_THRESHOLD}
    )


def uniform_rule(judges: Iterable[str], threshold: str = PUBLISHED_THRESHOLD) -> Rule:
    """Return the rule that weighs all judges alike."""
    return parse_rule({"kind": "uniform_mean", "judges": list(judges), "threshold": threshold})


def parse_rule(value: Mapping[str, object]) -> Rule:
    """Read a rule from its JSON form, refusing whatever is not exact.

    Args:
        value: `kind`, then `weights` and `threshold` (weighted_mean), `judges` and `threshold`
            (uniform_mean), or `judges` and optionally `cut` (majority, any_flag, single_judge);
            each with an optional `missing`. Decimals are strings or whole numbers.

    Raises:
        RuleError: names the field, what was found, what was expected and the way out.
    """
    kind = value.get("kind")
    if kind not in KINDS:
        raise _refusal("kind", kind, f"one of {', '.join(KINDS)}", "Choose one of these kinds")
    allowed = _KEYS[cast(Kind, kind)]
    unknown = sorted(str(key) for key in value if key not in allowed | {"kind", "missing"})
    if unknown:
        expected = f"only kind, missing, {', '.join(sorted(allowed))} for {kind}"
        raise _refusal("keys", unknown[0], expected, f"Remove {unknown[0]!r} or choose another kind")
    missing = value.get("missing", "bounds")
    if missing not in MISSING_POLICIES:
        raise _refusal("missing", missing, f"one of {', '.join(MISSING_POLICIES)}", "Choose one of these")
    threshold = _read_threshold(value.get("threshold")) if "threshold" in allowed else None
    if kind == "weighted_mean":
        weights = _read_weights(value.get("weights"))
        judges, amounts = tuple(weights), tuple(weights.values())
    else:
        judges, amounts = _read_judges(value.get("judges")), ()
    if kind == "single_judge" and len(judges) != 1:
        raise _refusal("judges", len(judges), "exactly one judge", "Name one judge, or choose majority")
    return Rule(
        kind=cast(Kind, kind),
        judges=judges,
        weights=amounts,
        threshold=threshold,
        cut=_read_cut(value.get("cut", DEFAULT_CUT)) if "cut" in allowed else None,
        missing=cast(MissingPolicy, missing),
        # Below 1 no score of 1-5 is told apart, so such a threshold can only mean 0 / 1 judges.
        is_binary=threshold is not None and threshold < 1,
    )


def check_rule_against(rule: Rule, judges: Sequence[JudgeInfo]) -> Rule:
    """Bind a rule to the judges it will read, and return it with their scale.

    Raises:
        RuleError: a judge is not among them, 0 / 1 and 1-5 judges are mixed, or the threshold
            or cut lies outside their scale.
    """
    known = {judge.slug: judge for judge in judges}
    unknown = [judge for judge in rule.judges if judge not in known]
    if unknown:
        found = ", ".join(sorted(known)) or "none"
        raise _refusal("judges", unknown[0], f"judges of this pass ({found})", "Name judges of the pass")
    scales = {known[judge].is_binary for judge in rule.judges}
    if len(scales) > 1:
        raise _refusal(
            "judges", "judges that answer 0 / 1 beside judges that score 1-5", "one scale", "Use one kind"
        )
    is_binary = scales.pop()
    if rule.threshold is not None and (rule.threshold > 1 if is_binary else rule.threshold < 1):
        expected = (
            "above 0 and at most 1 for judges that answer 0 / 1" if is_binary else "1 to 5 for scores 1-5"
        )
        raise _refusal(
            "threshold", decimal_text(rule.threshold), expected, "Choose a threshold on that scale"
        )
    if is_binary and rule.cut not in (None, 1, DEFAULT_CUT):
        raise _refusal("cut", rule.cut, "no cut for judges that answer 0 / 1", "Leave it out")
    return replace(rule, is_binary=is_binary)


def _refusal(field: str, found: object, expected: str, way_out: str) -> RuleError:
    shown = "nothing" if found is None else repr(found)[:80]
    return RuleError(f"Grading rule, {field}: found {shown}, expected {expected}. {way_out}.")


def _read_decimal(field: str, found: object) -> Decimal:
    expected = 'a decimal in quotes such as "0.25", with at most 20 places'
    if isinstance(found, float):
        raise _refusal(field, found, expected, "Put the number in quotes: a float has already lost digits")
    text = found.strip() if isinstance(found, str) else str(found)
    if isinstance(found, bool) or not isinstance(found, str | int) or not _DECIMAL.fullmatch(text):
        raise _refusal(field, found, expected, "Write it out in plain digits")
    return Decimal(text)


def _read_threshold(found: object) -> Decimal:
    threshold = _read_decimal("threshold", found)
    if not 0 < threshold <= 5:
        expected = "1 to 5 for scores 1-5, or above 0 and at most 1 for judges that answer 0 / 1"
        raise _refusal("threshold", decimal_text(threshold), expected, "Choose a threshold on that scale")
    return threshold


def _read_weights(found: object) -> dict[str, Decimal]:
    if not isinstance(found, Mapping) or not found:
        raise _refusal("weights", found, "a weight for each judge", "Name at least one judge with its weight")
    weights = {
        judge: _read_decimal(f"weight of {judge!r}", found[judge]) for judge in _read_judges(list(found))
    }
    for judge, weight in weights.items():
        if weight < 0:
            shown = decimal_text(weight)
            raise _refusal(f"weight of {judge!r}", shown, "0 or more", "Use weights from 0 to 1")
    total = sum(weights.values(), Decimal(0))
    if total != 1:
        raise _refusal("weights", decimal_text(total), "a sum of exactly 1", "Change the weights to sum to 1")
    return weights


def _read_judges(found: object) -> tuple[str, ...]:
    if not isinstance(found, list | tuple) or not found:
        raise _refusal("judges", found, "a list of one or more judges", "Name at least one judge")
    for judge in found:
        if not isinstance(judge, str) or not judge:
            raise _refusal("judges", judge, "names of judges", "Use each judge's short code")
    repeated = sorted({judge for judge in found if found.count(judge) > 1})
    if repeated:
        raise _refusal("judges", repeated[0], "each judge once", "Remove the repetition")
    return tuple(sorted(found))


def _read_cut(found: object) -> int:
    if isinstance(found, bool) or not isinstance(found, int) or not 1 <= found <= 5:
        raise _refusal("cut", found, "a whole number from 1 to 5", "A score at or above the cut is a flag")
    return found
