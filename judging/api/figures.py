"""Every number of a benchmark, exactly as `build_report --json` and `agreement --json` print it."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.reading import refuse_unknown_parameters
from annotation.models import Benchmark
from judging.reports import build_report
from judging.selectors import find_campaign, find_pass

PARAMETERS = [
    OpenApiParameter("pass", str, description="Id or name of a pass; the newest finished one if absent."),
    OpenApiParameter("rule", str, description="Name of a rule, or its JSON; the benchmark's if absent."),
    OpenApiParameter("campaign", str, description="Id or slug: only labels of this campaign."),
]


def report_for(request: Request, slug: str) -> dict[str, Any]:
    """The report that the request's parameters ask for.

    Raises:
        Http404: no such benchmark.
        DomainError: an unknown parameter, pass, campaign or rule.
    """
    benchmark = get_object_or_404(Benchmark, slug=slug)
    asked = request.query_params
    refuse_unknown_parameters(request, {parameter.name for parameter in PARAMETERS})
    return build_report(
        benchmark,
        judge_pass=find_pass(benchmark, asked["pass"]) if asked.get("pass") else None,
        rule=asked.get("rule") or None,
        campaign=find_campaign(benchmark, asked["campaign"]) if asked.get("campaign") else None,
    )


class BenchmarkReportView(APIView):
    """The whole report."""

    @extend_schema(parameters=PARAMETERS, responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str) -> Response:
        return Response(report_for(request, slug))


class BenchmarkAgreementView(APIView):
    """Agreement of every pair, the alphas, Fleiss' kappas and the human ceiling."""

    @extend_schema(parameters=PARAMETERS, responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str) -> Response:
        return Response(report_for(request, slug)["agreement"])
