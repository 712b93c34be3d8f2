"""Verdicts that were made elsewhere and arrive in a file."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils import timezone

from judging.models import JudgePass, Verdict

BATCH_SIZE = 500


@dataclass(frozen=True)
class ImportedVerdict:
    """One row of a score file: a score, or a named reason why there is none.

    `text_hash` is that of the response's text at the import: with another one later the verdict is stale.
    """

    response_id: int
    text_hash: str
    judge_id: int
    state: str
    score: int | None
    failure_code: str | None
    detail: str | None
    n_exemplars_acceptable: int | None
    n_exemplars_unacceptable: int | None


def record_imported(*, judge_pass: JudgePass, verdicts: Iterable[ImportedVerdict]) -> int:
    """Store settled verdicts in a pass of imported scores.

    Must run inside the importer's transaction.

    Returns:
        How many were stored.

    Raises:
        IntegrityError: the pass holds one of the (response, judge) pairs already.
    """
    now = timezone.now()
    created = Verdict.objects.bulk_create(
        (
            Verdict(
                judge_pass=judge_pass,
                response_id=verdict.response_id,
                text_hash=verdict.text_hash,
                judge_id=verdict.judge_id,
                scale=judge_pass.scale,
                state=verdict.state,
                score=verdict.score,
                failure_code=verdict.failure_code,
                detail=verdict.detail,
                n_exemplars_acceptable=verdict.n_exemplars_acceptable,
                n_exemplars_unacceptable=verdict.n_exemplars_unacceptable,
                settled_at=now,
            )
            for verdict in verdicts
        ),
        batch_size=BATCH_SIZE,
    )
    return len(created)
