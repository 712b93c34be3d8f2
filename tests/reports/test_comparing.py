"""Two passes beside each other: the same numbers on page, API, command and export."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from judging.choices import PassKind, RubricScale
from judging.errors import ExportError, PassError, RuleError
from judging.models import JudgePass, Verdict
from judging.reports import compare_passes
from judging.reports.comparison_words import answer_in_words, source_in_words
from tests.exports.reading import export, read_rows
from tests.factories import make_judge, make_pass
from tests.judging_pages.second_pass import judge_again
from tests.judging_pages.study import Study, make_study

RULE = '{"kind": "any_flag", "judges": ["study-judge-a"], "cut": 2}'


@pytest.fixture
def study(db: None) -> Study:
    return make_study()


@pytest.fixture
def later(study: Study) -> JudgePass:
    """The same configuration at another time: judge-a has become stricter in every fourth row."""

    def rescore(place: int, row: Verdict) -> int | None:
        if row.judge.slug == "study-judge-a" and place % 4 == 0 and row.score == 1:
            return 3
        return row.score

    return judge_again(study.judge_pass, rescore=rescore)


def compare(study: Study, later: JudgePass, **values: Any) -> dict[str, Any]:
    return compare_passes(study.benchmark, before=study.judge_pass, after=later, **values)


def test_changed_verdicts_are_those_whose_rows_changed(study: Study, later: JudgePass) -> None:
    changed = Verdict.objects.filter(judge_pass=later, judge=study.judges[0], score=3).exclude(
        response__in=Verdict.objects.filter(
            judge_pass=study.judge_pass, judge=study.judges[0], score=3
        ).values("response")
    )

    document = compare(study, later, rule=RULE)

    assert document["overall"]["n_to_unacceptable"] == changed.count() > 0
    assert document["overall"]["n_to_acceptable"] == 0
    assert document["finding"] == "shift"
    assert document["answer"].startswith("It mattered: ")


def test_silent_change_is_laid_at_the_judges_door(study: Study, later: JudgePass) -> None:
    document = compare(study, later)

    assert document["differences"] == []
    assert "have the same configuration: whatever changed" in source_in_words(document)


def test_settings_that_differ_are_named(study: Study) -> None:
    later = judge_again(study.judge_pass)
    JudgePass.objects.filter(pk=later.pk).update(
        configuration={
            "source": "imported",
            "judges": {"study-judge-a": {"model_id": "a-2"}},
            "prices": {},
            "call_tokens": 9,
        }
    )
    JudgePass.objects.filter(pk=study.judge_pass.pk).update(configuration={"source": "imported"})
    later.refresh_from_db()
    study.judge_pass.refresh_from_db()

    document = compare(study, later)

    assert document["differences"] == [
        {"setting": "judges.study-judge-a.model_id", "before": None, "after": "a-2"}
    ]
    assert "differ in 1 setting," in source_in_words(document)


def test_pass_beside_its_equal_made_no_difference(study: Study) -> None:
    document = compare(study, judge_again(study.judge_pass))

    assert (
        document["answer"]
        == "It made no difference: all n = 48 responses have the same verdict in both passes."
    )


@pytest.mark.parametrize(
    ("finding", "words"),
    [
        ("no_shift", "It hardly mattered: 2 of n = 40 verdicts changed (5.0\N{NARROW NO-BREAK SPACE}%)"),
        ("coverage", "But 1 response lost its verdict and 3 gained one."),
        ("unknown", "It cannot be said whether it mattered"),
        ("nothing_in_common", "grade no response in common"),
    ],
)
def test_answer_of_each_finding(finding: str, words: str) -> None:
    overall = {
        "n_responses": 44,
        "n_decided_twice": 40,
        "n_changed": 2,
        "n_to_unacceptable": 2,
        "n_to_acceptable": 0,
        "n_to_undecided": 1,
        "n_to_decided": 3,
        "changed_share": 0.05,
        "rate_change": 0.004,
        "rate_change_interval": [-0.01, 0.02],
        "failure_rate_before": 0.1,
        "failure_rate_after": 0.104,
    }

    assert words in answer_in_words({"finding": finding, "overall": overall})


def test_one_pass_twice_is_refused(study: Study) -> None:
    with pytest.raises(PassError, match="named twice"):
        compare(study, study.judge_pass)


def test_pass_that_gives_no_scores_is_refused(study: Study) -> None:
    collection = make_pass(benchmark=study.benchmark, kind=PassKind.COLLECTION, scale=RubricScale.TEXT)

    with pytest.raises(PassError, match="gives no scores"):
        compare(study, collection)


def test_passes_without_a_common_judge_are_refused(study: Study) -> None:
    other = make_pass(benchmark=study.benchmark, judges=(make_judge(),))

    with pytest.raises(PassError, match="no judge in common"):
        compare(study, other)


def test_rule_of_a_judge_that_one_pass_lacks_is_refused(study: Study) -> None:
    later = judge_again(study.judge_pass)
    later.judges.remove(study.judges[1])

    with pytest.raises(RuleError, match="judges of this pass"):
        compare(study, later, rule='{"kind": "any_flag", "judges": ["study-judge-b"], "cut": 2}')


def test_default_rule_rests_on_the_common_judges(study: Study) -> None:
    later = judge_again(study.judge_pass)
    later.judges.remove(study.judges[1])

    assert compare(study, later)["rule"]["judges"] == ["study-judge-a"]


def test_comparison_is_the_same_on_api_command_and_export(
    study: Study, later: JudgePass, researcher_client: Client, tmp_path: Path
) -> None:
    document = compare(study, later)
    named = {"before": study.judge_pass.public_id, "after": later.public_id}

    api = researcher_client.get("/api/v1/benchmarks/study/comparison/", named).json()
    printed = io.StringIO()
    call_command("compare_passes", *named.values(), "--benchmark", "study", "--json", stdout=printed)
    outcome = export(
        study.benchmark, "comparison", "jsonl", tmp_path, judge_pass=later, before=study.judge_pass
    )

    assert api == json.loads(printed.getvalue()) == json.loads(json.dumps(document))
    assert outcome.manifest["figures"] == json.loads(json.dumps(document))
    assert outcome.manifest["n_rows"] == document["n_common"]
    changes = [row["change"] for row in read_rows(outcome.path)]
    assert changes.count("TO_UNACCEPTABLE") == document["overall"]["n_to_unacceptable"]
    assert changes.count("SAME") == document["overall"]["n_same"]


def test_exported_row_has_every_score_of_both_passes(study: Study, later: JudgePass, tmp_path: Path) -> None:
    outcome = export(
        study.benchmark, "comparison", "jsonl", tmp_path, judge_pass=later, before=study.judge_pass
    )

    row = next(row for row in read_rows(outcome.path) if row["response_id"] == study.responses[1].public_id)
    assert row["study-judge-a_before"] == row["study-judge-a_after"] == 2
    assert (row["study-judge-b_after"], row["study-judge-b_after_state"]) == (None, "PARSE_FAILED")


def test_export_without_the_earlier_pass_says_what_is_missing(study: Study, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="needs two passes"):
        export(study.benchmark, "comparison", "csv", tmp_path)


def test_command_says_it_in_words(study: Study, later: JudgePass) -> None:
    printed = io.StringIO()

    call_command("compare_passes", "imported", later.name, "--benchmark", "study", stdout=printed)

    assert printed.getvalue().startswith(compare(study, later)["answer"])
    assert "study-judge-a:" in printed.getvalue()


def test_command_with_an_unknown_pass_fails(study: Study) -> None:
    with pytest.raises(CommandError, match="There is no pass 'nope'"):
        call_command("compare_passes", "imported", "nope", "--benchmark", "study")


def test_api_without_a_pass_says_which_is_required(study: Study, researcher_client: Client) -> None:
    reply = researcher_client.get("/api/v1/benchmarks/study/comparison/", {"before": "imported"})

    assert reply.status_code == 400
    assert "after" in reply.json()["fields"]


def test_api_is_closed_to_annotators(study: Study, annotator_client: Client, client: Client) -> None:
    where = "/api/v1/benchmarks/study/comparison/"

    assert annotator_client.get(where).status_code in (403, 404)
    assert client.get(where).status_code in (401, 403)


def test_page_answers_in_its_first_sentence(
    study: Study, later: JudgePass, researcher_client: Client
) -> None:
    page = researcher_client.get(reverse("judging:compare", args=["study"]))

    document = compare(study, later)
    assert page.context["report"] == document
    assert f'<h1 class="answer">{document["answer"]}</h1>' in page.content.decode()
