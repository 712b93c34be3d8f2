"""The look of every figure: the light values of the tokens in `app.css`, and one Vega-Lite configuration.

Figures are drawn in these exact hex values and nothing else. `app.css` hands each of them back to its
token, so an inlined figure follows the dark theme while a downloaded one stays fit for paper.
"""

from typing import Any

PAPER = "#fbfaf7"
INK = "#1b1f24"
INK_2 = "#56606a"
LINE = "#8a8f94"
HAIRLINE = "#d9dad9"
ACCENT = "#0b5f7a"
ACCEPTABLE = "#1d5fa8"
UNACCEPTABLE = "#b0421c"
AGREE = "#dce4ec"
HEAT = ("#f6efea", "#efddd4", "#e7c8bc", "#deb4a4", "#d69e8a")
GREY = ("#f4f4f1", "#ededeb", "#e6e6e4", "#dcdddc", "#d2d3d3")

FONT = "Arial, Liberation Sans, Helvetica, sans-serif"
"""Families of one width: vl-convert measures labels with one of them, so none is cut off in a browser."""
FONT_SIZE = 13
PLOT_WIDTH = 460
ROW_HEIGHT = 28
LABEL_LIMIT = 300


def theme() -> dict[str, Any]:
    """The Vega-Lite `config` that every figure gets."""
    return {
        "background": "transparent",
        "font": FONT,
        "padding": 8,
        "view": {"stroke": None},
        "concat": {"spacing": 18},
        "text": {"color": INK, "fontSize": FONT_SIZE},
        "title": {
            "color": INK,
            "fontSize": FONT_SIZE,
            "fontWeight": 600,
            "anchor": "start",
            "frame": "group",
            "offset": 8,
        },
        "axis": {
            "labelColor": INK,
            "labelFontSize": FONT_SIZE,
            "labelFlush": False,
            "labelLimit": LABEL_LIMIT,
            "titleColor": INK_2,
            "titleFontSize": FONT_SIZE,
            "titleFontWeight": "normal",
            "titlePadding": 10,
            "titleLineHeight": 18,
            "domain": False,
            "ticks": False,
            "labelPadding": 8,
            "gridColor": HAIRLINE,
            "gridWidth": 1,
        },
        "axisY": {"grid": False},
    }
