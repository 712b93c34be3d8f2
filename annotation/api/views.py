"""Benchmarks, prompts, responses, campaigns and labels, for researchers to read."""

from annotation.api.filters import (
    BenchmarkFilter,
    CampaignFilter,
    LabelFilter,
    PromptFilter,
    ResponseFilter,
)
from annotation.api.reading import SLUG, ReadOnlyResource
from annotation.api.serializers import (
    BenchmarkSerializer,
    CampaignSerializer,
    LabelSerializer,
    PromptSerializer,
    ResponseSerializer,
)
from annotation.models import Benchmark, Campaign, Label, Prompt, Response


class BenchmarkViewSet(ReadOnlyResource):
    """Benchmarks, under their slugs, with the notices that every export carries."""

    queryset = Benchmark.objects.order_by("slug")
    serializer_class = BenchmarkSerializer
    filterset_class = BenchmarkFilter
    lookup_field = "slug"
    lookup_url_kwarg = "slug"
    lookup_value_regex = SLUG


class PromptViewSet(ReadOnlyResource):
    """Prompts. `case_uid` is opaque text: 007 and 7 are two cases."""

    queryset = Prompt.objects.select_related("benchmark").order_by("pk")
    serializer_class = PromptSerializer
    filterset_class = PromptFilter


class ResponseViewSet(ReadOnlyResource):
    """Responses of target models; `rollout` is null for a labelled text outside any rollout."""

    queryset = Response.objects.select_related("prompt__benchmark", "target_model").order_by("pk")
    serializer_class = ResponseSerializer
    filterset_class = ResponseFilter


class CampaignViewSet(ReadOnlyResource):
    """Campaigns: which labels were asked for, and how."""

    queryset = Campaign.objects.select_related("benchmark").order_by("pk")
    serializer_class = CampaignSerializer
    filterset_class = CampaignFilter


class LabelViewSet(ReadOnlyResource):
    """Every revision of every label; `is_current=true` gives those that stand."""

    queryset = Label.objects.select_related(
        "annotator", "item__campaign__benchmark", "item__response__prompt", "item__response__target_model"
    ).order_by("pk")
    serializer_class = LabelSerializer
    filterset_class = LabelFilter
