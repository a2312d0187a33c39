from dataclasses import replace
from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from test_context_properties import COUNTERS, MATERIALS, tokens_of

from retentia.errors import BudgetTooSmall
from retentia.working.context import Context, ContextSettings, Material, assemble
from retentia.working.records import RecalledItem
from retentia.working.strategy import LAYERS, Strategy, assemble_by
from retentia.working.tokens import EstimatingCounter, TokenCounter
from retentia.working.window import WindowMessage, with_tool_groups

EVERY_STRATEGY = [Strategy(*chosen) for chosen in product((False, True), repeat=len(LAYERS))]
STRATEGIES = st.sampled_from(EVERY_STRATEGY)
LAYOUTS = st.sampled_from([ContextSettings(), ContextSettings(layout="cache")])
COUNTER = EstimatingCounter()


def long_session(count: int, *, covered: int = 0) -> list[WindowMessage]:
    """Make a session of which one summary covers the first messages."""
    said = []
    for seq in range(1, count + 1):
        role, text = ("user" if seq % 2 else "assistant"), f"Message {seq} says something."
        by = "s1" if seq <= covered else ""
        said.append(WindowMessage(id=f"m{seq}", seq=seq, role=role, text=text, tokens=12, summarised_by=by))
    return with_tool_groups(said)


def covered_by(context: Context, material: Material) -> set[str]:
    """Return the messages for which a summary stands that the context shows."""
    shown = {one.id for one in context.manifest if one.part == "summary"}
    return {message.id for message in material.messages if message.summarised_by in shown}


@given(MATERIALS, STRATEGIES, st.integers(1, 500), st.sampled_from(COUNTERS), LAYOUTS)
def test_no_combination_of_layers_passes_the_budget(
    material: Material, strategy: Strategy, budget: int, counter: TokenCounter, settings: ContextSettings
) -> None:
    try:
        context = assemble_by(strategy, material, budget=budget, counter=counter, settings=settings)
    except BudgetTooSmall:
        return
    assert sum(context.tokens_by_part.values()) == context.total_tokens <= budget
    assert tokens_of(context.openai_messages(), counter) <= budget
    assert counter.count(context.text()) <= budget


@given(MATERIALS, STRATEGIES, st.integers(60, 900), LAYOUTS)
def test_every_message_is_shown_or_summarised_or_named(
    material: Material, strategy: Strategy, budget: int, settings: ContextSettings
) -> None:
    try:
        context = assemble_by(strategy, material, budget=budget, counter=COUNTER, settings=settings)
    except BudgetTooSmall:
        return
    shown = {one.id for one in context.manifest if one.part in ("pinned", "recent")}
    named = set(context.gap.ids) if context.gap else set()
    assert not shown & named
    assert {message.id for message in material.messages} == shown | named | (covered_by(context, material) - shown)


@given(MATERIALS, STRATEGIES)
def test_a_layer_that_is_off_shows_nothing(material: Material, strategy: Strategy) -> None:
    context = assemble_by(strategy, material, budget=5000, counter=COUNTER)
    parts = {one.part for one in context.manifest}
    assert strategy.semantic or "recalled" not in parts
    assert strategy.summary or "summary" not in parts


@given(st.integers(21, 60), st.integers(0, 60), LAYOUTS)
def test_the_buffer_shows_the_whole_conversation_where_it_fits(
    count: int, covered: int, settings: ContextSettings
) -> None:
    material = Material(request="Q", messages=long_session(count, covered=covered))
    context = assemble_by(Strategy.of(["buffer"]), material, budget=5000, counter=COUNTER, settings=settings)
    assert len([one for one in context.manifest if one.kind == "message"]) == count
    assert context.gap is None


@given(st.integers(30, 80), st.integers(120, 300))
def test_a_buffer_that_is_too_long_names_what_it_leaves_out(count: int, budget: int) -> None:
    material = Material(request="Q", messages=long_session(count, covered=20))
    context = assemble_by(Strategy.of(["buffer"]), material, budget=budget, counter=COUNTER)
    assert context.gap is not None
    assert f"({context.gap.count} earlier messages are not shown here" in context.text()
    shown = {one.id for one in context.manifest}
    assert sorted(shown | set(context.gap.ids)) == sorted(message.id for message in material.messages)


def test_summaries_stand_beside_a_buffer_only_where_it_does_not_fit() -> None:
    summary = [RecalledItem(id="s1", kind="summary", text="They spoke about twenty things.")]
    material = Material(request="Q", messages=long_session(60, covered=40), summary=summary)
    both = Strategy.of(["buffer", "summary"])
    whole = assemble_by(both, material, budget=5000, counter=COUNTER)
    assert all(one.part != "summary" for one in whole.manifest)
    short = assemble_by(both, material, budget=600, counter=COUNTER)
    assert any(one.part == "summary" for one in short.manifest)
    assert short.gap is None
    longer = assemble_by(Strategy.of(["summary"]), material, budget=600, counter=COUNTER)
    assert len(short.manifest) > len(longer.manifest)


def test_without_buffer_and_summary_the_window_is_left_and_the_rest_is_named() -> None:
    material = Material(request="Q", messages=long_session(60))
    context = assemble_by(Strategy.of([]), material, budget=5000, counter=COUNTER)
    assert [one.id for one in context.manifest] == [f"m{seq}" for seq in (1, 2, 3, *range(41, 61))]
    assert context.gap is not None
    assert context.gap.ids == tuple(f"m{seq}" for seq in range(4, 41))


@given(MATERIALS, st.integers(60, 900))
def test_summaries_and_a_window_are_what_a_context_is_without_a_strategy(material: Material, budget: int) -> None:
    try:
        plain = assemble(material, budget=budget, counter=COUNTER)
    except BudgetTooSmall:
        return
    assert assemble_by(Strategy(), material, budget=budget, counter=COUNTER) == plain
    found_off = assemble(replace(material, recalled=()), budget=budget, counter=COUNTER)
    assert assemble_by(Strategy(semantic=False), material, budget=budget, counter=COUNTER) == found_off
