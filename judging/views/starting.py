"""The pass wizard: choose, check, start. Choices travel in the forms, so each step works without scripts."""

from http import HTTPStatus
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from annotation.models import Benchmark
from judging.choices import PassState
from judging.errors import DomainError
from judging.forms.starting import StartPassForm
from judging.passes.checking import check_pass
from judging.passes.configuration import offered_judges
from judging.passes.sampling import next_response, sample_prompt
from judging.passes.starting import PassRunning, start_pass
from judging.retrieval.embedders import offered_embedders
from judging.rubrics import offered_rubrics
from judging.selectors import count_complete_responses
from judging.views.checked_pass import (
    check_answer,
    check_basis,
    embeddings_in_words,
    judge_table,
    shown_sample,
)
from judging.views.context import account_of, benchmark_page, show_page

FINISHED_ALREADY = (
    "A pass with exactly this configuration is finished already, and this is it. Nothing was called."
)
RUNNING_ALREADY = "This pass was started already, and this is it. It was not started a second time."


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_page
def start(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Step 1, choosing; and by POST step 3, the start. Pressed twice it starts one pass."""
    if request.method != "POST":
        return _show_choices(request, benchmark, _form(benchmark, request.GET if request.GET else None))
    form = _form(benchmark, request.POST)
    if form.is_valid():
        try:
            judge_pass = start_pass(benchmark, form.request, actor=account_of(request))
        except PassRunning as twin:
            judge_pass = twin.judge_pass
            messages.info(request, RUNNING_ALREADY)
        except DomainError as error:
            form.add_error(None, error.message)
            return _show_choices(request, benchmark, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
        if judge_pass.state == PassState.FINISHED:
            messages.info(request, FINISHED_ALREADY)
        return redirect("judging:pass", slug=benchmark.slug, public_id=judge_pass.public_id)
    return _show_choices(request, benchmark, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_page
def check(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Step 2: one tiny call to each judge, what is sent, what it comes to. A link here leads to step 1."""
    if request.method != "POST":
        return redirect(_address("start_pass", benchmark, request.GET))
    form = _form(benchmark, request.POST)
    if not form.is_valid():
        return _show_choices(request, benchmark, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        checked = check_pass(benchmark, form.request)
    except DomainError as error:
        form.add_error(None, error.message)
        return _show_choices(request, benchmark, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    return show_page(
        request,
        "judging/check_pass.html",
        benchmark=benchmark,
        tab="judges",
        answer=check_answer(checked),
        basis=check_basis(checked),
        form=form,
        checked=checked,
        judges=judge_table(checked),
        embeddings=embeddings_in_words(checked.embeddings) if checked.embeddings else None,
        back_url=f"{reverse('judging:start_pass', args=[benchmark.slug])}?{urlencode(form.sent)}",
        sample=shown_sample(checked.sample) if checked.sample else None,
        next_id=next_response(benchmark, form.request, checked.sample.response) if checked.sample else "",
    )


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_page
def sample(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """The request for a response of one's choice, as it would be sent. A link here leads to step 1.

    No judge is called. An endpoint's embedder may be, which is why this is no page to link to.
    """
    if request.method != "POST":
        return redirect(_address("start_pass", benchmark, request.GET))
    form = _form(benchmark, request.POST)
    if not form.is_valid():
        return _show_choices(request, benchmark, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    wanted = request.POST.get("next") or request.POST.get("sample", "")
    made, problem, status = None, None, HTTPStatus.OK
    try:
        made = sample_prompt(benchmark, form.request, wanted=wanted)
    except DomainError as error:
        problem, status = error.message, HTTPStatus.UNPROCESSABLE_ENTITY
    return show_page(
        request,
        "judging/sample_prompt.html",
        benchmark=benchmark,
        tab="judges",
        form=form,
        sample=shown_sample(made) if made else None,
        sample_problem=problem,
        wanted=wanted,
        next_id=next_response(benchmark, form.request, made.response) if made else "",
        status=status,
    )


def _form(benchmark: Benchmark, data: QueryDict | None) -> StartPassForm:
    return StartPassForm(
        data,
        judges=offered_judges(),
        rubrics=offered_rubrics(),
        embedders=offered_embedders(),
        benchmark=benchmark,
    )


def _show_choices(
    request: HttpRequest, benchmark: Benchmark, form: StartPassForm, *, status: int = HTTPStatus.OK
) -> HttpResponse:
    return show_page(
        request,
        "judging/start_pass.html",
        benchmark=benchmark,
        tab="judges",
        form=form,
        n_complete=count_complete_responses(benchmark),
        status=status,
    )


def _address(name: str, benchmark: Benchmark, query: QueryDict) -> str:
    address = reverse(f"judging:{name}", args=[benchmark.slug])
    return f"{address}?{query.urlencode()}" if query else address
