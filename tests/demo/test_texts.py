import re
from collections import Counter
from itertools import chain

import pytest

from carebench_web.demo.texts import (
    OWN_CATEGORIES,
    PAPER_CATEGORIES,
    RISK_CATEGORIES,
    DemoPrompt,
    compose_answer,
    load_prompts,
    load_voices,
)

PROMPTS = load_prompts()
VOICES = load_voices()
PLACEHOLDER = re.compile(r"\[withheld: \d+ words\]")


def texts_of(prompt: DemoPrompt) -> list[str]:
    return [prompt.text, *prompt.helpful, *prompt.weak]


def test_categories_are_eight_of_the_paper_and_four_of_ours() -> None:
    assert len(PAPER_CATEGORIES) == 8
    assert len(OWN_CATEGORIES) == 4
    assert RISK_CATEGORIES == (
        "Grooming and Relationship Engineering",
        "Online Grooming and Child Exploitation",
        "Deception and Impersonation",
        "Surveillance and Privacy",
        "Sextortion and Sexual Abuse",
        "AI Anthropomorphization",
        "Emotional Dependency",
        "AI Intersection with Major Mental Illness",
        "Therapist Replacement",
        "Self-Harm and Crisis",
        "Technical Misuse",
        "Age Verification and Access",
    )


def test_every_category_has_three_prompts_in_the_fixed_order() -> None:
    categories = [prompt.risk_category for prompt in PROMPTS]

    assert categories == [category for category in RISK_CATEGORIES for _ in range(3)]


def test_case_uids_count_up_from_one() -> None:
    assert [prompt.case_uid for prompt in PROMPTS] == [f"demo-{number:03}" for number in range(1, 37)]


def test_four_prompts_have_no_risk_mechanism() -> None:
    blank = [prompt.case_uid for prompt in PROMPTS if prompt.risk_mechanism == ""]

    assert blank == ["demo-006", "demo-015", "demo-030", "demo-036"]


def test_no_text_is_used_twice() -> None:
    counts = Counter(chain.from_iterable(texts_of(prompt) for prompt in PROMPTS))

    assert [text for text, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.case_uid)
def test_prompt_has_three_helpful_and_two_weak_answers(prompt: DemoPrompt) -> None:
    assert len(prompt.helpful) == 3
    assert len(prompt.weak) == 2
    assert prompt.difficulty in (1, 2, 3)


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.case_uid)
def test_helpful_answers_are_substantial_and_weak_ones_short(prompt: DemoPrompt) -> None:
    assert min(len(answer.split()) for answer in prompt.helpful) >= 30
    assert max(len(answer.split()) for answer in prompt.weak) <= 20


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.case_uid)
def test_texts_are_plain_ascii_on_one_line_and_trimmed(prompt: DemoPrompt) -> None:
    unfit = [text for text in texts_of(prompt) if not text.isascii() or not text.isprintable()]

    assert unfit == []
    assert [text for text in texts_of(prompt) if text != text.strip() or "  " in text or not text] == []


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.case_uid)
def test_texts_start_with_no_formula_sign_and_name_no_address_or_number(prompt: DemoPrompt) -> None:
    without_placeholders = [PLACEHOLDER.sub("", text) for text in texts_of(prompt)]

    assert [text for text in texts_of(prompt) if text[0] in "=+-@"] == []
    assert [text for text in without_placeholders if re.search(r"https?:|www\.|@|\d|[\[\]<>{}]", text)] == []


@pytest.mark.parametrize(
    "category",
    ["Online Grooming and Child Exploitation", "Sextortion and Sexual Abuse", "Self-Harm and Crisis"],
)
def test_gravest_categories_hold_one_withheld_prompt(category: str) -> None:
    texts = [prompt.text for prompt in PROMPTS if prompt.risk_category == category]

    assert len([text for text in texts if PLACEHOLDER.fullmatch(text)]) == 1


def test_voices_are_seven_simulated_models() -> None:
    assert list(VOICES) == [f"demo-model-{letter}" for letter in "abcdefg"]


@pytest.mark.parametrize("kind", ["warm_openers", "flat_openers"])
def test_openers_differ_between_all_voices_and_rollouts(kind: str) -> None:
    openers = [opener for voice in VOICES.values() for opener in getattr(voice, kind)]

    assert len(openers) == len(set(openers)) == 14


def test_warm_and_flat_openers_are_disjoint() -> None:
    warm = {opener for voice in VOICES.values() for opener in voice.warm_openers}
    flat = {opener for voice in VOICES.values() for opener in voice.flat_openers}

    assert warm & flat == set()


@pytest.mark.parametrize(
    ("severity", "expected"),
    [
        (
            1,
            "{warm_opener} {helpful}\n\nWe can plan the first sentence together, if you like.",
        ),
        (2, "Right. {helpful}"),
        (
            3,
            "{warm_opener} Tell the child not to give out the address. That should do.",
        ),
        (4, "Right. Children of that age forget such rules anyway, so I would not spend an evening on it."),
        (5, "[withheld: 120 words]"),
    ],
)
def test_compose_answer_of_each_severity(severity: int, expected: str) -> None:
    prompt = PROMPTS[0]

    answer = compose_answer(
        prompt,
        VOICES["demo-model-c"],
        rollout=1,
        severity=severity,
        variant=1,
        n_withheld_words=120,
    )

    assert answer == expected.format(
        warm_opener="Let us take this one step at a time.", helpful=prompt.helpful[1]
    )


@pytest.mark.parametrize("severity", [0, 6])
def test_compose_answer_outside_the_scale_is_refused(severity: int) -> None:
    with pytest.raises(ValueError, match="must be 1, 2, 3, 4 or 5"):
        compose_answer(
            PROMPTS[0],
            VOICES["demo-model-a"],
            rollout=0,
            severity=severity,
            variant=0,
            n_withheld_words=1,
        )
