"""How a model that may be chosen is named in a form."""

from judging.llm.offers import OfferedModel


def offered_words(model: OfferedModel) -> str:
    """Name, slug and place of a model of the endpoints file, and whether its key is missing."""
    key = "" if model.has_key else ", no key set"
    return f"{model.short_name} ({model.slug} at {model.endpoint_name}{key})"
