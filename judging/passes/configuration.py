"""What a pass freezes: everything that affects a score, as plain JSON with a digest."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from django.conf import settings

from judging.choices import AnswerForm, EmptyPolicy, ExclusionPolicy
from judging.errors import PassError
from judging.llm.endpoints import TokenPrices, load_endpoints
from judging.llm.offers import OfferedModel, offered_models
from judging.llm.parsing import PARSER_VERSION
from judging.models import Rubric
from judging.passes.seats import JudgeSeat

MAX_TOKENS = 1024
# Fences and headings around the rubric and the texts, generously.
FRAME_BYTES = 10_000
TRUNCATION_FACTOR = 2
BYTES_PER_TOKEN = 4
EXCLUSION: Final = "case"
MAX_SHOTS = 10


def offered_judges() -> list[OfferedModel]:
    """Judges of the endpoints file and the presets, those with a key first.

    Raises:
        EndpointError: the endpoints file cannot be read.
    """
    return offered_models(load_endpoints(settings.ENDPOINTS_FILE), "judge")


def digest_of(configuration: Mapping[str, Any]) -> str:
    """SHA-256 of a configuration, independent of the order of its keys."""
    text = json.dumps(configuration, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def freeze(
    *,
    rubric: Rubric,
    seats: Sequence[JudgeSeat],
    shots: int,
    pool: Mapping[str, Any] | None,
    scope: str,
    output: str = AnswerForm.TEXT,
    exclusion: str = ExclusionPolicy.CASE,
    empty_policy: str = EmptyPolicy.SKIP,
) -> dict[str, Any]:
    """The configuration of a pass as JSON. Prices are left out (`freeze_costs`): they affect no score.

    Args:
        rubric: its hash is frozen, its text is immutable.
        seats: judges with endpoint and model.
        shots: K exemplars of each kind; 0 is zero-shot.
        pool: digest, size and embedder of the exemplar pool when `shots` is above 0.
        scope: digest of the responses to be judged.
        output: how judges are asked to answer.
        exclusion: what counts as the case itself; kept when `shots` is above 0.
        empty_policy: what becomes of an empty response.
    """
    return {
        "rubric": {"slug": rubric.slug, "sha256": rubric.text_hash},
        "judges": {
            seat.slug: {
                "endpoint": seat.endpoint.name,
                "base_url": seat.endpoint.base_url,
                "model_id": seat.model.model_id,
            }
            for seat in seats
        },
        "parameters": {"temperature": 0, "max_tokens": MAX_TOKENS, "output": str(output)},
        "shots": shots,
        "exclusion": str(exclusion) if shots else None,
        "pool": dict(pool) if pool else None,
        "empty_policy": str(empty_policy),
        "scope": scope,
        "parser_version": PARSER_VERSION,
    }


def refuse_other_parser(configuration: Mapping[str, Any]) -> None:
    """Check that replies would be read by the parser that the pass froze.

    Raises:
        PassError: by another. Its scores would differ for a reason that the configuration denies.
    """
    frozen = configuration.get("parser_version", PARSER_VERSION)
    if frozen != PARSER_VERSION:
        raise PassError(
            f"The pass reads replies with parser version {frozen}, and this program has version "
            f"{PARSER_VERSION}. What is scored stays; cancel the pass and start a new one for the rest.",
            code="other_parser",
        )


def freeze_costs(seats: Sequence[JudgeSeat], *, most_prompt_bytes: int) -> dict[str, Any]:
    """What is frozen beside the configuration and stays out of its digest: prices, and what a call takes.

    `worst_call_micros` bounds a call's cost. `call_tokens` is what the longest call may come to, reserved
    under a limit of tokens a minute until the real count is known.

    Args:
        seats: judges with their prices.
        most_prompt_bytes: length of the longest request, exemplars included.
    """
    worst = [worst_call_micros(seat, most_prompt_bytes=most_prompt_bytes) for seat in seats]
    known = [cost for cost in worst if cost is not None]
    return {
        "prices": {
            seat.slug: {"in": str(prices.per_million_in), "out": str(prices.per_million_out)}
            for seat in seats
            if (prices := seat.model.prices) is not None
        },
        "worst_call_micros": max(known) if len(known) == len(worst) else None,
        "call_tokens": most_prompt_bytes // BYTES_PER_TOKEN + MAX_TOKENS,
    }


def frozen_prices(configuration: Mapping[str, Any], slug: str) -> TokenPrices | None:
    """A judge's prices as its pass froze them, or None when they were unknown."""
    prices = configuration.get("prices", {}).get(slug)
    if prices is None:
        return None
    return TokenPrices(per_million_in=Decimal(prices["in"]), per_million_out=Decimal(prices["out"]))


def most_prompt_bytes(rubric: Rubric, *, item_bytes: int, exemplar_bytes: int, shots: int) -> int:
    """A bound on the length of a request.

    Args:
        rubric: whose text each request holds.
        item_bytes: longest prompt and response together.
        exemplar_bytes: longest prompt and response of an exemplar.
        shots: exemplars of each kind.
    """
    return FRAME_BYTES + len(rubric.text.encode()) + item_bytes + 2 * shots * exemplar_bytes


def worst_call_micros(seat: JudgeSeat, *, most_prompt_bytes: int) -> int | None:
    """The most that one call to a judge can cost in millionths, None when a price is unknown.

    A token is at least one byte, so the prompt's bytes bound its tokens; the answer is bounded by the
    larger budget that a cut answer gets.
    """
    if seat.model.prices is None:
        return None
    return seat.model.prices.cost_micros(
        tokens_in=most_prompt_bytes, tokens_out=MAX_TOKENS * TRUNCATION_FACTOR
    )
