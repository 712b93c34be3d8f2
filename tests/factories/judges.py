"""Judges, passes, their rows and calls, rules and reports."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

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
from tests.factories.material import (
    _numbers,
    make_benchmark,
    make_prompt,
    make_response,
    make_target_model,
    sha256_of,
)


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
