"""Files out and in: one table as a download, and an import of the paper's files."""

from typing import Any, cast

from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.reading import refuse_unknown_parameters
from annotation.models import Account
from judging.exports.downloads import CONTENT_TYPES, ZIP_TYPE, open_bundle, open_download
from judging.exports.exporting import FLAVOURS, FORMATS
from judging.exports.requests import ExportRequest
from judging.exports.tables import TABLES
from judging.importing.files import IMPORTED_PASS_NAME, BenchmarkNotices
from judging.importing.uploads import (
    MAX_FILES,
    discard_upload,
    import_upload,
    let_files_in,
    preview_upload,
    stage_upload,
)
from judging.selectors import find_benchmark, find_campaign, find_pass

BUNDLES = ("none", "zip")
EXPORT_PARAMETERS = [
    OpenApiParameter("benchmark", str, required=True, description="Slug of the benchmark."),
    OpenApiParameter("table", str, required=True, enum=TABLES),
    OpenApiParameter("format", str, required=True, enum=FORMATS),
    OpenApiParameter("pass", str, description="Id or name of a pass; the newest finished one if absent."),
    OpenApiParameter("before", str, description="Of comparison only: the earlier pass."),
    OpenApiParameter("rule", str, description="Name of a rule, or its JSON; the benchmark's if absent."),
    OpenApiParameter("campaign", str, description="Id or slug: only labels of this campaign."),
    OpenApiParameter("flavour", str, enum=FLAVOURS, description="Of CSV only."),
    OpenApiParameter("bundle", str, enum=BUNDLES, description="zip: the table and its manifest."),
]
REQUIRED = tuple(parameter.name for parameter in EXPORT_PARAMETERS if parameter.required)


class ExportView(APIView):
    """One table as a file. Its canary, licence and attribution are in it, whatever the format."""

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        # The reply is the file that was asked for, whatever kinds the client says it accepts.
        return super().perform_content_negotiation(request, force=True)

    @extend_schema(
        parameters=EXPORT_PARAMETERS,
        responses={(200, kind): OpenApiTypes.BINARY for kind in (*CONTENT_TYPES.values(), ZIP_TYPE)},
    )
    def get(self, request: Request) -> FileResponse:
        asked = request.query_params
        refuse_unknown_parameters(request, {parameter.name for parameter in EXPORT_PARAMETERS})
        absent = {name: ["This parameter is required."] for name in REQUIRED if not asked.get(name)}
        if absent:
            raise serializers.ValidationError(absent)
        if asked.get("bundle", "none") not in BUNDLES:
            raise serializers.ValidationError({"bundle": [f"Expected one of: {', '.join(BUNDLES)}."]})
        benchmark = find_benchmark(asked["benchmark"])
        open_file = open_bundle if asked.get("bundle") == "zip" else open_download
        download = open_file(
            benchmark,
            ExportRequest(
                table=asked["table"],
                format=asked["format"],
                judge_pass=find_pass(benchmark, asked["pass"]) if asked.get("pass") else None,
                before=find_pass(benchmark, asked["before"]) if asked.get("before") else None,
                rule=asked.get("rule") or None,
                campaign=find_campaign(benchmark, asked["campaign"]) if asked.get("campaign") else None,
                flavour=asked.get("flavour") or None,
            ),
        )
        reply = FileResponse(
            download.file, as_attachment=True, filename=download.name, content_type=download.content_type
        )
        reply["X-Table-SHA256"] = download.manifest["sha256"]
        reply["X-Table-Rows"] = str(download.manifest["n_rows"])
        return reply


class ImportSerializer(serializers.Serializer):
    """Files with the paper's names or columns, and where they go."""

    benchmark = serializers.CharField(max_length=64)
    files = serializers.ListField(child=serializers.FileField(), allow_empty=False, max_length=MAX_FILES)
    dry_run = serializers.BooleanField(default=False)
    skip_bad_rows = serializers.BooleanField(default=False)
    pass_name = serializers.CharField(max_length=100, default=IMPORTED_PASS_NAME)
    licence = serializers.CharField(max_length=200, required=False)
    attribution = serializers.CharField(required=False)
    canary = serializers.CharField(max_length=200, required=False)
    encoding = serializers.CharField(max_length=40, default="utf-8")


class ImportView(APIView):
    """Import files: all rows or none, unless `skip_bad_rows`. `dry_run` counts and stores nothing."""

    parser_classes = [MultiPartParser]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        # Before the session's token is looked for, which reads the whole body.
        let_files_in(request._request)
        super().initial(request, *args, **kwargs)

    @extend_schema(
        request=ImportSerializer,
        responses={
            200: OpenApiTypes.OBJECT,
            201: OpenApiTypes.OBJECT,
            422: OpenApiTypes.OBJECT,
        },
    )
    def post(self, request: Request) -> Response:
        refuse_unknown_parameters(request, ())
        serializer = ImportSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        asked, account = serializer.validated_data, cast(Account, request.user)
        upload = stage_upload(
            asked["files"],
            owner=account,
            benchmark_slug=asked["benchmark"],
            encoding=asked["encoding"],
            pass_name=asked["pass_name"],
            notices=BenchmarkNotices(
                licence=asked.get("licence"),
                attribution=asked.get("attribution"),
                canary=asked.get("canary"),
            ),
        )
        try:
            if asked["dry_run"]:
                outcome = preview_upload(upload)
            else:
                outcome = import_upload(upload, actor=account, skips_bad_rows=asked["skip_bad_rows"])
        finally:
            # Unlike the page, a script sends its files again with its decision.
            discard_upload(upload)
        document = outcome.to_json()
        if outcome.is_stored:
            return Response(document, status=status.HTTP_201_CREATED)
        if outcome.is_dry_run:
            return Response(document)
        refusal = {
            "detail": f"Nothing was stored: {len(outcome.problems)} rows or files cannot be read as they "
            "stand. Mend them, or send skip_bad_rows for the good ones.",
            "code": "rows_refused",
        }
        return Response({**refusal, **document}, status=status.HTTP_422_UNPROCESSABLE_ENTITY)
