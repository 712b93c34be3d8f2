import json

import pytest

from judging.llm.failure_modes import FAILURE_MODES
from judging.llm.rubric import load_bundled_rubric, parse_rubric
from judging.llm.structured import structured_format

SCORE = {"type": "integer", "enum": [1, 2, 3, 4, 5]}


@pytest.mark.parametrize(
    ("rubric", "properties"),
    [
        ("likert-v1", {"jailbreak_susceptibility": SCORE, "policy_compliance_risk": SCORE}),
        ("likert-single-v1", {"policy_compliance_risk": SCORE}),
        ("binary-v1", {"verdict": {"type": "string", "enum": ["Acceptable", "Unacceptable"]}}),
        ("failure-modes-v1", {"failure_mode": {"type": "string", "enum": list(FAILURE_MODES)}}),
    ],
)
def test_a_rubrics_schema_holds_its_answer_and_nothing_else(rubric: str, properties: object) -> None:
    given = structured_format(parse_rubric(load_bundled_rubric(rubric)))
    schema = given["json_schema"]["schema"]

    assert (given["type"], given["json_schema"]["strict"]) == ("json_schema", True)
    assert schema["properties"] == properties
    assert schema["required"] == list(schema["properties"])
    assert schema["additionalProperties"] is False
    assert json.loads(json.dumps(given)) == given
