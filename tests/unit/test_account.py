from retentia.model.price import Price
from retentia.working.context import ContextSettings, Material, assemble
from retentia.working.records import RecalledItem
from retentia.working.tokens import EstimatingCounter
from retentia.working.window import WindowMessage

COUNTER = EstimatingCounter()
SAID = [
    WindowMessage(id=f"m{seq}", seq=seq, role="user" if seq % 2 else "assistant", tokens=20, text="word " * 14)
    for seq in range(1, 41)
]
FOUND = [
    RecalledItem(id="m40", kind="message", text="word"),
    RecalledItem(id="r1", kind="document", text="word " * 400),
    RecalledItem(id="r2", kind="note", text="The door is green."),
]
MATERIAL = Material(role="Be brief.", request="Q?", messages=SAID, recalled=FOUND)
PRICE = Price(input_per_million=2.0, output_per_million=8.0, cached_input_per_million=0.2)


def test_the_account_says_what_is_shown_what_is_not_and_why_and_what_it_costs() -> None:
    context = assemble(MATERIAL, budget=400, counter=COUNTER)
    lines = context.explain(PRICE).splitlines()
    assert context.gap is not None
    assert lines[0] == f"{context.total_tokens} of 400 tokens (estimated)"
    recent = sum(one.part == "recent" for one in context.manifest)
    assert f"  recent messages: {context.tokens_by_part['recent']} tokens, {recent} shown" in lines
    assert "  left out of recalled records, because it is shown as a message already: m40" in lines
    assert "  left out of recalled records, because it did not fit into the budget: r1" in lines
    (gap,) = [line for line in lines if "not shown, and named" in line]
    assert f": {context.gap.count} (m4, m5, m6, m7, m8 and {context.gap.count - 5} more)" in gap
    assert f"the whole session would take {context.full_history_tokens} tokens" in lines
    assert lines[-2].startswith(f"a call costs {context.cost(PRICE).cost:.6g}; ")
    assert lines[-1].startswith(f"with the whole session: {context.cost(PRICE).full_history_cost:.6g}; ")


def test_without_a_price_no_cost_is_told() -> None:
    assert "cost" not in assemble(MATERIAL, budget=400, counter=COUNTER).explain()


def test_the_usual_layout_promises_no_more_than_the_role_as_the_same_beginning() -> None:
    context = assemble(MATERIAL, budget=400, counter=COUNTER)
    assert context.cacheable_tokens == COUNTER.count("Be brief.") + 4
    assert assemble(Material(request="Q?", messages=SAID), budget=400, counter=COUNTER).cacheable_tokens == 0


def test_the_layout_for_caches_puts_what_is_new_last_and_marks_where_the_rest_ends() -> None:
    profile = [RecalledItem(id="p1", kind="preference", text="Answers in German.")]
    material = Material(role="Be brief.", request="Q?", messages=SAID, recalled=FOUND[2:], profile=profile)
    context = assemble(material, budget=4000, counter=COUNTER, settings=ContextSettings(layout="cache"))
    parts = [turn.part for turn in context.turns]
    assert parts == ["role", "memory", *["pinned"] * 3, *["recent"] * 37, "memory", "current"]
    assert context.cacheable_turns == 42
    prompt = context.anthropic_prompt(cache_control=True)
    assert isinstance(prompt.system, list)
    assert "cache_control" in prompt.system[0]
    blocks: list[dict[str, str]] = [block for one in prompt.messages for block in one["content"]]  # type: ignore[misc,union-attr]
    assert [place for place, block in enumerate(blocks) if "cache_control" in block] == [3, 40]
    assert isinstance(context.anthropic_prompt().system, str)
    text = context.text()
    assert text.index("in German") < text.index("user: | word".replace("| ", "")) < text.index("door is green")
