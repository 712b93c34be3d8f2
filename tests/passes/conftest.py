from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judging.llm.fake_provider import FakeProviderSettings, running
from tests.passes import stage


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(stage.KEY_VARIABLE, stage.MARKER_KEY)


@pytest.fixture
def provider(settings: Any, tmp_path: Path) -> Iterator[str]:
    """A provider that answers, and the endpoints file that leads to it."""
    with running(FakeProviderSettings(required_key=stage.MARKER_KEY)) as base_url:
        settings.ENDPOINTS_FILE = stage.write_endpoints(
            tmp_path / "endpoints.toml", base_url, judges=stage.JUDGES
        )
        yield base_url
