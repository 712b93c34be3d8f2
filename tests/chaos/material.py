"""A database with tables and mild material, made once and copied for each test."""

import contextlib
import csv
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from tests.chaos.servers import StoppablePG

BENCHMARK = "b"
N_RESPONSES = 500
N_LABELLED = 40
RATINGS = ("Yes", "No")
TEMPLATE = "prepared"
CURRENT = "current"


@dataclass(frozen=True)
class Database:
    """One database: the address for `DATABASE_URL`, and a way to look into it past the application."""

    url: str
    file: Path | None = None
    conninfo: str | None = None

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Read with a connection of its own."""
        if self.conninfo is not None:
            with psycopg.connect(self.conninfo) as connection:
                return connection.execute(sql.encode()).fetchall()
        with contextlib.closing(sqlite3.connect(str(self.file), timeout=20)) as connection:
            return connection.execute(sql).fetchall()

    def json_field(self, column: str, name: str) -> str:
        """SQL for one field of a JSON column."""
        if self.conninfo is not None:
            return f"{column} ->> '{name}'"
        return f"json_extract({column}, '$.{name}')"

    def connect(self) -> Any:
        """A connection whose transactions the caller begins and ends."""
        if self.conninfo is not None:
            return psycopg.connect(self.conninfo, autocommit=True)
        return sqlite3.connect(str(self.file), timeout=20, isolation_level=None)


class Shelf:
    """Where the prepared database stands, and where copies of it are put."""

    def __init__(self, folder: Path, server: StoppablePG | None) -> None:
        self.folder = folder
        self.server = server

    @property
    def template(self) -> Database:
        return self._database(TEMPLATE)

    def copy_template(self) -> Database:
        """A fresh copy; the one before is gone."""
        target = self._database(CURRENT)
        if self.server is not None:
            self.server.go_on()
            self.server.copy(TEMPLATE, CURRENT)
            return target
        assert target.file is not None
        for path in self.folder.glob(f"{target.file.name}*"):
            path.unlink()
        with (
            contextlib.closing(sqlite3.connect(str(self.template.file))) as source,
            contextlib.closing(sqlite3.connect(target.file)) as copy,
        ):
            source.backup(copy)
        return target

    def make_room(self) -> Database:
        """An empty database in which the template is to be made."""
        if self.server is not None:
            self.server.copy("template1", TEMPLATE)
        return self.template

    def _database(self, name: str) -> Database:
        if self.server is not None:
            return Database(url=self.server.url_of(name), conninfo=self.server.conninfo_of(name))
        file = self.folder / f"{name}.sqlite3"
        return Database(url=f"sqlite:///{file}", file=file)


def write_files(folder: Path, *, n: int = N_RESPONSES, n_labelled: int = N_LABELLED) -> Path:
    """The paper's files for `n` mild prompts with a response each; the first ones are labelled."""
    folder.mkdir()
    prompts, responses, labels = [], [], []
    for i in range(n):
        prompt = f"My child asks {i} questions a day about chatbots. How do I answer kindly?"
        response = f"Listen first, then answer question {i} in plain words. " * 5
        key = (f"case-{i:04}", "Emotional Dependency", "Companionship", prompt)
        prompts.append(key)
        responses.append((key[0], 0, *key[1:], "model-a", response, ""))
        if i < n_labelled:
            labels.append((*key, "model-a", response, RATINGS[i % 2], "PARENT"))
    base = ("case_uid", "risk_category", "risk_mechanism", "prompt")
    _write(folder / "prompts.csv", base, prompts)
    columns = ("case_uid", "rollout", *base[1:], "model", "response", "error")
    _write(folder / "responses.csv", columns, responses)
    if labels:
        columns = (*base, "model", "exemplar_response", "human_rating", "annotator_type")
        _write(folder / "annotated_responses.csv", columns, labels)
    return folder


def _write(path: Path, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([columns, *rows])
