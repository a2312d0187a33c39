"""What a user writes must type-check as it is meant."""

from typing import assert_type

from retentia import Hit, Memory, Message, Principal, Recall, Receipt, Scope
from retentia.diagnose.check import ClaimCheck
from retentia.diagnose.symptom import Symptom
from retentia.diagnosis import Amnesia
from retentia.model.record import Record


def use(memory: Memory, principal: Principal) -> None:
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
    memory.export("out.jsonl", scope=scope, as_format="markdown")
    memory.export("out.jsonl", scope=scope, as_format="pdf")  # type: ignore[arg-type]
    assert_type(memory.import_export("out.jsonl", scope=scope).stored["messages"], int)
    memory.import_records([{"kind": "note", "text": "x", "sources": [{"kind": "note", "id": "y"}]}], scope=scope)
    assert_type(memory.diagnosis.check_claims("text", scope=scope), list[ClaimCheck])
    assert_type(memory.diagnosis.amnesia(scope=scope, session="chat"), Amnesia)
    assert_type(memory.acting_as(principal).diagnosis.guard("text", scope=scope, session="chat"), list[Symptom])
    memory.recall("text")  # type: ignore[call-arg]  # a scope is never optional
    Message(role="boss", content="")  # type: ignore[arg-type]
