"""Starting a collection: find what is missing, preflight, freeze, make the rows, wake the workers."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from annotation.audit import record_event
from annotation.models import Account, Benchmark, TargetModel
from judging.amounts import to_micros
from judging.choices import PassKind, PassSource, PassState, RubricScale
from judging.collecting.configuration import check_cost_cap, freeze, freeze_costs
from judging.collecting.planning import (
    CollectionPlan,
    CollectionRequest,
    check_request,
    plan_collection,
)
from judging.collecting.targets import seat_targets
from judging.errors import Conflict, PassError
from judging.models import EndpointGate, Generation, JudgePass
from judging.passes.configuration import digest_of
from judging.passes.seats import JudgeSeat, preflight
from judging.passes.waking import wake_workers

BATCH_SIZE = 500
NAME_STEM = "collection"


@dataclass(frozen=True)
class StartedCollection:
    """A running pass, or none when every response is there already; and what it was planned from."""

    judge_pass: JudgePass | None
    plan: CollectionPlan


def start_collection(
    benchmark: Benchmark, request: CollectionRequest, *, actor: Account | None = None
) -> StartedCollection:
    """Check that every target model answers, freeze the configuration, make the rows, set the pass running.

    Makes one tiny call to each model before anything is stored, and none when nothing is missing.

    Raises:
        PassError: no prompt, a number or text that cannot be used, a model that does not answer, or a cap
            that cannot be kept.
        EndpointError: the endpoints file does not offer a model.
        Conflict: another collection has yet to bring all that is missing.
    """
    check_request(request)
    seats = seat_targets(request.models)
    plan = plan_collection(benchmark, request)
    if not plan.prompts:
        raise PassError(
            f"The benchmark {benchmark.slug} has no prompt. Import prompts first.", code="nothing_to_collect"
        )
    if not plan.missing:
        return _nothing_missing(plan)
    check_cost_cap(request, seats=seats, plan=plan)
    is_simulated = preflight(seats)
    with transaction.atomic():
        # One start at a time for a benchmark, so that names and what is missing are sure.
        Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
        plan = plan_collection(benchmark, request)
        if not plan.missing:
            return _nothing_missing(plan)
        configuration = freeze(request, seats=seats, plan=plan)
        models = _store_targets(seats)
        judge_pass = JudgePass.objects.create(
            benchmark=benchmark,
            name=_new_name(benchmark),
            kind=PassKind.COLLECTION,
            source=PassSource.JUDGED,
            scale=RubricScale.TEXT,
            configuration=configuration | freeze_costs(request, seats=seats, prompts=plan.prompts),
            digest=digest_of(configuration),
            is_simulated=benchmark.is_simulated or is_simulated,
            state=PassState.RUNNING,
            max_calls=request.max_calls,
            max_cost_micros=to_micros(request.max_cost),
            created_by=actor,
            started_at=timezone.now(),
        )
        _make_rows(judge_pass, plan, seats, models)
        endpoint_names = sorted({seat.endpoint.name for seat in seats})
        for name in endpoint_names:
            EndpointGate.objects.get_or_create(name=name)
        record_event(
            actor=actor,
            action="collection.started",
            subject=f"pass:{judge_pass.public_id}",
            digest=judge_pass.digest,
            n_rows=len(plan.missing),
        )
        transaction.on_commit(lambda: wake_workers(endpoint_names, kind=PassKind.COLLECTION))
    return StartedCollection(judge_pass, plan)


def _nothing_missing(plan: CollectionPlan) -> StartedCollection:
    if not plan.under_way_in:
        return StartedCollection(None, plan)
    passes = ", ".join(
        f"{other.name} ({other.public_id}, {other.get_state_display()})" for other in plan.under_way_in
    )
    way_out = "Resume" if any(p.state == PassState.PAUSED for p in plan.under_way_in) else "Watch"
    raise Conflict(
        f"All {plan.n_under_way} missing responses are being collected by {passes}. "
        f"{way_out} that one, or cancel it first.",
        code="pass_running",
    )


def _store_targets(seats: Sequence[JudgeSeat]) -> dict[str, TargetModel]:
    """Rows of the target models by slug; a family that is known by now is filled in."""
    models = {}
    for seat in seats:
        family = seat.model.family or None
        model, is_new = TargetModel.objects.get_or_create(slug=seat.slug, defaults={"family": family})
        if not is_new and model.family is None and family is not None:
            model.family = family
            model.save(update_fields=["family"])
        models[seat.slug] = model
    return models


def _make_rows(
    judge_pass: JudgePass,
    plan: CollectionPlan,
    seats: Sequence[JudgeSeat],
    models: Mapping[str, TargetModel],
) -> None:
    endpoints = {seat.slug: seat.endpoint.name for seat in seats}
    Generation.objects.bulk_create(
        [
            Generation(
                judge_pass=judge_pass,
                prompt_id=prompt_id,
                target_model=models[slug],
                rollout=rollout,
                endpoint_name=endpoints[slug],
            )
            for prompt_id, slug, rollout in plan.missing
        ],
        batch_size=BATCH_SIZE,
    )


def _new_name(benchmark: Benchmark) -> str:
    passes = JudgePass.objects.filter(benchmark=benchmark, name__startswith=f"{NAME_STEM}-")
    taken = set(passes.values_list("name", flat=True))
    return next(name for n in itertools.count(1) if (name := f"{NAME_STEM}-{n}") not in taken)
