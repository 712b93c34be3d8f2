"""Which fields a list can be filtered by: those named here, each by equality, and no others."""

from django_filters import BooleanFilter, CharFilter, ChoiceFilter, FilterSet, NumberFilter

from annotation.choices import AnnotatorType, CampaignState, ItemKind, Rating, ResponseState


class BenchmarkFilter(FilterSet):
    is_simulated = BooleanFilter()


class PromptFilter(FilterSet):
    benchmark = CharFilter("benchmark__slug")
    case_uid = CharFilter()
    risk_category = CharFilter()


class ResponseFilter(FilterSet):
    benchmark = CharFilter("prompt__benchmark__slug")
    prompt = CharFilter("prompt__public_id")
    case_uid = CharFilter("prompt__case_uid")
    model = CharFilter("target_model__slug")
    rollout = NumberFilter()
    state = ChoiceFilter(choices=ResponseState.choices)


class CampaignFilter(FilterSet):
    benchmark = CharFilter("benchmark__slug")
    slug = CharFilter()
    state = ChoiceFilter(choices=CampaignState.choices)


class LabelFilter(FilterSet):
    benchmark = CharFilter("item__campaign__benchmark__slug")
    campaign = CharFilter("item__campaign__public_id")
    item_kind = ChoiceFilter("item__kind", choices=ItemKind.choices)
    response = CharFilter("item__response__public_id")
    annotator = CharFilter("annotator__code")
    annotator_type = ChoiceFilter(choices=AnnotatorType.choices)
    rating = ChoiceFilter(choices=Rating.choices)
    is_current = BooleanFilter()
