"""The judges' key for every test here, as in the tests of passes."""

from tests.passes.conftest import _key

__all__ = ["_key"]
