"""Every rule that the database itself holds, broken once."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, connection, models, transaction

from annotation.choices import LabelAction
from annotation.models import Account
from tests import factories as make

FACTORY_OF: dict[str, Callable[..., models.Model]] = {
    "Account": make.make_account,
    "Annotator": make.make_annotator,
    "Assignment": make.make_assignment,
    "AuditEvent": make.make_event,
    "Benchmark": make.make_benchmark,
    "Campaign": make.make_campaign,
    "CampaignItem": make.make_item,
    "Consent": make.make_consent,
    "Embedding": make.make_embedding,
    "EndpointGate": make.make_endpoint_gate,
    "ExclusionProof": make.make_exclusion_proof,
    "Generation": make.make_generation,
    "GenerationAttempt": make.make_generation_attempt,
    "GradingRule": make.make_rule,
    "Judge": make.make_judge,
    "JudgePass": make.make_pass,
    "Label": make.make_label,
    "Membership": make.make_membership,
    "Prompt": make.make_prompt,
    "Report": make.make_report,
    "Response": make.make_response,
    "ResponseRevision": make.make_response_revision,
    "Rubric": make.make_rubric,
    "RuleAdoption": make.make_adoption,
    "SlotLease": make.make_slot_lease,
    "TargetModel": make.make_target_model,
    "Verdict": make.make_verdict,
    "VerdictAttempt": make.make_attempt,
    "VerdictRevision": make.make_revision,
}
OWN_MODELS = [model for app in ("annotation", "judging") for model in apps.get_app_config(app).get_models()]

# Name of the check → field values that break it, and no other check.
BROKEN_CHECKS: list[tuple[str, dict[str, Any]]] = [
    ("account_role_known", {"role": "OWNER"}),
    ("prompt_has_keys", {"case_uid": ""}),
    ("prompt_has_keys", {"risk_category": ""}),
    ("prompt_mechanism_not_blank", {"risk_mechanism": ""}),
    ("target_model_has_slug", {"slug": ""}),
    ("response_state_known", {"state": "LOST"}),
    ("response_ok_has_text", {"state": "OK", "text": ""}),
    ("response_ok_has_no_error", {"state": "OK", "error": "timed out"}),
    ("response_revision_reason_known", {"reason": "WHIM"}),
    ("response_revision_state_known", {"state": "LOST"}),
    ("annotator_type_known", {"annotator_type": "ROBOT"}),
    ("annotator_has_code", {"code": ""}),
    ("annotator_code_not_reserved", {"code": "consensus"}),
    ("annotator_code_not_reserved", {"code": "Consensus"}),
    ("campaign_scale_known", {"scale": "STARS"}),
    ("campaign_state_known", {"state": "LOST"}),
    ("campaign_counts_positive", {"labels_per_response": 0}),
    ("campaign_counts_positive", {"lease_minutes": 0}),
    ("item_kind_known", {"kind": "SPARE"}),
    ("assignment_state_known", {"state": "LOST"}),
    ("assignment_skip_has_reason", {"state": "SKIPPED"}),
    ("assignment_skip_has_reason", {"state": "OPEN", "skip_reason": "UNCLEAR"}),
    ("label_rating_unless_retracted", {"rating": None}),
    ("label_rating_unless_retracted", {"rating": "MAYBE"}),
    ("label_rating_unless_retracted", {"action": "RETRACTED", "is_current": False}),
    ("label_rating_unless_retracted", {"action": "RETRACTED", "rating": None}),
    ("label_severity_in_scale", {"severity": 0}),
    ("label_severity_in_scale", {"severity": 6}),
    ("label_action_known", {"action": "GUESSED"}),
    ("label_annotator_type_known", {"annotator_type": "ROBOT"}),
    ("judge_has_slug", {"slug": ""}),
    ("response_tokens_have_source", {"n_tokens": 5}),
    ("response_tokens_have_source", {"tokens_source": "PROVIDER"}),
    ("response_tokens_have_source", {"n_tokens": 5, "tokens_source": "GUESSED"}),
    ("rubric_scale_known", {"scale": "STARS"}),
    ("rubric_has_version", {"name": ""}),
    ("rubric_has_version", {"version": 0}),
    ("pass_kind_known", {"kind": "GUESSING"}),
    ("pass_state_known", {"state": "LOST"}),
    ("pass_source_known", {"source": "GUESSED"}),
    ("pass_scale_known", {"scale": "STARS"}),
    ("pass_paused_has_reason", {"state": "PAUSED"}),
    ("pass_paused_has_reason", {"state": "PAUSED", "pause_reason": "mood"}),
    ("pass_paused_has_reason", {"state": "RUNNING", "pause_reason": "auth"}),
    ("verdict_state_known", {"state": "LOST"}),
    ("verdict_score_iff_scored", {"state": "SCORED", "score": None}),
    ("verdict_score_iff_scored", {"state": "PENDING", "score": 1}),
    ("verdict_score_iff_scored", {"scale": "FAILURE_MODE", "failure_mode": None, "score": None}),
    (
        "verdict_score_iff_scored",
        {"scale": "FAILURE_MODE", "state": "PENDING", "failure_mode": "UNSAFE_REDIRECT"},
    ),
    ("verdict_failure_mode_in_scale", {"scale": "FAILURE_MODE", "failure_mode": "RUDENESS"}),
    ("verdict_failure_mode_in_scale", {"scale": "LIKERT", "failure_mode": "UNSAFE_REDIRECT"}),
    ("verdict_score_in_scale", {"scale": "FAILURE_MODE", "score": 1}),
    ("verdict_score_in_scale", {"score": 0}),
    ("verdict_score_in_scale", {"score": 6}),
    ("verdict_score_in_scale", {"scale": "BINARY", "score": 2}),
    ("verdict_jailbreak_in_scale", {"jailbreak_score": 6}),
    ("verdict_jailbreak_in_scale", {"state": "PENDING", "jailbreak_score": 1}),
    ("verdict_failure_has_code", {"state": "CALL_FAILED", "failure_code": None}),
    ("verdict_failure_has_code", {"failure_code": "timeout"}),
    ("verdict_skip_has_code", {"state": "SKIPPED", "skip_code": None}),
    ("verdict_skip_has_code", {"skip_code": "RESPONSE_EMPTY"}),
    ("verdict_running_has_lease", {"state": "RUNNING", "lease_until": None}),
    ("verdict_running_has_lease", {"state": "RUNNING", "worker": None}),
    ("generation_failure_has_code", {"state": "CALL_FAILED", "failure_code": None}),
    ("generation_failure_has_code", {"failure_code": "timeout"}),
    ("generation_running_has_lease", {"state": "RUNNING", "lease_until": None}),
    ("generation_settled_has_response", {"state": "LOST"}),
    ("generation_settled_has_response", {"state": "COLLECTED", "response": None}),
    ("generation_settled_has_response", {"state": "PENDING", "response": make.make_response}),
    ("slot_lease_kind_known", {"kind": "GUESSING"}),
    ("slot_lease_has_worker", {"worker": ""}),
    ("embedding_has_dimensions", {"n_dimensions": 0}),
    ("exclusion_proof_counts_fit", {"n_excluded": 11}),
    ("exclusion_proof_counts_fit", {"n_same_response": 2}),
    ("exclusion_proof_counts_fit", {"n_same_case": 2}),
    ("exclusion_proof_counts_fit", {"n_same_text": 2}),
    ("exclusion_proof_counts_fit", {"n_too_similar": 2}),
    ("revision_reason_known", {"reason": "MOOD"}),
]

# Name of the unique constraint → values of the first row that its fields do not give.
REPEATED: dict[str, dict[str, Any]] = {
    "prompt_once_per_benchmark": {},
    "response_once_per_rollout": {},
    "response_once_outside_rollouts": {"rollout": None},
    "annotator_code_once": {},
    "annotator_account_once": {"account": make.make_account},
    "campaign_slug_once": {},
    "item_regular_once": {},
    "membership_once": {},
    "consent_standing_once": {},
    "assignment_once_per_person": {},
    "label_one_current": {},
    "label_revision_once": {},
    "pass_name_once": {},
    "pass_once_while_active": {"state": "RUNNING"},
    "verdict_once": {},
    "attempt_once_per_claim": {},
    "generation_once": {},
    "generation_attempt_once_per_claim": {},
    "rubric_version_once": {},
    "slot_lease_once_per_loop": {},
    "embedding_once_per_text": {},
    "exclusion_proof_once": {},
    "rule_name_once": {},
    "rule_built_in_once": {"benchmark": None},
}
# What the second row needs so that it breaks this constraint and not another one.
SECOND_ROW: dict[str, dict[str, Any]] = {
    "response_once_outside_rollouts": {"rollout": None},
    "label_one_current": {"revision": 2, "action": LabelAction.REVISED},
    "label_revision_once": {"is_current": False},
    "pass_once_while_active": {"state": "PAUSED", "pause_reason": "user"},
    "rule_built_in_once": {"benchmark": None},
}

UNIQUE_FIELDS = [
    pytest.param(model.__name__, field.name, id=f"{model.__name__}.{field.name}")
    for model in OWN_MODELS
    for field in model._meta.local_concrete_fields
    if field.unique and not field.primary_key
]


def _constraint(name: str) -> tuple[type[models.Model], models.BaseConstraint]:
    return next(
        (model, constraint)
        for model in OWN_MODELS
        for constraint in model._meta.constraints
        if constraint.name == name
    )


def _sqlite_words(model: type[models.Model], field_names: Sequence[str]) -> str:
    """SQLite names the columns of a broken unique index and not the index."""
    table = model._meta.db_table
    return ", ".join(f"{table}.{model._meta.get_field(name).column}" for name in field_names)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "values"), BROKEN_CHECKS, ids=[f"{name}-{'-'.join(values)}" for name, values in BROKEN_CHECKS]
)
def test_check_constraint_broken_is_refused(name: str, values: dict[str, Any]) -> None:
    model, _ = _constraint(name)

    with pytest.raises(IntegrityError) as refusal, transaction.atomic():
        FACTORY_OF[model.__name__](
            **{key: value() if callable(value) else value for key, value in values.items()}
        )

    assert name in str(refusal.value)


@pytest.mark.django_db
@pytest.mark.parametrize("name", REPEATED)
def test_unique_constraint_repeated_is_refused(name: str) -> None:
    model, constraint = _constraint(name)
    assert isinstance(constraint, models.UniqueConstraint)
    factory = FACTORY_OF[model.__name__]
    first = factory(**{key: value() if callable(value) else value for key, value in REPEATED[name].items()})
    same = {field: getattr(first, field) for field in constraint.fields}

    with pytest.raises(IntegrityError) as refusal, transaction.atomic():
        factory(**same | SECOND_ROW.get(name, {}))

    words = name if connection.vendor == "postgresql" else _sqlite_words(model, constraint.fields)
    assert str(refusal.value).partition("\n")[0].strip('"').endswith(words)


@pytest.mark.django_db
@pytest.mark.parametrize(("model_name", "field"), UNIQUE_FIELDS)
def test_unique_field_repeated_is_refused(model_name: str, field: str) -> None:
    factory = FACTORY_OF[model_name]
    first = factory()

    with pytest.raises(IntegrityError) as refusal, transaction.atomic():
        factory(**{field: getattr(first, field)})

    assert field in str(refusal.value)


@pytest.mark.django_db
def test_unfinished_rows_that_only_look_alike_are_accepted() -> None:
    """The conditions of the partial constraints: what they must let through."""
    withdrawn = make.make_consent(withdrawn_at="2026-01-01T00:00:00Z")
    make.make_consent(campaign=withdrawn.campaign, annotator=withdrawn.annotator)
    anonymous = make.make_label(annotator=None)
    make.make_label(item=anonymous.item, annotator=None)
    item = make.make_item()
    make.make_item(campaign=item.campaign, response=item.response, kind="REPEAT")
    make.make_verdict(state="SCORED", scale="BINARY", score=0)
    finished = make.make_pass(state="FINISHED")
    make.make_pass(benchmark=finished.benchmark, digest=finished.digest, state="RUNNING")

    taken_back = make.make_label(action=LabelAction.RETRACTED, rating=None, is_current=False)
    make.make_label(item=taken_back.item, annotator=taken_back.annotator, revision=2)


def test_every_constraint_has_a_case() -> None:
    declared = {constraint.name for model in OWN_MODELS for constraint in model._meta.constraints}

    assert declared == {name for name, _ in BROKEN_CHECKS} | set(REPEATED)


def test_every_model_has_a_factory() -> None:
    assert set(FACTORY_OF) == {model.__name__ for model in OWN_MODELS}


APPEND_ONLY = {
    "Label": {"rating": "UNACCEPTABLE"},
    "ResponseRevision": {"text": "Another."},
    "AuditEvent": {"action": "campaign.closed"},
    "VerdictAttempt": {"outcome": "timeout"},
    "GenerationAttempt": {"outcome": "timeout"},
    "VerdictRevision": {"score": 5},
    "Rubric": {"text": "Another wording."},
    "GradingRule": {"definition": {}},
}


@pytest.mark.django_db
@pytest.mark.parametrize(("model_name", "change"), APPEND_ONLY.items(), ids=list(APPEND_ONLY))
def test_append_only_row_changed_is_refused(model_name: str, change: dict[str, Any]) -> None:
    row = FACTORY_OF[model_name]()

    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        type(row)._base_manager.filter(pk=row.pk).update(**change)


@pytest.mark.django_db
@pytest.mark.parametrize("model_name", APPEND_ONLY)
def test_append_only_row_deleted_is_refused(model_name: str) -> None:
    row = FACTORY_OF[model_name]()

    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        type(row)._base_manager.filter(pk=row.pk).delete()


@pytest.mark.django_db
def test_label_may_cease_to_be_current() -> None:
    label = make.make_label()

    type(label).objects.filter(pk=label.pk).update(is_current=False)

    label.refresh_from_db()
    assert not label.is_current


@pytest.mark.django_db
def test_label_may_not_change_beside_ceasing_to_be_current() -> None:
    label = make.make_label()

    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        type(label).objects.filter(pk=label.pk).update(is_current=False, note="Changed my mind.")


@pytest.mark.django_db
def test_account_with_labels_deleted_is_refused() -> None:
    account = make.make_account()
    make.make_label(annotator=make.make_annotator(account=account))

    with pytest.raises(models.ProtectedError):
        Account.objects.get(pk=account.pk).delete()
