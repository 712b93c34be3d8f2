"""The failure modes of a benchmark, the same numbers as on the page."""

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.reading import refuse_unknown_parameters
from annotation.models import Benchmark
from judging.reports.failure_modes import build_failure_modes, find_classification

PARAMETER = OpenApiParameter(
    "pass", str, description="Id or name of a classification; the newest finished one if absent."
)


class BenchmarkFailureModesView(APIView):
    """Counts and shares of the failure modes: overall, per model, per category, and for each cell."""

    @extend_schema(parameters=[PARAMETER], responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str) -> Response:
        benchmark = get_object_or_404(Benchmark, slug=slug)
        refuse_unknown_parameters(request, {"pass"})
        name = request.query_params.get("pass")
        classification = find_classification(benchmark, name) if name else None
        return Response(build_failure_modes(benchmark, classification=classification))
