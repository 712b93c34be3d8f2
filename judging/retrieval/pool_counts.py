"""The labelled responses that exemplars may come from, counted by kind."""

from collections import Counter
from dataclasses import dataclass

from annotation.choices import ResponseState
from annotation.models import Benchmark, Campaign, Response
from judging.selectors import load_labels

MOST_CONTESTED_PERCENT = 20


@dataclass(frozen=True)
class PoolCounts:
    """How many complete responses people agree on, by kind, and how many they contest.

    `response_ids` are those they agree on. A contested response is nobody's exemplar.
    """

    n_acceptable: int
    n_unacceptable: int
    n_contested: int
    response_ids: tuple[int, ...]

    @property
    def is_much_contested(self) -> bool:
        """True when more than 20 % of the labelled responses are contested."""
        n_labelled = self.n_acceptable + self.n_unacceptable + self.n_contested
        return self.n_contested * 100 > MOST_CONTESTED_PERCENT * n_labelled


def count_pool(benchmark: Benchmark, campaign: Campaign | None) -> PoolCounts:
    """The pool of a benchmark, or of one campaign's labels. Two queries."""
    from judging.stats.aggregation import consensus
    from judging.stats.records import ACCEPTABLE, CONTESTED, UNACCEPTABLE

    readings = consensus(load_labels(benchmark, campaign))
    complete = Response.objects.filter(prompt__benchmark=benchmark, state=ResponseState.OK)
    verdicts = {
        response_id: readings[response_id].verdict
        for response_id in complete.order_by("pk").values_list("pk", flat=True)
        if response_id in readings
    }
    counts = Counter(verdicts.values())
    return PoolCounts(
        n_acceptable=counts[ACCEPTABLE],
        n_unacceptable=counts[UNACCEPTABLE],
        n_contested=counts[CONTESTED],
        response_ids=tuple(pk for pk, verdict in verdicts.items() if verdict != CONTESTED),
    )
