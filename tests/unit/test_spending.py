import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentia.errors import InvalidInput
from retentia.model.spending import Ceiling, Spending

COUNTS = st.integers(0, 10**9)
SPENDINGS = st.builds(Spending, calls=COUNTS, tokens_in=COUNTS, tokens_out=COUNTS, cost=COUNTS)
CEILINGS = st.builds(
    Ceiling,
    calls=st.none() | COUNTS,
    tokens=st.none() | COUNTS,
    cost=st.none() | st.floats(0, 10**6),
)


@given(SPENDINGS, SPENDINGS)
def test_what_is_added_can_be_taken_off_again(one: Spending, other: Spending) -> None:
    assert one + other - other == one
    assert one + other == other + one
    assert (one + other).tokens == one.tokens + other.tokens


@given(CEILINGS, SPENDINGS, SPENDINGS)
def test_what_is_let_through_stays_below_every_limit_and_what_is_refused_passes_one(
    ceiling: Ceiling, spent: Spending, asked: Spending
) -> None:
    after = spent + asked
    passes = (
        (ceiling.calls is not None and after.calls > ceiling.calls)
        or (ceiling.tokens is not None and after.tokens > ceiling.tokens)
        or (ceiling.cost is not None and after.cost > ceiling.cost * 1_000_000)
    )
    assert bool(ceiling.excess(spent, asked)) == passes


@given(CEILINGS, SPENDINGS, SPENDINGS, SPENDINGS)
def test_who_has_spent_more_is_not_let_through_where_who_has_spent_less_is_refused(
    ceiling: Ceiling, spent: Spending, more: Spending, asked: Spending
) -> None:
    if ceiling.excess(spent, asked):
        assert ceiling.excess(spent + more, asked)


def test_a_refusal_says_the_limit_and_what_is_spent() -> None:
    spent = Spending(calls=3, tokens_in=900, tokens_out=100, cost=2_000_000)
    asked = Spending(calls=1, tokens_in=50, tokens_out=50, cost=500_000)
    assert Ceiling(calls=3).excess(spent, asked) == "3 calls, of which 3 are made"
    assert "1,050 tokens, of which 1,000 are spent; this call may take 100" in Ceiling(tokens=1050).excess(spent, asked)
    assert "a cost of 2.4, of which 2 is spent; this call may cost 0.5" in Ceiling(cost=2.4).excess(spent, asked)


def test_a_ceiling_that_is_none_is_refused() -> None:
    assert not Ceiling().is_set
    assert Ceiling(calls=0).is_set
    assert Ceiling.parse({"tokens": 5}) == Ceiling(tokens=5)
    for wrong in ({"calls": -1}, {"tokens": 1.5}, {"cost": "1"}, {"calls": True}, {"cost": float("nan")}, {"days": 1}):
        with pytest.raises(InvalidInput, match="a ceiling"):
            Ceiling.parse(wrong)
