"""Rubrics as stored versions: those that ship, those that researchers write, and what each one asks.

A version never changes. Its slug is `name-vN`; a new text under the same name is the next version.
"""

import re
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import Max

from annotation.audit import record_event
from annotation.models import Account
from judging.choices import RubricScale
from judging.errors import Conflict, PassError, RubricError
from judging.llm.rubric import BUNDLED_RUBRICS, hash_rubric, load_bundled_rubric, parse_rubric
from judging.models import Rubric

DEFAULT_RUBRIC = "likert-v1"
MAX_CHARACTERS = 50_000
MAX_LINES = 1_000
MAX_NAME_CHARACTERS = 48
JUDGING_SCALES = (RubricScale.LIKERT, RubricScale.BINARY)
_NAME = re.compile(r"[A-Za-z0-9][-A-Za-z0-9_]*")
_MOST_RACES = 20


@dataclass(frozen=True)
class OfferedRubric:
    """A rubric that a judging pass may use, and what it asks."""

    slug: str
    scale: RubricScale
    asks_jailbreak: bool
    takes_exemplars: bool


def known_rubrics() -> list[Rubric]:
    """Every version, shipped (perhaps unsaved) and stored, by name and then newest first. One query."""
    stored = list(Rubric.objects.select_related("parent", "created_by").order_by("pk"))
    taken = {rubric.slug for rubric in stored}
    shipped = [_bundled(slug) for slug in BUNDLED_RUBRICS if slug not in taken]
    return sorted([*stored, *shipped], key=lambda rubric: (rubric.name, -rubric.version))


def offered_rubrics() -> list[OfferedRubric]:
    """The versions that a judging pass may use, by name and then newest first. One query.

    A stored text that this program cannot take apart is not among them.
    """
    offered = []
    for rubric in known_rubrics():
        if rubric.scale not in JUDGING_SCALES:
            continue
        try:
            parsed = parse_rubric(rubric.text)
        except RubricError:
            continue
        offered.append(
            OfferedRubric(
                slug=rubric.slug,
                scale=RubricScale(rubric.scale),
                asks_jailbreak=parsed.asks_jailbreak,
                takes_exemplars=parsed.exemplar is not None,
            )
        )
    return offered


def find_rubric(slug: str) -> Rubric:
    """The rubric called `slug`; a bundled one that was never used is not stored yet (`store_rubric`).

    Raises:
        PassError: no rubric of that name.
    """
    found = Rubric.objects.select_related("parent", "created_by").filter(slug=slug).first()
    if found is not None:
        return found
    if slug not in BUNDLED_RUBRICS:
        known = sorted({*BUNDLED_RUBRICS, *Rubric.objects.values_list("slug", flat=True)})
        raise PassError(
            f"There is no rubric {slug[:100]!r}. Known: {', '.join(known)}.", code="unknown_rubric"
        )
    return _bundled(slug)


def store_rubric(rubric: Rubric) -> Rubric:
    """The rubric as a stored row; must run inside the transaction that uses it."""
    if rubric.pk is not None:
        return rubric
    names = ("name", "version", "scale", "text", "text_hash")
    values = {name: getattr(rubric, name) for name in names}
    return Rubric.objects.get_or_create(slug=rubric.slug, defaults=values)[0]


def create_rubric(*, name: str, text: str, parent: str | None, actor: Account | None) -> Rubric:
    """Store a text as the next version of the rubrics called `name`.

    Args:
        name: of a rubric that there is, or a new one.
        text: as `llm.rubric` describes it; ends of lines become `\\n`.
        parent: slug of the version that it was edited from, if any.
        actor: who wrote it.

    Returns:
        The stored version, numbered one above the highest of its name.

    Raises:
        RubricError: the name or the text cannot be used; says what is wrong in it.
        PassError: there is no rubric `parent`.
        Conflict: a version with exactly this text exists.
    """
    _check_name(name)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    _check_text(text)
    scale = RubricScale(parse_rubric(text).scale.upper())
    text_hash = hash_rubric(text)
    for _ in range(_MOST_RACES):
        _refuse_same_text(text_hash)
        try:
            with transaction.atomic():
                rubric = Rubric.objects.create(
                    slug=f"{name}-v{(version := _next_version(name))}",
                    name=name,
                    version=version,
                    parent=store_rubric(find_rubric(parent)) if parent else None,
                    scale=scale,
                    text=text,
                    text_hash=text_hash,
                    created_by=actor,
                )
                record_event(
                    actor=actor,
                    action="rubric.created",
                    subject=f"rubric:{rubric.slug}",
                    parent=parent,
                    sha256=text_hash,
                )
        except IntegrityError:
            # Somebody took the number, or stored the same text, since both were looked up.
            continue
        return rubric
    raise Conflict(
        f"New versions of {name!r} are being stored faster than this one. Try again.", code="rubric_race"
    )


def _bundled(slug: str) -> Rubric:
    text = load_bundled_rubric(slug)
    name, _, version = slug.rpartition("-v")
    return Rubric(
        slug=slug,
        name=name,
        version=int(version),
        scale=RubricScale(parse_rubric(text).scale.upper()),
        text=text,
        text_hash=hash_rubric(text),
    )


def _next_version(name: str) -> int:
    """One above every version of the name, those that ship included."""
    newest = Rubric.objects.filter(name=name).aggregate(newest=Max("version"))["newest"] or 0
    shipped = [_bundled(slug).version for slug in BUNDLED_RUBRICS if slug.rpartition("-v")[0] == name]
    return max(newest, *shipped, 0) + 1


def _check_name(name: str) -> None:
    if len(name) > MAX_NAME_CHARACTERS or not _NAME.fullmatch(name):
        raise RubricError(
            f"The name {name[:80]!r} cannot be used; expected 1 to {MAX_NAME_CHARACTERS} letters, digits, "
            "hyphens and underscores, beginning with a letter or a digit.",
            code="bad_rubric_name",
        )


def _check_text(text: str) -> None:
    if len(text) > MAX_CHARACTERS:
        raise RubricError(
            f"The rubric has {len(text):,} characters; expected {MAX_CHARACTERS:,} at most. Shorten it."
        )
    if text.count("\n") > MAX_LINES:
        raise RubricError(f"The rubric has more than {MAX_LINES:,} lines. Join or shorten some.")
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise RubricError(
            "The rubric holds a character that cannot be stored (NUL or half of a pair). Remove it."
        )


def _refuse_same_text(text_hash: str) -> None:
    same = next((rubric.slug for rubric in known_rubrics() if rubric.text_hash == text_hash), None)
    if same is not None:
        raise Conflict(
            f"The rubric {same} has exactly this text. Change the text, or use that version.",
            code="same_rubric",
        )
