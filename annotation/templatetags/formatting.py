"""How numbers, verdicts and times are written, on every page and in every figure.

Each kind of value has a plain function (`rate_text`) for sentences, figures and attributes, and a
filter of the short name (`rate`) for pages. The filter wraps the same text in `<data>`, whose
`value` keeps every digit for sorting and copying, and takes the reason a value is undefined.
"""

import datetime as dt
import math
from collections.abc import Callable, Sequence
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

DASH = "–"
MINUS = "−"
NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"

SMALL_COUNT = 10
"""Counts below this are marked: a rate over so few says little."""

VERDICT_WORDS = {
    "ACCEPTABLE": "Acceptable",
    "UNACCEPTABLE": "Unacceptable",
    "UNDECIDED": "Undecided",
    "CONTESTED": "Contested",
}

Number = int | float


def _is_absent(value: object) -> bool:
    """True for no value; NaN counts as none, so that it can never be read as a result."""
    return value is None or value == "" or (isinstance(value, float) and not math.isfinite(value))


def _fixed(value: Number, digits: int) -> str:
    """Fixed digits, thousands separated, with a real minus sign and never a negative zero."""
    text = f"{value:,.{digits}f}"
    if text.startswith("-"):
        text = MINUS + text[1:] if text.strip("-0.,") else text[1:]
    return text


def count_text(value: Number | None) -> str:
    """A whole number: `1,204`."""
    return DASH if value is None or _is_absent(value) else _fixed(value, 0)


def rate_text(value: Number | None) -> str:
    """A 0-1 ratio as a percentage with one digit: `12.3 %`."""
    return DASH if value is None or _is_absent(value) else f"{_fixed(100 * value, 1)}{NARROW_SPACE}%"


def kappa_text(value: Number | None) -> str:
    """An agreement coefficient with two digits: `0.55`, `−0.02`."""
    return DASH if value is None or _is_absent(value) else _fixed(value, 2)


def score_text(value: Number | None) -> str:
    """A score on the 1-5 scale, or a weighted one, with two digits: `1.70`."""
    return kappa_text(value)


def similarity_text(value: Number | None) -> str:
    """A cosine with three digits, cut and not rounded: what is below a limit never reads as the limit."""
    return DASH if value is None or _is_absent(value) else _fixed(math.trunc(value * 1000 + 1e-6) / 1000, 3)


def interval_text(bounds: Sequence[Number | None] | None) -> str:
    """The two ends of a coefficient's interval: `[0.50, 0.60]`."""
    return _ends(bounds, kappa_text)


def rate_interval_text(bounds: Sequence[Number | None] | None) -> str:
    """The two ends of a rate's interval: `[10.1 %, 14.8 %]`."""
    return _ends(bounds, rate_text)


def points_text(value: Number | None) -> str:
    """The difference of two rates in percentage points, with its sign: `+0.2 points`, `−1.4 points`."""
    return DASH if value is None or _is_absent(value) else f"{_signed(value)}{NARROW_SPACE}points"


def points_interval_text(bounds: Sequence[Number | None] | None) -> str:
    """The two ends of such a difference's interval: `[−0.4, +0.7]`."""
    return _ends(bounds, lambda value: DASH if value is None else _signed(value))


def _signed(difference: Number) -> str:
    text = _fixed(100 * difference, 1)
    return text if text.startswith(MINUS) or not text.strip("0.") else f"+{text}"


def _ends(bounds: Sequence[Number | None] | None, text: Callable[[Number | None], str]) -> str:
    if not bounds or any(_is_absent(end) for end in bounds):
        return DASH
    low, high = bounds
    return f"[{text(low)}, {text(high)}]"


def duration_text(seconds: Number | None) -> str:
    """A span in the largest one or two units: `45 s`, `12 min`, `3 h 05 min`, `2 d 4 h`."""
    if seconds is None or _is_absent(seconds):
        return DASH
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole}{NARROW_SPACE}s"
    minutes = round(whole / 60)
    if minutes < 60:
        return f"{minutes}{NARROW_SPACE}min"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours}{NARROW_SPACE}h {minutes:02d}{NARROW_SPACE}min"
    days, hours = divmod(hours, 24)
    return f"{days}{NARROW_SPACE}d {hours}{NARROW_SPACE}h"


def verdict_text(value: str | None) -> str:
    """The word for a stored verdict, label or consensus code; an unknown code is shown as it is."""
    return DASH if not value else VERDICT_WORDS.get(value.upper(), value)


def _absent(reason: object) -> SafeString:
    """A dash that says why: on hover, and to a screen reader."""
    sentence = str(reason).replace("_", " ") if reason else "no value"
    return format_html(
        '<span class="absent" title="{}">{}<span class="visually-hidden"> {}</span></span>',
        sentence,
        DASH,
        sentence,
    )


def _data(value: Any, text: str, reason: object) -> SafeString:
    return _absent(reason) if text == DASH else format_html('<data value="{}">{}</data>', value, text)


@register.filter
def count(value: Number | None, reason: str = "") -> SafeString:
    """`{{ n|count }}`, or `{{ n|count:reason }}` when it may be missing."""
    return _data(value, count_text(value), reason)


@register.filter
def rate(value: Number | None, reason: str = "") -> SafeString:
    """`{{ failure_rate|rate:reason }}`."""
    return _data(value, rate_text(value), reason)


@register.filter
def kappa(value: Number | None, reason: str = "") -> SafeString:
    """`{{ pair.binary_kappa|kappa:pair.undefined.binary_kappa }}`."""
    return _data(value, kappa_text(value), reason)


@register.filter
def score(value: Number | None, reason: str = "") -> SafeString:
    """`{{ weighted_score|score:reason }}`."""
    return _data(value, score_text(value), reason)


@register.filter
def similarity(value: Number | None, reason: str = "") -> SafeString:
    """`{{ exemplar.similarity|similarity }}`."""
    return _data(value, similarity_text(value), reason)


@register.filter
def interval(bounds: Sequence[Number | None] | None, reason: str = "") -> SafeString:
    """`{{ kappa_interval|interval:reason }}`; sorts by its lower end."""
    return _data(bounds[0] if bounds else None, interval_text(bounds), reason)


@register.filter
def rate_interval(bounds: Sequence[Number | None] | None, reason: str = "") -> SafeString:
    """`{{ failure_rate_interval|rate_interval:reason }}`; sorts by its lower end."""
    return _data(bounds[0] if bounds else None, rate_interval_text(bounds), reason)


@register.filter
def points(value: Number | None, reason: str = "") -> SafeString:
    """`{{ rate_change|points:reason }}`: the bare number, for columns whose unit is points."""
    absent = value is None or _is_absent(value)
    return _data(value, DASH if absent else _signed(value or 0), reason)


@register.filter
def points_interval(bounds: Sequence[Number | None] | None, reason: str = "") -> SafeString:
    """`{{ rate_change_interval|points_interval:reason }}`; sorts by its lower end."""
    return _data(bounds[0] if bounds else None, points_interval_text(bounds), reason)


@register.filter
def duration(seconds: Number | None, reason: str = "") -> SafeString:
    """`{{ seconds_left|duration:reason }}`."""
    return _data(seconds, duration_text(seconds), reason)


@register.filter
def or_dash(value: Any, reason: str = "") -> Any:
    """Any other value as it is, or the dash with its reason. Zero is a value."""
    return _absent(reason) if _is_absent(value) else value


@register.filter
def verdict_word(value: str | None, reason: str = "") -> SafeString:
    """The verdict as a word with its shape: circle for Acceptable, diamond for Unacceptable."""
    if not value:
        return _absent(reason)
    kind = value.lower() if value.upper() in VERDICT_WORDS else "undecided"
    return format_html('<span class="verdict verdict-{}">{}</span>', kind, verdict_text(value))


@register.filter
def small(value: Number | None) -> SafeString | str:
    """A mark to follow a count that is too small to lean on; nothing otherwise."""
    if value is None or _is_absent(value) or value >= SMALL_COUNT:
        return ""
    return format_html('<span class="few" title="Fewer than {}: read with care">few</span>', SMALL_COUNT)


@register.filter
def moment(value: dt.datetime | None, reason: str = "") -> SafeString:
    """Date and time in UTC; `times.js` rewrites it in the viewer's zone."""
    return _time(value, "%-d %b %Y, %H:%M UTC", "moment", reason)


@register.filter
def clock(value: dt.datetime | None, reason: str = "") -> SafeString:
    """Time of day in UTC; `times.js` rewrites it in the viewer's zone."""
    return _time(value, "%H:%M UTC", "clock", reason)


@register.filter
def day(value: dt.date | None, reason: str = "") -> SafeString:
    """A calendar date, the same in every zone: `30 Nov 2026`."""
    if value is None:
        return _absent(reason)
    return format_html('<time datetime="{}">{}</time>', f"{value:%Y-%m-%d}", f"{value:%-d %b %Y}")


def _time(value: dt.datetime | None, pattern: str, shape: str, reason: object) -> SafeString:
    if value is None:
        return _absent(reason)
    utc = value.astimezone(dt.UTC) if timezone.is_aware(value) else value.replace(tzinfo=dt.UTC)
    return format_html(
        '<time datetime="{}" data-local="{}">{}</time>',
        utc.isoformat(timespec="seconds"),
        shape,
        utc.strftime(pattern),
    )


def _count_marked(value: Number | None, reason: str = "") -> SafeString:
    """The count an estimate rests on, marked when it is small."""
    return format_html("{}{}", count(value, reason), small(value))


SHOWN_AS: dict[str, Callable[[Any, str], Any]] = {
    "count": count,
    "n": _count_marked,
    "rate": rate,
    "kappa": kappa,
    "score": score,
    "similarity": similarity,
    "interval": interval,
    "rate_interval": rate_interval,
    "points": points,
    "points_interval": points_interval,
    "duration": duration,
    "verdict": verdict_word,
    "moment": moment,
    "day": day,
    "text": or_dash,
}


@register.simple_tag
def shown(value: Any, kind: str = "text", reason: str = "") -> Any:
    """`{% shown cell.value cell.kind cell.reason %}`: the filter that `kind` names, for generic tables.

    Raises:
        KeyError: `kind` is not one of `SHOWN_AS`.
    """
    return SHOWN_AS[kind or "text"](value, reason)
