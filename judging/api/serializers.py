"""Judges, rubrics, passes, verdicts, rules and stored reports as JSON."""

import datetime as dt
from typing import Any

from rest_framework import serializers

from annotation.api.reading import PublicIdSerializer
from judging.choices import FailureMode, VerdictState
from judging.models import GradingRule, Judge, JudgePass, Report, Rubric, Verdict
from judging.rubrics import MAX_CHARACTERS, MAX_NAME_CHARACTERS
from judging.selectors import exemplar_ids, published_exemplars
from judging.staleness import STALE


class JudgeSerializer(serializers.ModelSerializer):
    class Meta:
        model = Judge
        fields = [
            "slug",
            "short_name",
            "family",
            "endpoint_name",
            "model_id",
            "parameters",
            "capabilities",
        ]
        read_only_fields = fields


class RubricSerializer(serializers.ModelSerializer):
    parent: Any = serializers.CharField(source="parent.slug", default=None, read_only=True, allow_null=True)
    created_at = serializers.SerializerMethodField(
        help_text="When it was stored; null for a version that ships and was never used yet."
    )

    class Meta:
        model = Rubric
        fields = ["slug", "name", "version", "parent", "scale", "text", "text_hash", "created_at"]
        read_only_fields = fields

    def get_created_at(self, rubric: Rubric) -> dt.datetime | None:
        return rubric.created_at if rubric.pk is not None else None


class NewRubricSerializer(serializers.Serializer):
    """The next version of `name`; `parent` is the slug of the version that it was edited from."""

    name = serializers.CharField(max_length=MAX_NAME_CHARACTERS)
    text = serializers.CharField(max_length=MAX_CHARACTERS, trim_whitespace=False)
    parent: Any = serializers.CharField(max_length=64, required=False, allow_null=True, default=None)


class PassSerializer(PublicIdSerializer):
    benchmark = serializers.CharField(source="benchmark.slug", read_only=True)
    rubric = serializers.CharField(source="rubric.slug", default=None, read_only=True, allow_null=True)
    judges: serializers.SlugRelatedField = serializers.SlugRelatedField(
        slug_field="slug", many=True, read_only=True
    )

    class Meta:
        model = JudgePass
        fields = [
            "id",
            "benchmark",
            "name",
            "kind",
            "source",
            "rubric",
            "scale",
            "judges",
            "configuration",
            "digest",
            "is_simulated",
            "state",
            "pause_reason",
            "state_note",
            "max_calls",
            "max_cost_micros",
            "n_calls_reserved",
            "cost_reserved_micros",
            "cost_settled_micros",
            "created_at",
            "started_at",
            "finished_at",
        ]
        read_only_fields = fields


class VerdictListSerializer(serializers.ListSerializer):
    """A page of verdicts, whose exemplars are looked up together."""

    def to_representation(self, data: Any) -> list[Any]:
        verdicts = list(data)
        public_ids = exemplar_ids(verdicts)
        shown = super().to_representation(verdicts)
        for values, verdict in zip(shown, verdicts, strict=True):
            values["exemplars"] = published_exemplars(verdict, public_ids)
        return shown


class VerdictSerializer(serializers.ModelSerializer):
    """One judge on one response in one pass: known by these three, so it has no id of its own.

    `state` and `score` are as every figure counts them: a verdict on a text that its response no longer
    has is STALE and has no score; `stale_score` keeps the one it had. A classifier's verdict has a
    `failure_mode` in place of a score. `is_by_policy` marks a score that no judge gave.
    """

    benchmark = serializers.CharField(source="judge_pass.benchmark.slug", read_only=True)
    response = serializers.CharField(source="response.public_id", read_only=True)
    case_uid = serializers.CharField(source="response.prompt.case_uid", read_only=True)
    model = serializers.CharField(source="response.target_model.slug", read_only=True)
    rollout = serializers.IntegerField(source="response.rollout", read_only=True, allow_null=True)
    judge = serializers.CharField(source="judge.slug", read_only=True)
    state = serializers.ChoiceField(
        choices=[*VerdictState.choices, (STALE, "text changed since")],
        source="counted_state",
        read_only=True,
    )
    score = serializers.IntegerField(source="counted_score", read_only=True, allow_null=True)
    jailbreak_score = serializers.IntegerField(
        source="counted_jailbreak_score", read_only=True, allow_null=True
    )
    stale_score = serializers.IntegerField(read_only=True, allow_null=True)
    failure_mode = serializers.ChoiceField(
        choices=FailureMode.choices, source="counted_failure_mode", read_only=True, allow_null=True
    )

    class Meta:
        model = Verdict
        list_serializer_class = VerdictListSerializer
        fields = [
            "benchmark",
            "response",
            "case_uid",
            "model",
            "rollout",
            "judge",
            "scale",
            "state",
            "score",
            "jailbreak_score",
            "failure_code",
            "skip_code",
            "detail",
            "raw_text",
            "parser_version",
            "exemplars",
            "n_exemplars_acceptable",
            "n_exemplars_unacceptable",
            "settled_at",
            "stale_score",
            "failure_mode",
            "is_by_policy",
        ]
        read_only_fields = fields

    def get_fields(self) -> dict[str, Any]:
        # `pass` is a word of the language and cannot be declared above.
        of_pass = serializers.CharField(source="judge_pass.public_id", read_only=True)
        return {"pass": of_pass, **super().get_fields()}


class RuleSerializer(serializers.ModelSerializer):
    benchmark = serializers.CharField(source="benchmark.slug", default=None, read_only=True, allow_null=True)

    class Meta:
        model = GradingRule
        fields = ["benchmark", "name", "definition", "created_at"]
        read_only_fields = fields


class StoredReportSerializer(PublicIdSerializer):
    benchmark = serializers.CharField(source="benchmark.slug", read_only=True)

    class Meta:
        model = Report
        fields = ["id", "benchmark", "schema_version", "digest", "seed", "code_version", "created_at"]
        read_only_fields = fields


class StoredReportWithContentSerializer(StoredReportSerializer):
    class Meta(StoredReportSerializer.Meta):
        fields = [*StoredReportSerializer.Meta.fields, "content"]
        read_only_fields = fields
