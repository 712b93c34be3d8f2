"""Sees through the ways in which a text can hide what it says from a search for it.

A reply is only normalised. A judged text is unmasked: a judge that quotes it may straighten its letters
or decode its escapes. What it plants is therefore looked for in its plainest form; too much found turns a
score into a named failure, too little would let the text set its own score.
"""

import html
import re
import unicodedata
from functools import lru_cache

# Letters, digits and marks that look like ASCII or stand for it, as far as NFKD does not resolve them.
_LOOK_ALIKES = {
    ord(given): plain
    for givens, plains in (
        ("авсԁеһіјӏмнорԛгѕтухѵ", "abcdehijlmhopqrstyxv"),
        ("АВСЕНІЈКМОРЅТУХ", "ABCEHIJKMOPSTYX"),
        ("αβεικνορτυχγ", "abeiknoptuxy"),
        ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"),
        ("ıɩɪȷɡɑ", "iiijga"),
        ("‘’“”–—•\u1680\u0085\u2028\u2029", "''\"\"--- \n\n\n"),
    )
    for given, plain in zip(givens, plains, strict=True)
} | {start + digit: str(digit) for start in (0x660, 0x6F0, 0x966, 0x9E6, 0xE50) for digit in range(10)}
_ESCAPE = re.compile(r"\\(?:u(?P<code>[0-9a-fA-F]{4})|(?P<line_end>[nr])|[bft\"'/\\])")
# Python turns no more than 4,300 digits into a number, and no character needs more than seven.
_DIGITS_OF_REFERENCE = re.compile(r"&#(?=[0-9])0*([0-9]{0,8})[0-9]*")
# Unicode's default-ignorable characters: soft hyphen, zero-width and bidi marks, variation selectors, tags.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0f\ufeff\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_ACCENTS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
_NO_WORDS = re.compile(r"[^a-z0-9]+")
_NOT_ASCII = re.compile("[^\x00-\x7f]+")
_OFTEN_CHARACTERS = 8
# Unicode sorts the marks upon one letter in quadratic time, and takes 30 of them for the most in any text
# that can be read (UAX 15, stream-safe text).
_MOST_MARKS = 30
_LONG_RUN = re.compile(f"[^\x00-\x7f]{{{_MOST_MARKS + 1},}}")
_MAX_LAYERS = 4
_NO_LETTERS = bytes(code for code in range(256) if not ord("a") <= code <= ord("z"))


def normalise(text: str) -> str:
    """The text with compatibility forms (full-width colon, no-break space) and invisible marks resolved."""
    if text.isascii():
        return text
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", _LONG_RUN.sub(_shorten_run, text)))


def unmask(text: str) -> str:
    """The text in lower-case ASCII, line by line, with entities and escapes decoded; `?` for what is left.

    One disguise may hide another, such as an accent inside of an escape, so this goes on until nothing
    changes, four times at most.
    """
    plain = text
    for _ in range(_MAX_LAYERS):
        above, plain = plain, _decode(_straighten(plain))
        if plain == above:
            break
    return "\n".join(_straighten(plain).lower().splitlines())


def words_of(unmasked: str) -> str:
    """The words and numbers of an unmasked text with single spaces between them."""
    return _NO_WORDS.sub(" ", unmasked)


def letters_of(unmasked: str) -> str:
    """The letters of an unmasked text and nothing else: a name in it is found however it is written."""
    return unmasked.encode("ascii").translate(None, _NO_LETTERS).decode("ascii")


def _straighten(text: str) -> str:
    return text if text.isascii() else _NOT_ASCII.sub(_straighten_match, text)


def _straighten_match(match: re.Match[str]) -> str:
    run = match[0]
    return _straighten_often(run) if len(run) <= _OFTEN_CHARACTERS else _straighten_run(run)


def _straighten_run(run: str) -> str:
    shown = _INVISIBLE.sub("", unicodedata.normalize("NFKD", _LONG_RUN.sub(_shorten_run, run)))
    return _ACCENTS.sub("", shown.translate(_LOOK_ALIKES)).encode("ascii", "replace").decode("ascii")


def _shorten_run(match: re.Match[str]) -> str:
    """A run with no more than the most marks upon a letter, and without the sign that grows 18-fold."""
    kept: list[str] = []
    n_marks = 0
    for character in match[0].replace("\ufdfa", "\ufffd"):
        n_marks = n_marks + 1 if unicodedata.combining(character) else 0
        if n_marks <= _MOST_MARKS:
            kept.append(character)
    return "".join(kept)


# Most texts hold a few marks, such as quotation marks and dashes, again and again.
_straighten_often = lru_cache(maxsize=4096)(_straighten_run)


def _decode(text: str) -> str:
    if "&" in text:
        text = html.unescape(_DIGITS_OF_REFERENCE.sub(r"&#0\1", text))
    return _ESCAPE.sub(_decode_escape, text) if "\\" in text else text


def _decode_escape(match: re.Match[str]) -> str:
    if match["code"]:
        return chr(int(match["code"], 16))
    return "\n" if match["line_end"] else " "
