"""What a target model's answer is: a response, or a named reason why there is none. Pure."""

from dataclasses import dataclass

from annotation.choices import TokensSource
from judging.choices import GenerationState
from judging.llm.calls import CallKind, CallOutcome
from judging.llm.parsing import stopped_state
from judging.llm.tokens import count_tokens


@dataclass(frozen=True, kw_only=True)
class CollectedAnswer:
    """One call to a target model, read. Only CALL_FAILED carries a code.

    `text` is the answer exactly as it came, also where it was cut off or filtered half-way. A refusal
    given apart from the answer is the answer (`is_refusal`). `n_tokens` is as the provider billed it,
    a model's hidden reasoning included, or else our own count of the text.
    """

    state: GenerationState
    code: CallKind | None = None
    detail: str = ""
    text: str = ""
    is_refusal: bool = False
    finish_reason: str | None = None
    model_said: str | None = None
    n_tokens: int | None = None
    tokens_source: TokensSource | None = None
    is_simulated: bool = False


def read_answer(outcome: CallOutcome) -> CollectedAnswer:
    """Read one call. A failure of the provider is CALL_FAILED, never an empty answer.

    A model that declines in its own words has answered. A stop by the provider's filter is FILTERED, as
    is one with the reason `refusal` and no text, which is how a provider's own classifier stops a model;
    a stop at the limit of tokens is TRUNCATED whether or not there is a text.
    """
    if outcome.is_filtered:
        return CollectedAnswer(
            state=GenerationState.FILTERED, detail="content_policy", is_simulated=outcome.is_simulated
        )
    if outcome.kind != "ok":
        return CollectedAnswer(
            state=GenerationState.CALL_FAILED,
            code=outcome.kind,
            detail=outcome.detail,
            is_simulated=outcome.is_simulated,
        )
    answer, refusal = outcome.text or "", outcome.refusal or ""
    is_refusal = not answer.strip() and bool(refusal.strip())
    text = refusal if is_refusal else answer
    state, detail = _state_of(outcome, text)
    n_tokens, source = _length_of(outcome, text)
    return CollectedAnswer(
        state=state,
        detail=detail,
        text=text,
        is_refusal=is_refusal,
        finish_reason=outcome.finish_reason,
        model_said=outcome.model,
        n_tokens=n_tokens,
        tokens_source=source,
        is_simulated=outcome.is_simulated,
    )


def _state_of(outcome: CallOutcome, text: str) -> tuple[GenerationState, str]:
    stopped = stopped_state(outcome)
    if stopped == "TRUNCATED":
        return GenerationState.TRUNCATED, "finish_reason"
    if stopped == "FILTERED" or (stopped == "REFUSED" and not text.strip()):
        return GenerationState.FILTERED, "finish_reason"
    if not text.strip():
        return GenerationState.EMPTY, "no_text"
    return GenerationState.COLLECTED, ""


def _length_of(outcome: CallOutcome, text: str) -> tuple[int | None, TokensSource | None]:
    if outcome.tokens_out is not None:
        return outcome.tokens_out, TokensSource.PROVIDER
    if not text:
        return None, None
    return count_tokens([text]), TokensSource.ESTIMATED
