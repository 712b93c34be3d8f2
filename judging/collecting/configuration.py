"""What a collection freezes: everything that affects an answer, and beside it what bounds the cost."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.importing.cells import hash_text
from annotation.models import Prompt
from judging.collecting.planning import CollectionPlan, CollectionRequest
from judging.collecting.targets import freeze_targets
from judging.errors import PassError
from judging.passes.configuration import BYTES_PER_TOKEN
from judging.passes.seats import JudgeSeat

# Role names and punctuation that a provider puts round the messages, generously.
FRAME_BYTES = 1_000


def freeze(request: CollectionRequest, *, seats: Sequence[JudgeSeat], plan: CollectionPlan) -> dict[str, Any]:
    """The configuration of a collection as JSON, without prices (`freeze_costs`): they affect no answer."""
    temperature = None if request.temperature is None else float(request.temperature)
    prompt = request.system_prompt
    return {
        "targets": freeze_targets(
            seats, parameters={"temperature": temperature, "max_tokens": request.max_tokens}
        ),
        "system_prompt": prompt,
        "system_prompt_sha256": None if prompt is None else hash_text(prompt),
        "rollouts": request.rollouts,
        "n_prompts": len(plan.prompts),
        "scope": digest_of_scope(plan),
    }


def digest_of_scope(plan: CollectionPlan) -> str:
    """SHA-256 of what is asked for: the prompts' texts, models and rollouts of the missing responses."""
    texts = {prompt.pk: hash_text(prompt.text) for prompt in plan.prompts}
    digest = hashlib.sha256()
    for prompt_id, model, rollout in plan.missing:
        digest.update(f"{prompt_id}|{texts[prompt_id]}|{model}|{rollout}\n".encode())
    return digest.hexdigest()


def freeze_costs(
    request: CollectionRequest, *, seats: Sequence[JudgeSeat], prompts: Sequence[Prompt]
) -> dict[str, Any]:
    """Prices, the worst that one call can cost (None when a price is unknown), and the tokens it may take."""
    worst = [worst_call_micros(request, seat=seat, prompts=prompts) for seat in seats]
    known = [cost for cost in worst if cost is not None]
    return {
        "prices": {
            seat.slug: {"in": str(prices.per_million_in), "out": str(prices.per_million_out)}
            for seat in seats
            if (prices := seat.model.prices) is not None
        },
        "worst_call_micros": max(known) if known and len(known) == len(worst) else None,
        "call_tokens": call_tokens(request, prompts),
    }


def check_cost_cap(request: CollectionRequest, *, seats: Sequence[JudgeSeat], plan: CollectionPlan) -> None:
    """Check that a cap on money, if there is one, can be kept.

    Raises:
        PassError: the price of a model is unknown.
    """
    if request.max_cost is None:
        return
    if freeze_costs(request, seats=seats, prompts=plan.prompts)["worst_call_micros"] is None:
        raise PassError(
            "A money cap needs the price of every target model, and the endpoints file gives not all. "
            "Add price_in and price_out, or cap the calls with --max-calls.",
            code="unknown_price",
        )


def call_tokens(request: CollectionRequest, prompts: Sequence[Prompt]) -> int:
    """What the longest call may come to, sent and answered: reserved under a limit of tokens a minute."""
    return _most_bytes(request, prompts) // BYTES_PER_TOKEN + request.max_tokens


def worst_call_micros(
    request: CollectionRequest, *, seat: JudgeSeat, prompts: Sequence[Prompt]
) -> int | None:
    """The most that one call to a target model can cost in millionths, None when a price is unknown.

    A token is at least one byte, so the bytes of what is sent bound its tokens; the answer is bounded by
    the limit that is sent.
    """
    if seat.model.prices is None:
        return None
    return seat.model.prices.cost_micros(
        tokens_in=_most_bytes(request, prompts), tokens_out=request.max_tokens
    )


def shown_parameters(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that every target model of a collection is asked with."""
    return dict(next((target["parameters"] for target in configuration["targets"].values()), {}))


def _most_bytes(request: CollectionRequest, prompts: Sequence[Prompt]) -> int:
    """A bound on the length of what is sent."""
    longest = max((len(prompt.text.encode()) for prompt in prompts), default=0)
    return FRAME_BYTES + len((request.system_prompt or "").encode()) + longest
