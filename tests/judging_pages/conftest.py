"""The study that the page tests look at, and a judge that answers or refuses."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judging.choices import FailureMode
from judging.llm.fake_provider import FakeProviderSettings, running
from judging.models import JudgePass
from tests.classifying.stage import make_classification
from tests.judging_pages.study import Study, make_study

ENDPOINTS = """
[[endpoint]]
name = "loopback"
base_url = "{url}"
allow_private = true
max_in_flight = 4

  [[endpoint.model]]
  slug = "judge-x"
  short_name = "X"
"""


@pytest.fixture
def study(db: None) -> Study:
    return make_study()


@pytest.fixture
def provider(settings: Any, tmp_path: Path) -> Iterator[str]:
    with running(FakeProviderSettings()) as url:
        settings.ENDPOINTS_FILE = tmp_path / "endpoints.toml"
        settings.ENDPOINTS_FILE.write_text(ENDPOINTS.format(url=url))
        yield url


@pytest.fixture
def dead_provider(settings: Any, tmp_path: Path) -> Iterator[str]:
    with running(FakeProviderSettings(dead_key=True)) as url:
        settings.ENDPOINTS_FILE = tmp_path / "endpoints.toml"
        settings.ENDPOINTS_FILE.write_text(ENDPOINTS.format(url=url))
        yield url


@pytest.fixture
def classification(study: Study) -> JudgePass:
    """Twelve classified responses of the study: seven, two and one of three modes, two without."""
    modes = [FailureMode.UNSAFE_REDIRECT] * 7 + [FailureMode.UNHEALTHY_RELATIONAL_ENGAGEMENT] * 2
    outcomes = [*modes, FailureMode.HARMFUL_NARRATIVE_COMPLIANCE, "PARSE_FAILED", "CALL_FAILED"]
    return make_classification(study.judge_pass, list(zip(study.responses[2:], outcomes, strict=False)))
