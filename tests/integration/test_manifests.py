"""What a reply saw is kept with it, told later, and forgets what was erased."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from retentia import Kind, Memory, Principal, Scope
from retentia.errors import AccessDenied, InvalidInput, NotFound
from retentia.model.manifest import Why
from retentia.model.price import Price
from retentia.model.record import MessageRecord
from retentia.model.summary import Summary
from retentia.security.access import Role
from retentia.working.context import Context, ContextSettings
from retentia.working.settings import WorkingSettings
from retentia.working.summary import SummaryPolicy

ANNA, BORIS = Scope("acme", "anna"), Scope("acme", "boris")
SENTINEL = "ZX-9137-KIWI"


@pytest.fixture
def memory(store_url: str) -> Iterator[Memory]:
    working = WorkingSettings(summary=SummaryPolicy(threshold=6, keep_recent=2))
    with Memory.open(store_url, embedder=None, worker=False, working=working) as memory:
        yield memory


def talk(memory: Memory) -> tuple[str, Context]:
    """Hold a conversation whose reply saw a fact, an older session, a summary and the last messages."""
    memory.add(f"The harbour code is {SENTINEL}.", scope=ANNA, session="earlier")
    memory.remember("Anna takes the ferry at nine to the harbour", Kind.FACT, scope=ANNA)
    for number in range(1, 9):
        said = {"role": "user" if number % 2 else "assistant", "content": f"m{number} about boats"}
        memory.add(said, scope=ANNA, session="chat")
    memory.drain()
    memory.add("Which harbour code?", scope=ANNA, session="chat")
    context = memory.context("Which harbour code?", scope=ANNA, session="chat", budget=1500)
    reply = memory.add(
        {"role": "assistant", "content": "It is the one you told me."}, scope=ANNA, session="chat", context=context
    )
    return reply.id, context


def parts(why: Why) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in why.shown:
        found[one.seen.part] = found.get(one.seen.part, 0) + 1
    return found


def test_why_tells_what_the_model_saw_with_parts_scores_and_labels(memory: Memory) -> None:
    reply_id, context = talk(memory)
    why = memory.why(reply_id, scope=ANNA)
    assert why.reply.text == "It is the one you told me."
    assert [one.seen.record_id for one in why.shown[:-1]] == [one.id for one in context.manifest]
    assert [one.seen.score for one in why.shown[:-1]] == [one.score for one in context.manifest]
    assert (why.manifest.tokens, why.manifest.budget) == (context.total_tokens, 1500)
    assert why.manifest.tokens_by_part == context.tokens_by_part
    assert {"summary", "recalled", "pinned", "recent", "request"} <= parts(why).keys()
    request = why.shown[-1]
    assert request.seen.part == "request"
    assert isinstance(request.record, MessageRecord)
    assert request.record.text == "Which harbour code?"
    assert all(one.record is not None and not one.is_changed for one in why.shown)
    assert any(isinstance(one.record, Summary) for one in why.shown)
    assert any(one.record and SENTINEL in one.record.text for one in why.shown if one.seen.part == "recalled")


def test_what_was_erased_since_is_a_blank_place_and_no_id_of_it_is_left(memory: Memory) -> None:
    reply_id, _ = talk(memory)
    (gone,) = [one.id for one in memory.messages(scope=ANNA, session="earlier")]
    before = memory.why(reply_id, scope=ANNA)
    receipt = memory.erase(gone, scope=ANNA)
    assert receipt.removed["manifest_entry"] == 1
    after = memory.why(reply_id, scope=ANNA)
    assert [one.seen.record_id for one in after.shown].count(None) == 1
    assert len(after.shown) == len(before.shown)
    assert memory.verify_erasure("acme", [gone], texts=[SENTINEL]).is_clean


def test_an_erased_reply_takes_its_manifest_along(memory: Memory) -> None:
    reply_id, _ = talk(memory)
    memory.erase(reply_id, scope=ANNA)
    with pytest.raises(NotFound, match="no record"):
        memory.why(reply_id, scope=ANNA)
    assert memory.verify_erasure("acme", [reply_id]).is_clean


def test_a_summary_that_was_made_anew_is_named_but_not_shown(memory: Memory) -> None:
    reply_id, _ = talk(memory)
    first = memory.messages(scope=ANNA, session="chat")[3]
    memory.erase(first.id, scope=ANNA)
    memory.drain()
    why = memory.why(reply_id, scope=ANNA)
    (summary,) = [one for one in why.shown if one.seen.part == "summary"]
    assert summary.seen.record_id is not None
    assert summary.record is None


def test_only_a_reply_has_a_manifest_and_only_its_own_scope_is_told(memory: Memory) -> None:
    reply_id, _ = talk(memory)
    plain = memory.add({"role": "assistant", "content": "Hello"}, scope=ANNA, session="chat").id
    with pytest.raises(NotFound, match="context="):
        memory.why(plain, scope=ANNA)
    fact = memory.records(scope=ANNA, kind=Kind.FACT).records[0].id
    with pytest.raises(InvalidInput, match="not a reply"):
        memory.why(fact, scope=ANNA)
    with pytest.raises(NotFound):
        memory.why(reply_id, scope=BORIS)


def test_a_reply_that_is_added_again_under_its_key_keeps_its_first_manifest(memory: Memory) -> None:
    memory.add("Where is the ferry?", scope=ANNA, session="chat")
    context = memory.context("Where is the ferry?", scope=ANNA, session="chat")
    said = {"role": "assistant", "content": "At the pier.", "key": "r1"}
    for _ in range(2):
        reply = memory.add(said, scope=ANNA, session="chat", context=context)
    assert memory.why(reply.id, scope=ANNA).manifest.tokens == context.total_tokens


def test_a_manifest_holds_no_text(memory: Memory, tmp_path: Path) -> None:
    reply_id, _ = talk(memory)
    manifest = memory.why(reply_id, scope=ANNA).manifest
    assert "boats" not in json.dumps([manifest.counted, *map(str, manifest.seen)])


def test_a_replay_is_the_prompt_that_the_reply_saw(memory: Memory) -> None:
    reply_id, context = talk(memory)
    memory.add("And the tide?", scope=ANNA, session="chat")
    memory.remember("The tide comes at noon", Kind.FACT, scope=ANNA)
    again = memory.replay(reply_id, scope=ANNA)
    assert again.text() == context.text()
    assert again.openai_messages() == context.openai_messages()
    assert again.anthropic_prompt() == context.anthropic_prompt()
    assert again.manifest == context.manifest
    assert again.dropped == ()
    assert again.total_tokens == context.total_tokens == sum(again.tokens_by_part.values())


def test_a_replay_takes_the_role_and_another_request(memory: Memory) -> None:
    reply_id, _ = talk(memory)
    again = memory.replay(reply_id, scope=ANNA, role="You are a harbour master.", request="And the tide?")
    assert again.text().startswith("You are a harbour master.\n\nBlocks named memory")
    assert again.openai_messages()[-1] == {"role": "user", "content": "And the tide?"}


def test_what_was_erased_since_is_named_in_a_replay_and_not_invented(memory: Memory) -> None:
    reply_id, context = talk(memory)
    assert SENTINEL in context.text()
    (gone,) = [one.id for one in memory.messages(scope=ANNA, session="earlier")]
    memory.erase(gone, scope=ANNA)
    again = memory.replay(reply_id, scope=ANNA)
    for written in (again.text(), str(again.openai_messages()), str(again.anthropic_prompt().messages)):
        assert "(1 record that was shown has been erased since.)" in written
        assert SENTINEL not in written
    assert [(one.id, one.part, one.reason) for one in again.dropped] == [("", "recalled", "erased since")]
    assert "was erased since" in again.explain()
    assert len(again.manifest) == len(context.manifest) - 1


def test_a_summary_that_was_made_anew_is_named_in_a_replay(memory: Memory) -> None:
    reply_id, context = talk(memory)
    (summary,) = [one.id for one in context.manifest if one.part == "summary"]
    memory.erase(memory.messages(scope=ANNA, session="chat")[3].id, scope=ANNA)
    memory.drain()
    again = memory.replay(reply_id, scope=ANNA)
    assert (summary, "summary", "made anew since") in [(one.id, one.part, one.reason) for one in again.dropped]
    assert "(1 record that was shown has been made anew or removed since.)" in again.text()
    assert "Summary of earlier messages" not in again.text()


def test_a_request_that_was_erased_is_asked_no_more(memory: Memory) -> None:
    reply_id, _ = talk(memory)
    request = memory.why(reply_id, scope=ANNA).shown[-1].seen.record_id
    assert request is not None
    memory.erase(request, scope=ANNA)
    again = memory.replay(reply_id, scope=ANNA)
    assert ("", "current", "erased since") in [(one.id, one.part, one.reason) for one in again.dropped]
    assert [turn for turn in again.turns if turn.part == "current"] == []


def test_a_principal_replays_and_prices_what_is_its_own_only(memory: Memory) -> None:
    reply_id, context = talk(memory)
    price = Price(input_per_million=1)
    own = memory.acting_as(Principal(id="anna", role=Role.PERSON, tenant="acme", user="anna"))
    assert own.replay(reply_id, scope=ANNA).text() == context.text()
    assert own.costs(price, scope=ANNA) == memory.costs(price, scope=ANNA)
    other = memory.acting_as(Principal(id="boris", role=Role.PERSON, tenant="acme", user="boris"))
    with pytest.raises(AccessDenied):
        other.replay(reply_id, scope=ANNA)
    with pytest.raises(AccessDenied):
        other.costs(price, scope=ANNA)


def test_what_prompts_cost_is_told_by_session_and_by_day(memory: Memory) -> None:
    _, first = talk(memory)
    second = memory.context("Where is the ferry?", scope=ANNA, session="second")
    memory.add({"role": "assistant", "content": "At the pier."}, scope=ANNA, session="second", context=second)
    found = memory.costs(Price(input_per_million=2.0), scope=ANNA)
    assert {name: (one.calls, one.tokens_in) for name, one in found.by_session.items()} == {
        "chat": (1, first.total_tokens),
        "second": (1, second.total_tokens),
    }
    assert sum(one.tokens_in for one in found.by_day.values()) == first.total_tokens + second.total_tokens
    assert found.total.cost == pytest.approx((first.total_tokens + second.total_tokens) * 2e-6)
    assert memory.costs(Price(input_per_million=2.0), scope=BORIS).total.calls == 0


def test_the_layout_for_caches_keeps_its_beginning_between_summaries(store_url: str) -> None:
    policy = SummaryPolicy(threshold=12, keep_recent=4)
    settings = WorkingSettings(context=ContextSettings(layout="cache"), summary=policy)
    broken = 0
    before: Context | None = None
    with Memory.open(store_url, embedder=None, worker=False, working=settings) as memory:
        for number in range(1, 41):
            said = {"role": "user" if number % 2 else "assistant", "content": f"m{number} about boats"}
            memory.add({**said, "pinned": number % 15 == 0}, scope=ANNA, session="chat")
            made = memory.context(f"Which boats, number {number}?", scope=ANNA, session="chat", budget=8000)
            shown = {one.id for one in made.manifest if one.part in ("pinned", "recent")}
            assert {one.id for one in memory.messages(scope=ANNA, session="chat")[-20:]} <= shown
            assert made.gap is None
            if before is not None:
                same = before.cacheable_turns
                broken += made.openai_messages()[:same] != before.openai_messages()[:same]
            before = made
            memory.drain()
        assert memory.history(scope=ANNA, session="chat").summaries
        memory.add("Which boats?", scope=ANNA, session="chat")
        made = memory.context("Which boats?", scope=ANNA, session="chat", budget=8000)
        reply = memory.add({"role": "assistant", "content": "These."}, scope=ANNA, session="chat", context=made)
        assert memory.replay(reply.id, scope=ANNA).openai_messages() == made.openai_messages()
    assert 0 < broken <= 40 // (policy.threshold - policy.keep_recent)
