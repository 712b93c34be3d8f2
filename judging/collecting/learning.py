"""What a target model accepts, as its latest answered call tells. The ledger is the memory."""

from collections.abc import Mapping
from typing import Any

from judging.llm.calls import Capabilities, TokenParameter
from judging.models import GenerationAttempt

TOKEN_PARAMETERS: tuple[TokenParameter, ...] = ("max_tokens", "max_completion_tokens")


def known_capabilities(target_model_id: int, target: Mapping[str, Any]) -> Capabilities:
    """What a model answered to the last time that it was called at this endpoint under this id. One query.

    A parameter that was asked for and not sent had been refused. Without any such call: everything, so
    that a refusal is learned again after the endpoint has moved.

    Args:
        target_model_id: row of the target model.
        target: what a pass froze of it: endpoint, base_url, model_id and parameters.
    """
    answered = (
        GenerationAttempt.objects.filter(
            generation__target_model=target_model_id,
            generation__endpoint_name=target["endpoint"],
            outcome="ok",
            parameters__isnull=False,
        )
        .select_related("generation__judge_pass", "generation__target_model")
        .order_by("-pk")
        .first()
    )
    if answered is None or answered.parameters is None:
        return Capabilities()
    generation = answered.generation
    then = generation.judge_pass.configuration["targets"][generation.target_model.slug]
    if (then["base_url"], then["model_id"]) != (target["base_url"], target["model_id"]):
        return Capabilities()
    sent, asked = answered.parameters, then["parameters"]
    return Capabilities(
        temperature=asked["temperature"] is None or "temperature" in sent,
        token_parameter=next((name for name in TOKEN_PARAMETERS if name in sent), None),
    )
