"""Keys of providers: read from the environment where they are needed, and kept nowhere."""

import os


def read_key(variable: str) -> str | None:
    """The key in an environment variable, or None when it is absent or cannot stand in a header."""
    key = os.environ.get(variable, "").strip()
    return key if key and key.isascii() and key.isprintable() else None


def has_key(variable: str) -> bool:
    """Whether an environment variable holds a key that could be sent."""
    return read_key(variable) is not None
