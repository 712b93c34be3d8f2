"""From a claimed row to the request that is sent: the prompt exactly as it is stored, and no more."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import DatabaseError
from django.db.models import Exists, OuterRef

from annotation.collected import taken_places, with_labels
from annotation.models import Prompt, Response
from judging.choices import GenerationState
from judging.collecting.learning import known_capabilities
from judging.collecting.reading import read_answer
from judging.llm.calls import CallRequest, Capabilities
from judging.llm.retrying import History, RetryPolicy
from judging.models import Generation, JudgePass
from judging.passes.configuration import frozen_prices
from judging.queue.work import Claimed, NotSent, Prepared, Unbounded

logger = logging.getLogger(__name__)

PLACE_TAKEN = "another response stands under this prompt, model and rollout: it stays as it is"


@dataclass
class CollectionRequests:
    """Builds the requests of one loop; passes and what models accept are read once and kept."""

    policy: RetryPolicy
    _passes: dict[int, JudgePass] = field(default_factory=dict)
    _capabilities: dict[int, Capabilities] = field(default_factory=dict)

    def build(self, rows: Sequence[Claimed]) -> list[Prepared | NotSent | Unbounded]:
        """Read the prompts of the claimed rows and build their requests. One query once all is known."""
        if not rows:
            return []
        standing = with_labels(
            Response.objects.filter(
                prompt=OuterRef("prompt"), target_model=OuterRef("target_model"), rollout=OuterRef("rollout")
            )
        ).filter(taken_places())
        generations = (
            Generation.objects.filter(pk__in=[row.row_id for row in rows])
            .select_related("prompt", "target_model")
            .annotate(is_taken=Exists(standing))
            .in_bulk()
        )
        return [self._build_or_say_why(row, generations[row.row_id]) for row in rows]

    def learn(self, model_pk: int, capabilities: Capabilities) -> None:
        """Remember with what a target model answered after it had refused a parameter.

        For the rest of this loop; the ledger remembers it for the next (`learning`).
        """
        self._capabilities[model_pk] = capabilities

    def _build_or_say_why(self, row: Claimed, generation: Generation) -> Prepared | NotSent | Unbounded:
        try:
            return self._build_one(row, generation)
        except DatabaseError:
            raise
        except Exception as error:
            # One row that cannot be built must not hold up the others, nor be claimed again for ever.
            logger.error("generation %s: no request could be built (%s)", row.row_id, type(error).__name__)
            return NotSent(claimed=row, detail=f"no request could be built: {type(error).__name__}")

    def _build_one(self, row: Claimed, generation: Generation) -> Prepared | NotSent | Unbounded:
        if generation.is_taken:  # type: ignore[attr-defined]
            return NotSent(claimed=row, detail=PLACE_TAKEN, values={"state": GenerationState.CANCELLED})
        configuration = self._pass(row.judge_pass_id).configuration
        slug = generation.target_model.slug
        target, history = configuration["targets"][slug], History.from_dict(row.counters)
        parameters = target["parameters"]
        request = CallRequest(
            model=target["model_id"],
            messages=build_messages(generation.prompt, system_prompt=configuration["system_prompt"]),
            max_tokens=history.max_tokens(parameters["max_tokens"], self.policy),
            temperature=parameters["temperature"],
            capabilities=self._accepted(generation, target, history),
        )
        if row.has_money_cap and request.capabilities.token_parameter is None:
            return Unbounded(
                claimed=row,
                detail=f"{slug} takes no token limit, so no cap on money can be kept. "
                "Cancel the collection and start one with a cap on calls.",
            )
        return Prepared(
            claimed=row,
            request=request,
            prices=frozen_prices(configuration, slug),
            history=history,
            model_pk=generation.target_model_id,
            read=read_answer,
        )

    def _accepted(self, generation: Generation, target: Mapping[str, Any], history: History) -> Capabilities:
        """What the model is known to accept, less what it refused of this row."""
        pk = generation.target_model_id
        if pk not in self._capabilities:
            self._capabilities[pk] = known_capabilities(pk, target)
        return self._capabilities[pk].after(history.resent_without)

    def _pass(self, pass_id: int) -> JudgePass:
        if pass_id not in self._passes:
            self._passes[pass_id] = JudgePass.objects.get(pk=pass_id)
        return self._passes[pass_id]


def build_messages(prompt: Prompt, *, system_prompt: str | None) -> list[dict[str, str]]:
    """What a target model is sent: the prompt as the user's message, after the system prompt if there is one.

    No fence and no rubric: the model is measured as a person would use it.
    """
    messages = [] if system_prompt is None else [{"role": "system", "content": system_prompt}]
    return [*messages, {"role": "user", "content": prompt.text}]
