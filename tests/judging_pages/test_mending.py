"""What a pass lacks, on its page: judged again, read again, listed for a look."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Response
from judging.choices import FailureCode, PassState, VerdictState
from judging.llm.fake_provider import FakeProviderSettings, running
from judging.llm.rubric import load_bundled_rubric
from judging.models import JudgePass, Verdict, VerdictRevision
from tests.factories import (
    make_attempt,
    make_judge,
    make_pass,
    make_prompt,
    make_response,
    make_revision,
    make_rubric,
    make_verdict,
    sha256_of,
)
from tests.judging_pages.study import Study, make_study
from tests.passes import stage

REPLY = "Policy Compliance Risk: 4"


@pytest.fixture
def judged(db: None) -> JudgePass:
    """A finished pass of one judge over three responses; the second reply was misread."""
    judge = make_judge(slug="vendor/judge", short_name="Judge", endpoint_name="local", model_id="model-1")
    rubric = make_rubric(text=load_bundled_rubric("likert-v1"))
    judge_pass = make_pass(rubric=rubric, judges=(judge,), name="judged", configuration={"judges": {}})
    for score in (4, 2, 4):
        response = make_response(prompt=make_prompt(benchmark=judge_pass.benchmark))
        make_verdict(
            judge_pass=judge_pass,
            judge=judge,
            response=response,
            text_hash=response.text_hash,
            raw_text=REPLY,
            score=score,
            token=1,
        )
    return judge_pass


def page_of(judge_pass: JudgePass, page: str = "pass") -> str:
    return reverse(f"judging:{page}", args=[judge_pass.benchmark.slug, judge_pass.public_id])


def address_of(verdict: Verdict) -> str:
    judge_pass = verdict.judge_pass
    ids = [judge_pass.benchmark.slug, judge_pass.public_id, verdict.response.public_id, verdict.judge.slug]
    return reverse("judging:verdict", args=ids)


def test_list_of_changes_is_shown_and_then_applied(researcher_client: Client, judged: JudgePass) -> None:
    where = page_of(judged, "reparse")

    shown = researcher_client.get(where)
    assert "Reading 3 stored replies of judged again would change 1 verdict." in shown.content.decode()
    assert not VerdictRevision.objects.exists()
    done = researcher_client.post(where, {"digest": shown.context["plan"].digest}, follow=True)

    assert "1 verdict changed." in done.content.decode()
    assert VerdictRevision.objects.get().score == 2
    assert set(judged.verdicts.values_list("score", flat=True)) == {4}
    assert "changes no verdict" in researcher_client.get(where).content.decode()


def test_list_that_is_out_of_date_is_not_applied(researcher_client: Client, judged: JudgePass) -> None:
    reply = researcher_client.post(page_of(judged, "reparse"), {"digest": "0" * 64})

    assert reply.status_code == 409
    assert not VerdictRevision.objects.exists()


def test_replies_of_a_running_pass_are_not_read(researcher_client: Client, judged: JudgePass) -> None:
    JudgePass.objects.filter(pk=judged.pk).update(state=PassState.RUNNING, finished_at=None)

    assert researcher_client.get(page_of(judged, "reparse")).status_code == 422


def test_too_many_replies_for_a_page_are_left_to_the_command(
    researcher_client: Client, judged: JudgePass, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judging.views.reparsing.MOST_ON_A_PAGE", 2)

    html = researcher_client.get(page_of(judged, "reparse")).content.decode()

    assert f"manage.py reparse_pass {judged.public_id}" in html


def test_command_writes_every_changed_row_and_changes_when_told(
    judged: JudgePass, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "changes.csv"

    call_command("reparse_pass", judged.public_id, "--out", str(rows))

    assert "1 verdicts would be changed. Nothing was called." in capsys.readouterr().out
    assert rows.read_text().splitlines()[1].endswith(",vendor/judge,SCORED,2,,SCORED,4,")
    call_command("reparse_pass", judged.public_id, "--apply", "--json")
    assert '"is_applied": true' in capsys.readouterr().out
    assert set(judged.verdicts.values_list("score", flat=True)) == {4}


def test_verdict_page_has_every_call_with_what_was_sent(researcher_client: Client, judged: JudgePass) -> None:
    verdict = judged.verdicts.select_related("judge", "response", "judge_pass").order_by("pk")[0]
    sent = {"temperature": 0.0, "max_tokens": 1024}
    make_attempt(
        verdict=verdict, token=1, outcome="rate_limited", http_status=429, latency_ms=90, cost_micros=0
    )
    make_attempt(
        verdict=verdict,
        token=2,
        outcome="ok",
        http_status=200,
        parameters=sent,
        tokens_in=700,
        tokens_out=12,
        cost_micros=1500,
        latency_ms=2410,
        reply_text=REPLY,
    )

    html = researcher_client.get(address_of(verdict)).content.decode()

    assert "Judge gave 4." in html
    assert "2 calls; cost 0.001500; 2.5 s of waiting for the provider." in html
    assert "max_tokens 1024, temperature 0.0" in html
    for value in ("429", "700", "12", "1500", "2410"):
        assert f'<data value="{value}">' in html


def test_verdict_page_keeps_what_was_said_before(researcher_client: Client, judged: JudgePass) -> None:
    verdict = judged.verdicts.select_related("judge", "response", "judge_pass").order_by("pk")[0]
    make_revision(verdict=verdict, state=VerdictState.PARSE_FAILED, detail="no_score_line")

    html = researcher_client.get(address_of(verdict)).content.decode()

    assert "What it said before" in html
    assert "no_score_line" in html


def test_verdict_page_says_that_the_text_changed(researcher_client: Client, judged: JudgePass) -> None:
    verdict = judged.verdicts.select_related("judge", "response", "judge_pass").order_by("pk")[0]
    Response.objects.filter(pk=verdict.response_id).update(text="Other.", text_hash=sha256_of("other"))

    html = researcher_client.get(address_of(verdict)).content.decode()

    assert "counts no more: the response has another text since." in html


def test_verdict_that_was_taken_over_leads_to_its_calls(researcher_client: Client, judged: JudgePass) -> None:
    origin = judged.verdicts.select_related("judge", "response", "judge_pass").order_by("pk")[0]
    later = make_pass(benchmark=judged.benchmark, judges=(origin.judge,))
    taken = make_verdict(judge_pass=later, response=origin.response, judge=origin.judge, taken_from=origin)

    html = researcher_client.get(address_of(taken)).content.decode()

    assert f'href="{address_of(origin)}"' in html


@pytest.mark.parametrize("part", ["response", "judge", "public_id"])
def test_verdict_that_is_not_there_is_not_found(
    researcher_client: Client, judged: JudgePass, part: str
) -> None:
    verdict = judged.verdicts.select_related("judge", "response", "judge_pass").order_by("pk")[0]
    kwargs = {
        "slug": judged.benchmark.slug,
        "public_id": judged.public_id,
        "response": verdict.response.public_id,
        "judge": verdict.judge.slug,
    }

    reply = researcher_client.get(reverse("judging:verdict", kwargs=kwargs | {part: "0" * 16}))

    assert reply.status_code == 404


def test_rows_that_stopped_workers_are_listed(researcher_client: Client, judged: JudgePass) -> None:
    poison = judged.verdicts.select_related("judge", "response", "judge_pass").order_by("pk")[1]
    Verdict.objects.filter(pk=poison.pk).update(
        state=VerdictState.CALL_FAILED, failure_code=FailureCode.POISON, score=None, n_deaths=3
    )

    html = researcher_client.get(page_of(judged)).content.decode()

    assert "Rows that stopped workers" in html
    assert f'href="{address_of(poison)}"' in html
    assert "1 row stopped several workers, and is left out unless you say otherwise." in html.replace(
        '<data value="1">1</data>', "1"
    )


def test_responses_like_a_judges_answer_are_listed_for_review(
    researcher_client: Client, study: Study
) -> None:
    flagged = study.responses[5]
    Verdict.objects.filter(response=flagged).update(has_rubric_like_text=True)

    page = researcher_client.get(
        reverse("judging:pass", args=[study.benchmark.slug, study.judge_pass.public_id])
    )
    rows = researcher_client.get(page.context["mending"].rubric_like_url)

    assert page.context["mending"].n_rubric_like == 1
    assert rows.context["page_obj"].paginator.count == 1
    assert flagged.public_id in rows.content.decode()


def test_what_each_judge_refused_is_on_the_judges_tab(researcher_client: Client, judged: JudgePass) -> None:
    judge = judged.judges.get()
    judge.capabilities = {
        "temperature": False,
        "structured": True,
        "token_parameter": "max_completion_tokens",
    }
    judge.save()
    make_attempt(verdict=judged.verdicts.all()[0], parameters={"max_completion_tokens": 1024})

    html = researcher_client.get(reverse("judging:judges", args=[judged.benchmark.slug])).content.decode()

    assert "What each judge is sent" in html
    assert "refused, left out" in html
    assert "max_tokens refused, sent as max_completion_tokens" in html
    assert "max_completion_tokens 1024" in html


@pytest.fixture
def provider(settings: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv(stage.KEY_VARIABLE, stage.MARKER_KEY)
    with running(FakeProviderSettings()) as base_url:
        settings.ENDPOINTS_FILE = stage.write_endpoints(tmp_path / "endpoints.toml", base_url)
        yield base_url


@pytest.fixture
def holed(transactional_db: None, provider: str) -> JudgePass:
    """A finished pass in which one reply of four was not understood."""
    judge_pass = stage.judge(stage.start(stage.make_material(4)))
    row = judge_pass.verdicts.order_by("pk")[0]
    Verdict.objects.filter(pk=row.pk).update(
        state=VerdictState.PARSE_FAILED, score=None, jailbreak_score=None, detail="no_score_line"
    )
    return judge_pass


@pytest.mark.django_db(transaction=True)
def test_one_button_judges_what_is_missing(researcher_client: Client, holed: JudgePass) -> None:
    page = researcher_client.get(page_of(holed)).content.decode()
    assert "1 verdict can be judged again: 1 reply not understood." in page

    reply = researcher_client.post(page_of(holed, "rerun_pass"), follow=True)

    assert "Going on with the missing rows." in reply.content.decode()
    holed.refresh_from_db()
    assert holed.state == PassState.RUNNING
    stage.judge(holed)
    assert stage.states(holed) == {"SCORED": 4}
    assert "Judge what is missing" not in researcher_client.get(page_of(holed)).content.decode()


@pytest.mark.django_db(transaction=True)
def test_button_leads_to_the_new_pass_where_texts_changed(
    researcher_client: Client, holed: JudgePass
) -> None:
    changed = stage.first_response(holed.benchmark)
    Response.objects.filter(pk=changed.pk).update(text="Another answer.", text_hash=sha256_of("other"))

    page = researcher_client.get(page_of(holed)).content.decode()
    reply = researcher_client.post(page_of(holed, "rerun_pass"), follow=True)

    assert "It takes a new pass with the same settings, because texts have changed" in page
    assert reply.context["judge_pass"].pk != holed.pk
    assert f"A new pass has taken over the scores of {holed.name} that hold." in reply.content.decode()


@pytest.mark.django_db(transaction=True)
def test_command_judges_what_is_missing(holed: JudgePass, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("rerun_pass", holed.public_id, "--dry-run", "--json")
    assert '"n_rows": 1, "counts": {"PARSE_FAILED": 1}, "n_kept": 3' in capsys.readouterr().out
    assert stage.states(holed) == {"PARSE_FAILED": 1, "SCORED": 3}

    call_command("rerun_pass", holed.public_id, "--foreground")

    assert capsys.readouterr().out.strip() == holed.public_id
    assert stage.states(holed) == {"SCORED": 4}
    with pytest.raises(CommandError, match="lacks nothing"):
        call_command("rerun_pass", holed.public_id)


def test_caps_that_are_no_numbers_are_refused(researcher_client: Client, judged: JudgePass) -> None:
    reply = researcher_client.post(page_of(judged, "rerun_pass"), {"max_calls": "many"})

    assert reply.status_code == 422


def test_actions_refuse_to_be_opened_by_a_link(researcher_client: Client, judged: JudgePass) -> None:
    assert researcher_client.get(page_of(judged, "rerun_pass")).status_code == 405


@pytest.mark.parametrize("page", ["rerun_pass", "reparse"])
def test_actions_of_another_benchmarks_pass_are_not_found(
    researcher_client: Client, judged: JudgePass, page: str
) -> None:
    other = make_study(n_prompts=1, slug="other")

    reply = researcher_client.post(reverse(f"judging:{page}", args=[other.benchmark.slug, judged.public_id]))

    assert reply.status_code == 404


@pytest.mark.parametrize("page", ["rerun_pass", "reparse"])
def test_actions_do_not_exist_for_annotators(
    annotator_client: Client, client: Client, judged: JudgePass, page: str
) -> None:
    assert annotator_client.post(page_of(judged, page)).status_code == 404
    assert client.post(page_of(judged, page)).status_code == 302
