"""Filling the demo's database, once and again."""

from pathlib import Path

import pytest

from annotation.models import Account, AuditEvent, Campaign, CampaignItem, Label, Response
from carebench_web.demo.setup import N_WAITING, ROLES, import_benchmark, make_accounts, make_campaign
from judging.models import Verdict
from judging.reports import build_report

pytestmark = pytest.mark.django_db


def fill(folder: Path) -> Campaign:
    benchmark = import_benchmark(folder)
    make_accounts(folder / "accounts.json")
    return make_campaign(benchmark)


def test_demo_holds_what_its_readme_says(tmp_path: Path) -> None:
    campaign = fill(tmp_path)

    assert campaign.benchmark.is_simulated
    assert Response.objects.count() == 504
    assert Verdict.objects.count() == 1500
    assert Account.objects.count() == len(ROLES)


def test_filling_again_adds_nothing(tmp_path: Path) -> None:
    fill(tmp_path)
    n_before = [
        model.objects.count() for model in (Account, Campaign, CampaignItem, Label, Response, Verdict)
    ]

    fill(tmp_path)

    n_after = [model.objects.count() for model in (Account, Campaign, CampaignItem, Label, Response, Verdict)]
    assert n_after == n_before


def test_passwords_are_kept_and_let_people_in(tmp_path: Path) -> None:
    first = make_accounts(tmp_path / "accounts.json")
    second = make_accounts(tmp_path / "accounts.json")

    assert first == second
    assert all(
        Account.objects.get(username=account.name).check_password(account.password) for account in first
    )


def test_lost_password_file_gives_everyone_a_new_password_and_a_trace(tmp_path: Path) -> None:
    make_accounts(tmp_path / "accounts.json")

    second = make_accounts(tmp_path / "other.json")

    assert all(
        Account.objects.get(username=account.name).check_password(account.password) for account in second
    )
    assert AuditEvent.objects.filter(action="account.password_changed").count() == len(ROLES)


def test_waiting_work_is_unlabelled_and_readable(tmp_path: Path) -> None:
    campaign = fill(tmp_path)

    items = CampaignItem.objects.filter(campaign=campaign)
    assert items.count() == N_WAITING
    assert not items.exclude(response__state="OK").exists()
    assert not Label.objects.filter(item__response__in=items.values("response"), is_current=True).exists()
    assert campaign.memberships.count() == 2


def test_recorded_scores_agree_with_the_labels_as_a_real_panel_might(tmp_path: Path) -> None:
    report = build_report(import_benchmark(tmp_path))

    (pair,) = [
        pair
        for pair in report["agreement"]["pairs"]
        if pair["kind"] == "rule-human" and pair["b"] == "consensus"
    ]
    assert report["rule_source"] == "published"
    assert report["is_simulated"]
    assert 0.4 < pair["binary_kappa"] < 0.7
