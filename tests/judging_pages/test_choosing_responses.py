"""Choosing responses for a campaign by their scores: which fit, which cannot be told, what is kept."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.choices import CampaignState
from annotation.models import AuditEvent, Campaign, Response
from judging.choices import Disagreement
from judging.choosing import ScoreCriteria, choose_by_scores
from judging.errors import PassError, RuleError
from judging.reports import grade_responses
from judging.stats.aggregation import distance_from_threshold, scores_differ
from judging.stats.rules import uniform_rule
from tests.factories import make_adoption, make_benchmark, make_rule
from tests.judging_pages.study import Study, make_study

# By the study: the first response failed, the second lacks judge-b. Scores of response n: 1 + n % 3 and
# 1 + (n + n // 5) % 5; the default rule is their plain mean against 1.7.
SCORES = {n: (1 + n % 3, 1 + (n + n // 5) % 5) for n in range(2, 48)}


def numbers_of(study: Study, response_ids: list[int]) -> list[int]:
    return sorted([response.pk for response in study.responses].index(pk) for pk in response_ids)


def choose(study: Study, **criteria: Any) -> list[int]:
    return numbers_of(study, choose_by_scores(study.benchmark, ScoreCriteria(**criteria)).response_ids)


def test_score_band_takes_both_ends(study: Study) -> None:
    expected = [n for n, scores in SCORES.items() if 2 <= sum(scores) / 2 <= 3]

    assert choose(study, score_from=Decimal(2), score_to=Decimal(3)) == expected


def test_score_band_may_be_open_on_one_side(study: Study) -> None:
    expected = [n for n, scores in SCORES.items() if sum(scores) / 2 >= 4]

    assert choose(study, score_from=Decimal(4)) == expected
    assert expected


def test_nearness_is_measured_exactly(study: Study) -> None:
    expected = [
        n
        for n, scores in SCORES.items()
        if abs(Fraction(sum(scores), 2) - Fraction("1.7")) <= Fraction("0.2")
    ]

    assert choose(study, near_threshold=Decimal("0.2")) == expected
    assert expected
    assert choose(study, near_threshold=Decimal("0.1999")) == []


@pytest.mark.parametrize(
    ("disagreement", "differs"),
    [
        (Disagreement.READINGS, lambda a, b: (a >= 2) != (b >= 2)),
        (Disagreement.TWO_STEPS, lambda a, b: abs(a - b) >= 2),
        (Disagreement.FOUR_STEPS, lambda a, b: abs(a - b) >= 4),
    ],
    ids=["readings", "two-steps", "four-steps"],
)
def test_disagreement_is_between_the_judges(study: Study, disagreement: Disagreement, differs: Any) -> None:
    expected = [n for n, scores in SCORES.items() if differs(*scores)]

    assert choose(study, disagreement=disagreement) == expected
    assert expected


def test_criteria_hold_together(study: Study) -> None:
    expected = [n for n, (a, b) in SCORES.items() if a + b >= 6 and abs(a - b) >= 2]

    assert choose(study, score_from=Decimal(3), disagreement=Disagreement.TWO_STEPS) == expected


def test_responses_that_cannot_be_told_are_counted_apart(study: Study) -> None:
    chosen = choose_by_scores(study.benchmark, ScoreCriteria(score_from=Decimal(4)))

    # Of 48 one has no text; the second lacks a judge.
    assert (chosen.n_considered, chosen.n_without_score) == (47, 1)
    assert chosen.n_fitting == len(chosen.response_ids)


def test_models_and_categories_narrow_the_choice(study: Study) -> None:
    model, category = study.responses[2].target_model.slug, study.responses[2].prompt.risk_category

    chosen = choose_by_scores(study.benchmark, ScoreCriteria(models=[model], risk_categories=[category]))

    found = Response.objects.filter(pk__in=chosen.response_ids)
    assert {(one.target_model.slug, one.prompt.risk_category) for one in found} == {(model, category)}
    assert chosen.n_considered == len(chosen.response_ids) == 12


def test_sample_is_the_same_for_the_same_seed_only(study: Study) -> None:
    first, again, other = (choose(study, n_at_most=8, seed=seed) for seed in (1, 1, 2))

    assert first == again != other
    assert len(first) == len(other) == 8


def test_selection_tells_how_the_responses_were_found(study: Study) -> None:
    criteria = ScoreCriteria(near_threshold=Decimal("0.2"), seed=3)

    selection = choose_by_scores(study.benchmark, criteria).selection

    assert selection["chosen_by"] == "scores"
    assert (selection["near_threshold"], selection["seed"]) == ("0.2", 3)
    assert selection["pass"] == study.judge_pass.public_id
    assert selection["rule"] == grade_responses(study.benchmark).chosen.rule.to_json()


def test_rule_that_counts_votes_has_no_score_to_choose_by(study: Study) -> None:
    definition = {"kind": "any_flag", "judges": [judge.slug for judge in study.judges], "cut": 2}
    make_adoption(rule=make_rule(benchmark=study.benchmark, name="any", definition=definition))

    with pytest.raises(RuleError, match="counts votes"):
        choose_by_scores(study.benchmark, ScoreCriteria(score_from=Decimal(2)))

    assert choose(study, disagreement=Disagreement.FOUR_STEPS)


def test_benchmark_without_scores_offers_no_such_choice(db: None) -> None:
    with pytest.raises(PassError, match="No judge has scored"):
        choose_by_scores(make_benchmark(), ScoreCriteria())


@pytest.mark.parametrize(
    ("scores", "by", "is_binary", "differ"),
    [
        ([1, 2], None, False, True),
        ([2, 5], None, False, False),
        ([0, 1], None, True, True),
        ([2, 5, 3], 3, False, True),
        ([2, 4], 3, False, False),
        ([3], 2, False, None),
        ([], None, False, None),
    ],
)
def test_scores_differ_by_reading_or_by_steps(
    scores: list[int], by: int | None, is_binary: bool, differ: bool | None
) -> None:
    assert scores_differ(scores, by=by, is_binary=is_binary) is differ


def test_distance_from_threshold_has_no_sign() -> None:
    rule = uniform_rule(["a", "b"])

    assert distance_from_threshold(rule, Fraction(3, 2)) == Fraction(1, 5)
    assert distance_from_threshold(rule, Fraction(2)) == Fraction(3, 10)


def where(study: Study) -> str:
    return reverse("judging:choose_responses", args=[study.benchmark.slug])


def test_page_counts_a_choice_and_makes_nothing(researcher_client: Client, study: Study) -> None:
    expected = choose(study, score_from=Decimal(4))

    sent = researcher_client.post(where(study), {"step": "count", "score_from": "4"})

    assert sent.status_code == 200
    assert f"{len(expected)} responses chosen of {len(expected)} that fit" in sent.content.decode()
    assert Campaign.objects.count() == 1


def test_page_hands_the_choice_over_as_a_draft(researcher_client: Client, study: Study) -> None:
    sent = researcher_client.post(where(study), {"step": "draft", "score_from": "4", "name": "Grave ones"})

    made = Campaign.objects.get(name="Grave ones")
    assert sent["Location"] == reverse("annotation:campaign_labels", args=[made.public_id])
    assert made.state == CampaignState.DRAFT
    assert (made.selection or {})["score_from"] == "4"
    items = made.items.values_list("response_id", flat=True)
    assert numbers_of(study, list(items)) == choose(study, score_from=Decimal(4))
    assert AuditEvent.objects.filter(action="campaign.created", subject=f"campaign:{made.public_id}").exists()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"step": "draft", "score_from": "4"}, "The draft needs a name"),
        ({"step": "draft", "name": "x", "near_threshold": "0.1"}, "None of the 47 readable responses fits"),
        ({"score_from": "4", "score_to": "2"}, "Swap the two"),
        ({"score_from": "six"}, "Enter a number"),
        ({"score_from": "6"}, "less than or equal to 5"),
        ({"judge_pass": "nope"}, "not one of the available choices"),
        ({"models": ["nope"]}, "not one of the available choices"),
    ],
    ids=["no-name", "nothing-fits", "band-reversed", "no-number", "off-scale", "no-pass", "no-model"],
)
def test_page_refuses_what_cannot_be_chosen(
    researcher_client: Client, study: Study, data: dict[str, Any], words: str
) -> None:
    sent = researcher_client.post(where(study), data)

    assert sent.status_code == 422
    assert words in sent.content.decode()
    assert Campaign.objects.count() == 1


def test_page_is_for_researchers(
    client: Client,
    annotator_client: Client,
    adjudicator_client: Client,
    auditor_client: Client,
    study: Study,
) -> None:
    assert client.get(where(study))["Location"].startswith(reverse("login"))
    assert annotator_client.get(where(study)).status_code == 404
    assert adjudicator_client.get(where(study)).status_code == 404
    assert auditor_client.get(where(study)).status_code == 200
    assert auditor_client.post(where(study), {"step": "draft", "name": "x"}).status_code == 403


def test_page_of_an_unknown_benchmark_is_not_found(researcher_client: Client, study: Study) -> None:
    assert researcher_client.get(reverse("judging:choose_responses", args=["nowhere"])).status_code == 404


def test_page_needs_the_same_queries_however_much_there_is(
    researcher_client: Client, study: Study, django_assert_max_num_queries: Any
) -> None:
    larger = make_study(n_prompts=40, slug="larger")
    counts = []

    for found in (study, larger):
        with django_assert_max_num_queries(40) as captured:
            researcher_client.post(where(found), {"step": "count", "disagreement": "READINGS"})
        counts.append(len(captured))

    assert counts[0] == counts[1]
