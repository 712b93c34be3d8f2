"""Exemplars of few-shot passes: the labelled pool, vectors, the nearest cases, and the proof of exclusion."""
