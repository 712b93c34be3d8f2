"""What holds for each of the researcher's pages, whatever it shows."""

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import make_account, make_event, make_pass
from tests.judging_pages.study import Study, make_study

MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script>{{ 7*7 }}"
READ_PAGES = (
    *("data", "labels", "judges", "calibration", "results", "exports", "rows", "compare"),
    "failure_modes",
    "endpoints",
    "rubrics",
)
OF_BENCHMARK = (*READ_PAGES, "rubric", "rubric_diff", "pass", "response", "verdict", "figure")


def address(study: Study, page: str, *, slug: str | None = None) -> str:
    kwargs = {"slug": slug or study.benchmark.slug}
    kwargs |= {
        "pass": {"public_id": study.judge_pass.public_id},
        "response": {"public_id": study.responses[1].public_id},
        "verdict": {
            "public_id": study.judge_pass.public_id,
            "response": study.responses[1].public_id,
            "judge": study.judges[0].slug,
        },
        "figure": {"name": "models", "form": "csv"},
        "rubric": {"rubric": "likert-v1"},
        "rubric_diff": {"rubric": "likert-v1"},
    }.get(page, {})
    return reverse(f"judging:{page}", kwargs=kwargs)


@pytest.mark.parametrize("page", OF_BENCHMARK)
def test_page_opens_for_a_researcher(researcher_client: Client, study: Study, page: str) -> None:
    response = researcher_client.get(address(study, page))

    assert response.status_code == 200


@pytest.mark.parametrize("page", OF_BENCHMARK)
def test_page_opens_for_an_admin(admin_client: Client, study: Study, page: str) -> None:
    assert admin_client.get(address(study, page)).status_code == 200


@pytest.mark.parametrize("page", OF_BENCHMARK)
def test_page_sends_the_signed_out_to_sign_in(client: Client, study: Study, page: str) -> None:
    response = client.get(address(study, page))

    assert response.status_code == 302
    assert response["Location"].startswith(reverse("login"))


@pytest.mark.parametrize("page", OF_BENCHMARK)
def test_page_does_not_exist_for_annotators(annotator_client: Client, study: Study, page: str) -> None:
    response = annotator_client.get(address(study, page))

    assert response.status_code == 404
    assert study.benchmark.name not in response.content.decode()


@pytest.mark.parametrize("page", OF_BENCHMARK)
def test_page_of_an_unknown_benchmark_is_not_found(
    researcher_client: Client, study: Study, page: str
) -> None:
    assert researcher_client.get(address(study, page, slug="nowhere")).status_code == 404


@pytest.mark.parametrize("page", ["pass", "response", "verdict"])
def test_page_of_another_benchmarks_thing_is_not_found(
    researcher_client: Client, study: Study, page: str
) -> None:
    other = make_study(n_prompts=1, slug="other")

    response = researcher_client.get(address(study, page, slug=other.benchmark.slug))

    assert response.status_code == 404


@pytest.mark.parametrize("page", OF_BENCHMARK)
def test_page_refuses_to_be_posted_to(researcher_client: Client, study: Study, page: str) -> None:
    assert researcher_client.post(address(study, page)).status_code == 405


def test_actions_refuse_to_be_opened_by_a_link(researcher_client: Client, study: Study) -> None:
    addresses = [
        reverse("judging:upload", args=[study.benchmark.slug]),
        reverse("judging:import_confirm", args=["0" * 32]),
        reverse("judging:import_discard", args=["0" * 32]),
    ]

    assert [researcher_client.get(where).status_code for where in addresses] == [405, 405, 405]


@pytest.mark.parametrize(
    ("page", "query", "words"),
    [
        ("calibration", "pass=nope", "There is no pass &#x27;nope&#x27;"),
        ("calibration", "rule=nope", "There is no rule &#x27;nope&#x27;"),
        ("calibration", "rule={", "The rule is no JSON"),
        ("results", "campaign=nope", "There is no campaign &#x27;nope&#x27;"),
        ("rows", "verdict=MAYBE", "MAYBE is not one of the available choices"),
        ("rows", "score=3", "A score or a state needs its judge"),
        ("rows", "pair=rule-human&a=uniform", "A pair needs both of its readers"),
        ("rows", "annotator__account__password=x", "is not known"),
        ("exports", "part=half", "There is no part"),
        ("figure", "rule=nope", "There is no rule"),
    ],
)
def test_page_with_an_unusable_filter_says_what_to_do(
    researcher_client: Client, study: Study, page: str, query: str, words: str
) -> None:
    response = researcher_client.get(f"{address(study, page)}?{query}")

    assert response.status_code == 422
    assert words in response.content.decode()
    assert "without filters" in response.content.decode()


@pytest.mark.parametrize(
    "page", ["data", "labels", "judges", "calibration", "results", "exports", "pass", "rows", "endpoints"]
)
def test_page_needs_the_same_queries_however_much_there_is(
    researcher_client: Client,
    study: Study,
    page: str,
    django_assert_max_num_queries: pytest.FixtureRequest,
) -> None:
    larger = make_study(n_prompts=40, slug="larger")
    for n in range(3):
        make_event(action="files.imported", subject="benchmark:larger", actor=make_account(), detail={})
        make_pass(
            benchmark=larger.benchmark, name=f"second-{n}", judges=tuple(larger.judges), state="CANCELLED"
        )
    for where in (study, larger):
        researcher_client.get(address(where, page))
    counts = []

    for where in (study, larger):
        with django_assert_max_num_queries(60) as captured:
            researcher_client.get(address(where, page))
        counts.append(len(captured))

    assert counts[0] == counts[1]


def test_markup_in_any_text_is_shown_as_text(researcher_client: Client, study: Study) -> None:
    _plant_markup(study)

    for page in (*READ_PAGES, "pass", "response", "verdict"):
        html = researcher_client.get(address(study, page)).content.decode()

        assert "<img src=x" not in html, page
        assert "<script>alert" not in html, page


def test_markup_in_a_filter_is_shown_as_text(researcher_client: Client, study: Study) -> None:
    for name in ("pass", "rule", "campaign"):
        html = researcher_client.get(address(study, "calibration"), {name: MARKUP}).content.decode()

        assert "<img src=x" not in html


def _plant_markup(study: Study) -> None:
    """Put markup into every text that a person or a file can bring in."""
    benchmark, response, judge = study.benchmark, study.responses[1], study.judges[0]
    for name in ("name", "licence", "attribution", "canary"):
        setattr(benchmark, name, MARKUP)
    benchmark.save()
    for name in ("case_uid", "risk_category", "risk_mechanism", "text"):
        setattr(response.prompt, name, MARKUP)
    response.prompt.save()
    response.text, response.finish_reason = MARKUP, MARKUP[:32]
    response.save()
    response.target_model.slug = MARKUP
    response.target_model.save()
    judge.slug, judge.short_name = MARKUP, MARKUP[:50]
    judge.save()
    study.judge_pass.name = study.judge_pass.state_note = MARKUP
    study.judge_pass.save()
    study.judge_pass.verdicts.filter(response=response).update(detail=MARKUP, raw_text=MARKUP)
    study.campaign.name = MARKUP
    study.campaign.save()
    annotator = study.annotators[0]
    annotator.code = MARKUP
    annotator.save()
    make_event(action="files.imported", subject=f"benchmark:{benchmark.slug}", detail={"totals": {}})


def test_front_door_leads_to_the_newest_benchmark(researcher_client: Client, study: Study) -> None:
    newest = make_study(n_prompts=1, slug="newest")

    response = researcher_client.get(reverse("judging:home"))

    assert response["Location"] == reverse("judging:calibration", args=[newest.benchmark.slug])


def test_front_door_leads_to_the_first_files_when_there_is_nothing(researcher_client: Client) -> None:
    response = researcher_client.get(reverse("judging:home"), follow=True)

    assert response.status_code == 200
    assert "There is no benchmark yet" in response.content.decode()
