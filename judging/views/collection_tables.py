"""Tables and counts of collections: by model and state, why calls failed, and what was frozen."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q

from annotation.models import Benchmark, Response
from annotation.templatetags import formatting
from judging.choices import UNSETTLED_STATES, FailureCode, GenerationState, PassKind, PauseReason
from judging.collecting.configuration import shown_parameters
from judging.collecting.planning import CollectionPlan
from judging.models import JudgePass
from judging.passes.seats import SeatCheck, frozen_models
from judging.selectors import passes_of
from judging.views.context import pass_address
from judging.views.tables import Cell, Column, Row, Table, text_column
from judging.views.wording import pass_state_words, row_state_words

MOST_CUT_PERCENT = 5

CountsByModel = Mapping[str, Counter[str]]


@dataclass(frozen=True)
class CutShare:
    """How many of one model's answers in a collection reached the limit of tokens."""

    model: str
    n_cut: int
    n_answers: int

    @property
    def rate(self) -> float:
        return self.n_cut / self.n_answers


def generation_counts(judge_pass: JudgePass) -> CountsByModel:
    """By target model: number of rows in each state. One query."""
    counts: dict[str, Counter[str]] = {}
    rows = judge_pass.generations.values_list("target_model__slug", "state")
    for slug, state, n in rows.annotate(n=Count("pk")).order_by("target_model__slug", "state"):
        counts.setdefault(slug, Counter())[state] += n
    return counts


def failure_counts(judge_pass: JudgePass) -> dict[str, int]:
    """Number of failed calls by failure code. One query."""
    failed = judge_pass.generations.filter(state=GenerationState.CALL_FAILED).values_list("failure_code")
    return dict(failed.annotate(n=Count("pk")).order_by("failure_code"))


def cut_shares(counts: CountsByModel) -> list[CutShare]:
    """Models more than 5 % of whose answers were cut off."""
    shares = []
    for model, states in counts.items():
        n_cut = states[GenerationState.TRUNCATED]
        n_answers = n_cut + states[GenerationState.COLLECTED]
        if n_cut * 100 > MOST_CUT_PERCENT * n_answers:
            shares.append(CutShare(model, n_cut, n_answers))
    return shares


def state_table(counts: CountsByModel) -> Table:
    words = row_state_words(PassKind.COLLECTION)
    states = [state for state in words if any(of_model[state] for of_model in counts.values())]
    return Table(
        id="states",
        caption="Responses by model",
        columns=[
            text_column("Model"),
            Column("Responses"),
            *(Column(words[state].capitalize()) for state in states),
        ],
        rows=[
            Row(
                [
                    Cell(model),
                    Cell(of_model.total(), kind="count"),
                    *(Cell(of_model[state], kind="count") for state in states),
                ]
            )
            for model, of_model in counts.items()
        ],
    )


def failure_table(failures: Mapping[str, int]) -> Table | None:
    if not failures:
        return None
    return Table(
        id="failures",
        caption="Why calls failed",
        note="Each is a response in the state failed, never an empty one. Collecting again asks for it anew.",
        columns=[text_column("Reason"), Column("Responses")],
        rows=[Row([Cell(FailureCode(code).label), Cell(n, kind="count")]) for code, n in failures.items()],
    )


def check_table(checks: Sequence[SeatCheck], plan: CollectionPlan) -> Table:
    """Whether each model answered its tiny call, and what it would be asked for."""
    return Table(
        id="checks",
        caption="Do the models answer?",
        note="One tiny call to each, just now.",
        columns=[
            text_column("Model"),
            text_column("Called at"),
            text_column("Answer"),
            Column("Time", unit="ms"),
            Column("Missing", unit="responses"),
        ],
        rows=[
            Row(
                [
                    Cell(check.seat.slug),
                    Cell(f"{check.seat.endpoint.name} ({check.seat.model.model_id})"),
                    Cell(check.fault or ("answers, simulated" if check.is_simulated else "answers")),
                    Cell(check.latency_ms, kind="count"),
                    Cell(plan.n_missing_of(check.seat.slug), kind="count"),
                ]
            )
            for check in checks
        ],
    )


def collection_table(benchmark: Benchmark) -> Table | None:
    """A benchmark's collections, newest first; None when there is none. One query."""
    unsettled = Q(generations__state__in=UNSETTLED_STATES)
    collected = Q(generations__state=GenerationState.COLLECTED)
    passes = list(
        passes_of(benchmark, PassKind.COLLECTION)
        .select_related("benchmark")
        .annotate(
            n_collected=Count("generations", filter=collected),
            n_other=Count("generations", filter=~unsettled & ~collected),
            n_waiting=Count("generations", filter=unsettled),
        )
    )
    if not passes:
        return None
    return Table(
        id="collections",
        caption="Collections",
        note="Otherwise: empty, cut off, filtered or failed.",
        columns=[
            text_column("Collection"),
            text_column("State"),
            text_column("Models"),
            Column("Complete", unit="responses"),
            Column("Otherwise", unit="responses"),
            Column("Waiting", unit="responses"),
            Column("Finished"),
        ],
        rows=[
            Row(
                [
                    Cell(judge_pass.name, href=pass_address(judge_pass)),
                    Cell(_state_words(judge_pass)),
                    Cell(", ".join(frozen_models(judge_pass.configuration))),
                    Cell(judge_pass.n_collected, kind="count"),
                    Cell(judge_pass.n_other, kind="count"),
                    Cell(judge_pass.n_waiting, kind="count"),
                    Cell(judge_pass.finished_at, kind="moment", reason="not finished"),
                ]
            )
            for judge_pass in passes
        ],
    )


def _state_words(judge_pass: JudgePass) -> str:
    words = pass_state_words(judge_pass.state)
    return f"{words}, simulated" if judge_pass.is_simulated else words


def collected_facts(response: Response) -> list[tuple[str, str]]:
    """How a collected response was made; nothing of an imported one."""
    made = response.settings
    if made is None:
        return []
    facts = [("Called", f"{made['model_id']} at {made['endpoint']}")]
    if made["parameters"]:
        sent = (f"{name} {value:g}" for name, value in sorted(made["parameters"].items()))
        facts.append(("Sent beside the prompt", ", ".join(sent)))
    facts.append(("System prompt", "sent" if made["system_prompt_sha256"] else "none"))
    if response.n_tokens is not None:
        facts.append(("Length", f"{response.n_tokens:,} tokens, {response.get_tokens_source_display()}"))
    if made.get("is_refusal"):
        facts.append(("Declined", "the provider gave the text as a refusal"))
    if response.is_simulated:
        facts.append(("Simulated", "made up by the loopback provider"))
    return facts


def facts_of(judge_pass: JudgePass) -> list[tuple[str, object]]:
    """What was frozen, and who started it when."""
    configuration = judge_pass.configuration
    parameters = shown_parameters(configuration)
    temperature = parameters.get("temperature")
    paused = PauseReason(judge_pass.pause_reason).label if judge_pass.pause_reason else None
    targets = configuration["targets"].items()
    facts: list[tuple[str, object]] = [
        ("State", f"{pass_state_words(judge_pass.state)}{f', {paused}' if paused else ''}"),
        ("Note", judge_pass.state_note),
        ("Models", ", ".join(f"{slug} ({at['model_id']} at {at['endpoint']})" for slug, at in targets)),
        ("Prompts", f"{configuration['n_prompts']:,}"),
        ("Rollouts", f"{configuration['rollouts']:,}"),
        ("Most tokens of an answer", f"{parameters['max_tokens']:,}" if parameters else None),
        ("Temperature", "the provider's own" if temperature is None else f"{temperature:g}"),
        ("Cap on calls", f"{judge_pass.max_calls:,}" if judge_pass.max_calls else None),
        ("Started", formatting.moment(judge_pass.started_at) if judge_pass.started_at else None),
        ("Finished", formatting.moment(judge_pass.finished_at) if judge_pass.finished_at else None),
        ("Started by", judge_pass.created_by.get_username() if judge_pass.created_by else None),
        ("Id", judge_pass.public_id),
        ("Configuration", judge_pass.digest[:16]),
    ]
    return [(term, value) for term, value in facts if value]
