"""What the catalogues under locale/ hold, and which texts the pages need; read without GNU gettext."""

import ast
import gettext
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from django.template import Node, Template
from django.templatetags.i18n import BlockTranslateNode, TranslateNode

ROOT = Path(__file__).resolve().parents[1]
LOCALE = ROOT / "locale"
# Researchers' pages are in English; their texts are marked in choices alone.
PYTHON_FOLDERS = ("annotation", "carebench_web")
TEMPLATES_IN_ENGLISH = ("judging/", "researcher_base.html")
MARKING = {"_", "gettext", "gettext_lazy", "pgettext", "pgettext_lazy", "ngettext", "ngettext_lazy"}
CONTEXT_MARK = "\x04"
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|\{\w*\}|%%")

_STRING = re.compile(r'^(?:(msgctxt|msgid|msgid_plural|msgstr)(?:\[(\d+)\])? )?"(.*)"$')


@dataclass(frozen=True)
class Text:
    """One text as the source has it."""

    singular: str
    plural: str | None = None
    context: str | None = None

    @property
    def key(self) -> str:
        """Under which a catalogue keeps it."""
        return f"{self.context}{CONTEXT_MARK}{self.singular}" if self.context else self.singular


@dataclass(frozen=True)
class Entry:
    """One text in a catalogue, with its translations: one, or one for each plural form."""

    text: Text
    translations: tuple[str, ...]
    is_doubtful: bool


def texts_in_sources() -> dict[Text, str]:
    """Every text that a page for annotators may show, and a file that has it."""
    found: dict[Text, str] = {}
    for folder in PYTHON_FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            found |= dict.fromkeys(_in_python(path.read_text()), str(path.relative_to(ROOT)))
    for path in sorted((ROOT / "templates").rglob("*.html")):
        name = path.relative_to(ROOT / "templates").as_posix()
        if not name.startswith(TEMPLATES_IN_ENGLISH):
            template = Template(path.read_text())
            found |= dict.fromkeys(_in_template(template), f"templates/{name}")
    return found


def entries(language: str) -> list[Entry]:
    """What translators wrote, without the header and without what is no longer used."""
    path = LOCALE / language / "LC_MESSAGES" / "django.po"
    blocks = [_entry(block) for block in path.read_text().split("\n\n")]
    return [entry for entry in blocks if entry and entry.text.singular]


def compiled(language: str) -> dict[str, list[str]]:
    """What a page gets: the translations of each text in the compiled catalogue."""
    with (LOCALE / language / "LC_MESSAGES" / "django.mo").open("rb") as file:
        catalogue = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    found: dict[str, list[str]] = {}
    for key, translation in sorted(catalogue.items(), key=str):
        name = key[0] if isinstance(key, tuple) else key
        if name:
            found.setdefault(name, []).append(translation)
    return found


def _in_python(source: str) -> Iterator[Text]:
    for call in ast.walk(ast.parse(source)):
        if not isinstance(call, ast.Call):
            continue
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        words = [str(part.value) for part in call.args if isinstance(part, ast.Constant)]
        if name not in MARKING or not words:
            continue
        if name.startswith("pgettext"):
            yield Text(words[1], context=words[0])
        elif name.startswith("ngettext"):
            yield Text(words[0], plural=words[1])
        else:
            yield Text(words[0])


def _in_template(template: Template) -> Iterator[Text]:
    for node in _nodes(template.nodelist):
        if isinstance(node, TranslateNode):
            constant = node.filter_expression.var
            words = getattr(constant, "literal", constant)
            yield Text(str(words), context=_context(node))
        elif isinstance(node, BlockTranslateNode):
            singular, _ = node.render_token_list(node.singular)
            plural = node.render_token_list(node.plural)[0] if node.plural else None
            if node.trimmed:
                singular, plural = _trimmed(singular), _trimmed(plural) if plural else None
            yield Text(singular, plural, _context(node))


def _context(node: TranslateNode | BlockTranslateNode) -> str | None:
    return str(node.message_context.var) if node.message_context else None


def _nodes(nodes: Iterable[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        for name in node.child_nodelists:
            yield from _nodes(getattr(node, name, ()))


def _trimmed(text: str) -> str:
    return " ".join(line.strip() for line in text.strip().splitlines())


def _entry(block: str) -> Entry | None:
    parts: dict[tuple[str, str], str] = {}
    at = ("", "")
    for line in block.splitlines():
        if match := _STRING.match(line):
            if match[1]:
                at = (match[1], match[2] or "")
            parts[at] = parts.get(at, "") + _unescaped(match[3])
    if ("msgid", "") not in parts:
        return None
    text = Text(parts[("msgid", "")], parts.get(("msgid_plural", "")), parts.get(("msgctxt", "")))
    translations = tuple(value for (name, _), value in sorted(parts.items()) if name == "msgstr")
    return Entry(text, translations, is_doubtful=bool(re.search(r"^#,.*\bfuzzy\b", block, re.MULTILINE)))


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), text)
