"""Vectors bought at the loopback provider: each once, kept per batch, within the caps, or told why not."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotation.models import AuditEvent, Response
from judging.errors import PassError
from judging.llm.fake_provider import FakeProviderSettings, running
from judging.llm.simulated_replies import FaultRates
from judging.models import Embedding, JudgePass, Verdict
from judging.retrieval.embedders import cut_text, offered_embedders, seat_embedder
from judging.retrieval.embedding_estimate import estimate_embeddings
from judging.retrieval.endpoint_embedder import BATCH_BYTES, batches_of
from judging.retrieval.retrieving import Retrieval, retrieve_exemplars
from tests.passes import stage

# Each test makes so many texts: two full batches and a part of one.
N_TEXTS = 150
N_CALLS = 1 + 3

pytestmark = pytest.mark.django_db

Provide = Callable[..., Any]


@pytest.fixture
def provide(settings: Any, tmp_path: Path) -> Provide:
    """Run a provider and write the endpoints file that offers a judge and the embedder `vectors`."""

    @contextmanager
    def run(
        *,
        port: int = 0,
        price: str | None = "1",
        dimensions: int | None = None,
        limits: dict[str, int] | None = None,
        prices: tuple[str, str] | None = ("1", "1"),
        **behaviour: Any,
    ) -> Iterator[str]:
        faults = FaultRates(behaviour.pop("faults", {}))
        with running(FakeProviderSettings(faults=faults, **behaviour), port=port) as base_url:
            path = stage.write_endpoints(tmp_path / "endpoints.toml", base_url, prices=prices, limits=limits)
            stage.add_embedder(path, price=price, dimensions=dimensions)
            settings.ENDPOINTS_FILE = path
            yield base_url

    return run


@pytest.fixture
def responses() -> Any:
    """The responses of a benchmark, each with a text of its own, six of them labelled."""
    benchmark = stage.make_material(N_TEXTS, n_labelled=6)
    return Response.objects.filter(prompt__benchmark=benchmark).order_by("pk")


def retrieve(responses: Any, **options: Any) -> Retrieval:
    benchmark = responses[0].prompt.benchmark
    return retrieve_exemplars(benchmark, responses, **{"shots": 2, "embedder": "vectors", **options})


def test_each_text_is_bought_once_and_never_again(provide: Provide, responses: Any) -> None:
    with provide() as base_url:
        first = retrieve(responses)
        again = retrieve(responses)
        stats = stage.stats(base_url)

    # The pool is embedded before the rest, so there is one call more than full batches need.
    assert stats["embedding_calls"] == first.spent.n_calls == N_CALLS + 1
    assert (stats["embedded"], stats["embedded_again"]) == (N_TEXTS + 1, 0)
    assert (again.spent.n_calls, again.spent.n_texts, again.spent.cost_micros) == (0, 0, 0)
    assert dict(again.exemplars) == dict(first.exemplars)
    assert first.is_simulated
    assert again.is_simulated


def test_vectors_are_kept_as_float32_of_length_one_under_the_embedders_identity(
    provide: Provide, responses: Any
) -> None:
    with provide():
        retrieve(responses)

    seat = seat_embedder("vectors")
    assert seat is not None
    kept = Embedding.objects.filter(embedder=seat.cache_name)
    assert kept.count() == N_TEXTS + 1
    assert set(kept.values_list("n_dimensions", "is_simulated")) == {(256, True)}
    vectors = [np.frombuffer(blob, dtype="<f4") for blob in kept.values_list("vector", flat=True)]
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_what_was_spent_is_counted_and_told(provide: Provide, responses: Any) -> None:
    with provide(price="2.5"):
        spent = retrieve(responses).spent

    [event] = AuditEvent.objects.filter(action="embeddings.bought")
    assert spent.n_texts == N_TEXTS + 1
    # Each call is rounded up to a millionth.
    assert 0 <= spent.cost_micros - Decimal("2.5") * spent.n_tokens <= spent.n_calls
    assert event.detail == {
        "embedder": "vectors",
        "endpoint": "local-0",
        "n_calls": spent.n_calls,
        "n_texts": spent.n_texts,
        "n_tokens": spent.n_tokens,
        "cost_micros": spent.cost_micros,
    }


def test_a_broken_start_goes_on_where_it_stopped(provide: Provide, responses: Any) -> None:
    with provide(limits={"max_in_flight": 1}, revoke_embeddings_after=3) as base_url:
        port = stage.port_of(base_url)
        with pytest.raises(
            PassError, match=r"vectors at local-0.*key refused.*71 texts\) is kept"
        ) as refusal:
            retrieve(responses)
    n_kept = Embedding.objects.count()

    with provide(port=port) as base_url:
        retrieve(responses)
        stats = stage.stats(base_url)

    assert refusal.value.code == "embedding_failed"
    assert n_kept == 1 + 6 + 64
    assert stats["embedded"] == 1 + N_TEXTS - (n_kept - 1)


def test_no_pass_starts_without_its_vectors(provide: Provide) -> None:
    benchmark = stage.make_material(8, n_labelled=6)

    with provide(revoke_embeddings_after=0) as base_url:
        with pytest.raises(PassError, match="No pass was started"):
            stage.start(benchmark, shots=1, embedder="vectors")
        stats = stage.stats(base_url)

    assert not JudgePass.objects.exists()
    assert not Verdict.objects.exists()
    assert (stats["calls"], stats["embedding_calls"]) == (0, 1)


def test_a_pass_freezes_its_embedder_and_counts_what_that_cost(provide: Provide) -> None:
    benchmark = stage.make_material(8, n_labelled=6)

    with provide(dimensions=64) as base_url:
        judge_pass = stage.start(benchmark, shots=1, embedder="vectors")

    frozen = judge_pass.configuration["pool"]
    assert {name: value for name, value in frozen.items() if name.startswith("embedder")} == {
        "embedder": "vectors",
        "embedder_endpoint": "local-0",
        "embedder_base_url": base_url,
        "embedder_model_id": "simulated-vectors",
        "embedder_dimensions": 64,
        "embedder_version": "1; first 8000 bytes",
    }
    assert (frozen["n"], frozen["n_unacceptable"], frozen["max_similarity"]) == (6, 3, 0.98)
    assert judge_pass.is_simulated
    assert judge_pass.n_calls_reserved == 3
    assert judge_pass.cost_settled_micros == judge_pass.cost_reserved_micros > 0


def test_another_length_is_another_embedder(provide: Provide, responses: Any) -> None:
    with provide(dimensions=64) as base_url:
        port = stage.port_of(base_url)
        retrieve(responses)
    with provide(port=port, dimensions=32) as base_url:
        retrieve(responses)
        stats = stage.stats(base_url)

    assert stats["embedded"] == N_TEXTS + 1
    assert set(Embedding.objects.values_list("n_dimensions", flat=True)) == {32, 64}


@pytest.mark.parametrize("cap", [1, 2, 4])
def test_a_cap_on_calls_holds_for_vectors(provide: Provide, responses: Any, cap: int) -> None:
    with provide() as base_url:
        with pytest.raises(PassError, match=f"cap of {cap} calls is used up") as refusal:
            retrieve(responses, max_calls=cap)
        stats = stage.stats(base_url)

    n_kept = Embedding.objects.count()
    assert refusal.value.code == "budget_used_up"
    assert stats["embedding_calls"] == cap
    assert f"({n_kept} {'text' if n_kept == 1 else 'texts'}) is kept" in refusal.value.message


def test_a_cap_on_money_is_never_passed(provide: Provide, responses: Any) -> None:
    with provide(price="1000") as base_url:
        with pytest.raises(PassError, match=r"cap of 5.00 is used up"):
            retrieve(responses, max_cost=Decimal(5))
        stats = stage.stats(base_url)

    [event] = AuditEvent.objects.filter(action="embeddings.bought")
    assert 0 < event.detail["cost_micros"] <= 5_000_000
    assert stats["embedding_calls"] == event.detail["n_calls"]


def test_a_money_cap_without_a_price_is_refused_before_any_call(provide: Provide, responses: Any) -> None:
    with provide(price=None) as base_url:
        with pytest.raises(PassError, match="needs the price of vectors") as refusal:
            retrieve(responses, max_cost=Decimal(5))
        stats = stage.stats(base_url)

    assert refusal.value.code == "unknown_price"
    assert stats["embedding_calls"] == 0


def test_passing_faults_are_tried_again(provide: Provide, responses: Any) -> None:
    faults = {"server_error": 0.2, "rate_limited": 0.2}
    with provide(faults=faults, retry_after="0.01") as base_url:
        spent = retrieve(responses).spent
        stats = stage.stats(base_url)

    assert stats["embedding_calls"] == spent.n_calls >= N_CALLS + 1
    assert stats["embedded_again"] == 0
    assert Embedding.objects.count() == N_TEXTS + 1


def test_a_long_wait_is_told_and_not_waited_for(provide: Provide, responses: Any) -> None:
    with provide(faults={"rate_limited": 1.0}, retry_after="3600") as base_url:
        with pytest.raises(PassError, match=r"asks to wait until \d\d:\d\d\. Start again then"):
            retrieve(responses)
        stats = stage.stats(base_url)

    assert stats["embedding_calls"] == 1


def test_a_redirecting_endpoint_is_refused_and_the_other_host_sees_nothing(
    provide: Provide, responses: Any
) -> None:
    with running(FakeProviderSettings()) as other:
        with (
            provide(faults={"redirect": 1.0}, redirect_to=other + "/embeddings"),
            pytest.raises(PassError, match="request refused"),
        ):
            retrieve(responses)
        stats = stage.stats(other)

    assert stats["embedding_calls"] == 0


def test_a_model_that_was_exchanged_behind_its_name_is_noticed(provide: Provide, responses: Any) -> None:
    with provide():
        retrieve(responses[:100])
        [known] = Embedding.objects.order_by("pk")[:1]
        Embedding.objects.filter(pk=known.pk).update(vector=np.eye(1, 256, dtype="<f4").tobytes())

        with pytest.raises(PassError, match="no longer gives the vectors that it gave before") as refusal:
            retrieve(responses)

    assert refusal.value.code == "embedder_changed"
    assert Embedding.objects.count() == 101


def test_the_rate_of_the_endpoint_is_kept(provide: Provide, responses: Any) -> None:
    import time

    with provide(limits={"requests_per_minute": 600}):
        started = time.monotonic()
        retrieve(responses)
        seconds = time.monotonic() - started

    assert seconds >= N_CALLS * 60 / 600


def test_the_estimate_is_what_is_then_asked_for(provide: Provide, responses: Any) -> None:
    benchmark = responses[0].prompt.benchmark
    with provide(price="1000") as base_url:
        before = estimate_embeddings(benchmark, responses, embedder="vectors")
        assert stage.stats(base_url)["embedding_calls"] == 0
        spent = retrieve(responses).spent
        after = estimate_embeddings(benchmark, responses, embedder="vectors")

    assert (before.n_texts, before.n_missing) == (N_TEXTS, N_TEXTS)
    assert before.n_calls == spent.n_calls
    assert spent.n_tokens == pytest.approx(before.n_tokens, rel=0.02)
    assert before.cost < Decimal(spent.cost_micros or 0) / 1_000_000 < before.worst_cost
    assert (after.n_missing, after.n_calls, after.n_tokens, after.cost) == (0, 0, 0, 0)


def test_tfidf_needs_no_call_and_an_unknown_price_no_guess(provide: Provide, responses: Any) -> None:
    benchmark = responses[0].prompt.benchmark
    with provide(price=None):
        offline = estimate_embeddings(benchmark, responses, embedder="tfidf")
        unpriced = estimate_embeddings(benchmark, responses, embedder="vectors")

    assert offline is None
    assert (unpriced.cost, unpriced.worst_cost) == (None, None)


def test_embedders_are_offered_with_tfidf_first(provide: Provide, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with provide():
        offered = [(one.slug, one.endpoint_name, one.has_key) for one in offered_embedders()]

    assert offered == [
        ("tfidf", None, True),
        ("vectors", "local-0", True),
        ("text-embedding-3-small", "openai", False),
    ]


@pytest.mark.parametrize("slug", ["gpt-5.4", "no-such-model", ""])
def test_only_an_embedder_embeds(provide: Provide, responses: Any, slug: str) -> None:
    with provide(), pytest.raises(PassError, match=r"no embedder .* Known: tfidf, vectors"):
        retrieve(responses, embedder=slug)


def test_a_long_text_is_cut_between_two_characters() -> None:
    text = "é" * 5_000

    assert cut_text("short") == "short"
    assert cut_text(text) == "é" * 4_000
    assert cut_text("a" + text) == "a" + "é" * 3_999


def test_batches_keep_to_texts_and_bytes_and_leave_none_out() -> None:
    texts = {f"hash-{n}": "x" * length for n, length in enumerate([BATCH_BYTES // 2] * 3 + [1] * 70)}

    batches = list(batches_of(texts))

    assert [len(batch) for batch in batches] == [2, 64, 7]
    assert {text_hash: text for batch in batches for text_hash, text in batch.items()} == texts
    assert list(batches_of({})) == []
