"""A finished few-shot pass, stored as a start and its judges would leave it, without a call."""

from typing import Any

from django.db.models import QuerySet

from annotation.models import Benchmark, Response
from judging.models import JudgePass
from judging.retrieval.proofs import store_proofs
from judging.retrieval.retrieving import retrieve_exemplars
from tests.factories import make_judge, make_pass, make_verdict


def judge_few_shot(
    benchmark: Benchmark,
    *,
    responses: QuerySet[Response] | None = None,
    n_judges: int = 1,
    shots: int = 2,
    **options: Any,
) -> JudgePass:
    """Judge the benchmark's responses, or some of them, with exemplars chosen offline."""
    if responses is None:
        responses = Response.objects.filter(prompt__benchmark=benchmark).order_by("pk")
    retrieval = retrieve_exemplars(benchmark, responses, shots=shots, **options)
    judges = tuple(make_judge() for _ in range(n_judges))
    judge_pass = make_pass(
        benchmark=benchmark,
        judges=judges,
        configuration={
            "exclusion": options.get("exclusion", "case"),
            "shots": shots,
            "pool": dict(retrieval.pool),
        },
    )
    for response_id, exemplars in retrieval.exemplars.items():
        n_unacceptable = sum(exemplar["unacceptable"] for exemplar in exemplars)
        for judge in judges:
            make_verdict(
                judge_pass=judge_pass,
                response_id=response_id,
                judge=judge,
                exemplars=exemplars,
                n_exemplars_acceptable=len(exemplars) - n_unacceptable,
                n_exemplars_unacceptable=n_unacceptable,
            )
    store_proofs(judge_pass, retrieval.exemplars)
    return judge_pass
