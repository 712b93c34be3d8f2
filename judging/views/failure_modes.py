"""The failure modes of the Unacceptable responses: how they fail, and starting a classification."""

import json
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from annotation.models import Benchmark
from annotation.templatetags.formatting import rate_interval_text, rate_text
from judging.choices import FailureMode
from judging.classifying import FlaggedCount, count_flagged, offered_classifiers, start_classification
from judging.errors import DomainError
from judging.forms.classifying import ClassifyForm
from judging.models import JudgePass
from judging.reports import GIVEN_RULE_NAME
from judging.reports.failure_modes import (
    build_failure_modes,
    default_classification,
    find_classification,
    graded_pass,
)
from judging.views.choosing import Option, ReportChoice
from judging.views.context import account_of, benchmark_page, pass_address, show_page
from judging.views.drawing import FORMS
from judging.views.failure_mode_figure import KIND, NAME, inline_figure
from judging.views.failure_mode_tables import Rows, groups_table, modes_table, unclassified_table
from judging.views.wording import counted, missing_words, pass_state_words

HOW = (
    "Each response that the rule finds Unacceptable goes to one classifier at temperature 0, without "
    "examples. Its answer is the key of one failure mode; other spellings go through a fixed table of "
    "answers, then through a search that counts only when exactly one mode is named.",
    "The share of a mode is over all responses that the classifier answered. An answer that names no mode, a "
    "refusal or a cut answer among them, has a row of its own and stays in that number: a classifier is most "
    "at a loss where the material is worst. What was never answered is counted beside it.",
    "Intervals: 95 %, Wilson at the effective number of responses, which allows for several responses to one "
    "prompt.",
    "The first three modes are defined by the published benchmark. It names the fourth, Harmful Narrative "
    "Compliance, and does not define it; that definition is this project's own.",
)


@require_safe
@benchmark_page
def show_failure_modes(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Which modes, overall, by model and by category; and the form that starts a classification."""
    return _show(request, benchmark, classification=_read_classification(request, benchmark))


@require_POST
@benchmark_page
def classify(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Start a classification of the default pass by the default rule and go to its page."""
    form = ClassifyForm(request.POST, classifiers=offered_classifiers())
    if form.is_valid():
        try:
            started = start_classification(
                benchmark, form.to_request(judge_pass=None, rule=None), actor=account_of(request)
            )
        except DomainError as error:
            form.add_error(None, error.message)
        else:
            return redirect(pass_address(started))
    return _show(request, benchmark, classification=None, form=form)


@require_safe
@benchmark_page
def download_failure_modes(request: HttpRequest, benchmark: Benchmark, form: str) -> HttpResponse:
    """The figure as SVG or PNG, or its numbers as CSV."""
    if form not in FORMS:
        raise Http404
    document = build_failure_modes(benchmark, classification=_read_classification(request, benchmark))
    content_type, write = FORMS[form]
    response = HttpResponse(write(KIND, document), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{benchmark.slug}-{NAME}.{form}"'
    return response


def _show(
    request: HttpRequest,
    benchmark: Benchmark,
    *,
    classification: JudgePass | None,
    form: ClassifyForm | None = None,
) -> HttpResponse:
    shown = classification or default_classification(benchmark)
    document = build_failure_modes(benchmark, classification=shown)
    flagged = count_flagged(benchmark, beside=shown)
    parts: dict[str, Any] = {}
    if shown is not None:
        rows_of = _rows_of(shown, document)
        parts = {
            "figure": inline_figure(benchmark, document),
            "modes": modes_table(document, rows_of),
            "models": groups_table(document, rows_of, of="models"),
            "categories": groups_table(document, rows_of, of="categories"),
            "unclassified": unclassified_table(document, rows_of),
            "how": _how_computed(document, rows_of),
            "outdated": _outdated_in_words(document, flagged),
            "pass_url": _address(benchmark, "pass", public_id=document["pass"]),
            "export_url": _address(benchmark, "export", table="failure_modes", form="csv")
            + f"?{urlencode({'pass': document['pass']})}",
            "offered": _offered(document),
        }
    return show_page(
        request,
        "judging/failure_modes.html",
        benchmark=benchmark,
        tab="results",
        answer=answer_of(document),
        basis=_basis_of(document),
        report=document,
        n_flagged=flagged.n,
        form=form or ClassifyForm(classifiers=offered_classifiers()),
        status=HTTPStatus.UNPROCESSABLE_ENTITY if form is not None else HTTPStatus.OK,
        **parts,
    )


def answer_of(document: Mapping[str, Any]) -> str:
    """The page's sentence: the mode named most often."""
    overall = document["overall"]
    if document["pass"] is None:
        return "No Unacceptable response has been classified yet."
    if not overall["n_answered"]:
        state = pass_state_words(document["state"])
        return f"{document['pass_name']} is {state}: no response is classified yet."
    most = max(entry["n"] for entry in overall["modes"])
    first = [entry for entry in overall["modes"] if entry["n"] == most]
    if not most:
        return "The classifier named no failure mode in any of its answers."
    names = " and ".join(str(FailureMode(entry["mode"]).label) for entry in first)
    share, interval = first[0]["share"], first[0]["interval"]
    estimate = f"{rate_text(share)} {rate_interval_text(interval)}" if interval else rate_text(share)
    of_all = counted(overall["n_answered"], "classified response")
    if len(first) > 1:
        return f"{names} are the most frequent failure modes: {rate_text(share)} each of {of_all}."
    return f"{names} is the most frequent failure mode: {estimate} of {of_all}."


def _basis_of(document: Mapping[str, Any]) -> str:
    if document["pass"] is None:
        return ""
    overall = document["overall"]
    return (
        f"n = {counted(overall['n_responses'], 'response')} of {document['graded_pass_name']}, Unacceptable "
        f"by the rule {document['rule_name']}; classified by {document['classifier']} · "
        f"{overall['n_unparsed']:,} without a mode · {overall['n_unclassified']:,} unclassified"
    )


def _outdated_in_words(document: Mapping[str, Any], flagged: FlaggedCount) -> list[str]:
    """Why the results no longer rest on what was classified, nothing when they do."""
    words = []
    if not document["is_of_default_pass"]:
        words.append(
            f"It graded the pass {document['graded_pass_name']}, and the results follow another pass."
        )
    if not document["is_by_default_rule"]:
        words.append(
            f"It took up what the rule {document['rule_name']} finds Unacceptable, and the benchmark has "
            "another rule."
        )
    if not words and flagged.n_not_taken_up:
        responses = counted(flagged.n_not_taken_up, "more response")
        words.append(f"Since it began, {responses} became Unacceptable that it has not taken up.")
    return words


def _how_computed(document: Mapping[str, Any], rows_of: Rows) -> dict[str, Any]:
    overall = document["overall"]
    return {
        "paragraphs": HOW,
        "facts": [
            ("Rule", document["rule_in_words"]),
            ("Graded pass", f"{document['graded_pass_name']} ({document['graded_pass']})"),
            ("Classification", f"{document['pass_name']} ({document['pass']})"),
            ("Classifier", document["classifier"]),
        ],
        "left_out": [
            {
                "reason": f"Unclassified: {missing_words(state)}",
                "n": n,
                "href": rows_of(failure_mode="UNCLASSIFIED", classified=state),
            }
            for state, n in overall["unclassified"].items()
        ],
    }


def _read_classification(request: HttpRequest, benchmark: Benchmark) -> JudgePass | None:
    """The classification that the address names.

    Raises:
        PassError: no such pass in this benchmark, or one of another kind.
    """
    name = request.GET.get("pass", "").strip()
    return find_classification(benchmark, name) if name else None


def _offered(document: Mapping[str, Any]) -> list[Option]:
    return [
        Option(
            value=listed["pass"],
            label=f"{listed['name']} ({pass_state_words(listed['state'])})",
            is_chosen=listed["pass"] == document["pass"],
        )
        for listed in document["passes"]
    ]


def _rows_of(classification: JudgePass, document: Mapping[str, Any]) -> Rows:
    """What leads to the responses behind a number, beside the scores and the rule that flagged them."""
    rule = document["rule_name"]
    choice = ReportChoice(
        benchmark=classification.benchmark,
        judge_pass=graded_pass(classification),
        rule=json.dumps(document["rule"]) if rule == GIVEN_RULE_NAME else rule,
    )
    return partial(choice.rows, classification=classification.public_id)


def _address(benchmark: Benchmark, page: str, **kwargs: str) -> str:
    return reverse(f"judging:{page}", kwargs={"slug": benchmark.slug, **kwargs})
