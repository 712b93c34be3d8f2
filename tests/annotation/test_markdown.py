"""Limited markdown: what becomes an element, what stays as it is, and that nothing gets through."""

import re
import time
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.markdown import render

ELEMENTS = {"p", "div", "h3", "h4", "h5", "h6", "ul", "ol", "li", "strong", "em", "br"}
MARKS = "*_`#[]()!-+\\~<>&\"' \t\n\r1290.)aZé"


class Reading(HTMLParser):
    """What a reader sees, and the elements that carry it; fails when they are not nested."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.text += dict(attrs).get("value") or ""
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("One line", '<p dir="auto">One line</p>'),
        ("One\ntwo\r\n\r\nthree", '<p dir="auto">One<br>\ntwo</p>\n<p dir="auto">three</p>'),
        ("A **bold** and *soft* word", '<p dir="auto">A <strong>bold</strong> and <em>soft</em> word</p>'),
        ("__bold__ _soft_", '<p dir="auto"><strong>bold</strong> <em>soft</em></p>'),
        ("***both***", '<p dir="auto"><strong><em>both</em></strong></p>'),
        ("**a *b* c**", '<p dir="auto"><strong>a <em>b</em> c</strong></p>'),
        ("**a *b** c*", '<p dir="auto"><strong>a *b</strong> c*</p>'),
        ("[A page](https://example.org)", '<p dir="auto">A page (https://example.org)</p>'),
        ("**[A page](x)**", '<p dir="auto"><strong>A page (x)</strong></p>'),
        ("![A tree](tree.png)", '<p dir="auto">A tree (tree.png)</p>'),
        ("- one\n- two", '<ul><li dir="auto">one</li><li dir="auto">two</li></ul>'),
        (
            "3. three\n5) five",
            '<ol><li dir="auto" value="3">three</li><li dir="auto" value="5">five</li></ol>',
        ),
        (
            "- one\n  - inner\n- two",
            '<ul><li dir="auto">one<ul><li dir="auto">inner</li></ul></li><li dir="auto">two</li></ul>',
        ),
        (
            "- one\n1. first",
            '<ul><li dir="auto">one</li></ul><ol><li dir="auto" value="1">first</li></ol>',
        ),
        ("- one\n\n- two\n  goes on", '<ul><li dir="auto">one</li><li dir="auto">two<br>\ngoes on</li></ul>'),
        ("- one\n\nAfter", '<ul><li dir="auto">one</li></ul>\n<p dir="auto">After</p>'),
        ("## Second\n# First", '<h4 dir="auto">Second</h4>\n<h3 dir="auto">First</h3>'),
        ("### Only", '<h3 dir="auto">Only</h3>'),
        ("```\n*a*\n\n# b\n```", '<div class="plain-text" dir="auto">```\n*a*\n\n# b\n```</div>'),
        ("```\nnot closed", '<div class="plain-text" dir="auto">```\nnot closed</div>'),
        ("", ""),
        (" \n\t\n", ""),
    ],
    ids=repr,
)
def test_markdown_becomes_elements(text: str, html: str) -> None:
    assert render(text) == html


@pytest.mark.parametrize(
    "text",
    [
        "2*3*4 = 24",
        "5 * 3 * 2",
        "a_name_like_this",
        "**never closed",
        "****",
        "`*code*`",
        "#hashtag",
        "007. An agent",
        "> quoted",
        "| a | b |",
        "---",
    ],
)
def test_what_is_no_markdown_stays_as_it_is(text: str) -> None:
    assert Reading(render(text)).text == text
    assert not Reading(render(text)).elements & {"em", "strong", "ol", "ul"}


def test_escaped_marks_are_marks() -> None:
    assert Reading(render(r"\*not soft\*")).text == "*not soft*"


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "[press](javascript:alert(1))",
        '[x](" onmouseover="alert(1))',
        "**<img src=x onerror=alert(1)>**",
        "# <h1>",
        "- <li>",
        "```\n<b>",
        "&lt;b&gt;",
    ],
)
def test_markup_is_shown_as_text(text: str) -> None:
    reading = Reading(render(text))

    assert reading.elements <= ELEMENTS
    assert reading.attributes <= {"dir", "value", "class"}
    assert letters(reading.text) == letters(text)


@given(st.text(alphabet=st.sampled_from(MARKS), max_size=60) | st.text(max_size=40))
def test_no_letter_is_lost_and_no_element_gets_in(text: str) -> None:
    reading = Reading(render(text))

    assert letters(reading.text) == letters(text)
    assert reading.elements <= ELEMENTS
    assert not reading.open


@pytest.mark.parametrize(
    "part", ["**a ", "*", "_a*b", "[", "[a](", "`", "\\", "# a\n", "- a\n", "1. a\n\n", "```\n", " ", "a\n"]
)
def test_long_text_takes_time_in_proportion(part: str) -> None:
    text = part * (200_000 // len(part))
    began_at = time.process_time()

    render(text)

    assert time.process_time() - began_at < 5


def test_deep_lists_stop_at_a_depth() -> None:
    html = render("\n".join(f"{'  ' * depth}- item" for depth in range(50)))

    assert html.count("<ul>") == 4
    assert html.count("<li ") == 50
