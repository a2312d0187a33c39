"""What a user writes must type-check as it is meant."""

from typing import assert_type

from retentia import Hit, Memory, Message, Recall, Receipt, Scope
from retentia.model.record import Record


def use(memory: Memory) -> None:
    scope = Scope("acme", "anna")
    assert_type(memory.add("text", scope=scope), Receipt)
    memory.add(Message(role="user", content=[{"type": "text", "text": "hello"}]), scope=scope)
    memory.add([{"role": "user", "content": "hello"}], scope=scope)
    found = memory.recall("text", scope=scope, kinds=["message"], where={"tag": {"in": ["a"]}})
    assert_type(found, Recall)
    assert_type(found[0], Hit)
    assert_type(found[0].record, Record)
    for hit in found:
        assert_type(hit, Hit)
    memory.recall("text")  # type: ignore[call-arg]  # a scope is never optional
    Message(role="boss", content="")  # type: ignore[arg-type]
