"""Collecting responses: choose, check, start; then watch it like any other pass."""

from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods, require_safe

from annotation.models import Benchmark
from annotation.templatetags import formatting
from judging.choices import UNSETTLED_STATES, GenerationState, PassKind
from judging.collecting.configuration import check_cost_cap
from judging.collecting.estimating import CollectionEstimate, estimate_collection
from judging.collecting.planning import CollectionRequest, choose_prompts
from judging.collecting.requests import build_messages
from judging.collecting.starting import start_collection
from judging.collecting.targets import offered_targets, seat_targets
from judging.errors import DomainError
from judging.forms.collecting import CollectForm, CollectLinkForm
from judging.llm.offers import OfferedModel
from judging.models import JudgePass
from judging.passes.seats import check_seats
from judging.views import collection_tables
from judging.views.context import account_of, benchmark_page, pass_address, show_page
from judging.views.running import live_context
from judging.views.wording import counted, pass_state_words

NOTHING_MISSING = "Every response that you asked for is there. Nothing was called."


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_page
def collect(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Choose models and rollouts, see what that comes to and whether the models answer; then start."""
    targets = offered_targets()
    if request.method != "POST":
        form = CollectForm(targets=targets, initial=_initial_of(request, targets))
        return _show_form(request, benchmark, form)
    form, step = CollectForm(request.POST, targets=targets), request.POST.get("step", "check")
    if step in ("change", "estimate"):
        return _show_form(request, benchmark, form)
    if not form.is_valid():
        return _show_form(request, benchmark, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        if step == "start":
            return _start(request, benchmark, form.to_request())
        return _show_check(request, benchmark, form)
    except DomainError as error:
        form.add_error(None, error.message)
        return _show_form(request, benchmark, form, status=HTTPStatus.UNPROCESSABLE_ENTITY)


@require_safe
@benchmark_page
def show_collection(request: HttpRequest, benchmark: Benchmark, public_id: str) -> HttpResponse:
    """One collection: how far it is, what each model answered, and what was frozen."""
    passes = JudgePass.objects.select_related("benchmark", "created_by")
    judge_pass = get_object_or_404(passes, benchmark=benchmark, public_id=public_id, kind=PassKind.COLLECTION)
    counts = collection_tables.generation_counts(judge_pass)
    live = live_context(judge_pass)
    page = show_page(
        request,
        "judging/collection.html",
        benchmark=benchmark,
        tab="data",
        answer=_answer(judge_pass, counts),
        states=collection_tables.state_table(counts),
        failures=collection_tables.failure_table(collection_tables.failure_counts(judge_pass)),
        cut_shares=collection_tables.cut_shares(counts),
        facts=collection_tables.facts_of(judge_pass),
        system_prompt=judge_pass.configuration["system_prompt"],
        **live,
    )
    seen = request.GET.get("seen")
    if seen is not None and (seen != judge_pass.state or not live["is_polling"]):
        # A page that watches shows controls of another state, or has nothing more to watch.
        page.headers["HX-Refresh"] = "true"
    return page


def _initial_of(request: HttpRequest, targets: list[OfferedModel]) -> dict[str, Any]:
    """What the address asks for; a plain address leaves the form's own initial values."""
    if not request.GET:
        return {}
    link = CollectLinkForm(request.GET, targets=targets)
    if not link.is_valid():
        problems = [str(problem) for problems in link.errors.values() for problem in problems]
        raise DomainError(
            f"The address asks for what cannot be collected. {' '.join(problems)}", code="bad_link"
        )
    return link.initial_choices()


def _start(request: HttpRequest, benchmark: Benchmark, asked: CollectionRequest) -> HttpResponse:
    started = start_collection(benchmark, asked, actor=account_of(request))
    if started.judge_pass is None:
        messages.info(request, NOTHING_MISSING)
        return redirect("judging:data", slug=benchmark.slug)
    return redirect(pass_address(started.judge_pass))


def _show_form(
    request: HttpRequest, benchmark: Benchmark, form: CollectForm, *, status: int = HTTPStatus.OK
) -> HttpResponse:
    return show_page(
        request,
        "judging/collect.html",
        benchmark=benchmark,
        tab="data",
        form=form,
        n_prompts=benchmark.prompts.count(),
        status=status,
        **_estimate_context(_estimate(benchmark, form)),
    )


def _show_check(request: HttpRequest, benchmark: Benchmark, form: CollectForm) -> HttpResponse:
    asked = form.to_request()
    estimate = estimate_collection(benchmark, asked)
    seats = seat_targets(asked.models)
    check_cost_cap(asked, seats=seats, plan=estimate.plan)
    # With nothing missing nobody is called, not even to see who answers.
    checks = check_seats(seats) if estimate.plan.missing else []
    sample = choose_prompts(benchmark, limit=1).first()
    return show_page(
        request,
        "judging/collect_check.html",
        benchmark=benchmark,
        tab="data",
        form=form,
        checks=collection_tables.check_table(checks, estimate.plan) if checks else None,
        can_start=bool(checks) and all(check.fault is None for check in checks),
        is_simulated=any(check.is_simulated for check in checks),
        sample=build_messages(sample, system_prompt=asked.system_prompt) if sample else None,
        sample_case=sample.case_uid if sample else None,
        parameters=_parameters_in_words(asked),
        **_estimate_context(estimate),
    )


def _estimate(benchmark: Benchmark, form: CollectForm) -> CollectionEstimate | None:
    """What the choices come to; None while they cannot be used."""
    if form.is_bound:
        asked = form.to_request() if form.is_valid() else None
    else:
        models = form.get_initial_for_field(form.fields["models"], "models") or ()
        rollouts = form.get_initial_for_field(form.fields["rollouts"], "rollouts")
        asked = CollectionRequest(models=tuple(models), rollouts=rollouts) if models else None
    if asked is None:
        return None
    try:
        return estimate_collection(benchmark, asked)
    except DomainError:
        # Said when it is tried: a check of the same choices is refused with the reason.
        return None


def _estimate_context(estimate: CollectionEstimate | None) -> dict[str, Any]:
    if estimate is None:
        return {"estimate": None}
    return {
        "estimate": estimate,
        "worst_cost": None if estimate.worst_cost is None else f"{estimate.worst_cost:,.2f}",
        "seconds": max(round(estimate.seconds), 1),
        "under_way": [(other, pass_address(other)) for other in estimate.plan.under_way_in],
    }


def _parameters_in_words(asked: CollectionRequest) -> str:
    temperature = "the provider's own" if asked.temperature is None else f"{asked.temperature.normalize():f}"
    return f"at most {asked.max_tokens:,} tokens, temperature {temperature}"


def _answer(judge_pass: JudgePass, counts: collection_tables.CountsByModel) -> SafeString:
    total = sum((sum(of_model.values()) for of_model in counts.values()), 0)
    n_collected = sum(of_model[GenerationState.COLLECTED] for of_model in counts.values())
    n_open = sum(of_model[state] for of_model in counts.values() for state in UNSETTLED_STATES)
    n_other = total - n_collected - n_open
    return format_html(
        "{} is {}: {} of {} have come in complete{}.",
        judge_pass.name,
        pass_state_words(judge_pass.state),
        formatting.count(n_collected),
        counted(total, "response"),
        format_html(", and {} otherwise", formatting.count(n_other)) if n_other else "",
    )
