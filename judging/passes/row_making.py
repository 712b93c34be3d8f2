"""Makes the verdict rows of a pass: inside the database, a batch of responses at a time.

Objects of Django would take 0.3 ms a row, so a pass of 100,000 responses and three judges would hold its
transaction, and on SQLite every label, for a minute and a half.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from annotation.choices import ResponseState
from annotation.models import Response
from judging.choices import EmptyPolicy, RubricScale, SkipCode, VerdictState
from judging.errors import Conflict
from judging.models import JudgePass, Verdict
from judging.models.rows import FIRST_SCORE
from judging.passes.scope import BATCH_SIZE, Scope, ScopeDigest, batches_of

SKIP_CODES = {
    ResponseState.EMPTY: SkipCode.RESPONSE_EMPTY,
    ResponseState.ERROR: SkipCode.RESPONSE_ERROR,
    ResponseState.FILTERED: SkipCode.RESPONSE_FILTERED,
    ResponseState.TRUNCATED: SkipCode.RESPONSE_TRUNCATED,
}
Exemplars = Mapping[int, list[dict[str, Any]]]

# Rows stand in the order of responses, and of judges within one: what a cap leaves unjudged is then
# missing for every judge alike. Times and scale come from the pass's own row, which knows their types.
_INSERT = f"""
INSERT INTO judging_verdict (
    judge_pass_id, response_id, judge_id, endpoint_name, scale, text_hash,
    state, skip_code, score, is_by_policy, settled_at,
    has_rubric_like_text, token, n_deaths, counters
)
SELECT judge_pass.id, response.id, judge.id, judge.endpoint_name, judge_pass.scale, response.text_hash,
    CASE response.state
        WHEN '{ResponseState.OK}' THEN '{VerdictState.PENDING}'
        WHEN policy.state THEN '{VerdictState.SCORED}'
        ELSE '{VerdictState.SKIPPED}'
    END,
    CASE response.state WHEN policy.state THEN NULL {
    " ".join(f"WHEN '{state}' THEN '{code}'" for state, code in SKIP_CODES.items())
} END,
    CASE response.state WHEN policy.state THEN policy.score END,
    CASE response.state WHEN policy.state THEN TRUE ELSE FALSE END,
    CASE response.state WHEN '{ResponseState.OK}' THEN NULL ELSE judge_pass.started_at END,
    FALSE, 0, 0, '{{}}'
FROM judging_judgepass judge_pass
JOIN judging_judgepass_judges seat ON seat.judgepass_id = judge_pass.id
JOIN judging_judge judge ON judge.id = seat.judge_id
CROSS JOIN annotation_response response
CROSS JOIN (SELECT CAST(%s AS VARCHAR(16)) AS state, CAST(%s AS SMALLINT) AS score) policy
WHERE judge_pass.id = %s AND response.id IN (RESPONSE_IDS)
ORDER BY response.id, judge.slug
"""
_SET_EXEMPLARS = """
UPDATE judging_verdict
SET exemplars = %s, n_exemplars_acceptable = %s, n_exemplars_unacceptable = %s
WHERE judge_pass_id = %s AND response_id = %s
"""


def make_rows(
    judge_pass: JudgePass,
    responses: QuerySet[Response],
    *,
    scope: Scope,
    empty_policy: EmptyPolicy,
    exemplars: Exemplars | None,
) -> None:
    """Make one row for each response and judge of a pass; must run inside the transaction that starts it.

    A complete response is PENDING; others are SKIPPED with the reason, or, when they are empty and the
    policy says so, SCORED as Acceptable without a call and marked `is_by_policy`.

    Args:
        judge_pass: with its judges, scale and `started_at` stored.
        responses: what it takes up.
        scope: what they were when the configuration was frozen.
        empty_policy: what an empty response counts as.
        exemplars: by response id; None when none are shown.

    Raises:
        Conflict: the responses are others than when they were measured.
    """
    digest = ScopeDigest()
    for batch in batches_of(responses, digest):
        _insert(judge_pass, batch, empty_policy)
        if exemplars is not None:
            _set_exemplars(judge_pass, batch, exemplars)
    if digest.hexdigest() != scope.digest:
        raise Conflict(
            "The responses changed while the pass was being started, so nothing was stored. Start it again.",
            code="responses_changed",
        )
    for start in range(0, len(scope.rubric_like), BATCH_SIZE):
        flagged = scope.rubric_like[start : start + BATCH_SIZE]
        rows = Verdict.objects.filter(judge_pass=judge_pass, response_id__in=flagged)
        rows.update(has_rubric_like_text=True)


def _insert(judge_pass: JudgePass, response_ids: Sequence[int], empty_policy: EmptyPolicy) -> None:
    is_read = empty_policy == EmptyPolicy.ACCEPTABLE
    state = ResponseState.EMPTY.value if is_read else None
    score = 0 if judge_pass.scale == RubricScale.BINARY else FIRST_SCORE
    statement = _INSERT.replace("RESPONSE_IDS", ", ".join(["%s"] * len(response_ids)))
    with connection.cursor() as cursor:
        cursor.execute(statement, [state, score, judge_pass.pk, *response_ids])


def _set_exemplars(judge_pass: JudgePass, response_ids: Sequence[int], exemplars: Exemplars) -> None:
    values = []
    for response_id in response_ids:
        shown = exemplars.get(response_id)
        if shown is not None:
            n_unacceptable = sum(bool(exemplar["unacceptable"]) for exemplar in shown)
            counts = (len(shown) - n_unacceptable, n_unacceptable)
            values.append((json.dumps(shown), *counts, judge_pass.pk, response_id))
    with connection.cursor() as cursor:
        cursor.executemany(_SET_EXEMPLARS, values)
