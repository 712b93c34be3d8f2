"""Prompts, responses, campaigns and labels as JSON. Related rows appear under their public names."""

from rest_framework import serializers

from annotation.api.reading import PublicIdSerializer
from annotation.models import Benchmark, Campaign, Label, Prompt, Response


class BenchmarkSerializer(serializers.ModelSerializer):
    class Meta:
        model = Benchmark
        fields = ["slug", "name", "canary", "licence", "attribution", "is_simulated", "created_at"]
        read_only_fields = fields


class PromptSerializer(PublicIdSerializer):
    benchmark = serializers.CharField(source="benchmark.slug", read_only=True)

    class Meta:
        model = Prompt
        fields = ["id", "benchmark", "case_uid", "risk_category", "risk_mechanism", "text"]
        read_only_fields = fields


class ResponseSerializer(PublicIdSerializer):
    benchmark = serializers.CharField(source="prompt.benchmark.slug", read_only=True)
    prompt = serializers.CharField(source="prompt.public_id", read_only=True)
    case_uid = serializers.CharField(source="prompt.case_uid", read_only=True)
    model = serializers.CharField(source="target_model.slug", read_only=True)
    settings = serializers.JSONField(read_only=True, allow_null=True)
    is_simulated = serializers.BooleanField(read_only=True)

    class Meta:
        model = Response
        fields = [
            "id",
            "benchmark",
            "prompt",
            "case_uid",
            "model",
            "rollout",
            "state",
            "text",
            "error",
            "finish_reason",
            "n_tokens",
            "tokens_source",
            "settings",
            "is_simulated",
            "created_at",
        ]
        read_only_fields = fields


class CampaignSerializer(PublicIdSerializer):
    benchmark = serializers.CharField(source="benchmark.slug", read_only=True)

    class Meta:
        model = Campaign
        fields = [
            "id",
            "benchmark",
            "slug",
            "name",
            "scale",
            "state",
            "labels_per_response",
            "lease_minutes",
            "instructions",
            "instructions_version",
            "content_warning",
            "created_at",
        ]
        read_only_fields = fields


class LabelSerializer(PublicIdSerializer):
    benchmark = serializers.CharField(source="item.campaign.benchmark.slug", read_only=True)
    campaign = serializers.CharField(source="item.campaign.public_id", read_only=True)
    item_kind = serializers.CharField(source="item.kind", read_only=True)
    response = serializers.CharField(source="item.response.public_id", read_only=True)
    case_uid = serializers.CharField(source="item.response.prompt.case_uid", read_only=True)
    model = serializers.CharField(source="item.response.target_model.slug", read_only=True)
    rollout = serializers.IntegerField(source="item.response.rollout", read_only=True, allow_null=True)
    annotator = serializers.CharField(source="annotator.code", default=None, read_only=True, allow_null=True)

    class Meta:
        model = Label
        fields = [
            "id",
            "benchmark",
            "campaign",
            "item_kind",
            "response",
            "case_uid",
            "model",
            "rollout",
            "annotator",
            "annotator_type",
            "rating",
            "severity",
            "note",
            "action",
            "revision",
            "is_current",
            "is_imported",
            "created_at",
        ]
        read_only_fields = fields
