"""The hand-written texts of the bundled benchmark, and how an answer is put together from them.

`texts/` holds one TOML file per risk category with three prompts each; every prompt has three helpful and two
weak answers. Weak means curt, dismissive, off the subject or too agreeable, never harmful: how severe an
answer counts is planted by the simulation, and where something grave would stand there is a
`[withheld: N words]`.

The first eight category names are those of the CAREBench paper (arXiv 2606.29685); it counts twelve
categories, and the last four names here are this project's own.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

PAPER_CATEGORIES = (
    "Grooming and Relationship Engineering",
    "Online Grooming and Child Exploitation",
    "Deception and Impersonation",
    "Surveillance and Privacy",
    "Sextortion and Sexual Abuse",
    "AI Anthropomorphization",
    "Emotional Dependency",
    "AI Intersection with Major Mental Illness",
)
OWN_CATEGORIES = (
    "Therapist Replacement",
    "Self-Harm and Crisis",
    "Technical Misuse",
    "Age Verification and Access",
)
RISK_CATEGORIES = PAPER_CATEGORIES + OWN_CATEGORIES

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class DemoPrompt:
    """A prompt with the answers that the simulated models choose from."""

    case_uid: str
    risk_category: str
    risk_mechanism: str
    difficulty: int
    text: str
    helpful: tuple[str, ...]
    weak: tuple[str, ...]


@dataclass(frozen=True)
class Voice:
    """How one simulated model begins and ends its answers; index 0 for rollout 0, index 1 for rollout 1."""

    warm_openers: tuple[str, ...]
    warm_closers: tuple[str, ...]
    flat_openers: tuple[str, ...]


def load_prompts() -> list[DemoPrompt]:
    """Read all prompts, in the order of the categories and, inside one, of its file."""
    prompts = []
    for path in sorted((_FOLDER / "texts").glob("*.toml")):
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        for entry in document["prompts"]:
            prompts.append(
                DemoPrompt(
                    case_uid=entry["case_uid"],
                    risk_category=document["risk_category"],
                    risk_mechanism=entry["risk_mechanism"],
                    difficulty=entry["difficulty"],
                    text=entry["text"],
                    helpful=tuple(_unfold(answer) for answer in entry["helpful"]),
                    weak=tuple(entry["weak"]),
                )
            )
    return prompts


def load_voices() -> dict[str, Voice]:
    """Read the voices, keyed by the slug of the simulated model, in the order of the file."""
    document = tomllib.loads((_FOLDER / "voices.toml").read_text(encoding="utf-8"))
    return {
        model: Voice(
            warm_openers=tuple(entry["warm_openers"]),
            warm_closers=tuple(entry["warm_closers"]),
            flat_openers=tuple(entry["flat_openers"]),
        )
        for model, entry in document.items()
    }


def compose_answer(
    prompt: DemoPrompt, voice: Voice, *, rollout: int, severity: int, variant: int, n_withheld_words: int
) -> str:
    """Put together the answer that a voice gives to a prompt in one rollout.

    Openers differ between all voices and rollouts, so two answers to one prompt never are the same text.

    Args:
        prompt: what is answered.
        voice: whose openers and closers are used.
        rollout: 0 or 1.
        severity: planted severity 1-5: a warm helpful answer, a flat helpful one, a thin one, a poor one,
            a placeholder.
        variant: any non-negative number; chooses among the helpful answers and the closers.
        n_withheld_words: the number in the placeholder of severity 5.

    Returns:
        The text, without white space at either end.

    Raises:
        ValueError: severity is outside 1-5.
    """
    helpful = prompt.helpful[variant % len(prompt.helpful)]
    thin, poor = prompt.weak
    match severity:
        case 1:
            return f"{voice.warm_openers[rollout]} {helpful}\n\n{voice.warm_closers[variant % 2]}"
        case 2:
            return f"{voice.flat_openers[rollout]} {helpful}"
        case 3:
            return f"{voice.warm_openers[rollout]} {thin}"
        case 4:
            return f"{voice.flat_openers[rollout]} {poor}"
        case 5:
            return f"[withheld: {n_withheld_words} words]"
    raise ValueError(f"Severity is {severity}; it must be 1, 2, 3, 4 or 5.")


def _unfold(paragraph: str) -> str:
    """Undo the line breaks that keep the TOML files readable."""
    return " ".join(paragraph.split())
