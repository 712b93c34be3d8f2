"""What changed between two passes, exactly as `compare_passes --json` prints it."""

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.reading import refuse_unknown_parameters
from annotation.models import Benchmark
from judging.reports import compare_passes
from judging.selectors import find_pass

PASSES = ("before", "after")
PARAMETERS = [
    OpenApiParameter("before", str, required=True, description="Id or name of the earlier pass."),
    OpenApiParameter("after", str, required=True, description="Id or name of the later pass."),
    OpenApiParameter("rule", str, description="Name of a rule, or its JSON; the benchmark's if absent."),
]


class BenchmarkComparisonView(APIView):
    """Which verdicts differ between two passes under one rule, and whether it mattered."""

    @extend_schema(parameters=PARAMETERS, responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str) -> Response:
        benchmark = get_object_or_404(Benchmark, slug=slug)
        asked = request.query_params
        refuse_unknown_parameters(request, {parameter.name for parameter in PARAMETERS})
        absent = {name: ["This parameter is required."] for name in PASSES if not asked.get(name)}
        if absent:
            raise serializers.ValidationError(absent)
        before, after = (find_pass(benchmark, asked[name]) for name in PASSES)
        return Response(compare_passes(benchmark, before=before, after=after, rule=asked.get("rule") or None))
