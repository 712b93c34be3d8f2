"""What the queue must know of a kind of row. Whatever is not said here is the same for all kinds."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from judging.choices import PassKind
from judging.llm.calls import CallOutcome, CallRequest, Capabilities
from judging.llm.endpoints import TokenPrices
from judging.llm.retrying import History, Reading, RetryPolicy
from judging.models import Generation, GenerationAttempt, Verdict, VerdictAttempt

if TYPE_CHECKING:
    from judging.queue.results import Result

Row = Verdict | Generation


@dataclass(frozen=True)
class Claimed:
    """One row in this worker's hands: whoever writes its result must present the token."""

    row_id: int
    token: int
    judge_pass_id: int
    counters: dict[str, Any]
    reserved_micros: int
    reserved_tokens: int = 0
    has_money_cap: bool = False
    is_suspect: bool = False


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A request ready to be sent, and what is needed to read its reply.

    `prices` are those that the pass froze, None when they were unknown. `model_pk` names the model that
    is called, as `Requests.learn` knows it. `read` says what an outcome is for this row; it is pure.
    """

    claimed: Claimed
    request: CallRequest
    prices: TokenPrices | None
    history: History
    model_pk: int
    read: Callable[[CallOutcome], Reading]


@dataclass(frozen=True, kw_only=True)
class NotSent:
    """A row that must not be sent, or cannot be. It is settled and its reservation given back.

    `values` are the columns that settle it, state included. Without them no request could be made, by a
    fault of ours or of what is stored: the row ends as CALL_FAILED with code `bad_request`.
    """

    claimed: Claimed
    detail: str
    values: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Unbounded:
    """A row under a money cap whose model takes no token limit, so that no cost bounds its answer.

    It goes back to the queue and its pass is paused with `detail`.
    """

    claimed: Claimed
    detail: str


class Requests(Protocol):
    """Makes the requests of one loop. What it reads of passes, rubrics and models it may keep."""

    def build(self, rows: Sequence[Claimed]) -> Sequence[Prepared | NotSent | Unbounded]:
        """Read what the claimed rows need, outside of any transaction, and build their requests.

        Raises:
            DatabaseError: the database is away; anything else is told for each row as `NotSent`.
        """

    def learn(self, model_pk: int, capabilities: Capabilities) -> None:
        """Remember with what a model answered after it had refused a parameter."""


class Work(Protocol):
    """One kind of pass: its rows, its ledger, its requests, and what its results write."""

    @property
    def kind(self) -> PassKind:
        """Kind of the passes whose rows these are."""

    @property
    def row_class(self) -> type[Verdict] | type[Generation]:
        """The rows that are claimed."""

    @property
    def attempt_class(self) -> type[VerdictAttempt] | type[GenerationAttempt]:
        """The ledger of their calls."""

    @property
    def row_name(self) -> str:
        """The attempt's field that leads to its row."""

    @property
    def policy(self) -> RetryPolicy:
        """How often and how soon a row is called again."""

    @property
    def own_columns(self) -> tuple[str, ...]:
        """Columns that a result writes beside those that all kinds have."""

    def requests(self, policy: RetryPolicy) -> Requests:
        """The maker of requests for one loop."""

    def own_values(self, results: Sequence["Result"], *, now: dt.datetime) -> list[tuple[Any, ...]]:
        """Values of `own_columns` for each result.

        Runs inside the transaction that holds the locks of the results' rows, so a kind may store what
        its rows refer to here.
        """

    def failed_values(
        self, row_ids: Sequence[int], *, code: str, detail: str, now: dt.datetime
    ) -> Mapping[int, Mapping[str, Any]]:
        """What else, or instead, is written to rows that failed without a call's result, by row id.

        Runs inside the transaction that holds their locks.
        """
