"""A provider to call, for tests of the whole loop."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from judging.llm.fake_provider import FakeProviderSettings, running
from judging.llm.simulated_replies import FaultRates
from tests.passes import stage

Provide = Callable[..., Any]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(stage.KEY_VARIABLE, stage.MARKER_KEY)


@pytest.fixture
def provide(settings: Any, tmp_path: Path) -> Provide:
    """Run a provider, on a free port unless told, and write the endpoints file that leads to it."""

    @contextmanager
    def run(*, limits: dict[str, int] | None = None, port: int = 0, **behaviour: Any) -> Iterator[str]:
        faults = FaultRates(behaviour.pop("faults", {}))
        behaviour_of = FakeProviderSettings(faults=faults, retry_after="0.05", **behaviour)
        with running(behaviour_of, port=port) as base_url:
            settings.ENDPOINTS_FILE = stage.write_endpoints(
                tmp_path / "endpoints.toml", base_url, judges=stage.JUDGES, limits=limits
            )
            yield base_url

    return run
