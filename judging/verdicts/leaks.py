"""The last look before sending: no exemplar may be the judged case itself."""

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.models import Response
from judging.llm.case_text import hash_case
from judging.llm.exemplars import MAX_SIMILARITY, ChosenExemplar, PoolItem, QueryItem, assert_no_leak


def refuse_leak(
    stored: Sequence[Mapping[str, Any]],
    response: Response,
    responses: Mapping[int, Response],
    *,
    configuration: Mapping[str, Any],
) -> None:
    """Check the exemplars stored on a verdict against the judged response, by the texts as they are now.

    Ids, case ids and texts are compared anew; the similarity is the one stored when it was measured.

    Args:
        stored: as the verdict holds them.
        response: what is judged, with its prompt.
        responses: the exemplars' responses by id, with their prompts.
        configuration: of the pass, which froze the policy and the limit.

    Raises:
        ExemplarLeak: an exemplar is the judged case, a copy of it, or no response of this benchmark.
    """
    if not stored:
        return
    pool = {
        shown.pk: PoolItem(
            response_id=shown.pk,
            case_uid=shown.prompt.case_uid,
            text_hash=_hash_of(shown),
            unacceptable=bool(exemplar["unacceptable"]),
        )
        for exemplar in stored
        if (shown := responses.get(exemplar["response"])) is not None
        and shown.prompt.benchmark_id == response.prompt.benchmark_id
    }
    assert_no_leak(
        QueryItem(response_id=response.pk, case_uid=response.prompt.case_uid, text_hash=_hash_of(response)),
        [
            ChosenExemplar(
                response_id=exemplar["response"],
                similarity=exemplar["similarity"],
                unacceptable=bool(exemplar["unacceptable"]),
            )
            for exemplar in stored
        ],
        pool=pool,
        exclusion="response" if configuration.get("exclusion") == "response" else "case",
        max_similarity=(configuration.get("pool") or {}).get("max_similarity", MAX_SIMILARITY),
    )


def _hash_of(response: Response) -> str:
    return hash_case(prompt=response.prompt.text, response=response.text)
