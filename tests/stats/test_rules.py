import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.errors import RuleError
from judging.stats.records import JudgeInfo
from judging.stats.rules import Rule, check_rule_against, parse_rule, published_rule, uniform_rule

LIKERT = [JudgeInfo("a", "A"), JudgeInfo("b", "B")]
BINARY = [JudgeInfo("a", "A", is_binary=True), JudgeInfo("b", "B", is_binary=True)]


def weighted(**changes: object) -> dict[str, object]:
    return {"kind": "weighted_mean", "weights": {"a": "0.4", "b": "0.6"}, "threshold": "1.7", **changes}


def test_parse_rule_round_trips_in_canonical_form() -> None:
    rule = parse_rule({"kind": "weighted_mean", "weights": {"b": "0.60", "a": "0.4"}, "threshold": "1.70"})

    document = rule.to_json()

    assert document == {
        "kind": "weighted_mean",
        "weights": {"a": "0.4", "b": "0.6"},
        "threshold": "1.7",
        "missing": "bounds",
    }
    assert str(document["weights"]) == "{'a': '0.4', 'b': '0.6'}"
    assert parse_rule(document) == rule


@pytest.mark.parametrize("kind", ["majority", "any_flag"])
def test_parse_rule_of_votes_defaults_to_cut_2_and_round_trips(kind: str) -> None:
    rule = parse_rule({"kind": kind, "judges": ["b", "a"]})

    assert rule.to_json() == {"kind": kind, "judges": ["a", "b"], "cut": 2, "missing": "bounds"}
    assert parse_rule(rule.to_json()) == rule


def test_parse_rule_accepts_whole_numbers_for_decimals() -> None:
    assert parse_rule(weighted(weights={"a": 1, "b": 0}, threshold=2)) == parse_rule(
        weighted(weights={"a": "1.0", "b": "0.0"}, threshold="2")
    )


@pytest.mark.parametrize(
    ("document", "said"),
    [
        pytest.param({}, "kind: found nothing", id="no kind"),
        pytest.param({"kind": "median"}, "'median'", id="unknown kind"),
        pytest.param(weighted(cut=2), "'cut'", id="key of another kind"),
        pytest.param(weighted(tolerance="0.1"), "'tolerance'", id="unknown key"),
        pytest.param(weighted(missing="ignore"), "'ignore'", id="unknown policy"),
        pytest.param(
            weighted(weights={"a": "0.4", "b": "0.5"}), "'0.9', expected a sum of exactly 1", id="sum"
        ),
        pytest.param(
            weighted(weights={"a": "1.4", "b": "-0.4"}), "weight of 'b': found '-0.4'", id="negative"
        ),
        pytest.param(weighted(weights={"a": 0.4, "b": 0.6}), "weight of 'a': found 0.4", id="float weight"),
        pytest.param(weighted(weights={"a": True}), "weight of 'a': found True", id="boolean weight"),
        pytest.param(weighted(weights={}), "weights: found {}", id="no weights"),
        pytest.param(weighted(weights=["a"]), "weights: found ['a']", id="weights not a mapping"),
        pytest.param(weighted(threshold=1.7), "threshold: found 1.7", id="float threshold"),
        pytest.param(weighted(threshold="NaN"), "threshold: found 'NaN'", id="NaN"),
        pytest.param(weighted(threshold="Infinity"), "threshold: found 'Infinity'", id="infinity"),
        pytest.param(weighted(threshold="1e0"), "threshold: found '1e0'", id="exponent"),
        pytest.param(weighted(threshold="٢"), "threshold: found '٢'", id="other digits"),
        pytest.param(weighted(threshold="5.1"), "threshold: found '5.1'", id="above the scale"),
        pytest.param(weighted(threshold="0"), "threshold: found '0'", id="zero"),
        pytest.param(weighted(threshold=None), "threshold: found nothing", id="no threshold"),
        pytest.param(
            {"kind": "uniform_mean", "judges": [], "threshold": "2"}, "judges: found []", id="no judges"
        ),
        pytest.param({"kind": "majority", "judges": ["a", "a"]}, "each judge once", id="repeated judge"),
        pytest.param({"kind": "majority", "judges": "ab"}, "judges: found 'ab'", id="judges not a list"),
        pytest.param({"kind": "majority", "judges": [1]}, "judges: found 1", id="judge not a name"),
        pytest.param(
            {"kind": "any_flag", "judges": ["a"], "cut": 0}, "cut: found 0", id="cut below the scale"
        ),
        pytest.param(
            {"kind": "any_flag", "judges": ["a"], "cut": "2"}, "cut: found '2'", id="cut not a number"
        ),
        pytest.param({"kind": "any_flag", "judges": ["a"], "cut": True}, "cut: found True", id="boolean cut"),
        pytest.param({"kind": "single_judge", "judges": ["a", "b"]}, "exactly one judge", id="two for one"),
    ],
)
def test_parse_rule_refuses_and_says_what_it_found(document: dict[str, object], said: str) -> None:
    with pytest.raises(RuleError) as refusal:
        parse_rule(document)

    assert said in refusal.value.message
    assert "expected" in refusal.value.message


def test_published_rule_has_the_papers_weights() -> None:
    assert published_rule().to_json() == {
        "kind": "weighted_mean",
        "weights": {"claude-opus-4.6": "0.7", "gemini-3.1-pro": "0.05", "gpt-5.4": "0.25"},
        "threshold": "1.7",
        "missing": "bounds",
    }


@pytest.mark.parametrize(
    ("rule", "judges", "said"),
    [
        pytest.param(
            uniform_rule(["a", "c"]), LIKERT, "'c', expected judges of this pass (a, b)", id="unknown"
        ),
        pytest.param(uniform_rule(["a"]), [], "(none)", id="no judges"),
        pytest.param(uniform_rule(["a", "b"]), [LIKERT[0], BINARY[1]], "one scale", id="mixed scales"),
        pytest.param(uniform_rule(["a", "b"]), BINARY, "at most 1", id="threshold above 0 / 1"),
        pytest.param(uniform_rule(["a", "b"], "0.5"), LIKERT, "1 to 5", id="threshold below 1-5"),
        pytest.param(
            parse_rule({"kind": "any_flag", "judges": ["a"], "cut": 3}), BINARY, "no cut", id="cut of 0 / 1"
        ),
    ],
)
def test_check_rule_against_judges_that_do_not_fit_is_refused(
    rule: Rule, judges: list[JudgeInfo], said: str
) -> None:
    with pytest.raises(RuleError) as refusal:
        check_rule_against(rule, judges)

    assert said in refusal.value.message


def test_check_rule_against_binary_judges_sets_their_scale() -> None:
    rule = check_rule_against(uniform_rule(["a", "b"], "1"), BINARY)

    assert rule.scale == (0, 1)
    assert rule.to_json() == uniform_rule(["a", "b"], "1").to_json()


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=5).filter(any), st.integers(100, 500))
def test_parse_rule_accepts_exactly_the_weights_that_sum_to_1(parts: list[int], hundredths: int) -> None:
    rest = 1000 - sum(parts[:-1])
    weights = {f"j{index}": f"{part / 1000:.3f}" for index, part in enumerate([*parts[:-1], rest])}
    document = {"kind": "weighted_mean", "weights": weights, "threshold": f"{hundredths / 100:.2f}"}

    if rest < 0:
        with pytest.raises(RuleError):
            parse_rule(document)
    else:
        assert parse_rule(parse_rule(document).to_json()) == parse_rule(document)
