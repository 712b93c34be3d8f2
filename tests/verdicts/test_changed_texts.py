"""A response whose text changed after its pass began is not sent."""

import pytest

from annotation.models import Response
from judging.choices import PassState, SkipCode, VerdictState
from judging.models import Verdict
from tests.factories import sha256_of
from tests.passes import stage
from tests.verdicts.conftest import Provide


@pytest.mark.django_db(transaction=True)
def test_response_that_changed_after_the_start_is_skipped_with_the_reason(provide: Provide) -> None:
    benchmark = stage.make_material(4)
    changed = stage.first_response(benchmark)

    with provide() as base_url:
        judge_pass = stage.start(benchmark)
        n_before = stage.stats(base_url)["calls"]
        Response.objects.filter(pk=changed.pk).update(text="Another answer.", text_hash=sha256_of("other"))
        stage.judge(judge_pass)
        n_sent = stage.stats(base_url)["calls"] - n_before

    row = Verdict.objects.get(response=changed)
    assert judge_pass.state == PassState.FINISHED
    assert (row.state, row.skip_code) == (VerdictState.SKIPPED, SkipCode.RESPONSE_CHANGED)
    assert n_sent == 3
    judge_pass.refresh_from_db()
    assert judge_pass.n_calls_reserved == 3
