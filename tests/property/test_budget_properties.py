from hypothesis import given
from hypothesis import strategies as st

from retentia.errors import BudgetTooSmall
from retentia.working.budget import SHARES, Item, Part, PartName, fit
from retentia.working.tokens import EstimatingCounter, ExactCounter

COUNTERS = st.sampled_from(
    [EstimatingCounter(), ExactCounter(str.split, label="words"), ExactCounter(str.encode, label="bytes")]
)
TEXTS = st.text(max_size=40)
NAMES: list[PartName] = [share.part for share in SHARES]


@st.composite
def part_lists(draw: st.DrawFn) -> list[Part]:
    """Draw any parts, each at most once, in any order."""
    return [
        Part(
            name,
            tuple(Item(f"{name}{place}", text) for place, text in enumerate(draw(st.lists(TEXTS, max_size=8)))),
            frame=draw(TEXTS),
            contiguous=draw(st.booleans()),
        )
        for name in draw(st.permutations(NAMES))
        if draw(st.booleans())
    ]


@given(part_lists(), st.integers(0, 400), COUNTERS)
def test_the_budget_is_never_exceeded_by_the_counter(
    parts: list[Part], budget: int, counter: EstimatingCounter | ExactCounter
) -> None:
    frames = {part.name: part.frame for part in parts}
    try:
        fitted = fit(parts, budget, counter)
    except BudgetTooSmall:
        required = [part for part in parts if part.name in ("role", "current") and part.items]
        assert (
            sum(counter.count(text) for part in required for text in (part.frame, *(i.text for i in part.items)))
            > budget
        )
        return
    spent = sum(
        counter.count(frames[part.name]) + sum(counter.count(item.text) for item in part.items)
        for part in fitted.parts
        if part.items
    )
    assert spent == fitted.tokens <= budget


@given(part_lists(), st.integers(0, 400))
def test_every_item_is_either_kept_or_named_as_dropped(parts: list[Part], budget: int) -> None:
    try:
        fitted = fit(parts, budget, EstimatingCounter())
    except BudgetTooSmall:
        return
    accounted = [item.id for part in fitted.parts for item in part.items] + [item.id for item in fitted.dropped]
    assert sorted(accounted) == sorted(item.id for part in parts for item in part.items)
    assert not {item.part for item in fitted.dropped} & {"role", "current"}


@given(part_lists())
def test_with_room_for_everything_nothing_is_dropped(parts: list[Part]) -> None:
    assert fit(parts, 1_000_000, EstimatingCounter()).dropped == ()


@given(part_lists(), st.integers(0, 400))
def test_nothing_is_left_out_that_would_still_fit(parts: list[Part], budget: int) -> None:
    counter = EstimatingCounter()
    try:
        fitted = fit(parts, budget, counter)
    except BudgetTooSmall:
        return
    left = budget - fitted.tokens
    by_name = {part.name: part for part in parts}
    for item in fitted.dropped:
        part = by_name[item.part]
        if not part.contiguous and fitted.kept(item.part):
            size = next(counter.count(one.text) for one in part.items if one.id == item.id)
            assert size > left
