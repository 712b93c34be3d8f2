"""Accounts, and what is read."""

import hashlib
import itertools
from typing import Any

from annotation.choices import (
    AnnotatorType,
    CorrectionReason,
    ResponseState,
    Role,
)
from annotation.models import (
    Account,
    Annotator,
    Benchmark,
    Prompt,
    Response,
    ResponseRevision,
    TargetModel,
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
