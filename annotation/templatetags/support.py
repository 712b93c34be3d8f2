"""Support and reporting on annotators' pages."""

from typing import Any

from django import template

from annotation.models import Campaign
from annotation.support import report_text, support_text

register = template.Library()


@register.inclusion_tag("annotation/_support_footer.html")
def support_footer() -> dict[str, Any]:
    """The foot of every page for annotators."""
    return {"support": support_text(), "report": report_text()}


@register.inclusion_tag("annotation/_support.html")
def support(campaign: Campaign) -> dict[str, Any]:
    """Where to find support, in full: the deployer's text, then what the campaign adds to it."""
    general = support_text()
    own = campaign.support_text.strip()
    return {"general": general, "own": own if own != general else ""}
