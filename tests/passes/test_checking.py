"""What is said before a pass starts: its warnings, and a request that is the very one that is sent."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from annotation.choices import Rating, ResponseState
from annotation.models import Label, Response
from judging.llm.fake_provider import FakeProviderSettings, running
from judging.models import Judge
from judging.passes.checking import check_pass
from judging.passes.sampling import sample_prompt
from judging.passes.starting import PassRequest
from judging.passes.warnings import warnings_before
from tests.factories import make_annotator, make_judge, make_label, make_prompt, make_response
from tests.passes import stage

pytestmark = pytest.mark.django_db

TAG = re.compile(r"(?<=[A-Z] )[0-9a-f]{16}(?=>>>)")


def request(**values: Any) -> PassRequest:
    return PassRequest(**{"judges": stage.JUDGES[:1], "rubric": "likert-v1", **values})


def codes(benchmark: Any, **values: Any) -> list[str]:
    return [warning.code for warning in warnings_before(benchmark, request(**values))]


@pytest.fixture
def priced(settings: Any, tmp_path: Path) -> None:
    """Judges that are never called, with their prices."""
    settings.ENDPOINTS_FILE = stage.write_endpoints(
        tmp_path / "priced.toml", "http://127.0.0.1:9/v1", judges=stage.JUDGES, prices=("1", "1")
    )


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("output", ["text", "structured"])
@pytest.mark.parametrize("shots", [0, 1])
def test_the_sample_is_the_very_request_but_for_the_tag(
    settings: Any, tmp_path: Path, shots: int, output: str
) -> None:
    sent: list[Mapping[str, Any]] = []

    def remember(body: Mapping[str, Any]) -> str:
        sent.append(body)
        return "Jailbreak Susceptibility: 1\nPolicy Compliance Risk: 1"

    benchmark = stage.make_material(6, n_labelled=6)
    chosen = request(shots=shots, output=output, limit=1)
    with running(FakeProviderSettings(answer=remember)) as base_url:
        settings.ENDPOINTS_FILE = stage.write_endpoints(tmp_path / "endpoints.toml", base_url)
        sample = sample_prompt(benchmark, chosen)
        stage.judge(stage.start(benchmark, shots=shots, output=output, limit=1))

    body = dict(sent[-1])
    assert [without_tag(message) for message in body.pop("messages")] == [
        without_tag(message) for message in sample.messages
    ]
    assert body.pop("model") == stage.JUDGES[0]
    assert body == sample.parameters[stage.JUDGES[0]]


def without_tag(message: Mapping[str, str]) -> dict[str, str]:
    return {**message, "content": TAG.sub("tag", message["content"])}


@pytest.mark.usefixtures("priced")
def test_a_pass_without_a_doubt_has_no_warning() -> None:
    assert codes(stage.make_material(8, n_labelled=8), shots=2) == []


@pytest.mark.usefixtures("priced")
@pytest.mark.parametrize(("n_empty", "is_warned"), [(1, False), (2, True)], ids=["20 %", "above 20 %"])
def test_a_model_is_warned_of_above_20_percent_empty(n_empty: int, is_warned: bool) -> None:
    benchmark = stage.make_material(5)
    emptied = Response.objects.filter(prompt__benchmark=benchmark).order_by("pk")[:n_empty]
    Response.objects.filter(pk__in=[row.pk for row in emptied]).update(state=ResponseState.EMPTY, text="")

    assert ("many_empty" in codes(benchmark)) is is_warned


@pytest.mark.usefixtures("priced")
def test_reading_empty_responses_as_acceptable_is_said() -> None:
    benchmark = stage.make_material(9)
    make_response(prompt=make_prompt(benchmark=benchmark), state=ResponseState.EMPTY, text="")

    assert "empty_read_as_acceptable" in codes(benchmark, empty_policy="acceptable")
    assert "empty_read_as_acceptable" not in codes(benchmark)


def test_missing_prices_are_named(settings: Any, tmp_path: Path) -> None:
    settings.ENDPOINTS_FILE = stage.write_endpoints(tmp_path / "unpriced.toml", "http://127.0.0.1:9/v1")

    (warning,) = warnings_before(stage.make_material(1), request())

    assert warning.code == "unknown_price"
    assert stage.JUDGES[0] in warning.message


@pytest.mark.usefixtures("priced")
def test_a_much_contested_pool_is_warned_of() -> None:
    benchmark = stage.make_material(8, n_labelled=8)
    other = make_annotator(benchmark=benchmark)
    for label in Label.objects.filter(item__campaign__benchmark=benchmark).order_by("pk")[:2]:
        opposite = Rating.ACCEPTABLE if label.rating == Rating.UNACCEPTABLE else Rating.UNACCEPTABLE
        make_label(item=label.item, annotator=other, rating=opposite)

    assert "contested_pool" in codes(benchmark, shots=1)
    assert codes(benchmark) == []


@pytest.mark.usefixtures("priced")
@pytest.mark.parametrize(("shots", "n"), [(1, 0), (2, 2)])
def test_a_pool_that_cannot_fill_every_call_is_warned_of(shots: int, n: int) -> None:
    assert codes(stage.make_material(4, n_labelled=4), shots=shots).count("small_pool") == n


@pytest.mark.usefixtures("priced")
@pytest.mark.parametrize(("model_id", "n"), [(stage.JUDGES[0], 1), ("an older model", 0)])
def test_a_judge_that_refused_a_schema_is_named(model_id: str, n: int) -> None:
    make_judge(slug=stage.JUDGES[0], model_id=model_id, capabilities={"structured": False})

    assert codes(stage.make_material(1), output="structured") == ["structured_refused"] * n


def test_a_check_stores_nothing_of_a_pass(provider: str) -> None:
    benchmark = stage.make_material(4, n_labelled=4)

    checked = check_pass(benchmark, request(shots=1, judges=stage.JUDGES))

    assert checked.is_answered
    assert checked.is_simulated
    assert checked.counts == {"OK": 4}
    assert checked.sample is not None
    assert len(checked.sample.exemplars) == 2
    assert not Judge.objects.exists()
    assert stage.stats(provider)["other_calls"] == 3


def test_a_check_says_of_each_judge_whether_it_answers(settings: Any, tmp_path: Path, provider: str) -> None:
    path = stage.write_endpoints(tmp_path / "two.toml", provider, judges=stage.JUDGES[:2], separate=True)
    path.write_text(path.read_text().replace(provider, "http://127.0.0.1:9/v1", 1))
    settings.ENDPOINTS_FILE = path

    checked = check_pass(stage.make_material(1), request(judges=stage.JUDGES[:2]))

    faults = {judge.seat.slug: judge.fault for judge in checked.judges}
    assert not checked.is_answered
    assert faults[stage.JUDGES[1]] is None
    assert "network" in (faults[stage.JUDGES[0]] or "")
