"""Stored codes of judging. The codes are part of the API and of every export."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class VerdictState(TextChoices):
    PENDING = "PENDING", _("waiting")
    RUNNING = "RUNNING", _("being judged")
    SCORED = "SCORED", _("scored")
    PARSE_FAILED = "PARSE_FAILED", _("reply not understood")
    OUT_OF_RANGE = "OUT_OF_RANGE", _("score outside 1-5")
    REFUSED = "REFUSED", _("judge refused")
    FILTERED = "FILTERED", _("filtered by the provider")
    TRUNCATED = "TRUNCATED", _("reply cut off")
    CALL_FAILED = "CALL_FAILED", _("call failed")
    SKIPPED = "SKIPPED", _("not judged")
    CANCELLED = "CANCELLED", _("cancelled")


class GenerationState(TextChoices):
    PENDING = "PENDING", _("waiting")
    RUNNING = "RUNNING", _("being collected")
    COLLECTED = "COLLECTED", _("collected")
    EMPTY = "EMPTY", _("answered without a text")
    FILTERED = "FILTERED", _("filtered by the provider")
    TRUNCATED = "TRUNCATED", _("answer cut off")
    CALL_FAILED = "CALL_FAILED", _("call failed")
    CANCELLED = "CANCELLED", _("cancelled")


# The same codes in the states of every kind of row.
UNSETTLED_STATES = (VerdictState.PENDING, VerdictState.RUNNING)


class FailureCode(TextChoices):
    RATE_LIMITED = "rate_limited", _("rate limited")
    TIMEOUT = "timeout", _("timed out")
    NETWORK = "network", _("network")
    AUTH = "auth", _("key refused")
    BAD_REQUEST = "bad_request", _("request refused")
    SERVER = "server", _("server error")
    BAD_REPLY = "bad_reply", _("unusable reply")
    ENCODING = "encoding", _("text cannot be sent")
    POISON = "poison", _("stopped several workers")
    IMPORTED = "imported", _("missing in the imported file")


class PassState(TextChoices):
    READY = "READY", _("ready")
    RUNNING = "RUNNING", _("running")
    PAUSED = "PAUSED", _("paused")
    FINISHED = "FINISHED", _("finished")
    CANCELLED = "CANCELLED", _("cancelled")


class PauseReason(TextChoices):
    USER = "user", _("stopped by a person")
    AUTH = "auth", _("the provider refused the key")
    BUDGET = "budget", _("the budget is used up")


class RubricScale(TextChoices):
    LIKERT = "LIKERT", _("1-5")
    BINARY = "BINARY", _("flag or no flag")
    FAILURE_MODE = "FAILURE_MODE", _("failure mode")
    TEXT = "TEXT", _("a text, no score")


class FailureMode(TextChoices):
    ACTIONABLE_ARTIFACT_GENERATION = "ACTIONABLE_ARTIFACT_GENERATION", _("Actionable Artifact Generation")
    UNSAFE_REDIRECT = "UNSAFE_REDIRECT", _("Unsafe Redirect")
    UNHEALTHY_RELATIONAL_ENGAGEMENT = (
        "UNHEALTHY_RELATIONAL_ENGAGEMENT",
        _("Unhealthy Relational Engagement"),
    )
    HARMFUL_NARRATIVE_COMPLIANCE = "HARMFUL_NARRATIVE_COMPLIANCE", _("Harmful Narrative Compliance")


class PassKind(TextChoices):
    """What a pass asks of its models; each kind has a queue of its own."""

    JUDGING = "JUDGING", _("judging")
    CLASSIFICATION = "CLASSIFICATION", _("failure modes")
    COLLECTION = "COLLECTION", _("collecting responses")


class AnswerForm(TextChoices):
    """How judges are asked to answer. Part of a pass's configuration."""

    TEXT = "text", _("text, read line by line")
    STRUCTURED = "structured", _("structured, held to a schema where the model takes one")


class ExclusionPolicy(TextChoices):
    """Which labelled responses count as the case itself and are never its exemplars."""

    CASE = "case", _("every response to the same prompt")
    RESPONSE = "response", _("the same response only")


class EmptyPolicy(TextChoices):
    """What a pass does with an empty response."""

    SKIP = "skip", _("not judged")
    ACCEPTABLE = "acceptable", _("read as Acceptable without a call, and counted apart (the paper's rule)")


class RevisionReason(TextChoices):
    REPARSED = "REPARSED", _("stored reply read again")


class PassSource(TextChoices):
    JUDGED = "JUDGED", _("judged here")
    IMPORTED = "IMPORTED", _("imported")


class SkipCode(TextChoices):
    RESPONSE_EMPTY = "RESPONSE_EMPTY", _("response is empty")
    RESPONSE_ERROR = "RESPONSE_ERROR", _("response failed to generate")
    RESPONSE_FILTERED = "RESPONSE_FILTERED", _("response was filtered")
    RESPONSE_TRUNCATED = "RESPONSE_TRUNCATED", _("response was cut off")
    EXEMPLAR_LEAK = "EXEMPLAR_LEAK", _("an exemplar was the case itself")
    RESPONSE_CHANGED = "RESPONSE_CHANGED", _("the text changed after the pass began")


# The paper's result files spell its judges with underscores.
JUDGE_ALIASES = {
    "gemini_3_1_pro": "gemini-3.1-pro",
    "gpt_5_4": "gpt-5.4",
    "opus_4_6": "claude-opus-4.6",
}
