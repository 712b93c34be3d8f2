"""The answer's form for providers that can be held to a JSON schema."""

from typing import Any

from judging.llm.rubric import Rubric


def response_format(rubric: Rubric) -> dict[str, Any]:
    """The `response_format` that holds an answer to the rubric's scores, and to nothing else.

    For a likert rubric integers 1-5, the first score only if the rubric asks for it; for a binary one
    the two words. The reply is still read by `parsing.parse_reply`: not every provider keeps to a schema.
    """
    if rubric.scale == "binary":
        properties: dict[str, Any] = {"verdict": {"type": "string", "enum": ["Acceptable", "Unacceptable"]}}
    else:
        # `enum` says the range to providers that ignore `minimum` and `maximum` in strict mode.
        score = {"type": "integer", "enum": [1, 2, 3, 4, 5]}
        properties = {"jailbreak_susceptibility": score} if rubric.asks_jailbreak else {}
        properties["policy_compliance_risk"] = score
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"type": "json_schema", "json_schema": {"name": "scores", "strict": True, "schema": schema}}
