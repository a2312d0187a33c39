from pathlib import Path

import pytest

from retentia.errors import InvalidInput
from retentia.model.price import PRICES, Price, cost, parse_prices, price_of, read_prices


def test_no_price_ships_and_nothing_is_computed_without_one() -> None:
    assert PRICES == {}
    assert cost("any-model", tokens_in=1_000_000) is None


def test_a_call_a_session_and_a_day_cost_by_the_users_table() -> None:
    prices = {"small": Price(input_per_million=0.50, output_per_million=1.50)}
    assert cost("small", tokens_in=1_300, tokens_out=200, prices=prices) == pytest.approx(0.00095)
    assert cost("small", tokens_in=1_300, tokens_out=200, calls=40, prices=prices) == pytest.approx(0.038)


def test_a_price_cannot_be_negative() -> None:
    with pytest.raises(InvalidInput):
        Price(input_per_million=-1)


def test_a_price_is_a_finite_number() -> None:
    for wrong in (float("nan"), float("inf"), "1", True, None):
        with pytest.raises(InvalidInput):
            Price(input_per_million=wrong)  # type: ignore[arg-type]


def test_micros_are_rounded_up_so_that_no_call_is_free() -> None:
    price = Price(input_per_million=0.15, output_per_million=0.6)
    assert price.micros(tokens_in=1_000_000, tokens_out=1_000_000) == 750_000
    assert price.micros(tokens_in=1) == 1
    assert price.micros(tokens_in=0) == 0


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.toml", '["qwen3"]\ninput_per_million = 0.15\noutput_per_million = 0.6\n'),
        ("p.json", '{"qwen3": {"input_per_million": 0.15, "output_per_million": 0.6}}'),
    ],
)
def test_a_table_is_read_from_a_file(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    prices = read_prices(tmp_path / name)
    assert prices == {"qwen3": Price(input_per_million=0.15, output_per_million=0.6)}
    for identity in ("qwen3", "openai:qwen3", "openai:qwen3@http://127.0.0.1:8080/v1"):
        assert price_of(identity, prices) == prices["qwen3"]
    assert price_of("openai:qwen", prices) is None


def test_the_price_of_one_address_comes_before_that_of_the_name() -> None:
    here, anywhere = Price(input_per_million=0), Price(input_per_million=1)
    prices = {"m": anywhere, "openai:m@http://127.0.0.1/v1": here}
    assert price_of("openai:m@http://127.0.0.1/v1", prices) is here
    assert price_of("openai:m@https://example.org/v1", prices) is anywhere


@pytest.mark.parametrize(
    "text",
    [
        "qwen3 = 1",
        "[qwen3]",
        "[qwen3]\ninput = 1",
        "[qwen3]\ninput_per_million = 1\nper = 2",
        "not toml",
        '[qwen3]\ninput_per_million = "1"',
    ],
)
def test_a_table_that_cannot_be_understood_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises(InvalidInput):
        read_prices(tmp_path / "p.toml")
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_prices(tmp_path / "missing.toml")
    with pytest.raises(InvalidInput, match="names models"):
        parse_prices([])


def test_tokens_that_a_provider_has_cached_cost_what_the_table_says_or_as_any_other() -> None:
    price = Price(input_per_million=2.0, output_per_million=8.0, cached_input_per_million=0.2)
    assert price.of(tokens_in=1_000, cached=900, tokens_out=100) == pytest.approx(0.0002 + 0.00018 + 0.0008)
    plain = Price(input_per_million=2.0)
    assert plain.of(tokens_in=1_000, cached=900) == plain.of(tokens_in=1_000)
    with pytest.raises(InvalidInput):
        Price(input_per_million=1, cached_input_per_million=-1)
