"""What a pass froze is what it is judged by, whatever is edited meanwhile."""

import shutil
from functools import partial
from pathlib import Path

import pytest

from tests.chaos.conftest import MakeSite
from tests.chaos.processes import ROOT, kill, wait_until
from tests.chaos.totals import assert_one_honest_result_a_row

PARTS = ("carebench_web", "annotation", "judging", "templates", "tests", "manage.py", "pyproject.toml")


@pytest.mark.long
def test_a_template_edited_in_mid_pass_leaves_the_pass_to_its_old_text(
    make_site: MakeSite, tmp_path: Path
) -> None:
    """After the edit the shipped text asks for a word instead of scores; no such reply may come."""
    root = copy_checkout(tmp_path / "checkout")
    rubrics = root / "judging" / "llm" / "rubrics"
    with make_site(root=root) as site:
        provider = site.start_judging_provider("--latency-ms", "300")
        judge_pass = site.start_pass("--limit", "100")
        frozen = site.query("SELECT digest, configuration FROM judging_judgepass")
        worker = site.start_worker()
        wait_until(partial(site.has_settled, 60), most_s=60)
        (rubrics / "likert-v1.txt").write_text((rubrics / "binary-v1.txt").read_text())
        kill(worker)
        site.start_worker()
        wait_until(site.is_over, most_s=60)

        assert site.status(judge_pass)["counts"] == {"SCORED": 300}
        assert site.query("SELECT digest, configuration FROM judging_judgepass") == frozen
        assert_one_honest_result_a_row(site, provider, n_rows=300, n_kills=1)


def copy_checkout(target: Path) -> Path:
    """A copy of the program that may be edited."""
    target.mkdir()
    for name in PARTS:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target / name)
    return target
