"""What is special about collection rows in the queue: each settled one leads to a stored response."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.choices import ResponseState
from annotation.collected import CollectedResponse, Place, store_collected
from judging.choices import GenerationState, PassKind
from judging.collecting.reading import CollectedAnswer
from judging.collecting.requests import PLACE_TAKEN, CollectionRequests
from judging.llm.retrying import RetryPolicy
from judging.models import Generation, GenerationAttempt
from judging.queue.results import Result

RESPONSE_STATES: Mapping[str, ResponseState] = {
    GenerationState.COLLECTED: ResponseState.OK,
    GenerationState.EMPTY: ResponseState.EMPTY,
    GenerationState.FILTERED: ResponseState.FILTERED,
    GenerationState.TRUNCATED: ResponseState.TRUNCATED,
    GenerationState.CALL_FAILED: ResponseState.ERROR,
}
CANCELLED_VALUES: Mapping[str, Any] = {
    "state": GenerationState.CANCELLED,
    "failure_code": None,
    "detail": PLACE_TAKEN,
}
# An answer that was cut off is not asked for again with a larger limit: see docs/decisions/0009.
POLICY = RetryPolicy(max_truncation_retries=0, max_repairs=0)


@dataclass(frozen=True)
class CollectionWork:
    """Collection: rows are prompts for a target model, results are responses."""

    kind: PassKind = PassKind.COLLECTION
    policy: RetryPolicy = POLICY
    row_class: type[Generation] = Generation
    attempt_class: type[GenerationAttempt] = GenerationAttempt
    row_name: str = "generation"
    own_columns: tuple[str, ...] = ("response_id",)

    def requests(self, policy: RetryPolicy) -> CollectionRequests:
        """The maker of requests for one loop."""
        return CollectionRequests(policy=policy)

    def own_values(self, results: Sequence[Result], *, now: dt.datetime) -> list[tuple[Any, ...]]:
        """Store the response of each settled result, and say which it is.

        Where another response came in meanwhile (an import), it stays and the row is cancelled here; the
        answer is then in the ledger alone.
        """
        settled = {r.claimed.row_id: r for r in results if r.state != GenerationState.PENDING}
        rows = _rows(settled)
        standing = store_collected(
            [_response_of(rows[pk], result) for pk, result in settled.items()], now=now
        )
        response_ids: dict[int, int] = {}
        for pk, row in rows.items():
            stands = standing[_place_of(row)]
            if stands.is_given:
                response_ids[pk] = stands.response_id
            else:
                _cancel(row, now=now)
        return [(response_ids.get(result.claimed.row_id),) for result in results]

    def failed_values(
        self, row_ids: Sequence[int], *, code: str, detail: str, now: dt.datetime
    ) -> Mapping[int, Mapping[str, Any]]:
        """A row that failed without a result has a response in state ERROR as well, never an empty one.

        Where another response came in meanwhile, it stays, and the row is cancelled and not failed.
        """
        rows = _rows(row_ids)
        responses = [_failed_response(row, code=code, detail=detail) for row in rows.values()]
        standing = store_collected(responses, now=now)
        values: dict[int, Mapping[str, Any]] = {}
        for pk, row in rows.items():
            stands = standing[_place_of(row)]
            values[pk] = {"response_id": stands.response_id} if stands.is_given else dict(CANCELLED_VALUES)
        return values


def _rows(ids: Sequence[int] | Mapping[int, object]) -> dict[int, Generation]:
    if not ids:
        return {}
    return Generation.objects.select_related("judge_pass", "target_model").in_bulk(list(ids))


def _place_of(row: Generation) -> Place:
    return Place(prompt_id=row.prompt_id, target_model_id=row.target_model_id, rollout=row.rollout)


def _response_of(row: Generation, result: Result) -> CollectedResponse:
    answer = result.reading
    if result.state == GenerationState.CALL_FAILED or not isinstance(answer, CollectedAnswer):
        return _failed_response(
            row,
            code=result.failure_code or "bad_reply",
            detail=result.detail or "",
            parameters=result.parameters,
            is_simulated=result.is_simulated,
        )
    state = RESPONSE_STATES[result.state]
    settings = _settings(row, parameters=result.parameters, is_simulated=answer.is_simulated)
    if answer.model_said is not None:
        settings["model_said"] = answer.model_said
    if answer.is_refusal:
        settings["is_refusal"] = True
    return CollectedResponse(
        place=_place_of(row),
        state=state,
        text=answer.text,
        error=_remark(state, answer),
        finish_reason=answer.finish_reason,
        n_tokens=answer.n_tokens,
        tokens_source=answer.tokens_source,
        settings=settings,
    )


def _remark(state: ResponseState, answer: CollectedAnswer) -> str | None:
    """Why what is there is no complete answer: no reader of the paper's file is to take it for one."""
    if state in (ResponseState.OK, ResponseState.EMPTY):
        return None
    return f"{state.lower()}: {answer.finish_reason or answer.detail}"


def _failed_response(
    row: Generation,
    *,
    code: str,
    detail: str,
    parameters: Mapping[str, Any] | None = None,
    is_simulated: bool = False,
) -> CollectedResponse:
    return CollectedResponse(
        place=_place_of(row),
        state=ResponseState.ERROR,
        error=f"{code}: {detail}" if detail else code,
        settings=_settings(row, parameters=parameters, is_simulated=is_simulated),
    )


def _settings(row: Generation, *, parameters: Mapping[str, Any] | None, is_simulated: bool) -> dict[str, Any]:
    """What a response was made with: enough to ask the same again, or to see that it was simulated."""
    configuration = row.judge_pass.configuration
    target = configuration["targets"][row.target_model.slug]
    return {
        "pass": row.judge_pass.public_id,
        "endpoint": target["endpoint"],
        "model_id": target["model_id"],
        "parameters": dict(parameters) if parameters is not None else None,
        "system_prompt_sha256": configuration["system_prompt_sha256"],
        "is_simulated": is_simulated or row.judge_pass.is_simulated,
    }


def _cancel(row: Generation, *, now: dt.datetime) -> None:
    held = Generation.objects.filter(pk=row.pk, state=GenerationState.RUNNING)
    held.update(**CANCELLED_VALUES, worker=None, lease_until=None, is_ahead=False, settled_at=now)


COLLECTING = CollectionWork()
