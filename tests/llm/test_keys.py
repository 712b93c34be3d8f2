"""Whether there is a key that can be sent."""

import pytest

from judging.llm.keys import has_key


@pytest.mark.parametrize(
    ("value", "is_there"),
    [
        ("a-key", True),
        (" a-key\n", True),
        ("", False),
        ("  ", False),
        ("ключ", False),
        ("a\nkey", False),
        (None, False),
    ],
)
def test_a_key_is_there_when_it_can_stand_in_a_header(
    monkeypatch: pytest.MonkeyPatch, value: str | None, is_there: bool
) -> None:
    if value is None:
        monkeypatch.delenv("SOME_KEY", raising=False)
    else:
        monkeypatch.setenv("SOME_KEY", value)

    assert has_key("SOME_KEY") is is_there
