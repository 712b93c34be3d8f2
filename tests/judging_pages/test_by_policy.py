"""Empty responses that a pass reads as Acceptable: marked, counted apart, and never in our failure rate."""

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Response
from annotation.templatetags.formatting import rate_text
from judging.models import Verdict
from judging.reports import build_report
from tests.exports.reading import export, read_rows
from tests.judging_pages.study import Study, linked_counts
from tests.judging_pages.test_running import words_of

N_EMPTY = 4


@pytest.fixture
def by_policy(study: Study) -> Study:
    """The study with the last four responses empty, and a score by policy from each judge on them."""
    chosen = [response.pk for response in study.responses[-N_EMPTY:]]
    Response.objects.filter(pk__in=chosen).update(state="EMPTY", text="")
    Verdict.objects.filter(response__in=chosen).update(score=1, is_by_policy=True)
    return study


def page_of(client: Client, study: Study, name: str, *more: str) -> str:
    return client.get(reverse(f"judging:{name}", args=[study.benchmark.slug, *more])).content.decode()


def test_results_count_them_apart_and_show_both_rates(researcher_client: Client, by_policy: Study) -> None:
    overall = build_report(by_policy.benchmark)["overall"]

    html = page_of(researcher_client, by_policy, "results")

    page = words_of(html)
    rates = (overall["failure_rate"], overall["failure_rate_by_policy"])
    ours, with_policy = (words_of(rate_text(rate)) for rate in rates)
    assert (overall["n_by_policy"], ours != with_policy) == (N_EMPTY, True)
    assert f"{N_EMPTY} of the {overall['n_undecided']} undecided responses are empty" in page
    assert f"the failure rate is {ours} without them and {with_policy} with them" in page
    assert "Empty responses, read as Acceptable, by model" in page
    assert "Empty responses, read as Acceptable, by risk category" in page


@pytest.mark.parametrize("page", ["results", "pass"])
def test_each_of_their_counts_leads_to_its_rows(
    researcher_client: Client, by_policy: Study, page: str
) -> None:
    more = [by_policy.judge_pass.public_id] if page == "pass" else []
    html = page_of(researcher_client, by_policy, page, *more)
    counts = {(href, n) for href, n in linked_counts(html) if "by_policy=on" in href}

    listed = {(href, researcher_client.get(href).context["page_obj"].paginator.count) for href, _ in counts}

    assert len(counts) >= 2
    assert listed == counts


def test_pass_says_how_many_scores_no_judge_gave(researcher_client: Client, by_policy: Study) -> None:
    page = words_of(page_of(researcher_client, by_policy, "pass", by_policy.judge_pass.public_id))

    assert f"have a score ({2 * N_EMPTY} by policy)" in page


def test_response_says_that_no_judge_was_asked(researcher_client: Client, by_policy: Study) -> None:
    marked, plain = by_policy.responses[-1].public_id, by_policy.responses[2].public_id

    assert page_of(researcher_client, by_policy, "response", marked).count("no judge was asked") == 2
    assert "no judge was asked" not in page_of(researcher_client, by_policy, "response", plain)


@pytest.mark.parametrize("page", ["results", "pass"])
def test_a_pass_without_them_says_nothing_of_a_policy(
    researcher_client: Client, study: Study, page: str
) -> None:
    more = [study.judge_pass.public_id] if page == "pass" else []

    assert "policy" not in page_of(researcher_client, study, page, *more)


def test_exports_mark_and_count_them(by_policy: Study, tmp_path: Path) -> None:
    report = build_report(by_policy.benchmark)

    rows = {
        table: read_rows(export(by_policy.benchmark, table, "jsonl", tmp_path).path)
        for table in ("report", "results", "calibrated")
    }

    overall = next(row for row in rows["report"] if row["scope"] == "overall")
    assert (overall["n_by_policy"], overall["failure_rate_by_policy"]) == (
        N_EMPTY,
        report["overall"]["failure_rate_by_policy"],
    )
    for table in ("results", "calibrated"):
        marked = [row for row in rows[table] if row["is_by_policy"]]
        assert {row["response_state"] for row in marked} == {"EMPTY"}
        assert len(marked) == N_EMPTY
