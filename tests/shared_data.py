"""Where the data sets with known answers lie: beside the checkout, never in it."""

from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

requires_shared_data = pytest.mark.skipif(
    not SHARED_DATA.is_dir(), reason=f"the data sets with known answers are not at {SHARED_DATA}"
)
