"""Making campaigns, adding people, consent, and accounts."""

import io
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.accounts import InvalidAccount, create_account
from annotation.campaigns import (
    Invitee,
    NothingToLabel,
    add_annotator,
    close_campaign,
    consent_hash,
    create_campaign,
    give_consent,
    imported_campaign,
    open_campaign,
    pause_campaign,
    withdraw_consent,
)
from annotation.choices import AnnotatorType, CampaignState, Role, Scale
from annotation.errors import Conflict, NotAllowed
from annotation.models import Account, Annotator, AuditEvent, Benchmark, Campaign, Consent, Response
from annotation.selectors import choose_responses
from tests.annotation.desk import make_desk
from tests.factories import (
    make_account,
    make_benchmark,
    make_campaign,
    make_prompt,
    make_response,
    make_target_model,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark_with_responses() -> Benchmark:
    """Two prompts of two categories, two models, two rollouts each: eight responses."""
    benchmark = make_benchmark()
    models = [make_target_model(slug=slug) for slug in ("model-a", "model-b")]
    for category in ("Emotional Dependency", "Technical Misuse"):
        prompt = make_prompt(benchmark=benchmark, risk_category=category)
        for model in models:
            for rollout in (0, 1):
                make_response(prompt=prompt, target_model=model, rollout=rollout)
    return benchmark


def ask(benchmark: Benchmark, **values: object) -> Campaign:
    arguments: dict[str, Any] = {
        "benchmark": benchmark,
        "name": "First round",
        "responses": Response.objects.filter(prompt__benchmark=benchmark),
        "scale": Scale.BINARY,
        "labels_per_response": 2,
        "created_by": None,
    }
    return create_campaign(**(arguments | values))


def test_campaign_holds_the_chosen_responses_and_is_open(benchmark_with_responses: Benchmark) -> None:
    chosen = list(Response.objects.values_list("pk", flat=True)[:3])

    campaign = ask(benchmark_with_responses, responses=chosen)

    assert set(campaign.items.values_list("response_id", flat=True)) == set(chosen)
    assert (campaign.state, campaign.slug) == (CampaignState.OPEN, "first-round")


def test_campaign_leaves_out_what_nobody_can_read_and_counts_it(benchmark_with_responses: Benchmark) -> None:
    prompt = make_prompt(benchmark=benchmark_with_responses)
    make_response(prompt=prompt, state="EMPTY", text="")
    make_response(prompt=prompt, state="ERROR", text="", error="timeout")

    campaign = ask(benchmark_with_responses)

    event = AuditEvent.objects.get(action="campaign.created")
    assert campaign.items.count() == 8
    assert event.detail == {"n_items": 8, "n_left_out": 2}


def test_campaign_of_nothing_readable_is_refused() -> None:
    with pytest.raises(NothingToLabel):
        ask(make_benchmark())

    assert not Campaign.objects.exists()


def test_campaign_of_another_benchmarks_responses_is_refused(benchmark_with_responses: Benchmark) -> None:
    with pytest.raises(NothingToLabel):
        ask(make_benchmark(), responses=list(Response.objects.values_list("pk", flat=True)))


@pytest.mark.parametrize(
    ("name", "slugs"),
    [
        ("First round", ["first-round", "first-round-2", "first-round-3"]),
        ("Imported", ["imported-2", "imported-3", "imported-4"]),
        ("研究", ["campaign", "campaign-2", "campaign-3"]),
    ],
)
def test_campaigns_of_one_name_get_different_slugs(
    benchmark_with_responses: Benchmark, name: str, slugs: list[str]
) -> None:
    assert [ask(benchmark_with_responses, name=name).slug for _ in range(3)] == slugs


def test_campaign_that_cannot_take_a_person_is_not_made(
    benchmark_with_responses: Benchmark, researcher: Account
) -> None:
    with pytest.raises(NotAllowed):
        ask(benchmark_with_responses, annotators=[Invitee(researcher, AnnotatorType.PARENT)])

    assert not Campaign.objects.exists()


def test_choice_is_filtered_and_drawn_the_same_way_each_time(benchmark_with_responses: Benchmark) -> None:
    def draw(seed: int) -> list[int]:
        return choose_responses(benchmark_with_responses, model_slugs=["model-a"], n_at_most=2, seed=seed)

    drawn = [draw(seed) for seed in range(8)]

    assert draw(3) == drawn[3]
    assert len({tuple(sorted(pks)) for pks in drawn}) > 1
    assert all(
        Response.objects.filter(pk__in=pks, target_model__slug="model-a").count() == 2 for pks in drawn
    )


def test_choice_by_category_and_rollout(benchmark_with_responses: Benchmark) -> None:
    chosen = choose_responses(benchmark_with_responses, risk_categories=["Technical Misuse"], rollouts=[1])

    rows = Response.objects.filter(pk__in=chosen).values_list("prompt__risk_category", "rollout")
    assert sorted(rows) == [("Technical Misuse", 1), ("Technical Misuse", 1)]


def test_imported_campaign_is_closed_and_one_per_benchmark() -> None:
    benchmark = make_benchmark()

    assert imported_campaign(benchmark) == imported_campaign(benchmark)
    assert imported_campaign(benchmark).state == CampaignState.CLOSED


def test_person_has_one_random_code_in_all_campaigns_of_a_benchmark() -> None:
    first = make_campaign()
    second = make_campaign(benchmark=first.benchmark)
    account = make_account()

    codes = {
        add_annotator(
            campaign=campaign, account=account, annotator_type=AnnotatorType.PARENT, actor=None
        ).code
        for campaign in (first, second, first)
    }

    assert len(codes) == 1
    assert re.fullmatch(r"p-[0-9a-f]{6}", codes.pop())
    assert AuditEvent.objects.filter(action="campaign.annotator_added").count() == 2


def test_person_cannot_be_parent_and_specialist_in_one_benchmark() -> None:
    first = make_campaign()
    account = make_account()
    add_annotator(campaign=first, account=account, annotator_type=AnnotatorType.PARENT, actor=None)

    with pytest.raises(Conflict) as refusal:
        add_annotator(campaign=first, account=account, annotator_type=AnnotatorType.SPECIALIST, actor=None)

    assert refusal.value.code == "annotator_type_differs"


@pytest.mark.parametrize("role", [Role.RESEARCHER, Role.ADMIN])
def test_who_can_see_verdicts_cannot_be_an_annotator(role: Role) -> None:
    with pytest.raises(NotAllowed):
        add_annotator(
            campaign=make_campaign(),
            account=make_account(role=role),
            annotator_type=AnnotatorType.PARENT,
            actor=None,
        )

    assert not Annotator.objects.exists()


def test_campaign_can_be_paused_opened_again_and_closed_with_a_trace(researcher: Account) -> None:
    campaign = make_campaign()

    for act in (pause_campaign, pause_campaign, open_campaign, close_campaign):
        act(campaign=campaign, actor=researcher)

    actions = AuditEvent.objects.order_by("pk").values_list("action", "actor")
    assert list(actions) == [
        ("campaign.paused", researcher.pk),
        ("campaign.opened", researcher.pk),
        ("campaign.closed", researcher.pk),
    ]


@pytest.mark.parametrize("act", [open_campaign, pause_campaign])
def test_closed_campaign_stays_closed(act: Callable[..., None], researcher: Account) -> None:
    campaign = make_campaign(state=CampaignState.CLOSED)

    with pytest.raises(Conflict):
        act(campaign=campaign, actor=researcher)

    campaign.refresh_from_db()
    assert campaign.state == CampaignState.CLOSED


def test_consent_keeps_version_and_hash_of_what_was_read() -> None:
    desk = make_desk(content_warning="Some texts are sad.", consent_version=4)

    give_consent(campaign=desk.campaign, annotator=desk.annotator)

    consent = Consent.objects.get()
    assert (consent.version, consent.text_hash) == (4, consent_hash(desk.campaign))
    assert AuditEvent.objects.filter(action="consent.given").count() == 1


def test_consent_after_withdrawal_is_a_new_row() -> None:
    desk = make_desk()
    withdraw_consent(campaign=desk.campaign, annotator=desk.annotator)

    give_consent(campaign=desk.campaign, annotator=desk.annotator)

    assert Consent.objects.count() == 2
    assert Consent.objects.filter(withdrawn_at=None).count() == 1


@pytest.mark.parametrize(
    ("role", "is_staff"), [(Role.ANNOTATOR, False), (Role.RESEARCHER, False), (Role.ADMIN, True)]
)
def test_account_gets_its_flags_from_its_role_alone(role: Role, is_staff: bool) -> None:
    made = create_account(username="newcomer", role=role)

    assert (made.account.role, made.account.is_staff, made.account.is_superuser) == (role, is_staff, is_staff)
    assert made.generated_password is not None
    assert made.account.check_password(made.generated_password)


@pytest.mark.parametrize("password", ["short", "1234567890123", "password123", "newcomer-1"])
def test_account_with_a_weak_password_is_refused(password: str) -> None:
    with pytest.raises(InvalidAccount):
        create_account(username="newcomer", role=Role.RESEARCHER, password=password)

    assert not Account.objects.exists()


def test_account_with_an_impossible_name_is_refused() -> None:
    with pytest.raises(InvalidAccount):
        create_account(username="a b\n", role=Role.ANNOTATOR)


def test_command_makes_an_account_that_can_sign_in(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("create_account", "newcomer", "--role", "annotator")

    password = capsys.readouterr().out.strip().rpartition(" ")[2]
    assert Account.objects.get(username="newcomer").check_password(password)


def test_command_takes_a_password_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("four mild green words\n"))

    call_command("create_account", "newcomer", "--role", "researcher", "--password-stdin")

    assert Account.objects.get().check_password("four mild green words")
    assert "four mild" not in capsys.readouterr().out


def test_command_refuses_a_taken_name() -> None:
    make_account(username="newcomer")

    with pytest.raises(CommandError, match="already an account named newcomer"):
        call_command("create_account", "newcomer", "--role", "annotator")
