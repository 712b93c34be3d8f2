"""Addresses of the researcher's pages."""

from django.urls import path

from judging.views import (
    calibration,
    collecting,
    comparison,
    data,
    drawing,
    exports,
    imports,
    judges,
    labels,
    response,
    results,
    rows,
    running,
)

app_name = "judging"
urlpatterns = [
    path("", data.go_home, name="home"),
    path("new-benchmark/", imports.new_benchmark, name="new_benchmark"),
    path("imports/<str:token>/", imports.show_preview, name="import_preview"),
    path("imports/<str:token>/confirm/", imports.confirm, name="import_confirm"),
    path("imports/<str:token>/discard/", imports.discard, name="import_discard"),
    path("<slug:slug>/", data.go_to_calibration, name="benchmark"),
    path("<slug:slug>/data/", data.show_data, name="data"),
    path("<slug:slug>/data/upload/", imports.upload, name="upload"),
    path("<slug:slug>/data/collect/", collecting.collect, name="collect"),
    path("<slug:slug>/data/collect/<slug:public_id>/", collecting.show_collection, name="collection"),
    path("<slug:slug>/labels/", labels.show_labels, name="labels"),
    path("<slug:slug>/judges/", judges.show_judges, name="judges"),
    path("<slug:slug>/judges/start/", running.start, name="start_pass"),
    path("<slug:slug>/judges/compare/", comparison.show_comparison, name="compare"),
    path("<slug:slug>/judges/<slug:public_id>/", judges.show_pass, name="pass"),
    path("<slug:slug>/judges/<slug:public_id>/pause/", running.pause, name="pause_pass"),
    path("<slug:slug>/judges/<slug:public_id>/resume/", running.resume, name="resume_pass"),
    path("<slug:slug>/judges/<slug:public_id>/cancel/", running.cancel, name="cancel_pass"),
    path("<slug:slug>/calibration/", calibration.show_calibration, name="calibration"),
    path("<slug:slug>/calibration/adopt/", calibration.adopt, name="adopt_rule"),
    path("<slug:slug>/results/", results.show_results, name="results"),
    path("<slug:slug>/exports/", exports.show_exports, name="exports"),
    path("<slug:slug>/exports/<slug:table>.<slug:form>", exports.download_table, name="export"),
    path("<slug:slug>/figures/<slug:name>.<slug:form>", drawing.download_figure, name="figure"),
    path("<slug:slug>/rows/", rows.list_rows, name="rows"),
    path("<slug:slug>/rows/<slug:public_id>/", response.show_response, name="response"),
]
