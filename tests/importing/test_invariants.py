"""What holds for any files: every row is counted once, and a second import finds all of it."""

import itertools
import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.models import Label, Prompt, Response
from judging.models import Verdict
from tests.importing.sheets import (
    ANSWER,
    Row,
    codes,
    counts,
    import_rows,
    label_row,
    prompt_row,
    response_row,
    score_row,
)

NUMBERS = itertools.count(1)

case_uids = st.sampled_from(["1", "01", " 1 ", "2", ""])
mechanisms = st.sampled_from(["", "Talk", "Other"])
prompts = st.sampled_from(["Same question?", "Same question?", "Another?", " "])
rollouts = st.sampled_from(["0", "1", "1.0", "", "x"])
texts = st.sampled_from([ANSWER, "", "None", "two\nlines", "\x00"])
errors = st.sampled_from(["", "", "timeout"])

prompt_rows = st.builds(prompt_row, case_uid=case_uids, risk_mechanism=mechanisms, prompt=prompts)
response_rows = st.builds(
    response_row,
    case_uid=case_uids,
    risk_mechanism=mechanisms,
    rollout=rollouts,
    response=texts,
    error=errors,
)
label_rows = st.builds(
    label_row,
    case_uid=case_uids,
    rollout=st.sampled_from(["", "", "0", "1", "7"]),
    exemplar_response=texts,
    human_rating=st.sampled_from(["Yes", "yes", "No", "1"]),
    annotator=st.sampled_from(["", "ann-1", "ann-2"]),
    severity=st.sampled_from(["", "1", "3", "9"]),
)
score_rows = st.builds(
    score_row,
    case_uid=case_uids,
    rollout=rollouts,
    judge=st.sampled_from(["gpt_5_4", "gpt-5.4", "judge-a"]),
    score=st.sampled_from(["1", "4.0", "-1", "", "6"]),
)
tables = st.fixed_dictionaries(
    {
        "prompts": st.lists(prompt_rows, min_size=1, max_size=5),
        "responses": st.lists(response_rows, min_size=1, max_size=6),
        "labels": st.lists(label_rows, min_size=1, max_size=8),
        "scores": st.lists(score_rows, min_size=1, max_size=6),
    }
)


@pytest.mark.django_db
@settings(max_examples=60, deadline=None)
@given(tables=tables, seed=st.integers(0, 1000))
def test_every_row_is_counted_once_and_found_again(tables: dict[str, list[Row]], seed: int) -> None:
    slug = f"trial-{next(NUMBERS)}"
    options = {"benchmark_slug": slug, "skips_bad_rows": True}
    shuffled = {kind: random.Random(seed).sample(rows, len(rows)) for kind, rows in tables.items()}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        preview = import_rows(folder, options | {"is_dry_run": True}, **tables)
        first = import_rows(folder, options, **tables)
        again = import_rows(folder, options, **shuffled)

    assert codes(preview) == codes(first)
    assert first.is_stored
    for file in (*first.files, *again.files):
        assert file.rows == file.created + file.unchanged + file.rejected
        assert file.rejected == len(file.problems)
        assert file.rows == len(tables[file.kind or ""])
        assert file.normalised <= file.created + file.unchanged
    for kind in tables:
        created, unchanged, rejected = counts(first, kind)
        assert counts(again, kind) == (0, created + unchanged, rejected)
    assert Prompt.objects.filter(benchmark__slug=slug).count() == (
        counts(first, "prompts")[0] + sum(file.implied["prompts"] for file in first.files)
    )
    assert Response.objects.filter(prompt__benchmark__slug=slug).count() == (
        counts(first, "responses")[0] + first.files[2].implied["responses"]
    )
    assert Label.objects.filter(item__campaign__benchmark__slug=slug).count() == counts(first, "labels")[0]
    assert Verdict.objects.filter(judge_pass__benchmark__slug=slug).count() == counts(first, "scores")[0]
