"""The rows of collections as JSON: what was asked of which model, and the response that it led to."""

from typing import Any

from django_filters import CharFilter, ChoiceFilter, FilterSet, NumberFilter
from rest_framework import serializers

from annotation.api.reading import ListedResource
from judging.choices import FailureCode, GenerationState
from judging.models import Generation


class GenerationSerializer(serializers.ModelSerializer):
    """One response to be collected: known by pass, prompt, model and rollout, so it has no id of its own.

    `response` is the id of the response once the row is settled; its text, finish reason, tokens and
    settings are there.
    """

    benchmark = serializers.CharField(source="judge_pass.benchmark.slug", read_only=True)
    prompt = serializers.CharField(source="prompt.public_id", read_only=True)
    case_uid = serializers.CharField(source="prompt.case_uid", read_only=True)
    model = serializers.CharField(source="target_model.slug", read_only=True)
    response = serializers.CharField(
        source="response.public_id", default=None, read_only=True, allow_null=True
    )

    class Meta:
        model = Generation
        fields = [
            "benchmark",
            "prompt",
            "case_uid",
            "model",
            "rollout",
            "state",
            "failure_code",
            "detail",
            "response",
            "settled_at",
        ]
        read_only_fields = fields

    def get_fields(self) -> dict[str, Any]:
        # `pass` is a word of the language and cannot be declared above.
        of_pass = serializers.CharField(source="judge_pass.public_id", read_only=True)
        return {"pass": of_pass, **super().get_fields()}


class GenerationFilter(FilterSet):
    benchmark = CharFilter("judge_pass__benchmark__slug")
    case_uid = CharFilter("prompt__case_uid")
    model = CharFilter("target_model__slug")
    rollout = NumberFilter()
    response = CharFilter("response__public_id")
    state = ChoiceFilter(choices=GenerationState.choices)
    failure_code = ChoiceFilter(choices=FailureCode.choices)


GenerationFilter.base_filters["pass"] = CharFilter("judge_pass__public_id")


class GenerationViewSet(ListedResource):
    """Rows of collections; `pass`, `prompt`, `model` and `rollout` together name one."""

    queryset = Generation.objects.select_related(
        "judge_pass__benchmark", "prompt", "target_model", "response"
    ).order_by("pk")
    serializer_class = GenerationSerializer
    filterset_class = GenerationFilter
