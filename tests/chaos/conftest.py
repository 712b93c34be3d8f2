import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.material import Shelf, write_files
from tests.chaos.processes import Installation, installation
from tests.chaos.servers import StoppablePG, stoppable_redis

IS_POSTGRESQL = os.environ.get("CAREBENCH_TEST_DATABASE") == "postgresql"

MakeSite = Callable[..., AbstractContextManager[Installation]]


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    """The prepared database: tables and 500 responses, 40 of them labelled."""
    folder = tmp_path_factory.mktemp("shelf")
    shelf = Shelf(folder, StoppablePG() if IS_POSTGRESQL else None)
    with installation(folder / "maker", database=shelf.make_room()) as maker:
        maker.manage("migrate", "--verbosity", "0")
        maker.manage("import_files", str(write_files(folder / "files")), "--benchmark", "b")
    yield shelf
    if shelf.server is not None:
        shelf.server.stop()


@pytest.fixture
def make_site(shelf: Shelf, tmp_path: Path) -> MakeSite:
    """Makes installations: SQLite with the embedded worker, or PostgreSQL with Redis and Celery."""

    @contextmanager
    def make(**options: Any) -> Iterator[Installation]:
        database = shelf.copy_template()
        if not IS_POSTGRESQL:
            with installation(tmp_path / "site", database=database, **options) as site:
                yield site
            return
        with (
            stoppable_redis(tmp_path / "redis") as broker,
            installation(tmp_path / "site", database=database, broker=broker, **options) as site,
        ):
            yield site

    return make


@pytest.fixture
def site(make_site: MakeSite) -> Iterator[Installation]:
    """An installation as the suite's kind of database is deployed."""
    with make_site() as site:
        yield site
