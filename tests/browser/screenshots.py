"""Pictures of every page in var/screenshots, light and dark, phone and desktop (`make screenshots`).

A new page needs one line in `SCREENS`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.urls import reverse

from annotation.choices import Role
from tests.browser.conftest import OpenContext, SignIn
from tests.factories import make_account

FOLDER = Path(__file__).resolve().parents[2] / "var" / "screenshots"
SIZES = {"phone": {"width": 390, "height": 844}, "desktop": {"width": 1280, "height": 800}}


@dataclass(frozen=True)
class Screen:
    """One page: the name of its picture, who looks at it (None: nobody signed in), and its address."""

    name: str
    role: Role | None
    path: Callable[[], str]


SCREENS = [
    Screen("sign-in", None, lambda: reverse("login")),
    Screen("not-found", Role.RESEARCHER, lambda: "/no-such-page/"),
]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.name)
def test_picture(
    open_context: OpenContext, sign_in: SignIn, screen: Screen, colour_scheme: str, size: str
) -> None:
    context = open_context(viewport=SIZES[size], color_scheme=colour_scheme, device_scale_factor=2)
    if screen.role is not None:
        sign_in(context, make_account(role=screen.role))
    page = context.new_page()
    picture = FOLDER / f"{screen.name}-{colour_scheme}-{size}.png"

    page.goto(screen.path(), wait_until="networkidle")
    page.screenshot(path=picture, full_page=True)

    assert picture.stat().st_size > 0
