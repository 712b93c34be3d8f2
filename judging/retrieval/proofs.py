"""Keeps, for each response of a few-shot pass, the proof that no case was shown to itself."""

import json
from collections.abc import Sequence

from django.db import connection

from judging.models import JudgePass
from judging.retrieval.retrieving import StoredExemplars

_INSERT = """
INSERT INTO judging_exclusionproof (
    judge_pass_id, response_id, n_pool, n_excluded,
    n_same_response, n_same_case, n_same_text, n_too_similar, nearest
)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)
"""
_BATCH_SIZE = 500


def store_proofs(judge_pass: JudgePass, exemplars: StoredExemplars) -> None:
    """Store what the search left out; must run inside the transaction that starts the pass.

    In plain SQL: objects of Django would hold that transaction some seconds longer in a large pass.
    """
    values: list[tuple[int | str, ...]] = []
    for response_id, proof in exemplars.proofs():
        nearest = [
            {
                "response": case.response_id,
                "similarity": case.similarity,
                "unacceptable": case.unacceptable,
                "reasons": list(case.reasons),
            }
            for case in proof.nearest
        ]
        counts = [proof.n_by_reason[reason] for reason in ("response", "case", "text", "similarity")]
        values.append(
            (judge_pass.pk, response_id, proof.n_pool, proof.n_excluded, *counts, json.dumps(nearest))
        )
        if len(values) == _BATCH_SIZE:
            _insert(values)
            values = []
    _insert(values)


def _insert(values: Sequence[Sequence[int | str]]) -> None:
    with connection.cursor() as cursor:
        cursor.executemany(_INSERT, values)
