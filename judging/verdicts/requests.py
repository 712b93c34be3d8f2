"""From a claimed row to the request that is sent: texts, exemplars, rubric, learned capabilities."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from django.db import DatabaseError

from annotation.models import Response
from judging.choices import SkipCode, VerdictState
from judging.llm.calls import CallRequest, Capabilities
from judging.llm.exemplars import ExemplarLeak
from judging.llm.fences import draw_tag
from judging.llm.parsing import interpret
from judging.llm.retrying import History, RetryPolicy
from judging.llm.rubric import Exemplar, Rubric, build_messages, parse_rubric, untrusted_text
from judging.llm.structured import structured_format
from judging.models import Judge, JudgePass, Verdict
from judging.passes.configuration import frozen_prices
from judging.queue.work import Claimed, NotSent, Prepared, Unbounded
from judging.verdicts.leaks import refuse_leak

logger = logging.getLogger(__name__)


@dataclass
class VerdictRequests:
    """Builds the requests of a loop; passes, rubrics and judges are read once and kept."""

    policy: RetryPolicy
    _passes: dict[int, tuple[JudgePass, Rubric]] = field(default_factory=dict)
    _judges: dict[int, Judge] = field(default_factory=dict)

    def build(self, rows: Sequence[Claimed]) -> list[Prepared | NotSent | Unbounded]:
        """Read the texts of the claimed rows and build their requests. Two queries once all is known."""
        if not rows:
            return []
        verdicts = Verdict.objects.only("response_id", "judge_id", "text_hash", "exemplars").in_bulk(
            [row.row_id for row in rows]
        )
        wanted = {verdict.response_id for verdict in verdicts.values()}
        for verdict in verdicts.values():
            wanted |= {exemplar["response"] for exemplar in verdict.exemplars or ()}
        responses = Response.objects.filter(pk__in=wanted).select_related("prompt").in_bulk()
        return [self._build_or_say_why(row, verdicts[row.row_id], responses) for row in rows]

    def learn(self, model_pk: int, capabilities: Capabilities) -> None:
        """Remember with what a judge's model answered after it had refused a parameter."""
        judge = self._judge(model_pk)
        if judge.capabilities != asdict(capabilities):
            judge.capabilities = asdict(capabilities)
            judge.save(update_fields=["capabilities"])

    def _build_or_say_why(
        self, row: Claimed, verdict: Verdict, responses: Mapping[int, Response]
    ) -> Prepared | NotSent | Unbounded:
        try:
            return self._build_one(row, verdict, responses)
        except DatabaseError:
            raise
        except Exception as error:
            # One row that cannot be built must not hold up the others, nor be claimed again for ever.
            logger.error("verdict %s: no request could be built (%s)", row.row_id, type(error).__name__)
            return NotSent(claimed=row, detail=f"no request could be built: {type(error).__name__}")

    def _build_one(
        self, row: Claimed, verdict: Verdict, responses: Mapping[int, Response]
    ) -> Prepared | NotSent | Unbounded:
        judge_pass, rubric = self._pass(row.judge_pass_id)
        judge = self._judge(verdict.judge_id)
        history = History.from_dict(row.counters)
        capabilities = Capabilities(**judge.capabilities).after(history.resent_without)
        if row.has_money_cap and capabilities.token_parameter is None:
            return Unbounded(
                claimed=row,
                detail=f"{judge.slug} takes no token limit, so no cap on money can be kept. "
                "Cancel the pass and start one with a cap on calls.",
            )
        response = responses[verdict.response_id]
        if verdict.text_hash not in (None, response.text_hash):
            return NotSent(
                claimed=row,
                detail="The response has another text than when the pass began.",
                values={"state": VerdictState.SKIPPED, "skip_code": SkipCode.RESPONSE_CHANGED},
            )
        exemplars = verdict.exemplars or []
        try:
            refuse_leak(exemplars, response, responses, configuration=judge_pass.configuration)
        except ExemplarLeak as leak:
            return NotSent(
                claimed=row,
                detail=str(leak),
                values={"state": VerdictState.SKIPPED, "skip_code": SkipCode.EXEMPLAR_LEAK},
            )
        texts = shown_texts(response, exemplars, responses)
        item_text = untrusted_text(**texts)
        parameters = judge_pass.configuration["parameters"]
        request = CallRequest(
            model=judge_pass.configuration["judges"][judge.slug]["model_id"],
            messages=build_messages(rubric, **texts, tag=draw_tag(item_text), is_repair=history.is_repair),
            max_tokens=history.max_tokens(parameters["max_tokens"], self.policy),
            temperature=float(parameters["temperature"]),
            response_format=structured_format(rubric) if parameters.get("output") == "structured" else None,
            capabilities=capabilities,
        )
        return Prepared(
            claimed=row,
            request=request,
            prices=frozen_prices(judge_pass.configuration, judge.slug),
            history=history,
            model_pk=judge.pk,
            read=partial(interpret, item_text=item_text, scale=rubric.scale),
        )

    def _pass(self, pass_id: int) -> tuple[JudgePass, Rubric]:
        if pass_id not in self._passes:
            judge_pass = JudgePass.objects.select_related("rubric").get(pk=pass_id)
            if judge_pass.rubric is None:
                raise ValueError(f"The pass {judge_pass.public_id} has rows to judge and no rubric.")
            self._passes[pass_id] = (judge_pass, parse_rubric(judge_pass.rubric.text))
        return self._passes[pass_id]

    def _judge(self, judge_id: int) -> Judge:
        if judge_id not in self._judges:
            self._judges[judge_id] = Judge.objects.get(pk=judge_id)
        return self._judges[judge_id]


def shown_texts(
    response: Response, exemplars: Sequence[Mapping[str, Any]], responses: Mapping[int, Response]
) -> dict[str, Any]:
    """What a judge is shown of one case: the texts that `build_messages` and `untrusted_text` take.

    Args:
        response: with its prompt.
        exemplars: as the verdict keeps them.
        responses: the exemplars' responses by id, with their prompts.

    Raises:
        KeyError: an exemplar's response is not among them.
    """
    return {
        "prompt": response.prompt.text,
        "response": response.text,
        "risk_category": response.prompt.risk_category,
        "exemplars": [_show(exemplar, responses) for exemplar in exemplars],
    }


def _show(exemplar: Mapping[str, Any], responses: Mapping[int, Response]) -> Exemplar:
    shown = responses[exemplar["response"]]
    return Exemplar(
        prompt=shown.prompt.text,
        response=shown.text,
        verdict="Unacceptable" if exemplar["unacceptable"] else "Acceptable",
    )
