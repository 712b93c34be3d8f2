"""The health address: open to all, red with the reason, and silent about everything else."""

from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client

from tests.monitoring.running_passes import make_running_pass

pytestmark = pytest.mark.django_db


def test_health_is_green_for_anyone_while_nothing_is_amiss(client: Client) -> None:
    make_running_pass()

    answer = client.get("/health/")

    assert answer.status_code == 200
    assert answer.json() == {"status": "ok", "database": connection.vendor}
    assert answer["Cache-Control"] == "no-store"


def test_health_is_red_and_names_the_pass_when_no_worker_takes_it_up(client: Client) -> None:
    judge_pass = make_running_pass(n_pending=3)

    answer = client.get("/health/")

    assert answer.status_code == 503
    assert answer.json()["status"] == "stalled"
    assert answer.json()["stalled_passes"] == [judge_pass.public_id]
    assert judge_pass.name not in answer.content.decode()


def test_health_is_red_when_the_database_does_not_answer(client: Client) -> None:
    def refuse(*args: Any) -> None:
        raise OperationalError("could not connect")

    with connection.execute_wrapper(refuse):
        answer = client.get("/health/")

    assert answer.status_code == 503
    assert answer.json()["status"] == "no database"


def test_health_cannot_be_posted_to(client: Client) -> None:
    assert client.post("/health/").status_code == 405
