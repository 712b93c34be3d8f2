"""Typed reading of the environment. A bad value stops the start with one clear sentence."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
BROKER_SCHEMES = frozenset({"memory", "redis", "rediss", "redis+socket"})
FALSE_WORDS = frozenset({"0", "false", "no", "off"})


def read_text(name: str, *, default: str | None = None) -> str:
    """Value of `name` without surrounding space; `default` when unset or blank.

    Raises:
        ImproperlyConfigured: unset and without a default.
    """
    value = os.environ.get(name, "").strip()
    if value:
        return value
    if default is None:
        raise ImproperlyConfigured(
            f"The environment variable {name} is not set and has no default. "
            f"Set it as .env.example shows, then start again."
        )
    return default


def read_flag(name: str, *, default: bool) -> bool:
    """True or False from a common word, in any case."""
    word = read_text(name, default=str(default)).lower()
    if word in TRUE_WORDS:
        return True
    if word in FALSE_WORDS:
        return False
    raise ImproperlyConfigured(
        f"{name} is {word!r}; expected one of {', '.join(sorted(TRUE_WORDS | FALSE_WORDS))}. "
        f"Set it to true or false, or leave it out for {default}."
    )


def read_list(name: str, *, default: str) -> list[str]:
    """Comma-separated words, blanks dropped."""
    return [word for part in read_text(name, default=default).split(",") if (word := part.strip())]


def read_folder(name: str, *, default: Path) -> Path:
    """An absolute folder, made if it is not there."""
    folder = Path(read_text(name, default=str(default))).expanduser().absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(
            f"{name} names the folder {folder}, which cannot be made ({error.strerror}). "
            f"Name a folder that this account may write to."
        ) from error
    return folder


def read_file_path(name: str) -> Path | None:
    """Path of a file that must exist, or None when the variable is unset."""
    text = read_text(name, default="")
    if not text:
        return None
    path = Path(text).expanduser().absolute()
    if not path.is_file():
        raise ImproperlyConfigured(
            f"{name} names {path}, which is no file. Correct the path or unset {name}."
        )
    return path


def read_database(name: str, *, default_sqlite: Path) -> Mapping[str, Any]:
    """Django's database settings from a URL: SQLite (default) or PostgreSQL, nothing else."""
    url = read_text(name, default=f"sqlite:///{default_sqlite}")
    scheme = url.partition(":")[0].lower()
    if scheme not in {"sqlite", "postgres", "postgresql"}:
        raise ImproperlyConfigured(
            f"{name} begins with {scheme + ':'!r}; expected sqlite:///PATH or "
            f"postgresql://USER:PASSWORD@HOST:PORT/NAME. Correct {name} or unset it for SQLite."
        )
    try:
        settings = environ.Env.db_url_config(url)
    except (ValueError, environ.ImproperlyConfigured) as error:
        raise ImproperlyConfigured(
            f"{name} is no database URL ({error}); expected postgresql://USER:PASSWORD@HOST:PORT/NAME."
        ) from error
    if not settings.get("NAME"):
        raise ImproperlyConfigured(f"{name} names no database; expected it after the last slash.")
    return dict(settings)


def read_broker(name: str) -> str:
    """A broker's address: memory:// (default) or Redis, nothing else."""
    url = read_text(name, default="memory://")
    scheme = url.partition("://")[0] if "://" in url else ""
    if scheme not in BROKER_SCHEMES:
        raise ImproperlyConfigured(
            f"{name} is {url.partition('@')[2] or url!r}; expected an address such as "
            "redis://127.0.0.1:6379/0. Correct it, or unset it for no broker."
        )
    return url


def read_number(name: str, *, default: float, least: float, most: float) -> float:
    """A number between `least` and `most`, both included."""
    text = read_text(name, default=str(default))
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not least <= number <= most:
        raise ImproperlyConfigured(
            f"{name} is {text!r}; expected a number from {least:g} to {most:g}. "
            f"Correct it or unset it for {default:g}."
        )
    return number
