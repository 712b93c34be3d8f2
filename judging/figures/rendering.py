"""A chart becomes an SVG to inline or a PNG to download; nothing in either can run or reach out."""

import hashlib
import json
import re
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree

from django.utils.safestring import SafeString, mark_safe

from judging.figures.theme import PAPER, theme

SVG = "{http://www.w3.org/2000/svg}"
DRAWN_ELEMENTS = {"svg", "g", "path", "text", "tspan", "rect", "line", "circle", "defs", "clipPath"}
FOR_OTHER_READERS = ("class", "role", "aria-label", "aria-hidden", "aria-roledescription")
"""Attributes of single marks: classes could meet ours, and the drawing is described as one image."""
FORBIDDEN_ATTRIBUTE = re.compile(r"^(on.*|style|href|.*\}href)$", re.IGNORECASE)
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
LOCAL_REFERENCE = re.compile(r"url\(#([^)]+)\)")
PNG_SCALE = 2

ElementTree.register_namespace("", SVG[1:-1])


def render_svg(chart: Any, *, title: str, description: str) -> SafeString:
    """An SVG element to inline in a page or to send as a file.

    It is well-formed, says its title and description to a screen reader, has ids that meet no other
    figure's on the page, and holds no script, no style, no link and no outside address, whatever the
    names in the data: every element and attribute is checked before the text is called safe.

    Args:
        chart: what a chart function of this package returned.
        title: the name of the figure, one line.
        description: what there is to see, with its numbers, in a sentence or two.

    Returns:
        The SVG text, without an XML declaration.

    Raises:
        ValueError: the drawing holds an element or attribute that no figure needs.
    """
    specification = _specification(chart)
    root = ElementTree.fromstring(_draw(specification))
    for element in root.iter():
        for attribute in FOR_OTHER_READERS:
            element.attrib.pop(attribute, None)
    _check(root)
    fingerprint = "\0".join((_drawable(title), _drawable(description), specification))
    _keep_ids_apart(root, hashlib.sha256(fingerprint.encode()).hexdigest()[:8])
    root.set("role", "img")
    names = []
    for position, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = ElementTree.Element(SVG + tag, {"id": f"{root.get('id')}-{tag}"})
        element.text = _drawable(text)
        root.insert(position, element)
        names.append(element.get("id") or "")
    root.set("aria-labelledby", " ".join(names))
    return mark_safe(ElementTree.tostring(root, encoding="unicode"))


def render_png(chart: Any) -> bytes:
    """The same figure on the paper colour, at twice its size, for slides and documents."""
    import vl_convert

    specification = json.loads(_specification(chart))
    specification["config"]["background"] = PAPER
    image: bytes = vl_convert.vegalite_to_png(
        specification, vl_version=_vega_lite_version(), scale=PNG_SCALE, allowed_base_urls=[]
    )
    return image


def _specification(chart: Any) -> str:
    """The chart as Vega-Lite JSON with our theme, the same text for the same chart."""
    specification = chart.to_dict()
    specification["config"] = theme()
    return json.dumps(_drawable(specification), ensure_ascii=False, sort_keys=True)


def _drawable(value: Any) -> Any:
    """The value with every character that XML cannot hold replaced: vl-convert ends the process on one."""
    if isinstance(value, str):
        return NOT_XML.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, dict):
        return {_drawable(key): _drawable(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_drawable(member) for member in value]
    return value


@lru_cache(maxsize=128)
def _draw(specification: str) -> str:
    """The bare SVG; remembered, since a page is opened more often than its numbers change."""
    import vl_convert

    return vl_convert.vegalite_to_svg(specification, vl_version=_vega_lite_version(), allowed_base_urls=[])


def _vega_lite_version() -> str:
    import altair as alt

    return ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])


def _check(root: ElementTree.Element) -> None:
    for element in root.iter():
        name = element.tag.removeprefix(SVG)
        if name not in DRAWN_ELEMENTS:
            raise ValueError(
                f"A figure holds the element {name!r}, which is not one that figures are drawn with."
            )
        for attribute in element.attrib:
            if FORBIDDEN_ATTRIBUTE.match(attribute):
                raise ValueError(
                    f"A figure holds the attribute {attribute!r} on {name!r}, which may not be inlined."
                )


def _keep_ids_apart(root: ElementTree.Element, prefix: str) -> None:
    root.set("id", f"figure-{prefix}")
    for element in root.iter():
        for attribute, value in element.attrib.items():
            if attribute == "id" and element is not root:
                element.set(attribute, f"{prefix}-{value}")
            elif "url(#" in value:
                element.set(attribute, LOCAL_REFERENCE.sub(rf"url(#{prefix}-\1)", value))
