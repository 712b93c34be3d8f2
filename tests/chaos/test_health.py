"""What a monitor and a researcher see when the only worker dies, and when another takes its place."""

from functools import partial

import pytest

from tests.chaos.conftest import MakeSite
from tests.chaos.processes import Installation, kill, wait_until
from tests.chaos.totals import assert_one_honest_result_a_row


@pytest.mark.long
def test_health_turns_red_when_the_only_worker_dies_and_green_with_the_next(make_site: MakeSite) -> None:
    with make_site(lease_s=75.0) as site:
        provider = site.start_judging_provider("--latency-ms", "2000")
        judge_pass = site.start_pass("--limit", "300")
        address = f"/research/b/judges/{judge_pass}/"
        worker = site.start_worker()
        wait_until(partial(site.has_settled, 20), most_s=60)
        before = site.pages("/health/")["/health/"]

        kill(worker)
        wait_until(lambda: _says(site, "Waiting for a dead worker&#x27;s slots until", at=address), most_s=60)
        wait_until(lambda: _says(site, '"stalled"', at="/health/"), most_s=90, what="health red")
        red = site.pages("/health/")["/health/"]
        site.start_worker()
        wait_until(site.is_over, most_s=240)
        after = site.pages("/health/")["/health/"]

        assert before.startswith("200")
        assert red.startswith("503")
        assert judge_pass in red
        assert after.startswith("200")
        assert_one_honest_result_a_row(site, provider, n_rows=900, n_kills=1)


def _says(site: Installation, words: str, *, at: str) -> bool:
    return words in site.pages(at)[at]
