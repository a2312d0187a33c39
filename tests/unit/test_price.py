import pytest

from retentia.errors import InvalidInput
from retentia.working.price import PRICES, Price, cost


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
