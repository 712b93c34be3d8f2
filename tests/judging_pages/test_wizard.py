"""The pass wizard: choose, check, start. A loopback provider answers; no script is run."""

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.choices import ResponseState
from annotation.models import Response
from judging.choices import PassSource, PassState
from judging.models import JudgePass, Verdict
from tests.factories import make_prompt, make_response
from tests.judging_pages.study import Study
from tests.judging_pages.test_running import words_of
from tests.passes.stage import stats

ASKED = {"judges": ["judge-x"], "rubric": "likert-v1", "shots": "0"}
HIDDEN = re.compile(r'<input type="hidden" name="(?P<name>[^"]+)" value="(?P<value>[^"]*)">')


def address(name: str, study: Study) -> str:
    return reverse(f"judging:{name}", args=[study.benchmark.slug])


def pass_address(judge_pass: JudgePass) -> str:
    return reverse("judging:pass", args=[judge_pass.benchmark.slug, judge_pass.public_id])


def judged() -> list[JudgePass]:
    return list(JudgePass.objects.filter(source=PassSource.JUDGED).order_by("pk"))


def sent_by(page: str) -> dict[str, list[str]]:
    """What the form of step 2 would send on."""
    form = page[page.rindex("<form", 0, page.index("Back to the choices")) :]
    sent: dict[str, list[str]] = {}
    for field in HIDDEN.finditer(form):
        if field["name"] != "csrfmiddlewaretoken":
            sent.setdefault(field["name"], []).append(unescape(field["value"]))
    return sent


def test_choices_are_the_endpoints_file_s_judges_and_the_judging_rubrics(
    researcher_client: Client, study: Study, provider: str
) -> None:
    page = researcher_client.get(address("start_pass", study)).content.decode()

    assert "X (judge-x at loopback)" in page
    assert "no key set" in page
    assert "likert-v1 (two scores of 1-5)" in page
    assert "binary-v1 (flag or no flag)" in page
    assert "failure-modes-v1" not in page


def test_step_two_asks_each_judge_once_and_starts_nothing(
    researcher_client: Client, study: Study, provider: str
) -> None:
    n_complete = sum(response.state == ResponseState.OK for response in study.responses)

    answer = researcher_client.post(address("check_pass", study), ASKED)

    page = words_of(answer.content.decode())
    assert answer.status_code == 200
    assert f"The judge answers: the pass makes {n_complete} calls" in page
    assert f"n = {n_complete} complete responses for each of 1 judge · 1 not complete: 1 failed" in page
    assert "its answers are made up" in page
    assert stats(provider)["calls"] + stats(provider)["other_calls"] == 1
    assert not judged()


def test_step_two_shows_the_request_with_its_fences(
    researcher_client: Client, study: Study, provider: str
) -> None:
    response = study.responses[1]

    page = unescape(researcher_client.post(address("check_pass", study), ASKED).content.decode())

    fence = re.search(r"<<<RESPONSE ([0-9a-f]{16})>>>\n(.*)\n<<<END RESPONSE \1>>>", page, re.DOTALL)
    assert fence is not None
    assert fence[2] == response.text
    assert '"max_tokens": 1024' in page
    assert '"temperature": 0.0' in page


def test_step_three_starts_what_step_two_showed(
    researcher_client: Client, study: Study, provider: str
) -> None:
    asked = {
        **ASKED,
        "shots": "1",
        "output": "structured",
        "exclusion": "response",
        "empty_policy": "acceptable",
        "pool_campaign": str(study.campaign.pk),
        "campaign": str(study.campaign.pk),
        "limit": "20",
        "max_calls": "100",
    }
    page = researcher_client.post(address("check_pass", study), asked).content.decode()

    answer = researcher_client.post(address("start_pass", study), sent_by(page))

    (judge_pass,) = judged()
    assert answer.headers["Location"] == pass_address(judge_pass)
    assert judge_pass.state == PassState.RUNNING
    assert judge_pass.created_by is not None
    assert (judge_pass.max_calls, judge_pass.is_simulated) == (100, True)
    frozen = judge_pass.configuration
    assert (frozen["shots"], frozen["exclusion"], frozen["empty_policy"]) == (1, "response", "acceptable")
    assert frozen["parameters"]["output"] == "structured"
    assert frozen["pool"]["campaign"] == study.campaign.public_id
    assert Verdict.objects.filter(judge_pass=judge_pass).count() == 20


def test_the_way_back_keeps_every_choice(researcher_client: Client, study: Study, provider: str) -> None:
    asked = {**ASKED, "shots": "1", "limit": "7", "max_calls": "9", "exclusion": "response", "again": "on"}
    page = researcher_client.post(address("check_pass", study), asked).content.decode()
    back = re.search(r'href="([^"]*)">Back to the choices', page)
    assert back is not None

    choices = researcher_client.get(unescape(back[1])).content.decode()

    assert re.search(r'name="limit" value="7"', choices)
    assert re.search(r'name="max_calls" value="9"', choices)
    assert re.search(r'<option value="response" selected', choices)
    assert re.search(r'value="judge-x"[^>]*checked', choices)
    assert re.search(r'name="again"[^>]*checked', choices)


def test_pressed_twice_leads_to_the_one_pass(researcher_client: Client, study: Study, provider: str) -> None:
    researcher_client.post(address("start_pass", study), ASKED)

    answer = researcher_client.post(address("start_pass", study), ASKED, follow=True)

    (judge_pass,) = judged()
    assert answer.redirect_chain == [(pass_address(judge_pass), 302)]
    assert "It was not started a second time" in answer.content.decode()


def test_a_finished_configuration_leads_to_its_pass_unless_judged_again(
    researcher_client: Client, study: Study, provider: str
) -> None:
    researcher_client.post(address("start_pass", study), ASKED)
    JudgePass.objects.filter(source=PassSource.JUDGED).update(state=PassState.FINISHED)
    (first,) = judged()

    answer = researcher_client.post(address("start_pass", study), ASKED, follow=True)
    researcher_client.post(address("start_pass", study), ASKED | {"again": "on"})

    assert answer.redirect_chain == [(pass_address(first), 302)]
    assert "finished already" in answer.content.decode()
    assert len(judged()) == 2


def test_a_judge_that_does_not_answer_leaves_nothing_to_press(
    researcher_client: Client, study: Study, dead_provider: str
) -> None:
    answer = researcher_client.post(address("check_pass", study), ASKED)

    page = answer.content.decode()
    assert "judge-x does not answer, so the pass cannot start." in page
    assert "HTTP 401" in page
    assert "Start the pass" not in page
    assert "Check again" in page


def test_a_dead_key_starts_nothing_whatever_was_checked(
    researcher_client: Client, study: Study, dead_provider: str
) -> None:
    answer = researcher_client.post(address("start_pass", study), ASKED)

    assert answer.status_code == 422
    assert "HTTP 401" in answer.content.decode()
    assert not judged()


@pytest.mark.parametrize("step", ["check_pass", "start_pass"])
@pytest.mark.parametrize(
    "change",
    [
        {"judges": []},
        {"judges": ["nobody"]},
        {"rubric": "nothing"},
        {"rubric": "failure-modes-v1"},
        {"shots": "-1"},
        {"limit": "0"},
        {"output": "song"},
        {"exclusion": "none"},
        {"empty_policy": "maybe"},
        {"embedder": "nobody"},
        {"pool_campaign": "0"},
        {"max_cost": "5"},
    ],
    ids=lambda change: next(iter(change.items())),
)
def test_bad_choices_are_named_and_start_nothing(
    researcher_client: Client, study: Study, provider: str, step: str, change: dict[str, object]
) -> None:
    answer = researcher_client.post(address(step, study), ASKED | change)

    assert answer.status_code == 422
    assert "Nothing was saved yet" in answer.content.decode()
    assert not judged()


def test_a_model_that_is_often_empty_is_warned_of(
    researcher_client: Client, study: Study, provider: str
) -> None:
    quiet = study.responses[0].target_model
    Response.objects.filter(target_model=quiet).update(state=ResponseState.EMPTY, text="")

    page = words_of(researcher_client.post(address("check_pass", study), ASKED).content.decode())

    assert f"responses of {quiet.slug} are empty, more than 20 %" in page
    assert "gives no price for judge-x" in page


def test_a_pool_of_one_kind_stops_at_step_two(researcher_client: Client, study: Study, provider: str) -> None:
    study.campaign.items.update(kind="TRAINING")

    page = words_of(
        researcher_client.post(address("check_pass", study), ASKED | {"shots": "2"}).content.decode()
    )

    assert "the pass cannot start as chosen" in page
    assert "A few-shot pass needs labelled responses of both kinds" in page
    assert "Start the pass" not in page


@pytest.mark.parametrize("by", ["public_id", "case_uid"])
def test_the_sample_is_for_the_response_that_is_named(
    researcher_client: Client, study: Study, provider: str, by: str
) -> None:
    response = study.responses[4]
    wanted = response.public_id if by == "public_id" else response.prompt.case_uid

    answer = researcher_client.post(address("sample_prompt", study), ASKED | {"sample": wanted})

    page = unescape(answer.content.decode())
    assert answer.status_code == 200
    assert f"case {response.prompt.case_uid}, {response.target_model.slug}" in page
    assert response.text in page
    assert stats(provider)["other_calls"] == stats(provider)["calls"] == 0


def test_the_next_sample_follows_in_the_order_of_the_pass(
    researcher_client: Client, study: Study, provider: str
) -> None:
    first = researcher_client.post(address("sample_prompt", study), ASKED).content.decode()
    next_id = re.search(r'name="next" value="([0-9a-f]{16})"', first)

    assert next_id is not None
    assert next_id[1] == study.responses[2].public_id


def test_the_sample_lists_its_exemplars_with_similarity(
    researcher_client: Client, study: Study, provider: str
) -> None:
    asked = ASKED | {"shots": "1", "sample": study.responses[6].public_id}

    page = words_of(researcher_client.post(address("sample_prompt", study), asked).content.decode())

    assert "2 exemplars, in the order shown" in page
    assert "similarity" in page
    assert f"case {study.responses[6].prompt.case_uid}, acceptable" not in page


@pytest.mark.parametrize(
    "wanted", ["nothing", "%00", "x" * 500, "%ED%A0%80"], ids=["none", "NUL", "long", "half"]
)
def test_an_unknown_sample_is_said_beside_its_field(
    researcher_client: Client, study: Study, provider: str, wanted: str
) -> None:
    answer = researcher_client.post(address("sample_prompt", study), ASKED | {"sample": wanted})

    assert answer.status_code == 422
    assert "takes up no complete response" in answer.content.decode()


def test_a_response_outside_the_limit_is_no_sample(
    researcher_client: Client, study: Study, provider: str
) -> None:
    asked = ASKED | {"limit": "3", "sample": study.responses[9].public_id}

    assert researcher_client.post(address("sample_prompt", study), asked).status_code == 422


@pytest.mark.parametrize("name", ["check_pass", "sample_prompt"])
def test_a_link_to_a_later_step_leads_to_step_one_with_its_choices(
    researcher_client: Client, study: Study, provider: str, name: str
) -> None:
    answer = researcher_client.get(address(name, study), {"limit": "7"})

    assert answer.headers["Location"] == f"{address('start_pass', study)}?limit=7"


@pytest.mark.parametrize("name", ["start_pass", "check_pass", "sample_prompt"])
def test_the_wizard_is_for_researchers(
    annotator_client: Client, client: Client, study: Study, name: str
) -> None:
    assert annotator_client.get(address(name, study)).status_code == 404
    assert client.get(address(name, study)).status_code == 302


def test_markup_in_texts_is_shown_as_text(researcher_client: Client, study: Study, provider: str) -> None:
    markup = "<img src=x onerror=alert(1)>{{ 7*7 }}"
    Response.objects.filter(pk=study.responses[1].pk).update(text=markup)

    page = researcher_client.post(address("check_pass", study), ASKED).content.decode()

    assert "<img src=x" not in page
    assert "{{ 7*7 }}" in page


def test_step_two_needs_the_same_queries_however_many_responses(
    researcher_client: Client, study: Study, provider: str, django_assert_max_num_queries: Any
) -> None:
    counts = []
    asked = ASKED | {"shots": "1"}
    researcher_client.post(address("check_pass", study), asked)
    for _ in range(2):
        with django_assert_max_num_queries(60) as captured:
            researcher_client.post(address("check_pass", study), asked)
        counts.append(len(captured))
        for _ in range(30):
            make_response(prompt=make_prompt(benchmark=study.benchmark))

    assert counts[0] == counts[1]
