"""The tokens of `app.css`: readable in both themes, and the same colours that figures are drawn in."""

import re
from pathlib import Path

import pytest

from judging.figures import theme

CSS = (Path(__file__).parents[1] / "carebench_web/static/carebench/app.css").read_text()
ROOT = CSS.split(":root {", 1)[1].split("}", 1)[0]
PAIRS = {
    name: (light, dark)
    for name, light, dark in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);", ROOT)
}
MIXES = {
    name: (source, int(percent))
    for name, source, percent in re.findall(
        r"--([\w-]+): color-mix\(in srgb, var\(--(\w+)\) (\d+)%, var\(--paper\)\);", ROOT
    )
}
FIGURE_COLOURS = {
    "paper": theme.PAPER,
    "ink": theme.INK,
    "ink-2": theme.INK_2,
    "line": theme.LINE,
    "hairline": theme.HAIRLINE,
    "accent": theme.ACCENT,
    "acceptable": theme.ACCEPTABLE,
    "unacceptable": theme.UNACCEPTABLE,
    "agree": theme.AGREE,
    **{f"heat-{step}": colour for step, colour in enumerate(theme.HEAT, 1)},
    **{f"grey-{step}": colour for step, colour in enumerate(theme.GREY, 1)},
}
BACKGROUNDS = ["paper", "raised", "wash", "heat-1", "warn-wash"]


def _resolve(name: str, scheme: int) -> str:
    """The hex value of a token in the light (0) or dark (1) theme."""
    if name in PAIRS:
        return PAIRS[name][scheme]
    source, percent = MIXES[name]
    over, under = _channels(_resolve(source, scheme)), _channels(_resolve("paper", scheme))
    mixed = [
        round((top * percent + bottom * (100 - percent)) / 100)
        for top, bottom in zip(over, under, strict=True)
    ]
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def _channels(colour: str) -> list[int]:
    return [int(colour[start : start + 2], 16) for start in (1, 3, 5)]


def _contrast(first: str, second: str) -> float:
    """Contrast ratio of WCAG 2.2: 1 (none) to 21."""

    def luminance(colour: str) -> float:
        parts = [c / 255 for c in _channels(colour)]
        red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("background", BACKGROUNDS)
@pytest.mark.parametrize(
    "text", ["ink", "ink-2", "accent", "acceptable", "unacceptable", "undecided", "warn"]
)
def test_text_on_every_ground_has_contrast_of_at_least_4_5(text: str, background: str, scheme: int) -> None:
    assert _contrast(_resolve(text, scheme), _resolve(background, scheme)) >= 4.5


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("shade", [name for name in MIXES if name.startswith(("heat", "grey", "agree"))])
def test_ink_on_every_shade_of_a_figure_has_contrast_of_at_least_4_5(shade: str, scheme: int) -> None:
    assert _contrast(_resolve("ink", scheme), _resolve(shade, scheme)) >= 4.5


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("background", ["paper", "raised"])
def test_edges_of_controls_have_contrast_of_at_least_3(background: str, scheme: int) -> None:
    assert _contrast(_resolve("line", scheme), _resolve(background, scheme)) >= 3


@pytest.mark.parametrize("token", FIGURE_COLOURS)
def test_figure_colour_is_the_light_value_of_its_token(token: str) -> None:
    assert FIGURE_COLOURS[token] == _resolve(token, 0)


@pytest.mark.parametrize("token", FIGURE_COLOURS)
def test_figure_colour_is_handed_back_to_its_token_when_inlined(token: str) -> None:
    assert f'.figure svg [fill="{FIGURE_COLOURS[token]}"] {{ fill: var(--{token}); }}' in CSS


def test_colours_are_named_only_among_the_tokens() -> None:
    rules = CSS.split(ROOT, 1)[1]
    without_figure_selectors = re.sub(r'\[(?:fill|stroke)="#\w{6}"\]', "", rules)

    assert re.findall(r"#[0-9a-fA-F]{3,8}\b|rgba?\(|hsla?\(", without_figure_selectors) == []
