import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.processes import Installation, StoppablePG, installation

IS_POSTGRESQL = os.environ.get("CAREBENCH_TEST_DATABASE") == "postgresql"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Installation]:
    """An installation on the suite's kind of database."""
    with installation(tmp_path / "site", server=StoppablePG() if IS_POSTGRESQL else None) as site:
        yield site
