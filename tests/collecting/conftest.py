"""A provider that target models answer at, for tests of a whole collection."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from judging.llm.fake_provider import FakeProviderSettings, running
from judging.llm.simulated_replies import FaultRates
from tests.collecting import stage

Provide = Callable[..., Any]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(stage.KEY_VARIABLE, "marker-key-4711")


@pytest.fixture
def provide(settings: Any, tmp_path: Path) -> Provide:
    """Run a provider and write the endpoints file that leads to it."""

    @contextmanager
    def run(
        *, prices: tuple[str, str] | None = None, limits: dict[str, int] | None = None, **behaviour: Any
    ) -> Iterator[str]:
        faults = FaultRates(behaviour.pop("faults", {}))
        with running(FakeProviderSettings(faults=faults, retry_after="0.05", **behaviour)) as base_url:
            settings.ENDPOINTS_FILE = stage.write_endpoints(
                tmp_path / "endpoints.toml", base_url, prices=prices, limits=limits
            )
            yield base_url

    return run
