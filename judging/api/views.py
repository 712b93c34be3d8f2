"""Judges, rubrics, passes, verdicts, rules and stored reports, for researchers to read."""

from django.db.models import Case, CharField, F, QuerySet, Value, When

from annotation.api.reading import SLUG, ListedResource, ReadOnlyResource
from judging.api.filters import (
    JudgeFilter,
    PassFilter,
    ReportFilter,
    RubricFilter,
    RuleFilter,
    VerdictFilter,
)
from judging.api.serializers import (
    JudgeSerializer,
    PassSerializer,
    RubricSerializer,
    RuleSerializer,
    StoredReportSerializer,
    StoredReportWithContentSerializer,
    VerdictSerializer,
)
from judging.models import GradingRule, Judge, JudgePass, Report, Rubric, Verdict
from judging.staleness import STALE, is_stale, reported_score


class JudgeViewSet(ReadOnlyResource):
    """Judges, under their slugs."""

    queryset = Judge.objects.order_by("slug")
    serializer_class = JudgeSerializer
    filterset_class = JudgeFilter
    lookup_field = "slug"
    lookup_url_kwarg = "slug"
    # An imported judge has whatever name its file gave it, such as claude-opus-4.6 or vendor/model.
    lookup_value_regex = r"[^\x00]+"


class RubricViewSet(ReadOnlyResource):
    """Rubrics: immutable versions of what a judge is asked."""

    queryset = Rubric.objects.order_by("slug")
    serializer_class = RubricSerializer
    filterset_class = RubricFilter
    lookup_field = "slug"
    lookup_url_kwarg = "slug"
    lookup_value_regex = SLUG


class PassViewSet(ReadOnlyResource):
    """Passes: one frozen judging configuration each. Costs are millionths of a dollar."""

    queryset = (
        JudgePass.objects.select_related("benchmark", "rubric").prefetch_related("judges").order_by("pk")
    )
    serializer_class = PassSerializer
    filterset_class = PassFilter


class VerdictViewSet(ListedResource):
    """Verdicts; `pass`, `response` and `judge` together name one."""

    queryset = (
        Verdict.objects.select_related(
            "judge_pass__benchmark", "judge", "response__prompt", "response__target_model"
        )
        .annotate(
            counted_state=Case(
                When(is_stale(), then=Value(STALE)), default=F("state"), output_field=CharField()
            ),
            counted_score=reported_score(),
            stale_score=Case(When(is_stale(), then=F("score"))),
        )
        .order_by("pk")
    )
    serializer_class = VerdictSerializer
    filterset_class = VerdictFilter


class RuleViewSet(ListedResource):
    """Stored grading rules; `benchmark` and `name` together name one. Weights are exact decimals as text."""

    queryset = GradingRule.objects.select_related("benchmark").order_by("pk")
    serializer_class = RuleSerializer
    filterset_class = RuleFilter


class ReportViewSet(ReadOnlyResource):
    """The newest reports that were computed, a bounded number; a single one with its content."""

    queryset = Report.objects.select_related("benchmark").order_by("pk")
    serializer_class = StoredReportSerializer
    filterset_class = ReportFilter

    def get_queryset(self) -> QuerySet[Report]:
        reports = super().get_queryset()
        return reports.defer("content") if self.action == "list" else reports

    def get_serializer_class(self) -> type[StoredReportSerializer]:
        return StoredReportSerializer if self.action == "list" else StoredReportWithContentSerializer
