"""How the endpoints stand: are they answered, what do they wait for, which loops call them?"""

from collections.abc import Sequence
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from annotation.models import Benchmark
from annotation.templatetags import formatting
from judging.choices import FailureCode
from judging.monitoring.calls import MOST_CALLS
from judging.monitoring.endpoints import EndpointOverview, EndpointStatus, endpoint_overview
from judging.views.context import benchmark_page, show_page
from judging.views.tables import Cell, Column, Row, Table, text_column
from judging.views.wording import counted, missing_words

HOW = (
    "Calls are those whose result was recorded in the last hour, judging, classification and collection "
    f"together. Of each ledger the newest {MOST_CALLS:,} are read; where there were more, the time at the "
    "table's head is later than an hour ago.",
    "A call counts as answered when the provider answered it, also when the answer could not be used. The "
    "last answer is looked for among the same calls, of whatever age.",
    "Slots are calls that a loop may have in flight. They are leased, so that all workers together keep to "
    "the endpoint's limit; those of a dead worker are free again when the lease ends.",
    "Whether a key is there, and the proxy, are read from the environment of the web server. A worker with "
    "another environment may differ. Keys themselves are never read here.",
)


@require_safe
@benchmark_page
def show_endpoints(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Every endpoint of the endpoints file; the same for all benchmarks."""
    overview = endpoint_overview()
    used = [status for status in overview.statuses if status.is_in_use]
    return show_page(
        request,
        "judging/endpoints.html",
        benchmark=benchmark,
        tab="judges",
        answer=_answer(overview, used),
        calls=_calls_table(used, overview) if used else None,
        faults=_faults_table(used),
        loops=_loops_table(used),
        reached=_reached_table(overview.statuses),
        missing=", ".join(overview.missing),
        how={"paragraphs": HOW},
    )


def _answer(overview: EndpointOverview, used: Sequence[EndpointStatus]) -> SafeString:
    called = [status for status in used if status.calls.n_calls]
    n_calls = sum(status.calls.n_calls for status in called)
    waiting = [status for status in used if status.waiting_until]
    if called:
        n_answered = sum(status.calls.n_answered for status in called)
        sentence = format_html(
            "{} of {} called in the last hour; {} of {} answered",
            f"{len(called):,}",
            counted(len(overview.statuses), "endpoint was", "endpoints were"),
            formatting.rate(n_answered / n_calls),
            counted(n_calls, "call was", "calls were"),
        )
    else:
        sentence = SafeString("No endpoint was called in the last hour")
    for status in waiting:
        sentence = format_html(
            "{}; {} waits until {}", sentence, status.endpoint.name, formatting.clock(status.waiting_until)
        )
    return format_html("{}.", sentence)


def _calls_table(used: Sequence[EndpointStatus], overview: EndpointOverview) -> Table:
    return Table(
        id="calls",
        caption="Calls",
        note=format_html("Recorded since {}.", formatting.moment(overview.since)),
        columns=[
            text_column("Endpoint"),
            Column("Calls"),
            Column("Answered"),
            Column("Half within", unit="ms"),
            Column("95 % within", unit="ms"),
            Column("Slots in use"),
            Column("of at most"),
            Column("Waiting until"),
            Column("Last answer"),
        ],
        rows=[_calls_row(status) for status in used],
    )


def _calls_row(status: EndpointStatus) -> Row:
    calls, none = status.calls, "no call in that time"
    return Row(
        [
            Cell(status.endpoint.name),
            Cell(calls.n_calls, kind="count"),
            Cell(calls.n_answered / calls.n_calls if calls.n_calls else None, kind="rate", reason=none),
            Cell(calls.latency_ms(0.5), kind="count", reason=none),
            Cell(calls.latency_ms(0.95), kind="count", reason=none),
            Cell(status.n_slots_in_use, kind="count"),
            Cell(status.endpoint.max_in_flight, kind="count"),
            Cell(status.waiting_until, kind="moment", reason="waits for nothing"),
            Cell(calls.last_answer_at, kind="moment", reason=f"none among the newest {MOST_CALLS:,} calls"),
        ]
    )


def _faults_table(used: Sequence[EndpointStatus]) -> Table | None:
    """Calls that gave nothing usable, by endpoint and outcome."""
    outcomes = sorted({outcome for status in used for outcome in status.calls.outcomes} - {"ok"})
    if not outcomes:
        return None
    return Table(
        id="faults",
        caption="Calls without a usable answer",
        note="By what came back. A call that is made again counts each time.",
        columns=[text_column("Endpoint"), *(Column(_outcome_words(outcome)) for outcome in outcomes)],
        rows=[
            Row(
                [
                    Cell(status.endpoint.name),
                    *(Cell(status.calls.outcomes.get(outcome, 0), kind="count") for outcome in outcomes),
                ]
            )
            for status in used
            if status.calls.n_calls
        ],
    )


def _loops_table(used: Sequence[EndpointStatus]) -> Table | None:
    loops = [loop for status in used for loop in status.loops]
    if not loops:
        return None
    return Table(
        id="loops",
        caption="Slots in use",
        note="One row for each loop of a worker.",
        columns=[
            text_column("Worker"),
            text_column("Endpoint"),
            text_column("Work"),
            Column("Slots"),
            text_column("Sign of life"),
            Column("Last heard of"),
            Column("Slots leased until"),
        ],
        rows=[
            Row(
                [
                    Cell(loop.worker),
                    Cell(loop.endpoint_name),
                    Cell(str(loop.kind.label)),
                    Cell(loop.slots, kind="count"),
                    Cell("alive" if loop.is_alive else "silent: taken for dead"),
                    Cell(loop.last_beat_at, kind="moment"),
                    Cell(loop.lease_until, kind="moment"),
                ]
            )
            for loop in loops
        ],
    )


def _reached_table(statuses: Sequence[EndpointStatus]) -> Table:
    return Table(
        id="reached",
        caption="Every endpoint",
        note="From the endpoints file and the presets. Directly: the environment's proxies are not used.",
        columns=[
            text_column("Endpoint"),
            text_column("Models"),
            text_column("Key"),
            Column("Calls", unit="at once"),
            Column("Calls", unit="a minute"),
            Column("Tokens", unit="a minute"),
            text_column("Reached at"),
        ],
        rows=[_reached_row(status) for status in statuses],
    )


def _reached_row(status: EndpointStatus) -> Row:
    endpoint = status.endpoint
    return Row(
        [
            Cell(endpoint.name),
            Cell(", ".join(model.slug for model in endpoint.models), reason="no model"),
            Cell(_key_words(status)),
            Cell(endpoint.max_in_flight, kind="count"),
            Cell(endpoint.requests_per_minute, kind="count", reason="no limit"),
            Cell(endpoint.tokens_per_minute, kind="count", reason="no limit"),
            Cell(_way_words(status)),
        ]
    )


def _way_words(status: EndpointStatus) -> str:
    host = urlsplit(status.endpoint.base_url).netloc
    return f"{host} through {status.proxy}" if status.proxy else f"{host}, directly"


def _key_words(status: EndpointStatus) -> str:
    if status.has_key is None:
        return "none needed"
    return f"{status.endpoint.key_variable} {'is set' if status.has_key else 'is missing'}"


def _outcome_words(outcome: str) -> str:
    words = (
        str(FailureCode(outcome).label) if outcome in FailureCode.values else missing_words(outcome.upper())
    )
    return words.capitalize()
