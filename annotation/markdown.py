"""Limited markdown as safe HTML: paragraphs, headings, lists, bold and italic. Nothing else is special.

For instructions, and for the view of responses that annotators may choose. The text is untrusted, so
all of it is escaped, and a link is shown as its words and its address, never as something to press.
What is not understood stays as it was written, so that a reader misses no word of the text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

DEEPEST_LIST = 4
TOP_HEADING, LAST_HEADING = 3, 6

HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)")
# A number of a list is shown as it was written, so one with leading zeros stands as plain text.
LIST_ITEM = re.compile(r"([ \t]*)(?:[-*+]|(0|[1-9][0-9]{0,8})[.)])[ \t]+(\S.*)")
FENCE = re.compile(r" {0,3}(?:```|~~~)")
INDENTED = re.compile(r"(?: {2,}|\t)\S")
LINE_END = re.compile(r"\r\n|\r|\n")

# What is not plain within a line: an escaped mark, a code span, a link or image, a run of emphasis
# marks. Every repetition is bounded or ends at its own mark, so that time grows with length.
INLINE = re.compile(
    r"\\(?P<escaped>[\\`*_\[\]()#+.!-])"
    r"|(?P<code>`[^`\n]{1,500}`)"
    r"|!?\[(?P<words>[^\[\]\n]{1,500})\]\((?P<address>[^()\s]{1,2000})\)"
    r"|(?P<marks>\*+|_+)"
)
EMPHASIS = {1: ("<em>", "</em>"), 2: ("<strong>", "</strong>"), 3: ("<strong><em>", "</em></strong>")}


@dataclass
class ListItem:
    """One item of a list: how far it is indented, its number in an ordered list, its lines."""

    indent: int
    number: str | None
    lines: list[str]


def render(text: str) -> SafeString:
    """HTML of a text in limited markdown; every character of the text is escaped.

    Headings become h3 to h6, the text's own levels in their order. Line ends inside a paragraph are kept,
    the numbers of a list are those that were written, and text between fences stays as it stands. Each
    block takes its direction from its own first letters. Time grows with the length of the text.

    Args:
        text: any text; one of white space alone gives an empty string.
    """
    lines = [line.rstrip() for line in LINE_END.split(text)]
    headings = _heading_names(lines)
    blocks: list[str] = []
    at = 0
    while at < len(lines):
        if not lines[at]:
            at += 1
        elif match := HEADING.fullmatch(lines[at]):
            name = headings[len(match[1])]
            blocks.append(f'<{name} dir="auto">{_inline(match[2])}</{name}>')
            at += 1
        elif FENCE.match(lines[at]):
            end = _end_of_fence(lines, at)
            blocks.append(f'<div class="plain-text" dir="auto">{escape(_joined(lines[at:end]))}</div>')
            at = end
        elif LIST_ITEM.fullmatch(lines[at]):
            items, at = _list_items(lines, at)
            blocks.append(_list(items))
        else:
            end = _end_of_paragraph(lines, at)
            blocks.append(f'<p dir="auto">{_lines(lines[at:end])}</p>')
            at = end
    return mark_safe("\n".join(blocks))


def _heading_names(lines: Sequence[str]) -> dict[int, str]:
    """The element for each number of `#` that occurs, so that no level of the page is left out."""
    levels = sorted({len(match[1]) for line in lines if (match := HEADING.fullmatch(line))})
    return {level: f"h{min(TOP_HEADING + rank, LAST_HEADING)}" for rank, level in enumerate(levels)}


def _end_of_fence(lines: Sequence[str], start: int) -> int:
    """The line after the closing fence; a fence that is not closed goes to the end."""
    mark = lines[start].lstrip()[:3]
    for at in range(start + 1, len(lines)):
        if lines[at].strip() == mark:
            return at + 1
    return len(lines)


def _end_of_paragraph(lines: Sequence[str], start: int) -> int:
    for at in range(start + 1, len(lines)):
        if not lines[at] or _begins_block(lines[at]):
            return at
    return len(lines)


def _begins_block(line: str) -> bool:
    return bool(HEADING.fullmatch(line) or FENCE.match(line) or LIST_ITEM.fullmatch(line))


def _list_items(lines: Sequence[str], start: int) -> tuple[list[ListItem], int]:
    """The items from here on, and the line after them.

    A line after an item goes on with it; after an empty line only one that is indented does.
    """
    items: list[ListItem] = []
    at, is_after_gap = start, False
    while at < len(lines):
        line = lines[at]
        if match := LIST_ITEM.fullmatch(line):
            items.append(ListItem(len(match[1].expandtabs(4)), match[2], [match[3]]))
        elif line and (_begins_block(line) or (is_after_gap and not INDENTED.match(line))):
            break
        elif line:
            items[-1].lines.append(line.strip())
        is_after_gap = not line
        at += 1
    return items, at


def _list(items: Sequence[ListItem]) -> str:
    """Nested lists by indentation, not deeper than DEEPEST_LIST."""
    html: list[str] = []
    open_lists: list[tuple[int, str]] = []
    for item in items:
        name = "ul" if item.number is None else "ol"
        while len(open_lists) > 1 and open_lists[-1][0] > item.indent:
            html.append(f"</li></{open_lists.pop()[1]}>")
        if not open_lists or (item.indent > open_lists[-1][0] + 1 and len(open_lists) < DEEPEST_LIST):
            open_lists.append((item.indent, name))
            html.append(f"<{name}>")
        elif open_lists[-1][1] != name:
            indent, old_name = open_lists.pop()
            open_lists.append((indent, name))
            html.append(f"</li></{old_name}><{name}>")
        else:
            html.append("</li>")
        html.append(f'<li dir="auto"{_value(item)}>{_lines(item.lines)}')
    html.extend(f"</li></{name}>" for _, name in reversed(open_lists))
    return "".join(html)


def _value(item: ListItem) -> str:
    return "" if item.number is None else f' value="{item.number}"'


def _lines(lines: Sequence[str]) -> str:
    return _inline(_joined(lines)).replace("\n", "<br>\n")


def _joined(lines: Sequence[str]) -> str:
    return "\n".join(lines)


def _inline(text: str) -> str:
    """Escaped text with bold and italic. A mark without its partner stays as it is."""
    html: list[str] = []
    # Where each kind of mark was opened last; no kind is open twice, so there are never more than six.
    opened: dict[tuple[str, int], int] = {}
    at = 0
    for match in INLINE.finditer(text):
        html.append(escape(text[at : match.start()]))
        at = match.end()
        if match["marks"]:
            _take_marks(match, html, opened)
        elif match["words"]:
            html.append(escape(f"{match['words']} ({match['address']})"))
        else:
            html.append(escape(match["escaped"] or match["code"]))
    html.append(escape(text[at:]))
    return "".join(html)


def _take_marks(match: re.Match[str], html: list[str], opened: dict[tuple[str, int], int]) -> None:
    """Close what these marks opened, or open it, or leave them as they are."""
    marks = match["marks"]
    kind = (marks[0], len(marks))
    before, after = match.string[: match.start()][-1:], match.string[match.end() : match.end() + 1]
    # Within a word single marks and underscores are no emphasis: 2*3*4, snake_case_name.
    is_within_word = before.isalnum() and after.isalnum() and kind != ("*", 2)
    html.append(escape(marks))
    if len(marks) not in EMPHASIS or is_within_word:
        return
    start, end = EMPHASIS[len(marks)]
    if kind in opened and before and not before.isspace():
        place = opened[kind]
        html[place], html[-1] = start, end
        # What was opened since and not closed stays as it is: elements end in the order they began.
        for other in [other for other, other_place in opened.items() if other_place >= place]:
            del opened[other]
    elif kind not in opened and after and not after.isspace():
        opened[kind] = len(html) - 1
