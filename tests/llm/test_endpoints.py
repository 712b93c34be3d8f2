from decimal import Decimal
from pathlib import Path

import pytest

from judging.errors import EndpointError
from judging.llm.addresses import is_private_host
from judging.llm.endpoints import find_model, load_endpoints

JUDGES = {"gemini-3.1-pro": "Gemini", "gpt-5.4": "GPT", "claude-opus-4.6": "Opus"}


def write(folder: Path, text: str) -> Path:
    path = folder / "endpoints.toml"
    path.write_text(text, "utf-8")
    return path


def endpoint(url: str, extra: str = "") -> str:
    return f'[[endpoint]]\nname = "mine"\nbase_url = "{url}"\n{extra}\n'


def test_presets_hold_the_papers_judges_targets_and_classifier_and_an_embedder() -> None:
    models = [model for endpoint in load_endpoints(None).values() for model in endpoint.models]

    assert {m.slug: m.short_name for m in models if "judge" in m.roles} == JUDGES
    assert sum("target" in model.roles for model in models) == 7
    assert [model.slug for model in models if "classifier" in model.roles] == ["claude-sonnet-4.6"]
    assert [model.slug for model in models if "embedder" in model.roles] == ["text-embedding-3-small"]
    assert all(model.family and model.prices is None for model in models)


def test_a_models_slug_in_the_file_takes_the_place_of_the_preset(tmp_path: Path) -> None:
    text = endpoint("http://127.0.0.1:9/v1", 'allow_private = true\n[[endpoint.model]]\nslug = "gpt-5.4"')

    endpoints = load_endpoints(write(tmp_path, text))
    found, model = find_model(endpoints, "gpt-5.4")

    assert (found.name, model.model_id) == ("mine", "gpt-5.4")
    assert find_model(endpoints, "gpt-5.5")[0].name == "openai"


def test_prices_are_exact_and_costs_are_rounded_up(tmp_path: Path) -> None:
    text = endpoint(
        "https://example.com/v1", '[[endpoint.model]]\nslug = "m"\nprice_in = 0.1\nprice_out = "10"'
    )

    _, model = find_model(load_endpoints(write(tmp_path, text)), "m")

    assert model.price_in == Decimal("0.1")
    assert model.prices is not None
    assert model.prices.cost_micros(tokens_in=3, tokens_out=2) == 21


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[[endpoint]\n", "not valid TOML"),
        ("[endpoints]\n", "unknown key 'endpoints'"),
        (endpoint("https://example.com/v1", 'url = "x"'), "unknown key 'url'"),
        (
            endpoint("https://example.com/v1", '[[endpoint.model]]\nslug = "m"\nprice = 1'),
            "unknown key 'price'",
        ),
        (endpoint("https://example.com/v1") * 2, "'mine' twice"),
        (endpoint("https://example.com/v1", '[[endpoint.model]]\nslug = "m"\n' * 2), "'m' twice"),
        ('[[endpoint]]\nbase_url = "https://example.com"', "no 'name'"),
        ('[[endpoint]]\nname = "mine"', "no 'base_url'"),
        (endpoint("https://example.com/v1", "max_in_flight = 0"), "'max_in_flight'"),
        (endpoint("https://example.com/v1", "max_in_flight = true"), "'max_in_flight'"),
        (endpoint("https://example.com/v1", 'allow_private = "yes"'), "'allow_private'"),
        (endpoint("https://example.com/v1", '[[endpoint.model]]\nslug = "m"\nprice_in = -1'), "'price_in'"),
        (endpoint("https://example.com/v1", '[[endpoint.model]]\nslug = "m"\nprice_in = nan'), "'price_in'"),
        (endpoint("https://example.com/v1", '[[endpoint.model]]\nslug = "m"\nroles = ["boss"]'), "'roles'"),
        (endpoint("ftp://example.com/v1"), "expected http"),
        (endpoint("example.com/v1"), "expected http"),
        (endpoint("https:///v1"), "expected http"),
        (endpoint("https://example.com:99999/v1"), "valid host and port"),
        (endpoint("https://example.com/v1?key=1"), "query"),
        (endpoint("https://exa mple.com/v1"), "space"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_by_name(tmp_path: Path, text: str, part: str) -> None:
    with pytest.raises(EndpointError) as caught:
        load_endpoints(write(tmp_path, text))

    assert part in caught.value.message


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EndpointError, match="cannot be read"):
        load_endpoints(tmp_path / "none.toml")


@pytest.mark.parametrize(
    "marker", ["https://user:marker-key@example.com/v1", "https://marker-key@example.com"]
)
def test_user_info_is_refused_and_not_repeated(tmp_path: Path, marker: str) -> None:
    with pytest.raises(EndpointError) as caught:
        load_endpoints(write(tmp_path, endpoint(marker)))

    assert "user info" in caught.value.message
    assert "marker-key" not in caught.value.message


def test_a_key_in_place_of_a_variables_name_is_refused_and_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(EndpointError) as caught:
        load_endpoints(write(tmp_path, endpoint("https://example.com", 'key_variable = "sk-marker"')))

    assert "sk-marker" not in caught.value.message


PRIVATE = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "[::1]",
    "[::]",
    "[fe80::1]",
    "[fd00::1]",
    "[fec0::1]",
    "[::127.0.0.1]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b:1::7f00:1]",
    "①②⑦.0.0.1",
    "127。0.0.1",
    "[::ffff:127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "localhost",
    "LOCALHOST.",
    "metadata.google.internal",
    "printer.local",
    "intranet",
    "224.0.0.1",
]


@pytest.mark.parametrize("host", PRIVATE)
def test_a_private_address_is_refused_unless_the_file_allows_it(tmp_path: Path, host: str) -> None:
    refused = write(tmp_path, endpoint(f"http://{host}/v1"))
    with pytest.raises(EndpointError, match="allow_private"):
        load_endpoints(refused)

    allowed = write(tmp_path, endpoint(f"http://{host}/v1", "allow_private = true"))

    assert load_endpoints(allowed)["mine"].base_url == f"http://{host}/v1"


@pytest.mark.parametrize("host", ["api.openai.com", "8.8.8.8", "2001:4860:4860::8888", "local.example.org"])
def test_a_public_host_is_not_private(host: str) -> None:
    assert not is_private_host(host)
