"""Report data → Altair charts → SVG or PNG.

The chart functions take plain dictionaries, the shapes that `agreement --json` and `build_report --json`
print, and never compute a statistic: what they draw was decided in `reports`. Altair and vl-convert are
imported inside functions, since they take most of a second that only a page with a figure should pay.
"""

from judging.figures.agreement import agreement_chart, confusion_chart, score_distribution_chart
from judging.figures.comparison import verdict_changes_chart
from judging.figures.failure_modes import failure_modes_chart
from judging.figures.rates import category_rates_chart, heat_map_chart, model_rates_chart
from judging.figures.rendering import render_png, render_svg

__all__ = [
    "agreement_chart",
    "category_rates_chart",
    "confusion_chart",
    "failure_modes_chart",
    "heat_map_chart",
    "model_rates_chart",
    "render_png",
    "render_svg",
    "score_distribution_chart",
    "verdict_changes_chart",
]
