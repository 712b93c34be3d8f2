"""Watching and steering a pass in the browser's terms; a loopback provider answers."""

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from judging.choices import PassSource, PassState, PauseReason, VerdictState
from judging.models import JudgePass, Verdict
from tests.factories import make_attempt, make_pass, make_verdict
from tests.judging_pages.study import Study


def address(name: str, study: Study, judge_pass: JudgePass | None = None) -> str:
    kwargs = {"slug": study.benchmark.slug}
    if judge_pass is not None:
        kwargs["public_id"] = judge_pass.public_id
    return reverse(f"judging:{name}", kwargs=kwargs)


def words_of(page: str) -> str:
    """The text of a page without its tags."""
    return " ".join(re.sub(r"<[^>]*>", "", page).split())


def started_pass(study: Study, **values: object) -> JudgePass:
    return make_pass(
        benchmark=study.benchmark,
        source=PassSource.JUDGED,
        judges=tuple(study.judges),
        **{"name": "live", "state": PassState.RUNNING, "configuration": {"judges": {}}, **values},
    )


def test_a_pass_at_its_budget_is_resumed_with_a_higher_cap(
    researcher_client: Client, study: Study, provider: str
) -> None:
    judge_pass = started_pass(
        study,
        state=PassState.PAUSED,
        pause_reason=PauseReason.BUDGET,
        max_calls=3,
        n_calls_reserved=3,
        configuration={"judges": {"judge-x": {"endpoint": "loopback", "model_id": "judge-x"}}},
    )
    page = researcher_client.get(address("pass", study, judge_pass)).content.decode()

    kept = researcher_client.post(address("resume_pass", study, judge_pass), {"max_calls": ""})
    senseless = researcher_client.post(address("resume_pass", study, judge_pass), {"max_calls": "many"})
    raised = researcher_client.post(address("resume_pass", study, judge_pass), {"max_calls": "9"})

    judge_pass.refresh_from_db()
    assert 'name="max_calls"' in page
    assert 'name="max_cost"' in page
    assert [kept.status_code, senseless.status_code, raised.status_code] == [422, 422, 302]
    assert "expected a cap of 4 calls or more" in kept.content.decode()
    assert "Enter a whole number" in senseless.content.decode()
    assert (judge_pass.state, judge_pass.max_calls) == (PassState.RUNNING, 9)


def test_used_up_cap_is_accounted_for(researcher_client: Client, study: Study) -> None:
    judge_pass = started_pass(
        study,
        max_calls=9,
        n_calls_reserved=5,
        cost_settled_micros=250_000,
        configuration={"judges": {}, "worst_call_micros": 50_000},
    )
    verdict = make_verdict(judge_pass=judge_pass, response=study.responses[0], judge=study.judges[0], token=1)
    make_attempt(verdict=verdict, cost_micros=50_000)

    live = words_of(researcher_client.get(address("pass", study, judge_pass)).content.decode())
    JudgePass.objects.filter(pk=judge_pass.pk).update(state=PassState.CANCELLED)
    ended = words_of(researcher_client.get(address("pass", study, judge_pass)).content.decode())

    assert "1 call so far. 5 of at most 9 calls are used up, 4 of them under way, lost with a worker" in live
    assert "Of what is spent, 0.20 is for calls whose outcome or length is not known" in live
    assert "5 of at most 9 calls are used up" in ended
    assert "0.25, 0.20 of it at the worst case" in ended


def test_a_pass_that_paused_itself_gives_its_own_reason(researcher_client: Client, study: Study) -> None:
    judge_pass = started_pass(
        study,
        state=PassState.PAUSED,
        pause_reason=PauseReason.USER,
        state_note="The endpoint has moved.",
    )

    page = researcher_client.get(address("pass", study, judge_pass)).content.decode()

    assert "Paused. The endpoint has moved." in page
    assert "paused by a person" not in page
    assert 'name="max_calls"' not in page


def test_live_part_shows_counts_and_asks_for_itself_while_running(
    researcher_client: Client, study: Study
) -> None:
    judge_pass = started_pass(study)
    for response in study.responses[:3]:
        make_verdict(
            judge_pass=judge_pass,
            response=response,
            judge=study.judges[0],
            state=VerdictState.PENDING,
            score=None,
        )

    answer = researcher_client.get(address("pass", study, judge_pass), {"seen": "RUNNING"})

    page = answer.content.decode()
    assert answer.status_code == 200
    assert 'hx-trigger="every 2s"' in page
    assert 'max="3"' in page
    assert "HX-Refresh" not in answer.headers


@pytest.mark.parametrize("state", [PassState.FINISHED, PassState.CANCELLED])
def test_page_that_watches_is_loaded_again_once_the_pass_has_moved_on(
    researcher_client: Client, study: Study, state: PassState
) -> None:
    judge_pass = started_pass(study, state=state)

    answer = researcher_client.get(address("pass", study, judge_pass), {"seen": "RUNNING"})
    plain = researcher_client.get(address("pass", study, judge_pass))

    assert answer.headers["HX-Refresh"] == "true"
    assert "hx-trigger" not in answer.content.decode()
    assert "HX-Refresh" not in plain.headers


def test_paused_pass_is_watched_until_its_calls_have_ended(researcher_client: Client, study: Study) -> None:
    judge_pass = started_pass(study, state=PassState.PAUSED, pause_reason=PauseReason.USER)
    verdict = make_verdict(
        judge_pass=judge_pass,
        response=study.responses[1],
        judge=study.judges[0],
        state=VerdictState.RUNNING,
        score=None,
        worker="worker",
        lease_until=timezone.now(),
    )

    in_flight = researcher_client.get(address("pass", study, judge_pass), {"seen": "PAUSED"})
    Verdict.objects.filter(pk=verdict.pk).update(state=VerdictState.PENDING, worker=None, lease_until=None)
    ended = researcher_client.get(address("pass", study, judge_pass), {"seen": "PAUSED"})

    assert "hx-trigger" in in_flight.content.decode()
    assert "HX-Refresh" not in in_flight.headers
    assert ended.headers["HX-Refresh"] == "true"


def test_controls_stand_outside_of_what_is_taken_anew(researcher_client: Client, study: Study) -> None:
    page = researcher_client.get(address("pass", study, started_pass(study))).content.decode()

    live = page[page.index('id="live-pass"') :]
    assert "Cancel for good" not in live[: live.index("</section>")]
    assert "Cancel for good" in live


def test_pausing_and_cancelling_change_the_state(researcher_client: Client, study: Study) -> None:
    judge_pass = started_pass(study)

    researcher_client.post(address("pause_pass", study, judge_pass))
    judge_pass.refresh_from_db()
    paused = (judge_pass.state, judge_pass.pause_reason)
    researcher_client.post(address("cancel_pass", study, judge_pass))
    judge_pass.refresh_from_db()

    assert paused == (PassState.PAUSED, PauseReason.USER)
    assert judge_pass.state == PassState.CANCELLED


def test_resuming_calls_the_judges_first(researcher_client: Client, study: Study, provider: str) -> None:
    judge_pass = started_pass(
        study,
        state=PassState.PAUSED,
        pause_reason=PauseReason.AUTH,
        configuration={"judges": {"judge-x": {"endpoint": "loopback", "model_id": "judge-x"}}},
    )

    answer = researcher_client.post(address("resume_pass", study, judge_pass))

    judge_pass.refresh_from_db()
    assert answer.status_code == 302
    assert judge_pass.state == PassState.RUNNING


def test_resuming_with_a_dead_key_stays_paused_and_says_why(
    researcher_client: Client, study: Study, dead_provider: str
) -> None:
    judge_pass = started_pass(
        study,
        state=PassState.PAUSED,
        pause_reason=PauseReason.AUTH,
        configuration={"judges": {"judge-x": {"endpoint": "loopback", "model_id": "judge-x"}}},
    )

    answer = researcher_client.post(address("resume_pass", study, judge_pass))

    judge_pass.refresh_from_db()
    assert answer.status_code == 422
    assert "HTTP 401" in answer.content.decode()
    assert judge_pass.state == PassState.PAUSED


def test_pausing_a_finished_pass_says_what_it_is(researcher_client: Client, study: Study) -> None:
    answer = researcher_client.post(address("pause_pass", study, study.judge_pass))

    assert answer.status_code == 422
    assert "FINISHED" in answer.content.decode()


@pytest.mark.parametrize("name", ["pause_pass", "resume_pass", "cancel_pass"])
def test_steering_is_for_researchers_and_by_post(
    researcher_client: Client, annotator_client: Client, client: Client, study: Study, name: str
) -> None:
    target = address(name, study, started_pass(study))

    assert researcher_client.get(target).status_code == 405
    assert annotator_client.post(target).status_code == 404
    assert client.post(target).status_code == 302


@pytest.mark.parametrize("name", ["pause_pass", "pass"])
def test_a_pass_of_another_benchmark_is_not_found(researcher_client: Client, study: Study, name: str) -> None:
    elsewhere = make_pass(name="elsewhere")
    method = researcher_client.get if name == "pass" else researcher_client.post

    assert method(address(name, study, elsewhere)).status_code == 404
