import pytest

from tests.passes import stage


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(stage.KEY_VARIABLE, stage.MARKER_KEY)
