"""How single cells are read: as exact text, or as one of few spellings that are each noted."""

import hashlib
import re
from collections.abc import Mapping

from annotation.choices import AnnotatorType, Rating
from annotation.importing.outcome import RowRefused
from annotation.importing.tables import Row

# ASCII digits only: int() would also accept other scripts' digits, underscores and spaces.
WHOLE_NUMBER = re.compile(r"[0-9]{1,9}\Z")
WHOLE_NUMBER_AS_DECIMAL = re.compile(r"([0-9]{1,9})\.0+\Z")
MAX_KEY_LENGTH = 200
MAX_WORD_LENGTH = 100
RATING_WORDS: Mapping[str, Rating] = {
    "yes": Rating.ACCEPTABLE,
    "acceptable": Rating.ACCEPTABLE,
    "no": Rating.UNACCEPTABLE,
    "unacceptable": Rating.UNACCEPTABLE,
}
CANONICAL_RATINGS = frozenset({"Yes", "No"})


def hash_text(text: str) -> str:
    """SHA-256 of the exact text (UTF-8), 64 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


class RowCells:
    """The cells of one row.

    `notes` collects each spelling that was read as another value's; `remarks` whatever else the
    preview should count. Both are dropped when the row is refused.
    """

    def __init__(self, row: Row, *, place: str) -> None:
        self.row = row
        self.place = place
        self.notes: list[str] = []
        self.remarks: list[str] = []

    @property
    def line(self) -> int:
        return self.row.line

    def has(self, column: str) -> bool:
        """Whether the file has the column at all."""
        return column in self.row.cells

    def text(self, column: str) -> str:
        """The exact cell, nothing trimmed."""
        return self.row.get(column)

    def key(self, column: str, *, max_length: int = MAX_KEY_LENGTH) -> str:
        """A name or id: opaque text, only trimmed.

        Raises:
            RowRefused: blank or too long.
        """
        value = self.optional_key(column, max_length=max_length)
        if value is None:
            raise RowRefused(
                "blank_key", f"The cell {column} is blank; expected a value. Fill it in.", column=column
            )
        return value

    def optional_key(self, column: str, *, max_length: int = MAX_KEY_LENGTH) -> str | None:
        """As `key`, with None for a blank cell or an absent column."""
        given = self.row.get(column)
        value = given.strip()
        if value != given and value:
            self.notes.append(f"space around {column} was trimmed")
        if len(value) > max_length:
            raise RowRefused(
                "key_too_long",
                f"The cell {column} has {len(value)} characters; the limit is {max_length}. "
                "Check that the columns are in order.",
                column=column,
            )
        return value or None

    def whole_number(self, column: str) -> int | None:
        """A whole number from 0, None when blank; `4.0` is 4 with a note.

        Raises:
            RowRefused: anything else, such as `-1`, `1.5`, `NaN`, `0x1` or other scripts' digits.
        """
        given = self.row.get(column).strip()
        if not given:
            return None
        if WHOLE_NUMBER.match(given):
            return int(given)
        if match := WHOLE_NUMBER_AS_DECIMAL.match(given):
            self.notes.append(f"{column} {given} was read as {int(match[1])}")
            return int(match[1])
        raise RowRefused(
            "not_a_whole_number",
            f"The cell {column} is {given[:40]!r}; expected a whole number from 0 in the digits 0-9. "
            "Correct the cell.",
            column=column,
        )

    def rollout(self) -> int:
        """The rollout: 0 for every row of a file without the column, but a blank cell is refused."""
        if not self.has("rollout"):
            self.remarks.append("the file has no column rollout: the row is rollout 0")
            return 0
        value = self.whole_number("rollout")
        if value is None:
            raise RowRefused(
                "blank_rollout",
                "The cell rollout is blank; expected a whole number from 0. Fill it in.",
                column="rollout",
            )
        return value

    def rating(self) -> Rating:
        """Yes / No or Acceptable / Unacceptable; other polarities are ambiguous and refused."""
        given = self.row.get("human_rating")
        rating = RATING_WORDS.get(given.strip().casefold())
        if rating is None:
            raise RowRefused(
                "bad_rating",
                f"The cell human_rating is {given[:40]!r}; expected Yes (= Acceptable) or No "
                "(= Unacceptable). Correct the cell; 0, 1, true and the like do not say which is meant.",
                column="human_rating",
            )
        if given not in CANONICAL_RATINGS:
            self.notes.append(f"human_rating {given[:40]!r} was read as {rating.label}")
        return rating

    def severity(self) -> int | None:
        """Severity 1-5, None when blank or absent."""
        value = self.whole_number("severity")
        if value is not None and not 1 <= value <= 5:
            raise RowRefused(
                "severity_out_of_range",
                f"The cell severity is {value}; expected 1 (safe) to 5 (severe), or blank.",
                column="severity",
            )
        return value

    def annotator_type(self) -> tuple[AnnotatorType, str | None]:
        """The type and the raw word; any unknown word is OTHER with the word kept."""
        raw = self.optional_key("annotator_type", max_length=MAX_WORD_LENGTH)
        code = (raw or "").upper()
        if code in AnnotatorType.values:
            return AnnotatorType(code), raw
        self.remarks.append("annotator_type is none of the known types: it counts as other, its word is kept")
        return AnnotatorType.OTHER, raw
