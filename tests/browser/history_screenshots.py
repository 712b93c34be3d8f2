"""Pictures of what becomes of verdicts: compared, read again, judged again (`make screenshots`)."""

from pathlib import Path

import pytest
from django.urls import reverse

from annotation.choices import CorrectionReason, Role
from annotation.correcting import correct_response
from carebench_web.demo.setup import import_benchmark
from tests.browser.conftest import OpenContext, SignIn
from tests.browser.judged_again import called_several_times, judged_later
from tests.browser.screenshots import FOLDER, SIZES
from tests.factories import make_account


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_pictures_of_what_becomes_of_verdicts(
    open_context: OpenContext, sign_in: SignIn, tmp_path: Path, colour_scheme: str, size: str
) -> None:
    """A pass with everything that can be amiss, beside its twin of another week."""
    benchmark = import_benchmark(tmp_path / "files")
    later = judged_later(benchmark)
    verdict = called_several_times(later)
    correctable = verdict.response
    correct_response(correctable, text="Let us find somebody you trust.", reason=CorrectionReason.INCOMPLETE)
    context = open_context(viewport=SIZES[size], color_scheme=colour_scheme, device_scale_factor=2)
    sign_in(context, make_account(role=Role.RESEARCHER))
    page = context.new_page()
    ids = [benchmark.slug, later.public_id]

    def picture(name: str, path: str) -> None:
        page.goto(path)
        page.screenshot(path=FOLDER / f"{name}-{colour_scheme}-{size}.png", full_page=True)

    picture("compare", reverse("judging:compare", args=[benchmark.slug]))
    picture("pass-missing", reverse("judging:pass", args=ids))
    picture("reparse", reverse("judging:reparse", args=ids))
    picture("judges-learned", reverse("judging:judges", args=[benchmark.slug]))
    where = [*ids, correctable.public_id, verdict.judge.slug]
    picture("verdict", reverse("judging:verdict", args=where))
    rows = [benchmark.slug, correctable.public_id]
    picture("response-corrected", f"{reverse('judging:response', args=rows)}?pass={later.public_id}")
    picture("correct", reverse("judging:correct", args=rows))
