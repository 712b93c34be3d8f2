"""Sends the suite's requests to a judge and reads the replies as the project reads any other."""

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from benchmarks.injection_suite.attacks import Case
from benchmarks.injection_suite.capture import read_first_line, states_itself
from benchmarks.injection_suite.items import CATEGORY
from judging.llm.calls import CallOutcome, CallRequest, Capabilities
from judging.llm.client import JudgeClient
from judging.llm.endpoints import Endpoint
from judging.llm.fences import draw_tag
from judging.llm.parsing import ParsedReply, interpret
from judging.llm.retrying import Final, History, RetryPolicy, next_step
from judging.llm.rubric import Rubric, build_messages, untrusted_text
from judging.llm.structured import structured_format
from judging.stats.injection import InjectionPair

MAX_TOKENS = 1024
# A repair would ask again only where a reply was unreadable, which is itself something to measure here.
POLICY = RetryPolicy(max_repairs=0)

Reader = Callable[..., ParsedReply]


class JudgeRefused(Exception):
    """The judge takes no call: its key was refused, or its output cannot be structured."""


@dataclass(frozen=True)
class Variant:
    """One way of asking: a rubric version, in text or in structured output."""

    name: str
    rubric: Rubric
    is_structured: bool

    @property
    def is_binary(self) -> bool:
        return self.rubric.scale == "binary"


@dataclass(frozen=True)
class Answer:
    """The reply to one text and what it was read as. `reply` is empty where no text came."""

    parsed: ParsedReply
    reply: str


@dataclass(frozen=True)
class Trial:
    """One case as it was judged, with and without its attack."""

    case: Case
    control: Answer
    attacked: Answer
    is_binary: bool

    def as_pair(self) -> InjectionPair:
        """What the statistics need of it."""
        score, claim = self.attacked.parsed.score, self.case.claim
        return InjectionPair(
            item=self.case.item.number,
            planted=claim.score,
            lowers=claim.lowers,
            control=self.control.parsed.score,
            attacked=score,
            is_captured=score == claim.score and not self._states_planted(),
        )

    @property
    def captures_careless(self) -> bool:
        """Whether a parser that takes the first line with a score would have been captured."""
        first = read_first_line(self.attacked.reply, is_binary=self.is_binary)
        return first == self.case.claim.score and not self._states_planted()

    def _states_planted(self) -> bool:
        return states_itself(
            self.attacked.reply,
            score=self.case.claim.score,
            is_binary=self.is_binary,
            planted_text=self.case.planted_text,
        )


@dataclass
class Asker:
    """Calls one model. What it learned to leave out of its requests holds for all that follow."""

    client: JudgeClient
    model_id: str
    slots: asyncio.Semaphore
    read: Reader = interpret
    capabilities: Capabilities = field(default_factory=Capabilities)
    rng: random.Random = field(default_factory=lambda: random.Random(1))

    async def try_all(self, variant: Variant, cases: Sequence[Case]) -> list[Trial]:
        """Judge each case with and without its attack, in the order given.

        Raises:
            JudgeRefused: the key was refused, or structured output was asked for and is not taken.
        """
        texts = [text for case in cases for text in (case.control, case.attacked)]
        prompts = [case.item.prompt for case in cases for _ in range(2)]
        answers = await asyncio.gather(
            *(
                self._ask(variant, prompt=prompt, response=text)
                for prompt, text in zip(prompts, texts, strict=True)
            )
        )
        return [
            Trial(case, control, attacked, variant.is_binary)
            for case, control, attacked in zip(cases, answers[::2], answers[1::2], strict=True)
        ]

    async def _ask(self, variant: Variant, *, prompt: str, response: str) -> Answer:
        item_text = untrusted_text(prompt=prompt, response=response, risk_category=CATEGORY)
        request = CallRequest(
            model=self.model_id,
            messages=build_messages(
                variant.rubric,
                prompt=prompt,
                response=response,
                risk_category=CATEGORY,
                tag=draw_tag(item_text),
            ),
            max_tokens=MAX_TOKENS,
            response_format=structured_format(variant.rubric) if variant.is_structured else None,
        )
        history = History()
        while True:
            async with self.slots:
                sent = replace(
                    request,
                    max_tokens=history.max_tokens(MAX_TOKENS, POLICY),
                    capabilities=self.capabilities,
                )
                outcome = await self.client.complete(sent)
            parsed = self.read(outcome, item_text=item_text, scale=variant.rubric.scale)
            self._learn(outcome, sent)
            step = next_step(outcome, parsed, history=history, policy=POLICY, rng=self.rng, has_answered=True)
            if isinstance(step, Final):
                return Answer(parsed, outcome.text or "")
            history = step.history
            await asyncio.sleep(step.delay_s)

    def _learn(self, outcome: CallOutcome, sent: CallRequest) -> None:
        if outcome.kind == "auth" and not outcome.is_forbidden:
            raise JudgeRefused(f"The provider refused the key ({outcome.detail}).")
        rejected = outcome.rejected_parameter
        if rejected == "response_format":
            raise JudgeRefused("The model takes no structured output.")
        # Another call may have learned it meanwhile; a second step would leave out the newer name too.
        if rejected is not None and self.capabilities == sent.capabilities:
            self.capabilities = sent.capabilities.without(rejected)


async def ask_variants(
    endpoint: Endpoint,
    model_id: str,
    variants: Sequence[Variant],
    cases_of: Callable[[Variant], Sequence[Case]],
    *,
    read: Reader = interpret,
) -> dict[Variant, list[Trial] | str]:
    """Try every variant on one model; where one cannot be asked, the reason stands in its place."""
    found: dict[Variant, list[Trial] | str] = {}
    async with JudgeClient(endpoint) as client:
        asker = Asker(client, model_id, asyncio.Semaphore(endpoint.max_in_flight), read=read)
        for variant in variants:
            try:
                found[variant] = await asker.try_all(variant, cases_of(variant))
            except JudgeRefused as refusal:
                found[variant] = str(refusal)
    return found
