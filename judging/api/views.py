"""Judges, rubrics, passes, verdicts, rules and stored reports, for researchers to read."""

from typing import Any, cast

from django.db.models import Case, CharField, F, QuerySet, Value, When
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.reading import SLUG, ListedResource, ReadOnlyResource
from annotation.models import Account
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
    NewRubricSerializer,
    PassSerializer,
    RubricSerializer,
    RuleSerializer,
    StoredReportSerializer,
    StoredReportWithContentSerializer,
    VerdictSerializer,
)
from judging.models import GradingRule, Judge, JudgePass, Report, Rubric, Verdict
from judging.rubrics import create_rubric, known_rubrics
from judging.staleness import (
    STALE,
    is_stale,
    reported_failure_mode,
    reported_jailbreak_score,
    reported_score,
)


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
    """Rubrics: immutable versions of what a judge is asked. A POST stores the next version of a name."""

    queryset = Rubric.objects.select_related("parent").order_by("slug")
    serializer_class = RubricSerializer
    filterset_class = RubricFilter
    lookup_field = "slug"
    lookup_url_kwarg = "slug"
    lookup_value_regex = SLUG

    @extend_schema(request=NewRubricSerializer, responses={201: RubricSerializer})
    def create(self, request: Request) -> Response:
        serializer = NewRubricSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        rubric = create_rubric(**serializer.validated_data, actor=cast(Account, request.user))
        return Response(RubricSerializer(rubric).data, status=status.HTTP_201_CREATED)

    def filter_queryset(self, queryset: QuerySet[Any]) -> Any:
        """The stored versions and, as on the page, those that ship and were never used yet."""
        stored = list(super().filter_queryset(queryset))
        kept = {name: value for name in ("name", "scale") if (value := self.request.query_params.get(name))}
        shipped = [
            rubric
            for rubric in known_rubrics()
            if rubric.pk is None and all(getattr(rubric, name) == value for name, value in kept.items())
        ]
        return sorted([*stored, *shipped], key=lambda rubric: rubric.slug)

    def get_object(self) -> Rubric:
        found = {rubric.slug: rubric for rubric in known_rubrics()}
        try:
            return found[self.kwargs["slug"]]
        except KeyError as error:
            raise Http404 from error


class PassViewSet(ReadOnlyResource):
    """Passes of every kind: one frozen configuration each. Costs are millionths of a dollar."""

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
            counted_jailbreak_score=reported_jailbreak_score(),
            counted_failure_mode=reported_failure_mode(),
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
