"""The front door under a flood of wrong passwords."""

from http import HTTPStatus

import pytest
from django.conf import settings
from django.test import Client

from annotation.models import Account
from tests.factories import make_account

pytestmark = pytest.mark.django_db

PASSWORD = "a long one for this test"


@pytest.fixture
def account() -> Account:
    return with_password("ada")


def with_password(name: str) -> Account:
    made = make_account(username=name)
    made.set_password(PASSWORD)
    made.save()
    return made


def sign_in(name: str, password: str = PASSWORD, *, address: str = "192.0.2.1", said: str = "") -> int:
    """Status of one attempt: 302 lets in, 200 shows the form again, 429 is locked."""
    return (
        Client()
        .post(
            "/sign-in/",
            {"username": name, "password": password},
            headers={"X-Forwarded-For": said} if said else {},
            REMOTE_ADDR=address,
        )
        .status_code
    )


def lock(name: str, *, spoofs: bool = False) -> list[int]:
    return [
        sign_in(name, "wrong", said=f"198.51.100.{n}" if spoofs else "")
        for n in range(settings.AXES_FAILURE_LIMIT)
    ]


@pytest.mark.parametrize("spoofs", [False, True], ids=["plain", "with invented forwarded addresses"])
def test_ten_wrong_passwords_lock_the_name_at_that_address(account: Account, spoofs: bool) -> None:
    statuses = lock("ada", spoofs=spoofs)

    assert settings.AXES_FAILURE_LIMIT == 10
    assert statuses[-1] == HTTPStatus.TOO_MANY_REQUESTS
    assert statuses[:-1] == [HTTPStatus.OK] * 9
    assert sign_in("ada", said="203.0.113.9") == HTTPStatus.TOO_MANY_REQUESTS


def test_lock_leaves_others_at_that_address_alone(account: Account) -> None:
    with_password("ben")
    lock("ada")

    assert sign_in("ben") == HTTPStatus.FOUND


def test_lock_leaves_the_person_at_another_address_alone(account: Account) -> None:
    lock("ada", spoofs=True)

    assert sign_in("ada", address="192.0.2.2") == HTTPStatus.FOUND


def test_many_names_from_one_address_lock_nobody_else(account: Account) -> None:
    for n in range(20):
        sign_in(f"nobody-{n}", "wrong")

    assert sign_in("ada") == HTTPStatus.FOUND
