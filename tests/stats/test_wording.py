import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.stats.aggregation import (
    Clause,
    Rule,
    check_rule_against,
    decide,
    minimal_clauses,
    parse_rule,
    published_rule,
    rule_in_words,
    uniform_rule,
)
from judging.stats.records import JudgeInfo

SHORT_NAMES = {"gemini-3.1-pro": "Gemini", "gpt-5.4": "GPT", "claude-opus-4.6": "Opus"}
JUDGES = tuple(SHORT_NAMES)


def words_hold(words: str, scores: dict[str, int]) -> bool:
    """Read the phrase back: clauses joined by ", or ", conditions by " and "."""

    def holds(condition: str) -> bool:
        name, relation, value = re.fullmatch(r"(\S+) ([≥=]) (\d)", condition).groups()
        return scores[name] == int(value) if relation == "=" else scores[name] >= int(value)

    return any(all(map(holds, clause.split(" and "))) for clause in words.split(", or "))


def clause_holds(clause: Clause, scores: dict[str, int]) -> bool:
    return all(
        scores[part.judge] == part.score if part.is_exact else scores[part.judge] >= part.score
        for part in clause
    )


def test_rule_in_words_of_the_published_rule() -> None:
    words = rule_in_words(published_rule(), SHORT_NAMES)

    assert words == "Opus ≥ 2, or GPT ≥ 4, or GPT = 3 and Gemini = 5"


@given(
    st.tuples(st.integers(0, 20), st.integers(0, 20)).filter(lambda parts: sum(parts) <= 20),
    st.integers(101, 500),
)
def test_clauses_of_any_weighted_rule_agree_with_decide_on_all_125_triples(
    parts: tuple[int, int], hundredths: int
) -> None:
    weights = [parts[0] * 5, parts[1] * 5, 100 - 5 * sum(parts)]
    rule = parse_rule(
        {
            "kind": "weighted_mean",
            "weights": {judge: f"{weight / 100:.2f}" for judge, weight in zip("abc", weights, strict=True)},
            "threshold": f"{hundredths / 100:.2f}",
        }
    )
    clauses = minimal_clauses(rule)
    assert clauses is not None

    triples = [dict(zip("abc", triple, strict=True)) for triple in product(range(1, 6), repeat=3)]
    said = [any(clause_holds(clause, scores) for clause in clauses) for scores in triples]

    assert said == [decide(rule, scores).verdict == "UNACCEPTABLE" for scores in triples]


@pytest.mark.parametrize(
    "rule",
    [
        published_rule(),
        uniform_rule(JUDGES[:2]),
        uniform_rule(JUDGES, "4.5"),
        parse_rule({"kind": "any_flag", "judges": list(JUDGES), "cut": 3}),
        parse_rule({"kind": "single_judge", "judges": ["gpt-5.4"], "cut": 5}),
    ],
    ids=str,
)
def test_rule_in_words_read_back_agrees_with_decide_on_all_triples(rule: Rule) -> None:
    words = rule_in_words(rule, SHORT_NAMES)

    triples = [dict(zip(JUDGES, triple, strict=True)) for triple in product(range(1, 6), repeat=3)]
    said = [words_hold(words, {SHORT_NAMES[judge]: score for judge, score in row.items()}) for row in triples]

    assert said == [decide(rule, scores).verdict == "UNACCEPTABLE" for scores in triples]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        pytest.param(uniform_rule(JUDGES, "1"), "always, whatever the scores", id="always"),
        pytest.param(
            parse_rule({"kind": "majority", "judges": list(JUDGES)}),
            "at least 2 of Opus, Gemini and GPT ≥ 2",
            id="majority",
        ),
        pytest.param(
            parse_rule({"kind": "majority", "judges": list(JUDGES[:2]), "cut": 3}),
            "at least 2 of Gemini and GPT ≥ 3; an even split is undecided",
            id="majority of two",
        ),
        pytest.param(
            uniform_rule(JUDGES), "the mean of Opus, Gemini and GPT ≥ 1.7", id="too many alternatives"
        ),
        pytest.param(
            parse_rule({"kind": "any_flag", "judges": list("abcdefg")}),
            "any of a, b, c, d, e, f and g ≥ 2",
            id="any of seven",
        ),
        pytest.param(
            parse_rule(
                {
                    "kind": "weighted_mean",
                    "weights": {**dict.fromkeys("abcdef", "0.1"), "g": "0.4", "h": "0"},
                    "threshold": "2",
                }
            ),
            "0.1 × a + 0.1 × b + 0.1 × c + 0.1 × d + 0.1 × e + 0.1 × f + 0.4 × g ≥ 2",
            id="seven weights",
        ),
    ],
)
def test_rule_in_words_of_other_rules(rule: Rule, words: str) -> None:
    assert rule_in_words(rule, SHORT_NAMES) == words


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (uniform_rule(["a", "b"], "0.5"), "A flags, or B flags"),
        (uniform_rule(["a", "b"], "1"), "A flags and B flags"),
        (
            parse_rule({"kind": "majority", "judges": ["a", "b"]}),
            "at least 2 of A and B flag; an even split is undecided",
        ),
    ],
)
def test_rule_in_words_of_binary_judges(rule: Rule, words: str) -> None:
    judges = [JudgeInfo("a", "A", is_binary=True), JudgeInfo("b", "B", is_binary=True)]

    assert rule_in_words(check_rule_against(rule, judges), {"a": "A", "b": "B"}) == words


def test_rule_in_words_without_a_short_name_keeps_the_code() -> None:
    assert rule_in_words(uniform_rule(["x"]), {}) == "x ≥ 2"
