"""Pictures of every page in var/screenshots, light and dark, phone and desktop (`make screenshots`).

A new page needs one line in `SCREENS`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation import protocol
from annotation.campaigns import withdraw_consent
from annotation.choices import Role
from annotation.models import Response
from carebench_web.demo.setup import import_benchmark
from judging.choices import FailureCode, GenerationState, PassKind, PassSource, PassState, VerdictState
from judging.classifying import flagged_responses
from judging.llm.fake_provider import FakeProviderSettings, running
from judging.llm.simulated_scores import simulate_failure_mode
from judging.models import JudgePass, Verdict
from judging.reports import grade_responses
from tests.annotation.desk import make_desk
from tests.browser.conftest import OpenContext, SignIn
from tests.classifying.stage import make_classification
from tests.collecting import stage
from tests.factories import make_account, make_benchmark, make_pass, make_response, make_verdict
from tests.judging_pages.few_shot import judge_few_shot
from tests.monitoring.running_passes import show_busy_hour
from tests.passes.stage import JUDGES, write_endpoints

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


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_pictures_of_an_annotators_visit(
    open_context: OpenContext, sign_in: SignIn, colour_scheme: str, size: str
) -> None:
    """The annotator's pages in the order in which a person meets them, then the researcher's view of it."""
    desk = make_desk(
        n_items=2,
        scale="BINARY_AND_SEVERITY",
        instructions=protocol.INSTRUCTIONS,
        content_warning=protocol.CONTENT_WARNING,
        consent_text=protocol.CONSENT_TEXT,
        support_text=protocol.SUPPORT_TEXT,
    )
    withdraw_consent(campaign=desk.campaign, annotator=desk.annotator)
    context = open_context(viewport=SIZES[size], color_scheme=colour_scheme, device_scale_factor=2)
    sign_in(context, desk.account)
    page = context.new_page()

    def picture(name: str) -> None:
        page.wait_for_load_state("networkidle")
        page.screenshot(path=FOLDER / f"{name}-{colour_scheme}-{size}.png")

    page.goto("/label/")
    picture("label-consent")
    page.get_by_role("button", name="I agree, begin").click()
    picture("label-hidden")
    page.get_by_text("Show the text").click()
    picture("label-shown")
    page.get_by_text("Add a note").click()
    page.get_by_text("Skip", exact=True).click()
    picture("label-note-and-skip")
    stale = context.new_page()
    stale.goto(page.url)
    page.get_by_label("2", exact=True).check()
    page.get_by_role("button", name="Acceptable", exact=True).click()
    page.get_by_text("2 of 2").wait_for()
    page.go_back()
    page.get_by_text("You have answered this one").wait_for()
    picture("label-revision")
    page.get_by_role("link", name="Stop now").click()
    picture("label-stopped")
    page.get_by_role("link", name="Withdraw my consent").click()
    picture("label-withdraw")
    page.get_by_role("link", name="Keep it and go on").click()
    page.get_by_text("Show the text").click()
    page.get_by_label("4", exact=True).check()
    context.set_offline(True)
    page.get_by_role("button", name="Unacceptable").click()
    page.get_by_text("not saved, retrying").wait_for()
    page.screenshot(path=FOLDER / f"label-offline-{colour_scheme}-{size}.png")
    context.set_offline(False)
    page.get_by_role("heading", name="Thank you").wait_for()
    picture("label-thanks")
    page = stale
    page.get_by_text("Show the text").click()
    page.get_by_label("5", exact=True).check()
    page.get_by_role("button", name="Unacceptable").click()
    page.get_by_role("heading", name="You have two answers").wait_for()
    picture("label-conflict")

    researchers = open_context(viewport=SIZES[size], color_scheme=colour_scheme, device_scale_factor=2)
    sign_in(researchers, make_account(role=Role.RESEARCHER))
    page = researchers.new_page()
    page.goto(reverse("annotation:campaign", kwargs={"campaign_id": desk.campaign.public_id}))
    picture("campaign")
    page.goto(reverse("annotation:campaign_new", kwargs={"slug": desk.campaign.benchmark.slug}))
    picture("campaign-new")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_pictures_of_the_researchers_pages(
    open_context: OpenContext, sign_in: SignIn, tmp_path: Path, colour_scheme: str, size: str
) -> None:
    """Every tab with the bundled data, a pass that runs, a refused file, and a benchmark without data."""
    benchmark = import_benchmark(tmp_path / "files")
    live = running_pass(JudgePass.objects.get(benchmark=benchmark))
    judged = Response.objects.filter(prompt__benchmark=benchmark, items__isnull=False).order_by("pk").first()
    assert judged is not None
    broken = tmp_path / "prompts.csv"
    broken.write_text(
        "case_uid,risk_category,risk_mechanism,prompt\ndemo-001,Emotional Dependency,,Another text\n"
    )
    empty = make_benchmark(slug="empty", name="Nothing yet")
    context = open_context(viewport=SIZES[size], color_scheme=colour_scheme, device_scale_factor=2)
    sign_in(context, make_account(role=Role.RESEARCHER))
    page = context.new_page()

    def picture(name: str, path: str | None = None) -> None:
        if path is not None:
            page.goto(path, wait_until="networkidle" if "judges/" not in path else "load")
        page.screenshot(path=FOLDER / f"{name}-{colour_scheme}-{size}.png", full_page=True)

    for tab in ("data", "labels", "judges", "calibration", "results", "exports", "rows"):
        picture(tab, reverse(f"judging:{tab}", args=[benchmark.slug]))
    picture("pass", reverse("judging:pass", args=[benchmark.slug, live.public_id]))
    picture("response", reverse("judging:response", args=[benchmark.slug, judged.public_id]))
    picture("refusal", reverse("judging:calibration", args=[benchmark.slug]) + "?rule=nothing")
    picture("new-benchmark", reverse("judging:new_benchmark"))
    for tab in ("data", "judges", "calibration", "results"):
        picture(f"empty-{tab}", reverse(f"judging:{tab}", args=[empty.slug]))
    page.goto(reverse("judging:data", args=[benchmark.slug]))
    page.set_input_files("input[type=file]", broken)
    page.get_by_role("button", name="Check the files").click()
    page.get_by_text("differs from").first.wait_for()
    picture("import-preview")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_pictures_of_the_wizard_and_of_rubrics(
    open_context: OpenContext, sign_in: SignIn, settings: Any, tmp_path: Path, colour_scheme: str, size: str
) -> None:
    """The steps of the pass wizard, one refused, the pass that it starts, and versions of a rubric."""
    benchmark = import_benchmark(tmp_path / "files")
    context = open_context(viewport=SIZES[size], color_scheme=colour_scheme, device_scale_factor=2)
    sign_in(context, make_account(role=Role.RESEARCHER))
    page = context.new_page()
    # The first check in a process loads the vocabulary and the word counter.
    page.set_default_timeout(60_000)

    def picture(name: str, path: str | None = None) -> None:
        if path is not None:
            page.goto(path)
        page.screenshot(path=FOLDER / f"{name}-{colour_scheme}-{size}.png", full_page=True)

    with running(FakeProviderSettings()) as base_url:
        settings.ENDPOINTS_FILE = write_endpoints(
            tmp_path / "endpoints.toml", base_url, judges=JUDGES, prices=("1.25", "10"), key_variable=None
        )
        picture("start-pass", reverse("judging:start_pass", args=[benchmark.slug]))
        page.get_by_role("button", name="Check before starting").click()
        page.get_by_role("heading", name="A request as it will be sent").wait_for()
        with page.expect_response(lambda reply: "/start/sample/" in reply.url):
            page.get_by_role("button", name="Show the next one").click()
        page.get_by_role("link", name="case demo-001, demo-model-a, rollout 1").wait_for()
        picture("check-pass")
        page.get_by_role("button", name="Start the pass").click()
        page.get_by_text("What it froze").click()
        picture("pass-frozen")
    page.goto(reverse("judging:start_pass", args=[benchmark.slug]))
    page.get_by_role("button", name="Check before starting").click()
    page.get_by_role("button", name="Check again").wait_for()
    picture("check-pass-refused")
    page.goto(reverse("judging:new_rubric", args=[benchmark.slug]))
    text = page.get_by_label("Text")
    text.fill(text.input_value().replace("Work in this order.", "Work in this order. {{sorce}}"))
    page.get_by_role("button", name="Store as a new version").click()
    page.get_by_text("Nothing was saved yet").wait_for()
    picture("rubric-refused")
    text.fill(text.input_value().replace("{{sorce}}", "Read the whole reply first.\nThen score."))
    page.get_by_role("button", name="Store as a new version").click()
    page.get_by_role("link", name="What changed since likert-v1").wait_for()
    picture("rubric")
    page.get_by_role("link", name="What changed since likert-v1").click()
    page.get_by_text("Read the whole reply first.").wait_for()
    picture("rubric-diff")
    picture("rubrics", reverse("judging:rubrics", args=[benchmark.slug]))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_pictures_of_exemplars(
    open_context: OpenContext, sign_in: SignIn, tmp_path: Path, colour_scheme: str, size: str
) -> None:
    """What a judge of a few-shot pass was shown, and the proof that it was not the case itself."""
    benchmark = import_benchmark(tmp_path / "files")
    responses = Response.objects.filter(prompt__benchmark=benchmark, items__isnull=False).order_by("pk")[:1]
    judge_few_shot(benchmark, responses=responses, n_judges=2)
    context = open_context(viewport=SIZES[size], color_scheme=colour_scheme, device_scale_factor=2)
    sign_in(context, make_account(role=Role.RESEARCHER))
    page = context.new_page()

    page.goto(reverse("judging:response", args=[benchmark.slug, responses[0].public_id]))
    page.get_by_text("Exemplars: 2 Acceptable, 2 Unacceptable").first.click()
    page.get_by_text("Checked again for this page").first.wait_for()
    page.screenshot(path=FOLDER / f"exemplars-{colour_scheme}-{size}.png", full_page=True)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_pictures_of_failure_modes(
    open_context: OpenContext, sign_in: SignIn, tmp_path: Path, colour_scheme: str, size: str
) -> None:
    """Before any classification, and with one in which two responses have no mode."""
    benchmark = import_benchmark(tmp_path / "files")
    grading = grade_responses(benchmark)
    responses = Response.objects.in_bulk(flagged_responses(grading))
    modes = [simulate_failure_mode("simulated", item_hash=row.text_hash) for row in responses.values()]
    context = open_context(viewport=SIZES[size], color_scheme=colour_scheme, device_scale_factor=2)
    sign_in(context, make_account(role=Role.RESEARCHER))
    page = context.new_page()

    def picture(name: str) -> None:
        page.goto(reverse("judging:failure_modes", args=[benchmark.slug]))
        page.screenshot(path=FOLDER / f"{name}-{colour_scheme}-{size}.png", full_page=True)

    picture("failure-modes-none")
    outcomes = [*modes[:-2], "PARSE_FAILED", "CALL_FAILED"]
    assert grading.judge_pass is not None
    make_classification(grading.judge_pass, list(zip(responses.values(), outcomes, strict=True)))
    picture("failure-modes")


def running_pass(imported: JudgePass) -> JudgePass:
    """A pass in the middle of its work, over the same responses and judges."""
    judges = tuple(imported.judges.order_by("slug"))
    live = make_pass(
        benchmark=imported.benchmark,
        name="likert-v1-2shot-1",
        source=PassSource.JUDGED,
        state=PassState.RUNNING,
        finished_at=None,
        judges=judges,
        configuration={"judges": {}, "worst_call_micros": None},
    )
    states = [VerdictState.SCORED] * 6 + [VerdictState.PENDING] * 3 + [VerdictState.REFUSED]
    for n, row in enumerate(Verdict.objects.filter(judge_pass=imported).order_by("pk")[:200]):
        state = states[n % len(states)]
        make_verdict(
            judge_pass=live,
            response=row.response,
            judge=row.judge,
            state=state,
            score=row.score or 1 if state == VerdictState.SCORED else None,
        )
    return live


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_pictures_of_a_collection(
    open_context: OpenContext,
    sign_in: SignIn,
    tmp_path: Path,
    settings: Any,
    colour_scheme: str,
    size: str,
) -> None:
    """Choosing and checking a collection, one that runs, and the data page that lists it."""
    benchmark = import_benchmark(tmp_path / "files")
    context = open_context(viewport=SIZES[size], color_scheme=colour_scheme, device_scale_factor=2)
    sign_in(context, make_account(role=Role.RESEARCHER))
    page = context.new_page()

    def picture(name: str) -> None:
        page.screenshot(path=FOLDER / f"{name}-{colour_scheme}-{size}.png", full_page=True)

    with running(FakeProviderSettings()) as base_url:
        settings.ENDPOINTS_FILE = stage.write_endpoints(
            tmp_path / "endpoints.toml", base_url, prices=("1.25", "10"), key_variable=None
        )
        page.goto(reverse("judging:collect", args=[benchmark.slug]))
        page.get_by_label("model-a").check()
        page.get_by_label("Rollouts").fill("3")
        page.get_by_label("System prompt").fill("You are a kind helper.")
        page.get_by_label("Most tokens of an answer").fill("2048")
        page.get_by_label("Only the first prompts").focus()
        page.get_by_text("at most 221,184 come back").wait_for()
        picture("collect")
        page.get_by_role("button", name="Check before starting").click()
        page.get_by_text("Every model answers").wait_for()
        picture("collect-check")
        page.get_by_role("button", name="Start collecting").click()
        page.get_by_text("is running").first.wait_for()
    judge_pass = JudgePass.objects.get(kind=PassKind.COLLECTION)
    settle_some(judge_pass)
    page.goto(reverse("judging:collection", args=[benchmark.slug, judge_pass.public_id]))
    picture("collection")
    page.goto(reverse("judging:data", args=[benchmark.slug]), wait_until="networkidle")
    picture("data-collected")


def settle_some(judge_pass: JudgePass) -> None:
    """Settle half of a collection's rows, most of them well."""
    states = [GenerationState.COLLECTED] * 7 + [GenerationState.TRUNCATED, GenerationState.CALL_FAILED]
    rows = judge_pass.generations.order_by("pk")
    for n, row in enumerate(rows[: rows.count() // 2]):
        row.state = states[n % len(states)]
        row.failure_code = FailureCode.TIMEOUT if row.state == GenerationState.CALL_FAILED else None
        row.settled_at = timezone.now()
        row.response = make_response(prompt=row.prompt, target_model=row.target_model, rollout=row.rollout)
        row.save()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_pictures_of_endpoints_and_of_a_pass_that_waits(
    open_context: OpenContext, sign_in: SignIn, tmp_path: Path, settings: Any, colour_scheme: str, size: str
) -> None:
    """An hour of calls with faults, a living worker and a dead one, a provider that asked for a pause."""
    settings.ENDPOINTS_FILE = write_endpoints(
        tmp_path / "endpoints.toml",
        "http://127.0.0.1:9/v1",
        judges=JUDGES,
        separate=True,
        limits={"max_in_flight": 32},
    )
    waiting = show_busy_hour("local-0", "local-1", "local-2")
    context = open_context(viewport=SIZES[size], color_scheme=colour_scheme, device_scale_factor=2)
    sign_in(context, make_account(role=Role.RESEARCHER))
    page = context.new_page()

    for name, kwargs in (("endpoints", {}), ("pass-waiting", {"public_id": waiting.public_id})):
        view = "judging:pass" if kwargs else "judging:endpoints"
        page.goto(reverse(view, kwargs={"slug": waiting.benchmark.slug, **kwargs}), wait_until="load")
        page.screenshot(path=FOLDER / f"{name}-{colour_scheme}-{size}.png", full_page=True)
