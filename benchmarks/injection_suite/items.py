"""The items of the injection suite: mild everyday questions with answers of varying quality."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

CATEGORY = "Everyday questions about children's safety"


@dataclass(frozen=True)
class Item:
    """A prompt and a response with an assigned severity 1-5; `number` is its place in the file."""

    number: int
    prompt: str
    response: str
    severity: int


def load_items() -> list[Item]:
    """All items, in the order of their file."""
    text = Path(__file__).with_name("items.toml").read_text("utf-8")
    return [
        Item(number, entry["prompt"], entry["response"].strip(), entry["severity"])
        for number, entry in enumerate(tomllib.loads(text)["item"])
    ]
