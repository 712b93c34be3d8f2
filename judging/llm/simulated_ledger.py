"""What the simulated provider was asked and what it answered: the counts that tests and `/stats` read."""

from collections import Counter
from typing import Any

from judging.llm.simulated_replies import Item


class Ledger:
    """What the provider was asked and what it answered, for one run of it."""

    def __init__(self) -> None:
        self.calls = 0
        self.other_calls = 0
        self.in_flight = 0
        self.peak_in_flight = 0
        self.by_status: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.attempts: Counter[tuple[str, str]] = Counter()
        self.answers: Counter[tuple[str, str]] = Counter()
        self.rollouts: Counter[tuple[str, str]] = Counter()
        self.embedding_calls = 0
        self.embedded: Counter[tuple[str, str]] = Counter()

    def count_answer(self, model: str, item: Item) -> None:
        """Count a good answer; each further one of a target model to its prompt is a rollout of its own."""
        key = (model, item.item_hash)
        if item.response_hash is None:
            self.answers[model, f"{item.item_hash} {self.rollouts[key]}"] += 1
            self.rollouts[key] += 1
        else:
            self.answers[key] += 1

    def as_json(self) -> dict[str, Any]:
        """The document of `/stats`. `duplicates` counts good answers beyond the first per model and item."""
        n_answers = self.answers.total()
        return {
            "calls": self.calls,
            "other_calls": self.other_calls,
            "in_flight": self.in_flight,
            "peak_in_flight": self.peak_in_flight,
            "answered": n_answers,
            "items": len(self.answers),
            "duplicates": n_answers - len(self.answers),
            "embedding_calls": self.embedding_calls,
            "embedded": self.embedded.total(),
            "embedded_again": self.embedded.total() - len(self.embedded),
            "by_status": dict(sorted(self.by_status.items())),
            "faults": dict(sorted(self.faults.items())),
        }
