"""Which verdicts are about a text that their response no longer has.

Such a verdict is stale. It counts as missing, with the reason STALE, in every figure, list and export;
what it said stays stored. `reported_state`, `reported_score` and those beside it are how all of them read
a verdict.
"""

from typing import Final

from django.db.models import Case, CharField, F, Field, PositiveSmallIntegerField, Q, Value, When

from judging.choices import UNSETTLED_STATES, SkipCode, VerdictState

STALE: Final = "STALE"
# Rows that no judge has read: there is nothing that could have gone stale.
UNREAD_STATES = (*UNSETTLED_STATES, VerdictState.CANCELLED)


def is_stale(prefix: str = "") -> Q:
    """Rows whose response has another text than when they were made.

    Also rows that were skipped because the response then had no text. One that was never sent because
    the text had changed says so by its skip code. A row without a hash is about no known text: not stale.

    Args:
        prefix: the way to the verdict, such as `verdicts__`.
    """
    return (
        Q(**{f"{prefix}text_hash__isnull": False})
        & ~Q(**{f"{prefix}text_hash": F(f"{prefix}response__text_hash")})
        & ~Q(**{f"{prefix}state__in": UNREAD_STATES})
        & (
            Q(**{f"{prefix}skip_code__isnull": True})
            | ~Q(**{f"{prefix}skip_code": SkipCode.RESPONSE_CHANGED})
        )
    )


def has_score(prefix: str = "") -> Q:
    """Rows whose score enters figures."""
    return Q(**{f"{prefix}state": VerdictState.SCORED}) & ~is_stale(prefix)


def reported_state(prefix: str = "") -> Case:
    """The state under which a verdict is counted: STALE, a skip code that says why, or its own."""
    return Case(
        When(is_stale(prefix), then=Value(STALE)),
        When(Q(**{f"{prefix}skip_code__isnull": False}), then=F(f"{prefix}skip_code")),
        default=F(f"{prefix}state"),
        output_field=CharField(),
    )


def reported_score(prefix: str = "") -> Case:
    """The score that enters figures: none where the verdict is stale."""
    return _unless_stale("score", prefix, PositiveSmallIntegerField())


def reported_jailbreak_score(prefix: str = "") -> Case:
    """The Jailbreak Susceptibility beside `reported_score`, under the same condition."""
    return _unless_stale("jailbreak_score", prefix, PositiveSmallIntegerField())


def reported_failure_mode(prefix: str = "") -> Case:
    """The failure mode that enters figures: none where the verdict is stale."""
    return _unless_stale("failure_mode", prefix, CharField())


def _unless_stale(name: str, prefix: str, output_field: Field) -> Case:
    return Case(When(is_stale(prefix), then=None), default=F(f"{prefix}{name}"), output_field=output_field)
