"""The proxy in force for an endpoint, and never its credentials."""

import pytest

from judging.llm.proxies import effective_proxy

PUBLIC = "https://api.example.org/v1"


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize(
    ("variables", "base_url", "proxy"),
    [
        ({}, PUBLIC, None),
        ({"https_proxy": "http://proxy:3128"}, PUBLIC, "http://proxy:3128"),
        ({"https_proxy": "proxy:3128"}, PUBLIC, "http://proxy:3128"),
        ({"https_proxy": "http://name:hidden@proxy:3128/"}, PUBLIC, "http://proxy:3128"),
        ({"http_proxy": "http://proxy:3128"}, PUBLIC, None),
        ({"all_proxy": "http://proxy:3128"}, PUBLIC, "http://proxy:3128"),
        ({"https_proxy": "http://proxy:3128", "no_proxy": "example.org"}, PUBLIC, None),
        ({"https_proxy": "http://proxy:3128", "no_proxy": "other.org"}, PUBLIC, "http://proxy:3128"),
        ({"http_proxy": "http://proxy:3128", "no_proxy": "127.0.0.1"}, "http://127.0.0.1:9900/v1", None),
    ],
)
def test_the_environments_proxy_is_named_where_it_is_taken(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], base_url: str, proxy: str | None
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert effective_proxy(base_url, uses_environment_proxies=True) == proxy


def test_none_is_taken_where_the_deployer_does_not_allow_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy:3128")

    assert effective_proxy(PUBLIC, uses_environment_proxies=False) is None
