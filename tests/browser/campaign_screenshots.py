"""Pictures of a campaign while it is prepared (`make screenshots`)."""

from pathlib import Path

import pytest

from annotation.choices import Role
from carebench_web.demo.setup import import_benchmark
from tests.browser.campaign_wizard import walk_through
from tests.browser.conftest import OpenContext, SignIn
from tests.browser.screenshots import FOLDER, SIZES
from tests.factories import make_account


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_pictures_of_the_campaign_wizard(
    open_context: OpenContext, sign_in: SignIn, tmp_path: Path, colour_scheme: str, size: str
) -> None:
    """Six steps, one refused, and the texts of the campaign once it is open."""
    benchmark = import_benchmark(tmp_path / "files")
    context = open_context(viewport=SIZES[size], color_scheme=colour_scheme, device_scale_factor=2)
    sign_in(context, make_account(role=Role.RESEARCHER))
    page = context.new_page()

    for name in walk_through(page, benchmark):
        page.screenshot(path=FOLDER / f"campaign-{name}-{colour_scheme}-{size}.png", full_page=True)
