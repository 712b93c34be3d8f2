"""Addresses under `/api/v1/` of judging, of every number, and of files."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from judging.api import views
from judging.api.collecting import GenerationViewSet
from judging.api.comparison import BenchmarkComparisonView
from judging.api.failure_modes import BenchmarkFailureModesView
from judging.api.figures import BenchmarkAgreementView, BenchmarkReportView
from judging.api.files import ExportView, ImportView

router = SimpleRouter()
router.register("judges", views.JudgeViewSet)
router.register("rubrics", views.RubricViewSet)
router.register("passes", views.PassViewSet)
router.register("verdicts", views.VerdictViewSet)
router.register("generations", GenerationViewSet)
router.register("rules", views.RuleViewSet)
router.register("reports", views.ReportViewSet)
urlpatterns = [
    path("benchmarks/<slug:slug>/report/", BenchmarkReportView.as_view(), name="benchmark-report"),
    path("benchmarks/<slug:slug>/agreement/", BenchmarkAgreementView.as_view(), name="benchmark-agreement"),
    path("benchmarks/<slug:slug>/comparison/", BenchmarkComparisonView.as_view(), name="comparison"),
    path("benchmarks/<slug:slug>/failure-modes/", BenchmarkFailureModesView.as_view(), name="failure-modes"),
    path("exports/", ExportView.as_view(), name="export"),
    path("imports/", ImportView.as_view(), name="import"),
    *router.urls,
]
