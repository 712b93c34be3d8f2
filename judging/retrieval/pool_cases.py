"""The labelled cases from which exemplars are drawn, with their texts."""

from dataclasses import dataclass

from annotation.choices import ResponseState
from annotation.models import Benchmark, Campaign, Response
from judging.selectors import load_labels


@dataclass(frozen=True)
class PoolCase:
    """A complete response on which people agree, and its prompt."""

    response_id: int
    case_uid: str
    prompt: str
    response: str
    unacceptable: bool


def read_pool(benchmark: Benchmark, campaign: Campaign | None) -> list[PoolCase]:
    """The pool of a benchmark, or of one campaign's labels, in the order of ids. Two queries.

    A response is in it when it is complete and the consensus of its current labels is no tie.
    """
    from judging.stats.aggregation import consensus
    from judging.stats.records import CONTESTED, UNACCEPTABLE

    verdicts = {
        response_id: reading.verdict
        for response_id, reading in consensus(load_labels(benchmark, campaign)).items()
        if reading.verdict != CONTESTED
    }
    rows = Response.objects.filter(prompt__benchmark=benchmark, state=ResponseState.OK).order_by("pk")
    return [
        PoolCase(pk, case_uid, prompt, text, unacceptable=verdicts[pk] == UNACCEPTABLE)
        for pk, case_uid, prompt, text in rows.filter(pk__in=verdicts).values_list(
            "pk", "prompt__case_uid", "prompt__text", "text"
        )
    ]
