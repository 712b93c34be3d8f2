"""Which labelled cases a judge may be shown, from the stored rows to the rows of a pass."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotation.choices import ItemKind, Rating, ResponseState
from annotation.models import Benchmark, Campaign, Response
from judging.llm.fake_provider import FakeProviderSettings, running
from judging.models import ExclusionProof, Verdict
from judging.retrieval.proofs import store_proofs
from judging.retrieval.retrieving import Retrieval, retrieve_exemplars
from tests.factories import (
    make_annotator,
    make_benchmark,
    make_campaign,
    make_item,
    make_label,
    make_pass,
    make_prompt,
    make_response,
)
from tests.passes import stage

pytestmark = pytest.mark.django_db

PROMPT = "My daughter wants to walk to the library alone. How do I prepare her for that?"
ANSWER = (
    "Walk the way together a few times, agree on a time and on whom she can ask for help, "
    "and let her tell you about it afterwards over a cup of cocoa in the kitchen."
)


@pytest.fixture(params=["tfidf", "vectors"])
def embedder(request: pytest.FixtureRequest, settings: Any, tmp_path: Path) -> Iterator[str]:
    """Offline, and with vectors of the loopback provider."""
    with running(FakeProviderSettings()) as base_url:
        path = stage.write_endpoints(tmp_path / "endpoints.toml", base_url)
        stage.add_embedder(path)
        settings.ENDPOINTS_FILE = path
        yield request.param


def add_case(
    campaign: Campaign, *, rating: Rating | None = Rating.ACCEPTABLE, answer: str | None = None, **prompt: Any
) -> Response:
    """A case with one response, labelled unless the rating is None."""
    texts = {} if answer is None else {"text": answer}
    response = make_response(prompt=make_prompt(benchmark=campaign.benchmark, **prompt), **texts)
    if rating is not None:
        item = make_item(campaign=campaign, response=response, kind=ItemKind.REGULAR)
        make_label(item=item, annotator=make_annotator(benchmark=campaign.benchmark), rating=rating)
    return response


@pytest.fixture
def campaign() -> Campaign:
    """A campaign with three cases of each kind that have little to do with the library."""
    campaign = make_campaign(benchmark=make_benchmark())
    for n in range(6):
        add_case(
            campaign,
            rating=Rating.UNACCEPTABLE if n % 2 else Rating.ACCEPTABLE,
            text=f"Which {('lamp', 'helmet', 'bell')[n % 3]} fits a small bicycle number {n}?",
            answer=f"One that is light and well tested; shop {n} has some.",
        )
    return campaign


def chosen(retrieval: Retrieval, response: Response) -> set[int]:
    return {exemplar["response"] for exemplar in retrieval.exemplars[response.pk]}


def retrieve(benchmark: Benchmark, **options: Any) -> Retrieval:
    responses = Response.objects.filter(prompt__benchmark=benchmark).order_by("pk")
    return retrieve_exemplars(benchmark, responses, **{"shots": 10, **options})


@pytest.mark.parametrize("rating", [Rating.ACCEPTABLE, Rating.UNACCEPTABLE])
def test_a_case_with_a_number_for_a_name_is_never_its_own_exemplar(
    campaign: Campaign, embedder: str, rating: Rating
) -> None:
    judged = add_case(campaign, rating=rating, case_uid="007", text=PROMPT, answer=ANSWER)
    mangled = add_case(campaign, rating=rating, case_uid="7", text=PROMPT, answer=ANSWER)
    other = add_case(
        campaign, rating=rating, case_uid="0007", text="May I keep a snail?", answer="Yes, in a box."
    )

    shown = chosen(retrieve(campaign.benchmark, embedder=embedder), judged)

    assert not shown & {judged.pk, mangled.pk}
    assert other.pk in shown


@pytest.mark.parametrize("exclusion", ["case", "response"])
@pytest.mark.parametrize(
    "copy",
    [
        pytest.param({"text": PROMPT, "answer": ANSWER}, id="a copy"),
        pytest.param({"text": PROMPT, "answer": ANSWER.upper()}, id="other capitals"),
        pytest.param({"text": PROMPT, "answer": ANSWER.replace(" ", "\u00a0 \n")}, id="other white space"),
        pytest.param({"text": PROMPT, "answer": ANSWER.replace("a", "a\u200b")}, id="invisible marks"),
        pytest.param(
            {"text": PROMPT, "answer": ANSWER.replace("over a cup", "over one cup")}, id="a near copy"
        ),
        pytest.param({"text": PROMPT + " Thanks!", "answer": ANSWER}, id="a near copy of the prompt"),
    ],
)
def test_a_copy_under_another_id_is_never_an_exemplar(
    campaign: Campaign, embedder: str, copy: dict[str, str], exclusion: str
) -> None:
    judged = add_case(campaign, rating=None, case_uid="a", text=PROMPT, answer=ANSWER)
    planted = add_case(campaign, rating=Rating.UNACCEPTABLE, case_uid="b", **copy)

    retrieval = retrieve(campaign.benchmark, embedder=embedder, exclusion=exclusion)

    assert planted.pk not in chosen(retrieval, judged)
    assert len(chosen(retrieval, judged)) == 6


def test_another_response_to_the_same_prompt_is_an_exemplar_by_response_alone(
    campaign: Campaign, embedder: str
) -> None:
    judged = add_case(campaign, text=PROMPT, answer=ANSWER)
    sibling = make_response(prompt=judged.prompt, text="A library is a calm place to meet other families.")
    make_label(
        item=make_item(campaign=campaign, response=sibling, kind=ItemKind.REGULAR),
        annotator=make_annotator(benchmark=campaign.benchmark),
    )

    by_case = retrieve(campaign.benchmark, embedder=embedder)
    by_response = retrieve(campaign.benchmark, embedder=embedder, exclusion="response")

    assert sibling.pk not in chosen(by_case, judged)
    assert sibling.pk in chosen(by_response, judged)


def test_the_nearest_of_each_kind_are_chosen_and_stored(campaign: Campaign, embedder: str) -> None:
    near = add_case(
        campaign,
        rating=Rating.UNACCEPTABLE,
        text="My son wants to walk to the library alone. How do I prepare him?",
        answer="Let him go.",
    )
    judged = add_case(campaign, rating=None, text=PROMPT, answer=ANSWER)

    retrieval = retrieve(campaign.benchmark, embedder=embedder, shots=1)

    stored = retrieval.exemplars[judged.pk]
    assert sorted(exemplar["unacceptable"] for exemplar in stored) == [False, True]
    assert [one["response"] for one in stored if one["unacceptable"]] == [near.pk]
    assert all(0 < exemplar["similarity"] < 0.98 for exemplar in stored)


def test_contested_unlabelled_and_incomplete_responses_are_no_exemplars(campaign: Campaign) -> None:
    contested = add_case(campaign, text=PROMPT, answer=ANSWER)
    make_label(
        item=contested_item(contested),
        annotator=make_annotator(benchmark=campaign.benchmark),
        rating=Rating.UNACCEPTABLE,
    )
    unlabelled = add_case(campaign, rating=None)
    cut = add_case(campaign)
    Response.objects.filter(pk=cut.pk).update(state=ResponseState.TRUNCATED)
    judged = add_case(campaign, rating=None, text=PROMPT, answer="Go together first.")

    retrieval = retrieve(campaign.benchmark)

    assert retrieval.pool["n"] == 6
    assert not chosen(retrieval, judged) & {contested.pk, unlabelled.pk, cut.pk}
    assert cut.pk not in retrieval.exemplars


def contested_item(response: Response) -> Any:
    return response.prompt.benchmark.campaigns.get().items.get(response=response)


def test_a_pool_of_one_campaign_holds_its_labels_alone(campaign: Campaign) -> None:
    elsewhere = make_campaign(benchmark=campaign.benchmark)
    for n in range(4):
        add_case(elsewhere, rating=Rating.UNACCEPTABLE if n % 2 else Rating.ACCEPTABLE)
    judged = add_case(campaign, rating=None)

    retrieval = retrieve(campaign.benchmark, pool_campaign=elsewhere)

    assert retrieval.pool["n"] == 4
    assert retrieval.pool["campaign"] == elsewhere.public_id
    assert len(chosen(retrieval, judged)) == 4


def test_what_else_is_judged_changes_no_choice(campaign: Campaign) -> None:
    judged = add_case(campaign, rating=None, text=PROMPT, answer=ANSWER)
    alone = retrieve_exemplars(campaign.benchmark, Response.objects.filter(pk=judged.pk), shots=2)
    for n in range(20):
        add_case(campaign, rating=None, text=f"A library question, number {n}", answer="Ask there.")

    among_others = retrieve(campaign.benchmark, shots=2)

    assert among_others.exemplars[judged.pk] == alone.exemplars[judged.pk]
    assert among_others.pool == alone.pool


def test_a_sliced_queryset_and_several_blocks_are_read_to_the_end(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = [add_case(campaign, rating=None) for _ in range(9)]
    everything = retrieve(campaign.benchmark, shots=2)
    monkeypatch.setattr("judging.text_reading.BLOCK_ROWS", 4)
    responses = Response.objects.filter(prompt__benchmark=campaign.benchmark).order_by("pk")

    some = retrieve_exemplars(campaign.benchmark, responses[:13], shots=2)

    assert len(some.exemplars) == 13
    assert all(some.exemplars[pk] == everything.exemplars[pk] for pk in some.exemplars)
    assert judged[0].pk in some.exemplars
    assert judged[8].pk not in some.exemplars


def test_the_proof_says_what_was_left_out_and_why(campaign: Campaign) -> None:
    judged = add_case(campaign, case_uid="007", text=PROMPT, answer=ANSWER)
    copy = add_case(campaign, case_uid="7", text=PROMPT, answer=ANSWER, rating=Rating.UNACCEPTABLE)
    judge_pass = make_pass(benchmark=campaign.benchmark)

    store_proofs(judge_pass, retrieve(campaign.benchmark).exemplars)

    proof = ExclusionProof.objects.get(judge_pass=judge_pass, response=judged)
    assert (proof.n_pool, proof.n_excluded) == (8, 2)
    assert (proof.n_same_response, proof.n_same_case, proof.n_same_text, proof.n_too_similar) == (1, 1, 2, 2)
    assert proof.nearest == [
        {
            "response": judged.pk,
            "similarity": 1.0,
            "unacceptable": False,
            "reasons": ["response", "case", "text", "similarity"],
        },
        {"response": copy.pk, "similarity": 1.0, "unacceptable": True, "reasons": ["text", "similarity"]},
    ]


def test_a_pass_stores_exemplars_and_proofs_once_for_all_its_judges(settings: Any, tmp_path: Path) -> None:
    benchmark = stage.make_material(8, n_labelled=6)
    with running(FakeProviderSettings()) as base_url:
        settings.ENDPOINTS_FILE = stage.write_endpoints(tmp_path / "e.toml", base_url, judges=stage.JUDGES)
        judge_pass = stage.start(benchmark, judges=stage.JUDGES, shots=2)

    shown = Verdict.objects.filter(judge_pass=judge_pass).order_by("pk").values_list("response", "exemplars")
    by_response: dict[int, list[Any]] = {}
    for response_id, exemplars in shown:
        by_response.setdefault(response_id, []).append(exemplars)
    assert all(len(rows) == 3 and rows[0] == rows[1] == rows[2] for rows in by_response.values())
    assert ExclusionProof.objects.filter(judge_pass=judge_pass).count() == 8
