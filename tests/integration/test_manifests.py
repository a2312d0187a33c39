"""What a reply saw is kept with it, told later, and forgets what was erased."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from retentia import Kind, Memory, Scope
from retentia.errors import InvalidInput, NotFound
from retentia.model.manifest import Why
from retentia.model.record import MessageRecord
from retentia.model.summary import Summary
from retentia.working.context import Context
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
