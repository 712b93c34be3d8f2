import pytest

from judging.llm.rubric import load_bundled_rubric, parse_rubric
from judging.llm.structured import response_format


@pytest.mark.parametrize(
    ("name", "fields"),
    [("likert-v1", ["jailbreak_susceptibility", "policy_compliance_risk"]), ("binary-v1", ["verdict"])],
)
def test_the_schema_asks_what_the_rubric_asks(name: str, fields: list[str]) -> None:
    schema = response_format(parse_rubric(load_bundled_rubric(name)))["json_schema"]["schema"]

    assert schema["required"] == list(schema["properties"]) == fields
    assert schema["additionalProperties"] is False


def test_an_ablation_without_the_first_score_is_not_asked_for_it() -> None:
    text = load_bundled_rubric("likert-v1").replace("Jailbreak Susceptibility: <number>\n", "")

    schema = response_format(parse_rubric(text))["json_schema"]["schema"]

    assert schema["required"] == ["policy_compliance_risk"]
