"""Campaigns while they are prepared: chosen again, planned, discarded, opened."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

from annotation.campaigns.changing import InvalidPlan
from annotation.campaigns.creating import NothingToLabel, choose_again, create_campaign, discard_draft
from annotation.campaigns.moving import NotReady, close_campaign, open_campaign, pause_campaign
from annotation.campaigns.planning import LabelPlan, Pace, plan_labels, set_pace
from annotation.choices import (
    AnnotatorType,
    CampaignState,
    ItemKind,
    Rating,
    Scale,
    TextKind,
    WithdrawalPolicy,
)
from annotation.errors import Conflict
from annotation.models import Account, AuditEvent, Benchmark, Campaign, CampaignItem, Response
from annotation.selectors.outlines import campaign_outline, missing_before_opening
from tests.factories import (
    make_benchmark,
    make_campaign,
    make_campaign_text,
    make_item,
    make_membership,
    make_mildness,
    make_prompt,
    make_quota,
    make_response,
    make_target_model,
)

pytestmark = pytest.mark.django_db

PLAN = LabelPlan(
    scale=Scale.BINARY,
    labels_per_response=3,
    quotas={AnnotatorType.PARENT: 2, AnnotatorType.SPECIALIST: 1},
    repeat_percent=10,
    repeat_after_days=5,
    withdrawal_policy=WithdrawalPolicy.DELETE,
    adjudication_overrides=True,
)
PACE = Pace(
    opens_on=dt.date(2026, 12, 1),
    closes_on=dt.date(2026, 12, 31),
    lease_minutes=30,
    reveals_on_tap=False,
    break_after_minutes=20,
    break_after_grave=None,
    daily_cap=60,
    session_cap=None,
    mildness={"Emotional Dependency": 4, "Self-harm": 1},
)


def make_draft(**values: Any) -> Campaign:
    """A draft that lacks nothing: one regular item, instructions and consent text."""
    values.setdefault("instructions", "Judge the answer.")
    draft = make_campaign(state=CampaignState.DRAFT, **values)
    make_item(campaign=draft)
    return draft


def changed(plan: Any, **values: Any) -> Any:
    return type(plan)(**(vars(plan) | values))


@pytest.fixture
def benchmark() -> Benchmark:
    benchmark = make_benchmark()
    prompt = make_prompt(benchmark=benchmark)
    for rollout in range(4):
        make_response(prompt=prompt, rollout=rollout)
    return benchmark


def test_draft_waits_and_remembers_how_it_was_chosen(benchmark: Benchmark) -> None:
    selection = {"seed": 4, "n_at_most": 2}

    draft = create_campaign(
        benchmark=benchmark,
        name="Soon",
        responses=Response.objects.all(),
        scale=Scale.BINARY,
        labels_per_response=2,
        created_by=None,
        selection=selection,
        state=CampaignState.DRAFT,
    )

    draft.refresh_from_db()
    assert (draft.state, draft.selection) == (CampaignState.DRAFT, selection)
    assert not draft.texts.exists()


def test_campaign_cannot_begin_as_closed(benchmark: Benchmark) -> None:
    with pytest.raises(ValueError, match="open or a draft"):
        create_campaign(
            benchmark=benchmark,
            name="Never",
            responses=Response.objects.all(),
            scale=Scale.BINARY,
            labels_per_response=1,
            created_by=None,
            state=CampaignState.CLOSED,
        )


def test_choosing_again_replaces_regular_items_and_keeps_known_answers(researcher: Account) -> None:
    draft = make_draft()
    regular = draft.items.get()
    gold = make_item(campaign=draft, kind=ItemKind.GOLD, expected_rating=Rating.ACCEPTABLE)
    other = make_response(prompt=make_prompt(benchmark=draft.benchmark))

    choose_again(
        campaign=draft,
        name="Renamed",
        responses=[other.pk, gold.response_id],
        selection={"seed": 1},
        actor=researcher,
    )

    draft.refresh_from_db()
    kinds = dict(draft.items.values_list("response_id", "kind"))
    assert kinds == {other.pk: ItemKind.REGULAR, gold.response_id: ItemKind.GOLD}
    assert (draft.name, draft.selection) == ("Renamed", {"seed": 1})
    assert not CampaignItem.objects.filter(pk=regular.pk).exists()
    assert AuditEvent.objects.get().action == "campaign.responses_chosen"


def test_choosing_nothing_readable_keeps_the_draft_as_it_was(researcher: Account) -> None:
    draft = make_draft()

    with pytest.raises(NothingToLabel):
        choose_again(campaign=draft, name="Renamed", responses=[], selection=None, actor=researcher)

    assert draft.items.count() == 1


def test_plan_settles_labels_and_quotas(researcher: Account) -> None:
    draft = make_draft()
    make_quota(campaign=draft, annotator_type=AnnotatorType.CROWD)

    plan_labels(campaign=draft, plan=PLAN, actor=researcher)

    draft.refresh_from_db()
    assert (draft.scale, draft.labels_per_response) == (Scale.BINARY, 3)
    assert (draft.repeat_percent, draft.repeat_after_days) == (10, 5)
    assert (draft.withdrawal_policy, draft.adjudication_overrides) == (WithdrawalPolicy.DELETE, True)
    assert campaign_outline(draft).quotas == PLAN.quotas
    assert AuditEvent.objects.get().detail["quotas"] == {"PARENT": 2, "SPECIALIST": 1}


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"labels_per_response": 4}, "quotas_do_not_add_up"),
        ({"labels_per_response": 0, "quotas": {}}, "too_few_labels"),
        ({"quotas": {AnnotatorType.PARENT: 3, AnnotatorType.CROWD: 0}}, "too_few_labels"),
        ({"repeat_percent": 101}, "repeats_outside_range"),
        ({"repeat_after_days": 0}, "repeats_outside_range"),
    ],
)
def test_impossible_plan_is_refused(researcher: Account, values: dict[str, Any], code: str) -> None:
    draft = make_draft()

    with pytest.raises(InvalidPlan) as refusal:
        plan_labels(campaign=draft, plan=changed(PLAN, **values), actor=researcher)

    assert refusal.value.code == code
    assert not draft.quotas.exists()


def test_plan_without_quotas_leaves_labels_to_anybody(researcher: Account) -> None:
    draft = make_draft()
    make_quota(campaign=draft)

    plan_labels(campaign=draft, plan=changed(PLAN, quotas={}), actor=researcher)

    assert not draft.quotas.exists()


def test_pace_settles_dates_breaks_caps_and_mildness(researcher: Account) -> None:
    campaign = make_campaign()
    make_mildness(campaign=campaign, risk_category="Technical Misuse")

    set_pace(campaign=campaign, pace=PACE, actor=researcher)

    campaign.refresh_from_db()
    stored = {name: getattr(campaign, name) for name in vars(PACE) if name != "mildness"}
    assert changed(PACE, **stored) == PACE
    assert dict(campaign.mildness.values_list("risk_category", "mildness")) == PACE.mildness
    assert AuditEvent.objects.get().detail["closes_on"] == "2026-12-31"


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"closes_on": dt.date(2026, 11, 30)}, "dates_out_of_order"),
        ({"mildness": {"Self-harm": 0}}, "mildness_outside_range"),
        ({"mildness": {"Self-harm": 6}}, "mildness_outside_range"),
    ],
)
def test_impossible_pace_is_refused(researcher: Account, values: dict[str, Any], code: str) -> None:
    with pytest.raises(InvalidPlan) as refusal:
        set_pace(campaign=make_campaign(), pace=changed(PACE, **values), actor=researcher)

    assert refusal.value.code == code


@pytest.mark.parametrize(
    "change",
    [
        lambda campaign, actor: plan_labels(campaign=campaign, plan=PLAN, actor=actor),
        lambda campaign, actor: choose_again(
            campaign=campaign, name="x", responses=Response.objects.all(), selection=None, actor=actor
        ),
        lambda campaign, actor: discard_draft(campaign=campaign, actor=actor),
    ],
    ids=["plan", "choose again", "discard"],
)
@pytest.mark.parametrize("state", [CampaignState.OPEN, CampaignState.PAUSED, CampaignState.CLOSED])
def test_what_labels_mean_is_settled_once_a_campaign_opens(
    researcher: Account, change: Callable[[Campaign, Account], None], state: CampaignState
) -> None:
    campaign = make_campaign(state=state)
    make_item(campaign=campaign)

    with pytest.raises(Conflict) as refusal:
        change(campaign, researcher)

    assert refusal.value.code == "no_draft"
    assert campaign.items.count() == 1


def test_pace_of_a_closed_campaign_is_settled(researcher: Account) -> None:
    with pytest.raises(Conflict) as refusal:
        set_pace(campaign=make_campaign(state=CampaignState.CLOSED), pace=PACE, actor=researcher)

    assert refusal.value.code == "campaign_closed"


def test_discarded_draft_is_gone_and_audited(researcher: Account) -> None:
    draft = make_draft()
    make_quota(campaign=draft)
    make_mildness(campaign=draft)

    discard_draft(campaign=draft, actor=researcher)

    assert not Campaign.objects.exists()
    assert AuditEvent.objects.get().action == "campaign.discarded"


def test_draft_with_people_is_not_discarded(researcher: Account) -> None:
    draft = make_draft()
    make_membership(campaign=draft)

    with pytest.raises(Conflict) as refusal:
        discard_draft(campaign=draft, actor=researcher)

    assert refusal.value.code == "draft_has_people"


def test_opening_a_draft_keeps_the_first_version_of_its_texts(researcher: Account) -> None:
    draft = make_draft(content_warning="Some texts are sad.")

    for act in (open_campaign, pause_campaign, open_campaign, close_campaign):
        act(campaign=draft, actor=researcher)

    texts = {text.kind: (text.version, text.text) for text in draft.texts.all()}
    assert texts == {
        TextKind.INSTRUCTIONS: (1, "Judge the answer."),
        TextKind.CONSENT: (1, "Some texts are sad.\n\nYou may stop at any time."),
    }
    assert AuditEvent.objects.filter(action="campaign.opened").count() == 2


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda draft: draft.items.all().delete(), "no regular item"),
        (lambda draft: make_quota(campaign=draft, n_labels=2), "together: 2; wanted for each response: 1"),
        (lambda draft: Campaign.objects.update(pass_mark=80), "pass mark but no training item"),
        (lambda draft: Campaign.objects.update(instructions=" "), "no instructions"),
        (lambda draft: Campaign.objects.update(consent_text=""), "no consent text"),
    ],
    ids=["items", "quotas", "training", "instructions", "consent"],
)
def test_draft_that_lacks_something_does_not_open(
    researcher: Account, spoil: Callable[[Campaign], object], sentence: str
) -> None:
    draft = make_draft()
    spoil(draft)

    with pytest.raises(NotReady, match=sentence):
        open_campaign(campaign=draft, actor=researcher)

    draft.refresh_from_db()
    assert draft.state == CampaignState.DRAFT


def test_outline_counts_items_by_category_kind_and_model() -> None:
    draft = make_campaign(state=CampaignState.DRAFT, labels_per_response=2)
    model = make_target_model(slug="model-a")
    grave, mild = (
        make_prompt(benchmark=draft.benchmark, risk_category=name) for name in ("Grief", "Screen time")
    )
    kinds = ((grave, "REGULAR"), (grave, "GOLD"), (mild, "REGULAR"), (mild, "TRAINING"))
    for rollout, (prompt, kind) in enumerate(kinds):
        make_item(
            campaign=draft,
            response=make_response(prompt=prompt, target_model=model, rollout=rollout),
            kind=kind,
            expected_rating=None if kind == "REGULAR" else Rating.ACCEPTABLE,
        )
    regular = draft.items.filter(kind="REGULAR").first()
    make_item(campaign=draft, response=regular.response, kind="REPEAT", repeats=regular)
    make_mildness(campaign=draft, risk_category="Grief", mildness=1)

    outline = campaign_outline(draft)

    rows = [
        (row.risk_category, row.is_grave, row.n_regular, row.n_training, row.n_gold, row.n_items)
        for row in outline.categories
    ]
    assert rows == [("Grief", True, 1, 0, 1, 2), ("Screen time", False, 1, 1, 0, 2)]
    assert (outline.n_regular, outline.n_training, outline.n_gold, outline.labels_wanted) == (2, 1, 1, 4)
    assert outline.n_regular_by_model == {"model-a": 2}


def test_finished_draft_lacks_nothing() -> None:
    assert missing_before_opening(make_draft()) == []


def test_text_of_a_version_is_kept_once(researcher: Account) -> None:
    draft = make_draft()
    make_campaign_text(campaign=draft, version=1, text="Judge the answer.")

    open_campaign(campaign=draft, actor=researcher)

    assert draft.texts.filter(kind=TextKind.INSTRUCTIONS).count() == 1
