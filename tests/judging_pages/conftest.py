"""The study that the page tests look at."""

import pytest

from tests.judging_pages.study import Study, make_study


@pytest.fixture
def study(db: None) -> Study:
    return make_study()
