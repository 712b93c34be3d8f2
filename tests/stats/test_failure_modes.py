import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.stats.failure_modes import UNPARSED_STATES, ClassifiedRow, measure_failure_modes
from judging.stats.intervals import wilson

MODES = ("A", "B", "C")


def make_row(
    number: int, state: str = "SCORED", mode: str | None = None, *, prompt: int | None = None
) -> ClassifiedRow:
    return ClassifiedRow(
        response_id=number,
        prompt_id=number if prompt is None else prompt,
        model=f"model-{number % 2}",
        category=f"category-{number % 3}",
        state=state,
        mode=mode,
    )


def test_unparsed_replies_are_in_the_denominator_and_unanswered_rows_beside_it() -> None:
    rows = [
        make_row(0, mode="A"),
        make_row(1, mode="A"),
        make_row(2, mode="B"),
        make_row(3, "PARSE_FAILED"),
        make_row(4, "REFUSED"),
        make_row(5, "CALL_FAILED"),
        make_row(6, "PENDING"),
    ]

    overall = measure_failure_modes(rows, modes=MODES)["overall"]

    assert (overall["n_responses"], overall["n_answered"], overall["n_unclassified"]) == (7, 5, 2)
    assert [(entry["mode"], entry["n"], entry["share"]) for entry in overall["modes"]] == [
        ("A", 2, 0.4),
        ("B", 1, 0.2),
        ("C", 0, 0.0),
    ]
    assert (overall["n_unparsed"], overall["unparsed_share"]) == (2, 0.4)
    assert overall["unparsed"] == {"PARSE_FAILED": 1, "REFUSED": 1}
    assert overall["unclassified"] == {"CALL_FAILED": 1, "PENDING": 1}
    assert overall["modes"][0]["interval"] == pytest.approx(wilson(0.4, 5))
    assert overall["undefined"] == {}


def test_groups_are_named_and_hold_every_row_once() -> None:
    rows = [make_row(number, mode="A") for number in range(6)]

    measured = measure_failure_modes(rows, modes=MODES)

    assert [(entry["model"], entry["n_responses"]) for entry in measured["models"]] == [
        ("model-0", 3),
        ("model-1", 3),
    ]
    assert [entry["category"] for entry in measured["categories"]] == [f"category-{n}" for n in range(3)]
    assert len(measured["cells"]) == 6


def test_several_responses_to_one_prompt_widen_the_interval() -> None:
    # Two prompts of 10 responses that fail alike: as good as two rows, not as twenty.
    alike = [make_row(number, mode="AB"[number // 10], prompt=number // 10) for number in range(20)]
    apart = [make_row(number, mode="AB"[number // 10]) for number in range(20)]

    low, high = measure_failure_modes(alike, modes=MODES)["overall"]["modes"][0]["interval"]
    narrow_low, narrow_high = measure_failure_modes(apart, modes=MODES)["overall"]["modes"][0]["interval"]

    assert low < narrow_low < 0.5 < narrow_high < high


@pytest.mark.parametrize(
    ("rows", "undefined"),
    [
        ([], {"share": "no_answer", "interval": "no_answer"}),
        ([make_row(0, "CANCELLED")], {"share": "no_answer", "interval": "no_answer"}),
        ([make_row(0, mode="A"), make_row(1, mode="B", prompt=0)], {"interval": "one_prompt"}),
    ],
    ids=["no rows", "no answer", "one prompt"],
)
def test_what_cannot_be_said_is_undefined(rows: list[ClassifiedRow], undefined: dict[str, str]) -> None:
    overall = measure_failure_modes(rows, modes=MODES)["overall"]

    assert overall["undefined"] == undefined
    assert (overall["unparsed_share"] is None) is ("share" in undefined)
    assert overall["unparsed_interval"] is None


def test_a_mode_without_the_state_that_carries_one_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot have the mode"):
        make_row(0, "REFUSED", "A")


@given(
    st.lists(
        st.builds(make_row, st.integers(0, 9), st.just("SCORED"), st.sampled_from(MODES))
        | st.builds(make_row, st.integers(0, 9), st.sampled_from([*UNPARSED_STATES, "CALL_FAILED"])),
        max_size=30,
    ),
    st.randoms(use_true_random=False),
)
def test_shares_sum_to_one_whatever_the_order(rows: list[ClassifiedRow], shuffler: object) -> None:
    shuffled = list(rows)
    shuffler.shuffle(shuffled)  # type: ignore[attr-defined]

    measured = measure_failure_modes(rows, modes=MODES)
    overall = measured["overall"]

    assert measure_failure_modes(shuffled, modes=MODES) == measured
    assert overall["n_answered"] + overall["n_unclassified"] == len(rows)
    if overall["n_answered"]:
        shares = [entry["share"] for entry in overall["modes"]]
        assert sum(shares) + overall["unparsed_share"] == pytest.approx(1.0)
