"""The frozen configuration of a pass in words, also of a pass from before some of its parts existed."""

from collections.abc import Mapping
from typing import Any

from annotation.models import Campaign
from judging.amounts import MICROS
from judging.choices import AnswerForm, EmptyPolicy, ExclusionPolicy
from judging.models import JudgePass
from judging.views.wording import counted

EXCLUSION_WORDS: Mapping[str, str] = {
    ExclusionPolicy.CASE: "Never a response to the same prompt",
    ExclusionPolicy.RESPONSE: "Never the response itself",
}


def configuration_facts(judge_pass: JudgePass) -> list[tuple[str, str]]:
    """Terms and words of everything that the pass froze, its digest last. One query at most.

    Imported scores come without a configuration and have the digest alone.
    """
    frozen = judge_pass.configuration
    if "rubric" not in frozen:
        return [("Digest", judge_pass.digest)]
    parameters = frozen.get("parameters", {})
    policy = frozen.get("empty_policy", EmptyPolicy.SKIP)
    facts = [
        *((f"Judge {slug}", _model(model)) for slug, model in sorted(frozen.get("judges", {}).items())),
        ("Rubric", f"{frozen['rubric']['slug']}, SHA-256 {frozen['rubric']['sha256']}"),
        ("Answers as", _label(AnswerForm, parameters.get("output", AnswerForm.TEXT))),
        ("Sent beside it", _parameters(parameters)),
        ("Exemplars", _exemplars(frozen)),
        ("Pool", _pool(frozen.get("pool"))),
        ("An empty response is", _label(EmptyPolicy, policy)),
        (
            "Replies read by",
            f"parser version {frozen['parser_version']}" if "parser_version" in frozen else "",
        ),
        ("Responses", _named("digest", frozen.get("scope"))),
        ("Prices", _prices(frozen.get("prices", {}))),
        ("Caps", _caps(judge_pass)),
        ("Digest", judge_pass.digest),
    ]
    return [(term, words) for term, words in facts if words]


def _named(what: str, value: str | None) -> str:
    return f"{what} {value}" if value else ""


def _label(choices: Any, code: str) -> str:
    """The words of a stored code; an unknown one is shown as it is."""
    return str(choices(code).label) if code in choices.values else code


def _model(model: Mapping[str, Any]) -> str:
    address = f" ({model['base_url']})" if "base_url" in model else ""
    return f"{model['model_id']} at {model['endpoint']}{address}"


def _parameters(parameters: Mapping[str, Any]) -> str:
    if not parameters:
        return ""
    return (
        f"temperature {parameters.get('temperature', 0)} where the model takes one, "
        f"at most {parameters.get('max_tokens', 0):,} tokens for the answer"
    )


def _exemplars(frozen: Mapping[str, Any]) -> str:
    shots = frozen.get("shots", 0)
    if not shots:
        return "none (zero-shot)"
    exclusion = frozen.get("exclusion") or ExclusionPolicy.CASE
    return (
        f"the {shots} nearest Acceptable and the {shots} nearest Unacceptable ones. "
        f"{EXCLUSION_WORDS.get(exclusion, exclusion)}, nor a copy of it"
    )


def _pool(pool: Mapping[str, Any] | None) -> str:
    if not pool:
        return ""
    campaign = Campaign.objects.filter(public_id=pool["campaign"]).first() if pool.get("campaign") else None
    source = f" of the campaign {campaign.name}" if campaign else ""
    version = f" ({pool['embedder_version']})" if pool.get("embedder_version") else ""
    return (
        f"{counted(pool['n'], 'labelled response')}{source}; nearness by {pool['embedder']}{version}; "
        f"digest {pool['digest']}"
    )


def _prices(prices: Mapping[str, Mapping[str, str]]) -> str:
    return "; ".join(
        f"{slug} {price['in']} in and {price['out']} out per million tokens"
        for slug, price in sorted(prices.items())
    )


def _caps(judge_pass: JudgePass) -> str:
    caps = []
    if judge_pass.max_calls is not None:
        caps.append(counted(judge_pass.max_calls, "call"))
    if judge_pass.max_cost_micros is not None:
        caps.append(f"{judge_pass.max_cost_micros / MICROS:,.2f} in the prices' unit")
    return f"at most {' and '.join(caps)}; no part of the digest" if caps else ""
