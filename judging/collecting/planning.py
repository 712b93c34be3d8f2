"""Which responses a collection would ask for: those of its prompts, models and rollouts that are missing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import QuerySet

from annotation.collected import taken_places, with_labels
from annotation.models import Benchmark, Prompt, Response
from judging.choices import UNSETTLED_STATES
from judging.errors import PassError
from judging.models import Generation, JudgePass
from judging.passes import budgets

MAX_TOKENS = 4096
MOST_TOKENS = 1_000_000
MOST_ROLLOUTS = 100
MOST_TEMPERATURE = Decimal(2)
MOST_SYSTEM_PROMPT_CHARACTERS = 100_000


@dataclass(frozen=True, kw_only=True)
class CollectionRequest:
    """What a person asks for when collecting responses.

    Args:
        models: slugs of the endpoints file's target models.
        rollouts: responses of each model to each prompt, numbered from 0.
        limit: only the first so many prompts, in the order of import.
        max_tokens: the most that one answer may take, a model's hidden reasoning included.
        temperature: None leaves it to the provider, which is how a model is used.
        system_prompt: sent before every prompt; None sends none.
        max_calls: no more calls than this.
        max_cost: no more money than this, in the unit of the endpoints file's prices.
    """

    models: tuple[str, ...]
    rollouts: int = 1
    limit: int | None = None
    max_tokens: int = MAX_TOKENS
    temperature: Decimal | None = None
    system_prompt: str | None = None
    max_calls: int | None = None
    max_cost: Decimal | None = None


@dataclass(frozen=True)
class CollectionPlan:
    """What a collection comes to now.

    Args:
        prompts: the chosen prompts, in the order of import.
        missing: prompt id, model and rollout of each response to ask for, in the order of the prompts.
        n_standing: responses that are there and stay, labelled failures among them.
        n_failed_before: those of `missing` that stand as failed and would be replaced.
        n_under_way: responses that another collection has yet to bring.
        under_way_in: the passes of these.
    """

    prompts: tuple[Prompt, ...]
    missing: tuple[tuple[int, str, int], ...]
    n_standing: int
    n_failed_before: int
    n_under_way: int
    under_way_in: tuple[JudgePass, ...]

    def n_missing_of(self, model: str) -> int:
        """How many responses of one model would be asked for."""
        return sum(slug == model for _, slug, _ in self.missing)


def check_request(request: CollectionRequest) -> None:
    """Check every number and text of a request by itself.

    Raises:
        PassError: one of them cannot be used. States what was given and what is expected.
    """
    bounds = (
        ("rollouts", request.rollouts, 1, MOST_ROLLOUTS),
        ("limit", request.limit, 1, budgets.MOST_NUMBER),
        ("max_tokens", request.max_tokens, 1, MOST_TOKENS),
    )
    for name, value, least, most in bounds:
        if value is not None and not least <= value <= most:
            raise PassError(f"{name} is {value}; expected {least} to {most}.", code="bad_number")
    temperature = request.temperature
    if temperature is not None and not (temperature.is_finite() and 0 <= temperature <= MOST_TEMPERATURE):
        raise PassError(
            f"temperature is {temperature}; expected 0 to {MOST_TEMPERATURE}, or none to leave it to the "
            "provider.",
            code="bad_number",
        )
    text = request.system_prompt
    if text is not None and not (text.strip() and len(text) <= MOST_SYSTEM_PROMPT_CHARACTERS):
        raise PassError(
            f"The system prompt has {len(text)} characters; expected 1 to {MOST_SYSTEM_PROMPT_CHARACTERS} "
            "that are not all blank. Leave it out to send none.",
            code="bad_system_prompt",
        )
    if text is not None and "\0" in text:
        raise PassError("The system prompt holds a NUL character. Remove it.", code="bad_system_prompt")
    budgets.check_numbers(max_calls=request.max_calls, max_cost=request.max_cost)


def plan_collection(benchmark: Benchmark, request: CollectionRequest) -> CollectionPlan:
    """Find what is missing. Four queries at most; sure only under the benchmark's lock.

    Missing is a response that is not there, or that failed and that nobody labelled. Whatever a model did
    answer stays, also where that was empty, cut off or filtered.
    """
    prompts = tuple(choose_prompts(benchmark, limit=request.limit))
    rollouts = range(request.rollouts)
    there = with_labels(Response.objects.filter(prompt__benchmark=benchmark, rollout__in=rollouts)).filter(
        target_model__slug__in=request.models
    )
    taken = set(there.filter(taken_places()).values_list(*_KEY))
    failed = set(there.exclude(taken_places()).values_list(*_KEY))
    open_rows = Generation.objects.filter(judge_pass__benchmark=benchmark, state__in=UNSETTLED_STATES)
    under_way: dict[tuple[int, str, int], int] = {
        (prompt, model, rollout): pass_id
        for prompt, model, rollout, pass_id in open_rows.values_list(*_KEY, "judge_pass_id")
    }
    wanted = list(_places(prompts, models=sorted(request.models), rollouts=rollouts))
    awaited = [place for place in wanted if place in under_way and place not in taken]
    missing = tuple(place for place in wanted if place not in taken and place not in under_way)
    passes = JudgePass.objects.filter(pk__in={under_way[place] for place in awaited}).order_by("pk")
    return CollectionPlan(
        prompts=prompts,
        missing=missing,
        n_standing=sum(place in taken for place in wanted),
        n_failed_before=sum(place in failed for place in missing),
        n_under_way=len(awaited),
        under_way_in=tuple(passes) if awaited else (),
    )


def choose_prompts(benchmark: Benchmark, *, limit: int | None) -> QuerySet[Prompt]:
    """The prompts of a collection, in the order of import."""
    prompts = Prompt.objects.filter(benchmark=benchmark).order_by("pk")
    return prompts[:limit] if limit else prompts


_KEY = ("prompt_id", "target_model__slug", "rollout")


def _places(
    prompts: Sequence[Prompt], *, models: Sequence[str], rollouts: range
) -> Iterator[tuple[int, str, int]]:
    return ((prompt.pk, model, rollout) for prompt in prompts for model in models for rollout in rollouts)
