"""A second pass over what a first one judged, with some of the scores changed."""

from collections.abc import Callable
from typing import Any

from judging.choices import VerdictState
from judging.models import JudgePass, Verdict
from tests.factories import make_pass


def as_before(_: int, row: Verdict) -> int | None:
    """The score of the first pass."""
    return row.score


def judge_again(
    first: JudgePass, *, rescore: Callable[[int, Verdict], int | None] = as_before, **values: Any
) -> JudgePass:
    """A pass of the same configuration whose scores are what `rescore` makes of the first ones.

    It is given each row's place in the first pass, from 0, and the row: primary keys begin anywhere. A score
    of None becomes an unreadable reply.
    """
    values.setdefault("name", f"{first.name}-again")
    second = make_pass(
        benchmark=first.benchmark,
        source=first.source,
        scale=first.scale,
        configuration=first.configuration,
        digest=first.digest,
        judges=tuple(first.judges.order_by("slug")),
        **values,
    )
    rows = []
    for place, row in enumerate(first.verdicts.select_related("response").order_by("pk")):
        score = rescore(place, row)
        state = VerdictState.SCORED if score is not None else VerdictState.PARSE_FAILED
        rows.append(
            Verdict(
                judge_pass=second,
                response=row.response,
                judge_id=row.judge_id,
                scale=row.scale,
                state=state if row.state == VerdictState.SCORED else row.state,
                failure_code=row.failure_code,
                skip_code=row.skip_code,
                score=score,
                text_hash=row.response.text_hash,
            )
        )
    Verdict.objects.bulk_create(rows)
    return second
