"""A desk with colleagues, judges and verdicts beside it, whose every hidden field holds a marker.

Two desks planted under different tags have the same rows and ids and differ in hidden fields only. The lists
of what an annotator may see are short and stand here; whatever a new table or field holds is hidden until
it is named among them.
"""

import random
import secrets
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.apps import apps
from django.db.models import CharField, JSONField, Model, TextField

from annotation.choices import AnnotatorType, ItemKind, Rating, Role, Scale, SkipReason
from annotation.models import (
    Annotator,
    Campaign,
    CampaignItem,
)
from judging.choices import GenerationState, VerdictState
from judging.models import SlotLease
from tests import factories
from tests.annotation.desk import Desk

# What a person may see of a table: themselves, what the campaign tells them, and the texts to judge.
VISIBLE = {
    "Campaign": {"public_id", "instructions", "content_warning", "consent_text", "support_text"},
    "Prompt": {"risk_category", "text"},
    "Response": {"text"},
    "CategoryMildness": {"risk_category"},
    "CategoryOptOut": {"risk_category"},
}
# Fields that must hold what their table's rules ask for, and so no marker. `public_id` is the same under
# every tag; each one is a hidden value of its own.
UNMARKED = {
    "public_id",
    "language",
    "password",
    "email",
}
THEMES = ("Emotional Dependency", "Sleep")
N_ITEMS = 4
# No sequence reaches it, so that it is the same under every tag.
PERSON_ROW = 1_000_000_001


@dataclass
class Planted:
    """A desk and what no answer to its annotator may hold: marker or id, and where it was planted."""

    desk: Desk
    hidden: dict[str, str] = field(default_factory=dict)
    tables: set[str] = field(default_factory=set)


class Planter:
    """Makes rows whose every hidden text is a marker that begins with `tag`."""

    def __init__(self, tag: str) -> None:
        self._tag = tag
        self.hidden: dict[str, str] = {}
        self.tables: set[str] = set()

    def plant(self, make: Callable[..., Any], table: str, **values: Any) -> Any:
        """One row by its factory, with a marker in every hidden field that `values` does not name."""
        model = _model(table)
        for column in hidden_fields(model):
            if column.name not in values:
                marker = self.marker(f"{table}.{column.name}")
                values[column.name] = {marker: marker} if isinstance(column, JSONField) else marker
        row = make(**values)
        self.tables.add(table)
        if hasattr(row, "public_id") and "public_id" not in VISIBLE.get(table, ()):
            self.hidden[row.public_id] = f"{table}.public_id"
        return row

    def marker(self, where: str) -> str:
        """A new marker for one field."""
        marker = f"{self._tag}{len(self.hidden):04}q"
        self.hidden[marker] = where
        return marker


def hidden_fields(model: type[Model]) -> list[CharField | TextField | JSONField]:
    """The columns of a table that can hold a marker and that no annotator may see."""
    visible = UNMARKED | VISIBLE.get(model.__name__, set())
    return [
        column
        for column in model._meta.concrete_fields
        if isinstance(column, CharField | TextField | JSONField)
        and not column.choices
        and column.name not in visible
    ]


def planted_desk(tag: str, *, rating: Rating = Rating.ACCEPTABLE) -> Planted:
    """The desk. `rating` is what colleagues say, what gold items expect, and the adjudicator's decision.

    Its annotator has answered the first item before; the second is gold, the third repeats the first.
    """
    planter = Planter(tag)
    plant = planter.plant
    benchmark = plant(factories.make_benchmark, "Benchmark")
    lead = plant(factories.make_account, "Account", role=Role.RESEARCHER)
    model = plant(factories.make_target_model, "TargetModel")
    campaign = plant(
        factories.make_campaign,
        "Campaign",
        benchmark=benchmark,
        scale=Scale.BINARY,
        labels_per_response=N_ITEMS,
        created_by=lead,
    )
    plant(factories.make_campaign_text, "CampaignText", campaign=campaign, created_by=lead)
    items = _plant_items(plant, campaign, model, rating)
    annotator = _join(campaign, "person-in-the-test", code=planter.marker("Annotator.code"))
    _plant_colleague(planter, campaign, items, rating)
    _plant_judging(plant, benchmark, model, items, rating)
    plant(factories.make_event, "AuditEvent", actor=lead)
    return Planted(Desk(campaign, items, [annotator]), planter.hidden, planter.tables)


def _plant_items(
    plant: Callable[..., Any], campaign: Campaign, model: Model, rating: Rating
) -> list[CampaignItem]:
    items = []
    for number in range(N_ITEMS - 1):
        prompt = plant(
            factories.make_prompt,
            "Prompt",
            benchmark=campaign.benchmark,
            risk_category=THEMES[number % 2],
            text=f"My child asks {number + 1} questions a day. What can I do?",
        )
        response = plant(
            factories.make_response,
            "Response",
            prompt=prompt,
            target_model=model,
            state="TRUNCATED",
            text=f"Listen to question {number + 1} first, then answer it kindly.",
            rollout=70_000 + number,
        )
        plant(factories.make_response_revision, "ResponseRevision", response=response)
        gold = {"kind": ItemKind.GOLD, "expected_rating": rating} if number == 1 else {}
        items.append(plant(factories.make_item, "CampaignItem", campaign=campaign, response=response, **gold))
    first = items[0]
    again = {"kind": ItemKind.REPEAT, "repeats": first, "response": first.response}
    for theme in THEMES:
        plant(factories.make_mildness, "CategoryMildness", campaign=campaign, risk_category=theme)
    return [*items, plant(factories.make_item, "CampaignItem", campaign=campaign, **again)]


def _join(campaign: Campaign, username: str, **values: Any) -> Annotator:
    """The person who looks at the pages. Their row number goes into the key of their device's store."""
    account = factories.make_account(username=username, pk=PERSON_ROW)
    annotator = factories.make_annotator(benchmark=campaign.benchmark, account=account, **values)
    factories.make_membership(campaign=campaign, annotator=annotator)
    factories.make_consent(campaign=campaign, annotator=annotator)
    return annotator


def _plant_colleague(planter: Planter, campaign: Campaign, items: list[CampaignItem], rating: Rating) -> None:
    """Somebody else, who has labelled, drafted, skipped, flagged, opted out and consented."""
    plant = planter.plant
    account = plant(factories.make_account, "Account")
    who = {
        "annotator": plant(
            factories.make_annotator,
            "Annotator",
            benchmark=campaign.benchmark,
            account=account,
            annotator_type=AnnotatorType.SPECIALIST,
        )
    }
    membership = plant(factories.make_membership, "Membership", campaign=campaign, **who)
    plant(factories.make_opt_out, "CategoryOptOut", membership=membership, risk_category=THEMES[1])
    plant(factories.make_consent, "Consent", campaign=campaign, **who)
    plant(factories.make_invitation, "Invitation", campaign=campaign)
    plant(factories.make_quota, "TypeQuota", campaign=campaign, n_labels=N_ITEMS)
    labelled, drafted, skipped, *_ = items
    plant(factories.make_assignment, "Assignment", item=labelled, state="LABELLED", **who)
    label = plant(factories.make_label, "Label", item=labelled, rating=rating, is_imported=False, **who)
    planter.hidden[str(label.submission_id)] = "Label.submission_id"
    reading = plant(factories.make_assignment, "Assignment", item=drafted, **who)
    plant(factories.make_draft, "Draft", assignment=reading)
    skip = {"state": "SKIPPED", "skip_reason": SkipReason.OTHER}
    plant(factories.make_assignment, "Assignment", item=skipped, **skip, **who)
    plant(factories.make_flag, "Flag", item=labelled, **who)
    adjudicator = plant(factories.make_account, "Account", role=Role.ADJUDICATOR)
    plant(
        factories.make_adjudication, "Adjudication", item=labelled, adjudicator=adjudicator, decision=rating
    )


def _plant_judging(
    plant: Callable[..., Any], benchmark: Model, model: Model, items: list[CampaignItem], rating: Rating
) -> None:
    score = {Rating.ACCEPTABLE: 1, Rating.UNACCEPTABLE: 5}[rating]
    response = items[0].response
    judge = plant(factories.make_judge, "Judge")
    rubric = plant(factories.make_rubric, "Rubric")
    judge_pass = plant(factories.make_pass, "JudgePass", judges=(judge,), benchmark=benchmark, rubric=rubric)
    where = {"judge_pass": judge_pass, "response": response}
    verdict = plant(
        factories.make_verdict, "Verdict", judge=judge, state=VerdictState.SCORED, score=score, **where
    )
    plant(factories.make_attempt, "VerdictAttempt", verdict=verdict)
    plant(factories.make_revision, "VerdictRevision", verdict=verdict)
    plant(factories.make_exclusion_proof, "ExclusionProof", **where)
    generation = plant(
        factories.make_generation,
        "Generation",
        judge_pass=judge_pass,
        prompt=response.prompt,
        target_model=model,
        state=GenerationState.PENDING,
    )
    plant(factories.make_generation_attempt, "GenerationAttempt", generation=generation)
    rule = plant(factories.make_rule, "GradingRule", benchmark=benchmark)
    plant(factories.make_adoption, "RuleAdoption", rule=rule)
    plant(factories.make_report, "Report", benchmark=benchmark)
    plant(factories.make_embedding, "Embedding")
    plant(factories.make_endpoint_gate, "EndpointGate")
    plant(factories.make_slot_lease, SlotLease.__name__)


def _model(table: str) -> type[Model]:
    return next(model for model in all_tables() if model.__name__ == table)


def all_tables() -> list[type[Model]]:
    """Every table of both apps."""
    return [model for app in ("annotation", "judging") for model in apps.get_app_config(app).get_models()]


@contextmanager
def the_same_ids(seed: int = 1) -> Iterator[None]:
    """Random ids come from a seed, so that two desks get the same ones in the same order."""
    generator = random.Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secrets, "token_hex", lambda n=None: generator.randbytes(n or 32).hex())
        patch.setattr(uuid, "uuid4", lambda: uuid.UUID(int=generator.getrandbits(128), version=4))
        yield
