"""Staged files: whose they are, what they are called, when they go."""

import os
import time
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from pytest_django import Settings

from annotation.models import Account, Prompt
from judging.errors import DomainError, Gone
from judging.importing import uploads
from judging.importing.files import BenchmarkNotices
from judging.importing.uploads import (
    KEPT_SECONDS,
    MAX_FILES,
    Upload,
    discard_upload,
    find_upload,
    import_upload,
    preview_upload,
    stage_upload,
)
from tests.factories import make_account

PROMPTS = (
    "case_uid,risk_category,risk_mechanism,prompt\n"
    "c1,Emotional Dependency,Companionship,How much chatting is healthy for a child?\n"
    "c2,Emotional Dependency,,When should a parent step in?\n"
)


@pytest.fixture(autouse=True)
def data_folder(settings: Settings, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path
    return tmp_path / "uploads"


def staged(owner: Account, *files: tuple[str, str], slug: str = "new", **values: Any) -> Upload:
    given = files or (("prompts.csv", PROMPTS),)
    arguments: dict[str, Any] = {
        "encoding": "utf-8",
        "pass_name": "imported",
        "notices": BenchmarkNotices(),
    } | values
    sent = [SimpleUploadedFile(name, text.encode()) for name, text in given]
    return stage_upload(sent, owner=owner, benchmark_slug=slug, **arguments)


def test_upload_waits_until_its_owner_imports_it(researcher: Account, data_folder: Path) -> None:
    upload = find_upload(staged(researcher).token, owner=researcher)

    assert preview_upload(upload).total("prompts")["created"] == 2
    assert not Prompt.objects.exists()
    assert import_upload(upload, actor=researcher, skips_bad_rows=False).is_stored
    assert Prompt.objects.count() == 2
    assert list(data_folder.iterdir()) == []


def test_upload_keeps_encoding_pass_and_notices(researcher: Account) -> None:
    notices = BenchmarkNotices(licence="CC0", attribution="The study group", canary="canary 1")

    upload = staged(researcher, encoding="cp1252", pass_name="second", notices=notices)

    assert (upload.encoding, upload.pass_name, upload.notices) == ("cp1252", "second", notices)


def test_upload_of_someone_else_is_not_there(researcher: Account) -> None:
    upload = staged(researcher)

    with pytest.raises(Gone, match="no longer here"):
        find_upload(upload.token, owner=make_account())


@pytest.mark.parametrize("token", ["../../etc", "0" * 32, "", "A" * 32])
def test_upload_of_an_unknown_token_is_gone(researcher: Account, token: str) -> None:
    with pytest.raises(Gone):
        find_upload(token, owner=researcher)


def test_upload_with_bad_rows_stays(researcher: Account, data_folder: Path) -> None:
    bad = PROMPTS + "c3,,,A prompt without a category\n"
    upload = staged(researcher, ("prompts.csv", bad))

    outcome = import_upload(upload, actor=researcher, skips_bad_rows=False)

    assert not outcome.is_stored
    assert find_upload(upload.token, owner=researcher) == upload


def test_good_rows_of_an_upload_can_be_stored_alone(researcher: Account) -> None:
    upload = staged(researcher, ("prompts.csv", PROMPTS + "c3,,,A prompt without a category\n"))

    outcome = import_upload(upload, actor=researcher, skips_bad_rows=True)

    assert outcome.is_stored
    assert Prompt.objects.count() == 2


def test_discarded_upload_is_gone(researcher: Account, data_folder: Path) -> None:
    upload = staged(researcher)

    discard_upload(upload)
    discard_upload(upload)

    assert list(data_folder.iterdir()) == []


def test_upload_is_gone_after_a_day_and_swept_by_the_next(researcher: Account, data_folder: Path) -> None:
    old = staged(researcher)
    yesterday = time.time() - KEPT_SECONDS - 60
    for path in (data_folder / old.token / uploads.NOTE_NAME, data_folder / old.token):
        os.utime(path, (yesterday, yesterday))

    with pytest.raises(Gone):
        find_upload(old.token, owner=researcher)
    new = staged(researcher)

    assert [folder.name for folder in data_folder.iterdir()] == [new.token]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["prompts.csv", "prompts.csv", "prompts.csv"], ["prompts.csv", "prompts-2.csv", "prompts-3.csv"]),
        (["../../prompts.csv"], ["prompts.csv"]),
        (["..", ".", ""], ["file.csv", "file-2.csv", "file-3.csv"]),
        (["<b>a</b> b.csv"], ["b_b.csv"]),
        (["x" * 300 + ".csv"], ["x" * 96 + ".csv"]),
        ([".upload.json"], ["upload.json"]),
        (["a", "a"], ["a", "a-2"]),
    ],
    ids=["equal", "folders", "nothing", "markup", "long", "hidden", "no ending"],
)
def test_file_names_are_made_safe(given: list[str], kept: list[str]) -> None:
    assert uploads._safe_names(given) == kept


def test_too_many_files_are_refused(researcher: Account, data_folder: Path) -> None:
    with pytest.raises(DomainError, match="21 files") as refused:
        staged(researcher, *[(f"{n}.csv", PROMPTS) for n in range(MAX_FILES + 1)])

    assert refused.value.code == "too_many_files"
    assert not data_folder.exists()


def test_too_many_bytes_are_refused(researcher: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MAX_UPLOAD_BYTES", 100)

    with pytest.raises(DomainError, match="the limit is 100") as refused:
        staged(researcher)

    assert refused.value.code == "upload_too_large"


def test_two_files_of_one_name_are_both_read(researcher: Account) -> None:
    more = "case_uid,risk_category,risk_mechanism,prompt\nc9,Grief,,How do I talk about loss?\n"

    upload = staged(researcher, ("prompts.csv", PROMPTS), ("prompts.csv", more))

    assert preview_upload(upload).total("prompts")["created"] == 3
