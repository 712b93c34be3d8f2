"""What is asked of a provider and what came back, as plain values that can be stored and compared."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

CallKind = Literal[
    "ok", "rate_limited", "timeout", "network", "auth", "bad_request", "server", "bad_reply", "encoding"
]
TokenParameter = Literal["max_tokens", "max_completion_tokens"]

# How the loopback provider marks its answers, so that nothing made with it passes for a real score.
SIMULATED_FINGERPRINT = "simulated"
OPTIONAL_PARAMETERS = ("temperature", "max_tokens", "max_completion_tokens", "response_format")


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What a judge's model is known to accept. Learned from refusals and stored with the judge."""

    temperature: bool = True
    structured: bool = True
    token_parameter: TokenParameter | None = "max_tokens"

    def sends(self, parameter: str) -> bool:
        """Whether a request that has this parameter still sends it."""
        match parameter:
            case "temperature":
                return self.temperature
            case "response_format":
                return self.structured
        return parameter == self.token_parameter

    def after(self, refused: Iterable[str]) -> "Capabilities":
        """What is left after a row's refusals, in their order.

        A refusal of what is no longer sent, as another row met it before, changes nothing.
        """
        left = self
        for parameter in refused:
            if left.sends(parameter):
                left = left.without(parameter)
        return left

    def without(self, parameter: str) -> "Capabilities":
        """What is left after a 400 that named `parameter`.

        `max_tokens` is first exchanged for `max_completion_tokens`, its newer name; a refusal of
        that one means that no limit is sent.

        Raises:
            ValueError: the parameter is not one that can be left out.
        """
        match parameter:
            case "temperature":
                return replace(self, temperature=False)
            case "response_format":
                return replace(self, structured=False)
            case "max_tokens":
                return replace(self, token_parameter="max_completion_tokens")
            case "max_completion_tokens":
                return replace(self, token_parameter=None)
        raise ValueError(f"{parameter!r} cannot be left out of a request; known: {OPTIONAL_PARAMETERS}.")


class SentRequest(Protocol):
    """What every kind of request can say of itself."""

    def body(self) -> dict[str, Any]:
        """The JSON object to send."""
        ...

    def parameters(self) -> dict[str, Any]:
        """The optional parameters in it, which a provider may refuse by name."""
        ...


@dataclass(frozen=True, kw_only=True)
class CallRequest:
    """One chat request. `capabilities` decides which optional parameters are really sent."""

    model: str
    messages: Sequence[Mapping[str, str]]
    max_tokens: int | None = None
    temperature: float | None = 0.0
    response_format: Mapping[str, Any] | None = None
    capabilities: Capabilities = Capabilities()

    def body(self) -> dict[str, Any]:
        """The JSON object to send."""
        body: dict[str, Any] = {"model": self.model, "messages": [dict(message) for message in self.messages]}
        if self.temperature is not None and self.capabilities.temperature:
            body["temperature"] = self.temperature
        if self.max_tokens is not None and self.capabilities.token_parameter is not None:
            body[self.capabilities.token_parameter] = self.max_tokens
        if self.response_format is not None and self.capabilities.structured:
            body["response_format"] = dict(self.response_format)
        return body

    def parameters(self) -> dict[str, Any]:
        """What is sent beside model and messages, for the attempt's record."""
        return {name: value for name, value in self.body().items() if name in OPTIONAL_PARAMETERS}


@dataclass(frozen=True, kw_only=True)
class CallOutcome:
    """What one call came to. `kind` is "ok" only when a chat completion was read.

    `text` is the answer as given (None when the provider sent null). `detail` says in a few words
    what went wrong; it holds no key and nothing of prompt or answer. `rejected_parameter` is set when
    a 400 named an optional parameter of this request. `is_filtered`: the item was refused for its content.
    `is_forbidden`: a 403 without a word about the key, so the key or the item may be meant. `is_simulated`
    marks the loopback provider's answers.
    """

    kind: CallKind
    http_status: int | None = None
    text: str | None = None
    finish_reason: str | None = None
    refusal: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    latency_ms: int = 0
    retry_after_s: float | None = None
    rejected_parameter: str | None = None
    model: str | None = None
    is_filtered: bool = False
    is_forbidden: bool = False
    is_simulated: bool = False
    detail: str = ""

    @property
    def is_ok(self) -> bool:
        return self.kind == "ok"

    @property
    def reply(self) -> str | None:
        """What was said, for the record: the answer, or a refusal that was given in place of one."""
        is_answer = self.text is not None and bool(self.text.strip())
        return self.text if is_answer or not self.refusal else self.refusal
