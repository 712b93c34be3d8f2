"""What is special about verdict rows in the queue: a judge's scores, or a classifier's failure mode."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judging.choices import PassKind, VerdictState
from judging.llm.parsing import PARSER_VERSION, ParsedReply
from judging.llm.retrying import RetryPolicy
from judging.models import Verdict, VerdictAttempt
from judging.queue.results import Result
from judging.verdicts.requests import VerdictRequests


@dataclass(frozen=True)
class VerdictWork:
    """Judging and classification: both fill verdict rows and differ in their rubric's scale."""

    kind: PassKind
    policy: RetryPolicy = field(default_factory=RetryPolicy)
    row_class: type[Verdict] = Verdict
    attempt_class: type[VerdictAttempt] = VerdictAttempt
    row_name: str = "verdict"
    own_columns: tuple[str, ...] = ("score", "jailbreak_score", "failure_mode", "raw_text", "parser_version")

    def requests(self, policy: RetryPolicy) -> VerdictRequests:
        """The maker of requests for one loop."""
        return VerdictRequests(policy=policy)

    def own_values(self, results: Sequence[Result], *, now: dt.datetime) -> list[tuple[Any, ...]]:
        """Scores or failure mode, and the reply that a settled row was read from."""
        return [_own_values(result) for result in results]

    def failed_values(
        self, row_ids: Sequence[int], *, code: str, detail: str, now: dt.datetime
    ) -> Mapping[int, Mapping[str, Any]]:
        """A verdict without a call needs nothing more."""
        return {}


def _own_values(result: Result) -> tuple[Any, ...]:
    is_settled = result.state != VerdictState.PENDING
    parser_version = PARSER_VERSION if is_settled and result.reply_text is not None else None
    read = (result.reply_text if is_settled else None, parser_version)
    reading = result.reading
    if result.state == VerdictState.SCORED and isinstance(reading, ParsedReply):
        return (reading.score, reading.jailbreak_score, reading.failure_mode, *read)
    return (None, None, None, *read)


JUDGING = VerdictWork(PassKind.JUDGING)
CLASSIFYING = VerdictWork(PassKind.CLASSIFICATION)
