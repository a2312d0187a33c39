import pytest

from retentia.model.cost import CostReport, PromptTokens, cost_of, cost_of_session, prompt_costs
from retentia.model.price import Price

PRICE = Price(input_per_million=2.0, output_per_million=8.0, cached_input_per_million=0.2)


def test_a_call_is_told_beside_the_whole_session_both_with_and_without_a_cache() -> None:
    report = cost_of(PRICE, tokens_in=1_000, cached=600, full_history=10_000, request=50, tokens_out=100)
    assert report.cost == pytest.approx(0.002 + 0.0008)
    assert report.cached_cost == pytest.approx(0.0008 + 0.00012 + 0.0008)
    assert report.full_history_cost == pytest.approx(0.02 + 0.0008)
    assert report.cached_full_history_cost == pytest.approx(0.0001 + 0.00199 + 0.0008)


def test_a_session_is_the_sum_of_its_calls_and_a_day_a_multiple_of_one() -> None:
    calls = [cost_of(PRICE, tokens_in=1_000, full_history=one * 1_000) for one in range(1, 6)]
    session = cost_of_session(calls)
    assert (session.calls, session.tokens_in, session.full_history_tokens) == (5, 5_000, 15_000)
    assert session.full_history_cost == pytest.approx(0.03)
    assert calls[0].times(40).cost == pytest.approx(0.08)
    assert cost_of_session([]) == CostReport()


def test_prompts_that_were_counted_are_priced_by_session_and_by_day() -> None:
    counted = [
        PromptTokens("a", 20_000, 2, 1_000),
        PromptTokens("b", 20_000, 1, 500),
        PromptTokens("a", 20_001, 1, 500),
    ]
    found = prompt_costs(PRICE, counted)
    assert (found.total.calls, found.total.tokens_in) == (4, 2_000)
    assert found.total.cost == pytest.approx(0.004)
    assert {name: one.calls for name, one in found.by_session.items()} == {"a": 3, "b": 1}
    assert {day: one.tokens_in for day, one in found.by_day.items()} == {"2024-10-04": 1_500, "2024-10-05": 500}
