"""One request of a pass, made before it starts, so that a person can read what judges will be sent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from annotation.choices import ResponseState
from annotation.models import Benchmark, Response
from judging.choices import AnswerForm
from judging.errors import PassError
from judging.llm.calls import CallRequest, Capabilities
from judging.llm.fences import draw_tag
from judging.llm.rubric import Exemplar, build_messages, parse_rubric, untrusted_text
from judging.llm.structured import structured_format
from judging.models import Judge
from judging.passes.configuration import MAX_TOKENS
from judging.passes.scope import choose_responses
from judging.passes.seats import seat_judges
from judging.passes.starting import PassRequest, find_judging_rubric, retrieve_for


@dataclass(frozen=True)
class SamplePrompt:
    """The request for one response. Only the tag of the fences is drawn anew for each call.

    `parameters` is what goes beside the messages, by judge. `exemplars` are the responses shown, in order,
    with similarity and kind.
    """

    response: Response
    messages: Sequence[Mapping[str, str]]
    parameters: Mapping[str, Mapping[str, Any]]
    exemplars: Sequence[tuple[Response, float, bool]]


def sample_prompt(benchmark: Benchmark, request: PassRequest, *, wanted: str = "") -> SamplePrompt:
    """The request that the pass would send for one response.

    Makes no call to a judge; with an endpoint's embedder it may have texts embedded, which are kept.

    Args:
        benchmark: whose response.
        request: what is to be started.
        wanted: id of a response or its case; the first complete one of the pass when blank.

    Raises:
        PassError: the pass takes up no such complete response, or cannot be started as asked.
        EndpointError: the endpoints file does not offer a judge.
    """
    rubric = parse_rubric(find_judging_rubric(request.rubric, shots=request.shots).text)
    chosen = choose_responses(benchmark, campaign=request.campaign, limit=request.limit)
    response = _find_response(chosen, wanted)
    exemplars = _exemplars_of(benchmark, response, request)
    texts: dict[str, Any] = {
        "prompt": response.prompt.text,
        "response": response.text,
        "risk_category": response.prompt.risk_category,
        "exemplars": [
            Exemplar(
                prompt=shown.prompt.text,
                response=shown.text,
                verdict="Unacceptable" if is_unacceptable else "Acceptable",
            )
            for shown, _, is_unacceptable in exemplars
        ],
    }
    messages = build_messages(rubric, **texts, tag=draw_tag(untrusted_text(**texts)))
    judges = {judge.slug: judge for judge in Judge.objects.filter(slug__in=request.judges)}
    schema = structured_format(rubric) if request.output == AnswerForm.STRUCTURED else None
    parameters = {}
    for seat in seat_judges(request.judges):
        judge = judges.get(seat.slug)
        is_known = judge is not None and judge.model_id == seat.model.model_id
        parameters[seat.slug] = CallRequest(
            model=seat.model.model_id,
            messages=messages,
            max_tokens=MAX_TOKENS,
            temperature=0.0,
            response_format=schema,
            capabilities=Capabilities(**judge.capabilities) if judge and is_known else Capabilities(),
        ).parameters()
    return SamplePrompt(response=response, messages=messages, parameters=parameters, exemplars=exemplars)


def next_response(benchmark: Benchmark, request: PassRequest, response: Response) -> str:
    """Public id of the complete response that follows in the pass, blank at its end. One query."""
    chosen = choose_responses(benchmark, campaign=request.campaign, limit=request.limit)
    following = _complete(chosen).filter(pk__gt=response.pk).order_by("pk")
    return following.values_list("public_id", flat=True).first() or ""


def _complete(chosen: QuerySet[Response]) -> QuerySet[Response]:
    # A limited choice cannot be filtered further by itself.
    return Response.objects.filter(pk__in=chosen.values("pk"), state=ResponseState.OK)


def _find_response(chosen: QuerySet[Response], wanted: str) -> Response:
    complete = _complete(chosen).select_related("prompt", "target_model").order_by("pk")
    wanted = wanted.strip()
    if wanted:
        is_storable = "\0" not in wanted and not any("\ud800" <= mark <= "\udfff" for mark in wanted)
        named = complete.filter(Q(public_id=wanted) | Q(prompt__case_uid=wanted))
        found = named.first() if is_storable else None
        if found is None:
            raise PassError(
                f"The pass takes up no complete response {wanted[:100]!r}. Give the id of a response or of "
                "a case that is in it, or leave the field blank.",
                code="unknown_sample",
            )
        return found
    first = complete.first()
    if first is None:
        raise PassError(
            "There is no complete response to judge. Import or collect responses first.",
            code="nothing_to_judge",
        )
    return first


def _exemplars_of(
    benchmark: Benchmark, response: Response, request: PassRequest
) -> list[tuple[Response, float, bool]]:
    """The exemplars that the pass chooses for one response: they depend on the pool and on itself alone."""
    if not request.shots:
        return []
    alone = Response.objects.filter(pk=response.pk).select_related("prompt").order_by("pk")
    stored = retrieve_for(benchmark, alone, request).exemplars[response.pk]
    responses = Response.objects.select_related("prompt").in_bulk([row["response"] for row in stored])
    return [(responses[row["response"]], row["similarity"], row["unacceptable"]) for row in stored]
