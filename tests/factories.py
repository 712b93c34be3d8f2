"""Objects for tests: each function makes one valid row, and whatever it must hang on.

Keyword arguments override fields. Text is mild and synthetic.
"""

import hashlib
import itertools
import uuid
from datetime import timedelta
from typing import Any

from django.utils import timezone

from annotation.choices import (
    AnnotatorType,
    CampaignState,
    CorrectionReason,
    Rating,
    ResponseState,
    Role,
    Scale,
)
from annotation.models import (
    Account,
    Annotator,
    Assignment,
    AuditEvent,
    Benchmark,
    Campaign,
    CampaignItem,
    Consent,
    Label,
    Membership,
    Prompt,
    Response,
    ResponseRevision,
    TargetModel,
)
from judging.choices import (
    FailureCode,
    GenerationState,
    PassKind,
    PassSource,
    PassState,
    RevisionReason,
    RubricScale,
    SkipCode,
    VerdictState,
)
from judging.models import (
    Embedding,
    EndpointGate,
    ExclusionProof,
    Generation,
    GenerationAttempt,
    GradingRule,
    Judge,
    JudgePass,
    Report,
    Rubric,
    RuleAdoption,
    SlotLease,
    Verdict,
    VerdictAttempt,
    VerdictRevision,
)

PASSWORD = "a long test password"
_numbers = itertools.count(1)


def sha256_of(text: str) -> str:
    """SHA-256 of UTF-8 text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def make_account(*, role: Role = Role.ANNOTATOR, **values: Any) -> Account:
    """An account that can sign in with `PASSWORD`."""
    values.setdefault("username", f"{role.lower()}-{next(_numbers)}")
    values.setdefault("password", PASSWORD)
    return Account.objects.create_user(role=role, **values)


def make_benchmark(**values: Any) -> Benchmark:
    """A benchmark without prompts."""
    values.setdefault("slug", f"benchmark-{next(_numbers)}")
    values.setdefault("name", f"Benchmark {values['slug']}")
    return Benchmark.objects.create(**values)


def make_prompt(**values: Any) -> Prompt:
    """A prompt, by default of a new benchmark."""
    n = next(_numbers)
    if "benchmark" not in values:
        values["benchmark"] = make_benchmark()
    values.setdefault("case_uid", f"case-{n}")
    values.setdefault("risk_category", "Emotional Dependency")
    values.setdefault("risk_mechanism", "Companionship")
    values.setdefault("text", f"My child talks to a chatbot {n} times a week. What should I look out for?")
    return Prompt.objects.create(**values)


def make_target_model(**values: Any) -> TargetModel:
    """A target model without a family."""
    values.setdefault("slug", f"model-{next(_numbers)}")
    return TargetModel.objects.create(**values)


def make_response(**values: Any) -> Response:
    """A complete response of rollout 0; `text_hash` follows the text."""
    n = next(_numbers)
    if "prompt" not in values:
        values["prompt"] = make_prompt()
    if "target_model" not in values:
        values["target_model"] = make_target_model()
    values.setdefault("rollout", 0)
    values.setdefault("state", ResponseState.OK)
    values.setdefault("text", f"Talk with your child about it, calmly and often. (Answer {n})")
    values.setdefault("text_hash", sha256_of(values["text"]))
    return Response.objects.create(**values)


def make_response_revision(**values: Any) -> ResponseRevision:
    """What a response was before its text was corrected."""
    if "response" not in values:
        values["response"] = make_response()
    values.setdefault("text", "The text before.")
    values.setdefault("text_hash", sha256_of(values["text"]))
    values.setdefault("state", ResponseState.OK)
    values.setdefault("reason", CorrectionReason.DAMAGED)
    return ResponseRevision.objects.create(**values)


def make_annotator(**values: Any) -> Annotator:
    """A parent without an account."""
    if "benchmark" not in values:
        values["benchmark"] = make_benchmark()
    values.setdefault("code", f"annotator-{next(_numbers)}")
    values.setdefault("annotator_type", AnnotatorType.PARENT)
    return Annotator.objects.create(**values)


def make_campaign(**values: Any) -> Campaign:
    """An open campaign that asks for a rating and a severity."""
    if "benchmark" not in values:
        values["benchmark"] = make_benchmark()
    values.setdefault("slug", f"campaign-{next(_numbers)}")
    values.setdefault("name", f"Campaign {values['slug']}")
    values.setdefault("scale", Scale.BINARY_AND_SEVERITY)
    values.setdefault("state", CampaignState.OPEN)
    values.setdefault("consent_text", "You may stop at any time.")
    return Campaign.objects.create(**values)


def make_item(**values: Any) -> CampaignItem:
    """A regular item; campaign and response belong to one benchmark."""
    if "response" not in values:
        benchmark = values["campaign"].benchmark if "campaign" in values else make_benchmark()
        values["response"] = make_response(prompt=make_prompt(benchmark=benchmark))
    if "campaign" not in values:
        values["campaign"] = make_campaign(benchmark=values["response"].prompt.benchmark)
    return CampaignItem.objects.create(**values)


def make_membership(**values: Any) -> Membership:
    """An annotator's place in a campaign of the same benchmark."""
    _fill_campaign_and_annotator(values)
    return Membership.objects.create(**values)


def make_consent(**values: Any) -> Consent:
    """A standing consent to the campaign's present text."""
    _fill_campaign_and_annotator(values)
    values.setdefault("version", values["campaign"].consent_version)
    values.setdefault("text_hash", sha256_of(values["campaign"].consent_text))
    return Consent.objects.create(**values)


def make_assignment(**values: Any) -> Assignment:
    """An open assignment with half an hour left."""
    _fill_item_and_annotator(values)
    values.setdefault("lease_until", timezone.now() + timedelta(minutes=30))
    return Assignment.objects.create(**values)


def make_label(**values: Any) -> Label:
    """A current Acceptable label. `annotator=None` makes it an anonymous import."""
    _fill_item_and_annotator(values)
    annotator = values["annotator"]
    values.setdefault("submission_id", uuid.uuid4())
    values.setdefault("rating", Rating.ACCEPTABLE)
    values.setdefault("annotator_type", annotator.annotator_type if annotator else AnnotatorType.OTHER)
    return Label.objects.create(**values)


def make_event(**values: Any) -> AuditEvent:
    """An audit event of nobody in particular."""
    values.setdefault("action", "campaign.opened")
    values.setdefault("subject", f"campaign:{next(_numbers)}")
    return AuditEvent.objects.create(**values)


def make_judge(**values: Any) -> Judge:
    """A judge without an endpoint, as an import makes it."""
    values.setdefault("slug", f"judge-{next(_numbers)}")
    values.setdefault("short_name", values["slug"])
    return Judge.objects.create(**values)


def make_rubric(**values: Any) -> Rubric:
    """A rubric of the 1-5 scale."""
    n = next(_numbers)
    values.setdefault("name", f"rubric-{n}")
    values.setdefault("version", 1)
    values.setdefault("slug", f"{values['name']}-v{values['version']}-{n}")
    values.setdefault("scale", RubricScale.LIKERT)
    values.setdefault("text", f"Version {n}: how safe is this answer, from 1 to 5?")
    values.setdefault("text_hash", sha256_of(values["text"]))
    return Rubric.objects.create(**values)


def make_pass(*, judges: tuple[Judge, ...] = (), **values: Any) -> JudgePass:
    """A finished pass of the given judges, without verdicts."""
    n = next(_numbers)
    if "benchmark" not in values:
        values["benchmark"] = make_benchmark()
    values.setdefault("name", f"pass-{n}")
    values.setdefault("source", PassSource.JUDGED)
    values.setdefault("state", PassState.FINISHED)
    values.setdefault("digest", sha256_of(f"pass {n}"))
    if values["state"] == PassState.FINISHED:
        values.setdefault("finished_at", timezone.now())
    judge_pass = JudgePass.objects.create(**values)
    judge_pass.judges.set(judges)
    return judge_pass


def make_verdict(**values: Any) -> Verdict:
    """A verdict with score 1, or what its `state` needs instead."""
    if "response" not in values:
        benchmark = values["judge_pass"].benchmark if "judge_pass" in values else make_benchmark()
        values["response"] = make_response(prompt=make_prompt(benchmark=benchmark))
    if "judge" not in values:
        values["judge"] = make_judge()
    if "judge_pass" not in values:
        values["judge_pass"] = make_pass(
            benchmark=values["response"].prompt.benchmark, judges=(values["judge"],)
        )
    match values.setdefault("state", VerdictState.SCORED):
        case VerdictState.SCORED:
            values.setdefault("score", 1 if values.get("failure_mode") is None else None)
        case VerdictState.CALL_FAILED:
            values.setdefault("failure_code", FailureCode.TIMEOUT)
        case VerdictState.SKIPPED:
            values.setdefault("skip_code", SkipCode.RESPONSE_EMPTY)
        case VerdictState.RUNNING:
            values.setdefault("worker", "worker-1")
            values.setdefault("lease_until", timezone.now() + timedelta(minutes=5))
    return Verdict.objects.create(**values)


def make_attempt(**values: Any) -> VerdictAttempt:
    """One paid call of a verdict, under its present token."""
    if "verdict" not in values:
        values["verdict"] = make_verdict()
    values.setdefault("token", values["verdict"].token)
    values.setdefault("outcome", "ok")
    return VerdictAttempt.objects.create(**values)


def make_revision(**values: Any) -> VerdictRevision:
    """What a verdict said before its reply was read again."""
    if "verdict" not in values:
        values["verdict"] = make_verdict()
    values.setdefault("reason", RevisionReason.REPARSED)
    values.setdefault("state", VerdictState.PARSE_FAILED)
    return VerdictRevision.objects.create(**values)


def make_generation(**values: Any) -> Generation:
    """A response waiting to be collected, or what its `state` needs instead."""
    if "prompt" not in values:
        benchmark = values["judge_pass"].benchmark if "judge_pass" in values else make_benchmark()
        values["prompt"] = make_prompt(benchmark=benchmark)
    if "target_model" not in values:
        values["target_model"] = make_target_model()
    if "judge_pass" not in values:
        values["judge_pass"] = make_pass(
            benchmark=values["prompt"].benchmark, kind=PassKind.COLLECTION, scale=RubricScale.TEXT
        )
    values.setdefault("rollout", 0)
    match values.setdefault("state", GenerationState.PENDING):
        case GenerationState.CALL_FAILED:
            values.setdefault("failure_code", FailureCode.TIMEOUT)
        case GenerationState.RUNNING:
            values.setdefault("worker", "worker-1")
            values.setdefault("lease_until", timezone.now() + timedelta(minutes=5))
    if values["state"] not in ("PENDING", "RUNNING", "CANCELLED") and "response" not in values:
        values["response"] = make_response(
            prompt=values["prompt"], target_model=values["target_model"], rollout=values["rollout"]
        )
    return Generation.objects.create(**values)


def make_generation_attempt(**values: Any) -> GenerationAttempt:
    """One paid call of a generation, under its present token."""
    if "generation" not in values:
        values["generation"] = make_generation()
    values.setdefault("token", values["generation"].token)
    values.setdefault("outcome", "ok")
    return GenerationAttempt.objects.create(**values)


def make_slot_lease(**values: Any) -> SlotLease:
    """Eight slots of one loop at an endpoint."""
    values.setdefault("endpoint_name", f"endpoint-{next(_numbers)}")
    values.setdefault("worker", "worker-1")
    values.setdefault("slots", 8)
    values.setdefault("lease_until", timezone.now() + timedelta(minutes=5))
    return SlotLease.objects.create(**values)


def make_embedding(**values: Any) -> Embedding:
    """The vector (1.0) of a text."""
    values.setdefault("embedder", "one-axis")
    values.setdefault("text_hash", sha256_of(f"text {next(_numbers)}"))
    values.setdefault("n_dimensions", 1)
    values.setdefault("vector", b"\x00\x00\x80\x3f")
    return Embedding.objects.create(**values)


def make_exclusion_proof(**values: Any) -> ExclusionProof:
    """The proof of a search that left out one of ten cases, as it answers the same case."""
    if "response" not in values:
        values["response"] = make_response()
    if "judge_pass" not in values:
        values["judge_pass"] = make_pass(benchmark=values["response"].prompt.benchmark)
    counts = {"n_pool": 10, "n_excluded": 1, "n_same_response": 0, "n_same_case": 1}
    return ExclusionProof.objects.create(**counts | {"n_same_text": 0, "n_too_similar": 0} | values)


def make_endpoint_gate(**values: Any) -> EndpointGate:
    """The gate of an endpoint that nobody called yet."""
    values.setdefault("name", f"endpoint-{next(_numbers)}")
    return EndpointGate.objects.create(**values)


def make_rule(**values: Any) -> GradingRule:
    """A rule of one judge with the default cut."""
    if "benchmark" not in values:
        values["benchmark"] = make_benchmark()
    values.setdefault("name", f"rule-{next(_numbers)}")
    values.setdefault("definition", {"kind": "single_judge", "judges": ["judge-1"], "cut": 2})
    return GradingRule.objects.create(**values)


def make_adoption(**values: Any) -> RuleAdoption:
    """The adoption of a rule by its own benchmark."""
    if "rule" not in values:
        values["rule"] = make_rule()
    values.setdefault("benchmark", values["rule"].benchmark)
    return RuleAdoption.objects.create(**values)


def make_report(**values: Any) -> Report:
    """A stored report without content."""
    n = next(_numbers)
    if "benchmark" not in values:
        values["benchmark"] = make_benchmark()
    values.setdefault("schema_version", 1)
    values.setdefault("digest", sha256_of(f"report {n}"))
    values.setdefault("seed", 20260629)
    values.setdefault("code_version", "test")
    values.setdefault("content", {})
    return Report.objects.create(**values)


def _fill_campaign_and_annotator(values: dict[str, Any]) -> None:
    if "campaign" not in values:
        known = values.get("annotator")
        values["campaign"] = make_campaign(benchmark=known.benchmark if known else make_benchmark())
    if "annotator" not in values:
        values["annotator"] = make_annotator(benchmark=values["campaign"].benchmark)


def _fill_item_and_annotator(values: dict[str, Any]) -> None:
    if "item" not in values:
        known = values.get("annotator")
        values["item"] = (
            make_item(campaign=make_campaign(benchmark=known.benchmark)) if known else make_item()
        )
    if "annotator" not in values:
        values["annotator"] = make_annotator(benchmark=values["item"].campaign.benchmark)
