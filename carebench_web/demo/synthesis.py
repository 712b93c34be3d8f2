"""Writes the bundled benchmark as the paper's CSV files: every label and score in them is simulated.

Nobody labelled these answers and no model wrote or scored them. The seven target models are invented and
named `demo-model-a` to `demo-model-g`, because made-up failure rates beside the names of real products would
defame them. The judges do carry the slugs `gemini-3.1-pro`, `gpt-5.4` and `claude-opus-4.6`, since the
published rule is defined on these: simulated scores, not produced by these models.

Each answer has a planted severity. Labels and scores are readings of it with noise, whose strength was chosen
so that people agree with each other, and the published rule with people, at a Cohen kappa between 0.5 and
0.65. Every random choice is a SHA-256 of the seed and of what is being decided, so the files are the same
bytes on every machine and Python version, and a new prompt leaves the numbers of the others as they are.
"""

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from carebench_web.demo.texts import DemoPrompt, compose_answer, load_prompts, load_voices

# Of several seeds, one with which the models come out in the order of their letters.
SEED = "carebench-demo-265"
N_ROLLOUTS = 2

PROMPT_COLUMNS = ("case_uid", "risk_category", "risk_mechanism", "prompt")
RESPONSE_COLUMNS = (
    "case_uid", "rollout", "risk_category", "risk_mechanism", "prompt", "model", "response", "error",
)  # fmt: skip
LABEL_COLUMNS = (
    "case_uid", "risk_category", "risk_mechanism", "prompt", "model", "exemplar_response", "human_rating",
    "annotator_type", "annotator", "severity", "rollout",
)  # fmt: skip
SCORE_COLUMNS = (
    "case_uid", "rollout", "model", "risk_category", "risk_mechanism", "judge", "score", "num_exemplars_yes",
    "num_exemplars_no", "error",
)  # fmt: skip

Row = dict[str, str | int]
ResponseKey = tuple[str, str, int]

_FAILURES_PER_MILLE = {
    "demo-model-a": 70,
    "demo-model-b": 230,
    "demo-model-c": 350,
    "demo-model-d": 440,
    "demo-model-e": 530,
    "demo-model-f": 610,
    "demo-model-g": 690,
}
_DIFFICULTY_SHIFTS_PER_MILLE = {1: -80, 2: 0, 3: 80}
# Of a hundred failing answers, how many are planted at severity 2, 3, 4 and 5.
_FAILURE_SEVERITIES = (38, 22, 22, 18)

_EMPTY_RESPONSES = {("demo-012", "demo-model-e", 1), ("demo-033", "demo-model-g", 0)}
_RESPONSE_ERRORS = {
    ("demo-005", "demo-model-c", 0): "timeout after 120 s",
    ("demo-021", "demo-model-f", 1): "connection closed before the reply was complete",
}


@dataclass(frozen=True)
class Annotator:
    """A simulated person: how strictly they read, and how steadily, in tenths of a severity step."""

    code: str
    annotator_type: str
    lean_tenths: int
    spread_tenths: int


ANNOTATORS = (
    Annotator("parent-1", "parent", 0, 15),
    Annotator("parent-2", "parent", 3, 16),
    Annotator("parent-3", "parent", -3, 17),
    Annotator("parent-4", "parent", 1, 18),
    Annotator("specialist-1", "specialist", 0, 13),
    Annotator("specialist-2", "specialist", 2, 14),
    Annotator("specialist-3", "specialist", -2, 14),
)
_UNACCEPTABLE_FROM_TENTHS = 22
# Weights of all people reading an answer 1 lower than planted, as planted and 1 higher; the judges do not
# share this, and so differ from the consensus by more than chance slips.
_SHARED_READING = (12, 76, 12)

# Weights of scoring an answer 1 lower than planted, as planted, 1 higher and 2 higher.
JUDGE_NOISE = {
    "gemini-3.1-pro": (14, 58, 18, 10),
    "gpt-5.4": (30, 54, 12, 4),
    "claude-opus-4.6": (24, 67, 7, 2),
}
_MISSING_SCORES = {
    ("demo-003", "demo-model-b", 0, "gemini-3.1-pro"): "unparseable: no line with a score",
    ("demo-009", "demo-model-f", 1, "gemini-3.1-pro"): "unparseable: two different scores",
    ("demo-018", "demo-model-d", 0, "gemini-3.1-pro"): "timeout after 60 s",
    ("demo-014", "demo-model-g", 1, "gpt-5.4"): "unparseable: no line with a score",
    ("demo-027", "demo-model-a", 0, "gpt-5.4"): "timeout after 60 s",
    ("demo-031", "demo-model-e", 0, "claude-opus-4.6"): "timeout after 60 s",
}


@dataclass(frozen=True)
class DemoResponse:
    """One simulated answer; without a text where the model gave none, and then without a severity."""

    prompt: DemoPrompt
    model: str
    rollout: int
    text: str
    error: str
    severity: int | None

    @property
    def key(self) -> ResponseKey:
        """What identifies the response in every file."""
        return (self.prompt.case_uid, self.model, self.rollout)


def write_files(folder: Path) -> None:
    """Write the benchmark into a folder, replacing an earlier copy with the same bytes.

    Writes `prompts.csv`, `responses.csv`, `annotated_responses.csv`, `judge_scores.csv` and `truth.json`.
    The last maps the SHA-256 of a response's UTF-8 text to its planted severity, for the loopback provider.

    Args:
        folder: where to write; made if absent.
    """
    responses = simulate_responses()
    folder.mkdir(parents=True, exist_ok=True)
    _write_csv(folder / "prompts.csv", PROMPT_COLUMNS, map(_prompt_row, load_prompts()))
    _write_csv(folder / "responses.csv", RESPONSE_COLUMNS, map(_response_row, responses))
    _write_csv(folder / "annotated_responses.csv", LABEL_COLUMNS, simulate_labels(responses))
    _write_csv(folder / "judge_scores.csv", SCORE_COLUMNS, simulate_scores(responses))
    truth = {
        sha256(response.text.encode("utf-8")).hexdigest(): response.severity
        for response in responses
        if response.severity is not None
    }
    (folder / "truth.json").write_bytes(json.dumps(truth, indent=1, sort_keys=True).encode("ascii") + b"\n")


def simulate_responses() -> list[DemoResponse]:
    """Answer every prompt by every model in every rollout, in the order prompt, model, rollout."""
    voices = load_voices()
    responses: list[DemoResponse] = []
    for prompt in load_prompts():
        for model, voice in voices.items():
            for rollout in range(N_ROLLOUTS):
                key = (prompt.case_uid, model, rollout)
                text, error, severity = "", _RESPONSE_ERRORS.get(key, ""), None
                if key not in _EMPTY_RESPONSES and not error:
                    severity = _plant_severity(prompt, model, rollout)
                    text = compose_answer(
                        prompt,
                        voice,
                        rollout=rollout,
                        severity=severity,
                        variant=_draw(6, "variant", *key),
                        # 509 is a prime above the number of answers: no two placeholders are the same.
                        n_withheld_words=40 + len(responses) * 37 % 509,
                    )
                responses.append(DemoResponse(prompt, model, rollout, text, error, severity))
    return responses


def simulate_labels(responses: Sequence[DemoResponse]) -> list[Row]:
    """Let two to four annotators label about two thirds of the answers; the rest stays unlabelled."""
    rows: list[Row] = []
    for response in responses:
        if response.severity is None or _draw(3, "labelled", *response.key) == 2:
            continue
        for annotator in _draw_annotators(response):
            rows.append(_label_row(response, response.severity, annotator))
    return rows


def simulate_scores(responses: Sequence[DemoResponse]) -> list[Row]:
    """Let the three judges score every answer that has a text; six scores are missing on purpose."""
    rows: list[Row] = []
    for response in responses:
        if response.severity is None:
            continue
        for judge, weights in JUDGE_NOISE.items():
            error = _MISSING_SCORES.get((*response.key, judge), "")
            shift = _pick(weights, "score", *response.key, judge) - 1
            rows.append(
                {
                    "case_uid": response.prompt.case_uid,
                    "rollout": response.rollout,
                    "model": response.model,
                    "risk_category": response.prompt.risk_category,
                    "risk_mechanism": response.prompt.risk_mechanism,
                    "judge": judge,
                    "score": -1 if error else _clamp(response.severity + shift),
                    "num_exemplars_yes": 0,
                    "num_exemplars_no": 0,
                    "error": error,
                }
            )
    return rows


def _plant_severity(prompt: DemoPrompt, model: str, rollout: int) -> int:
    """Severity 1-5; every second pair of rollouts shares it, as answers of one model resemble each other."""
    source = 0 if _draw(2, "repeat", prompt.case_uid, model) == 0 else rollout
    key = (prompt.case_uid, model, source)
    failures_per_mille = _FAILURES_PER_MILLE[model] + _DIFFICULTY_SHIFTS_PER_MILLE[prompt.difficulty]
    if _draw(1000, "fails", *key) >= failures_per_mille:
        return 1
    return 2 + _pick(_FAILURE_SEVERITIES, "severity", *key)


def _draw_annotators(response: DemoResponse) -> list[Annotator]:
    """Two to four annotators, three most often, in the order of their codes."""
    n_annotators = (2, 3, 3, 4)[_draw(4, "labels", *response.key)]
    turns = {person: _draw(2**32, "turn", *response.key, person.code) for person in ANNOTATORS}
    chosen = sorted(ANNOTATORS, key=turns.__getitem__)[:n_annotators]
    return sorted(chosen, key=lambda person: person.code)


def _label_row(response: DemoResponse, severity: int, annotator: Annotator) -> Row:
    """A label: rating and severity from one noisy reading, the rating alone flipped by a rare slip."""
    key = (*response.key, annotator.code)
    noise = _draw(annotator.spread_tenths + 1, "up", *key) - _draw(annotator.spread_tenths + 1, "down", *key)
    shared_shift = _pick(_SHARED_READING, "shared", *response.key) - 1
    perceived_tenths = 10 * (severity + shared_shift) + annotator.lean_tenths + noise
    is_unacceptable = perceived_tenths >= _UNACCEPTABLE_FROM_TENTHS
    perceived_severity = max(2, _clamp((perceived_tenths + 5) // 10)) if is_unacceptable else 1
    is_slip = _draw(80, "slip", *key) == 0
    leaves_severity_blank = _draw(40, "blank", *key) == 0
    return {
        **_prompt_row(response.prompt),
        "model": response.model,
        "exemplar_response": response.text,
        "human_rating": "No" if is_unacceptable != is_slip else "Yes",
        "annotator_type": annotator.annotator_type,
        "annotator": annotator.code,
        "severity": "" if leaves_severity_blank else perceived_severity,
        "rollout": response.rollout,
    }


def _prompt_row(prompt: DemoPrompt) -> Row:
    return {
        "case_uid": prompt.case_uid,
        "risk_category": prompt.risk_category,
        "risk_mechanism": prompt.risk_mechanism,
        "prompt": prompt.text,
    }


def _response_row(response: DemoResponse) -> Row:
    return {
        **_prompt_row(response.prompt),
        "rollout": response.rollout,
        "model": response.model,
        "response": response.text,
        "error": response.error,
    }


def _write_csv(path: Path, columns: Sequence[str], rows: Iterable[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _draw(bound: int, *key: str | int) -> int:
    """A number from 0 to bound - 1 that depends on the seed and the key alone."""
    digest = sha256("|".join([SEED, *map(str, key)]).encode("utf-8")).digest()
    return int.from_bytes(digest[:8], "big") % bound


def _pick(weights: Sequence[int], *key: str | int) -> int:
    """An index of `weights`, as often as its weight says."""
    drawn = _draw(sum(weights), *key)
    for index, weight in enumerate(weights):
        if drawn < weight:
            return index
        drawn -= weight
    raise ValueError(f"The weights {tuple(weights)} must not be negative.")


def _clamp(severity: int) -> int:
    return min(5, max(1, severity))
