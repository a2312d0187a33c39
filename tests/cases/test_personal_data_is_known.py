"""Where personal data stands is known from the write on, follows the record, and goes with it."""

import pytest
from sqlalchemy import delete, func, select

from retentia import Memory, Scope
from retentia.errors import InvalidInput
from retentia.model.message import Document, ToolCall
from retentia.security.personal import PersonalKind, mask_personal
from retentia.store import personal, schema, scopes
from retentia.store.personal import PersonalSpan


def spans(memory: Memory, tenant: str = "acme") -> int:
    table = schema.personal_data
    with memory._database.read(tenant) as transaction:
        return transaction.number(select(func.count()).select_from(table).where(table.c.tenant == tenant))


def spans_of(memory: Memory, scope: Scope, record_id: str) -> list[PersonalSpan]:
    with memory._database.read(scope.tenant) as transaction:
        (entry,) = scopes.view(transaction, scope)
        return personal.load_spans(transaction, entry.scope_id, [bytes.fromhex(record_id.replace("-", ""))])


def test_it_is_counted_by_kind_whatever_kind_of_record_holds_it(memory: Memory, scope: Scope) -> None:
    memory.add(["I am anna@example.org or anna@example.com", "Nothing here"], scope=scope)
    memory.log_tool_call(ToolCall(name="lookup", result="phone +49 170 1234567"), scope=scope)
    memory.add_document(Document(text="Send it to Berliner Str. 12, 10115 Berlin."), scope=scope)
    memory.remember("Her address is olena@example.org", scope=scope)
    found = {kind: (count.spans, count.records) for kind, count in memory.personal_data(scope=scope).items()}
    assert found == {PersonalKind.EMAIL: (3, 2), PersonalKind.PHONE: (1, 1), PersonalKind.ADDRESS: (1, 1)}


def test_a_span_is_where_the_stored_text_has_it(memory: Memory, scope: Scope) -> None:
    record_id = memory.add("Привіт 👋 пишіть на olena@example.org!", scope=scope).id
    text = memory.get(record_id, scope=scope).text
    (span,) = spans_of(memory, scope, record_id)
    assert text[span.start : span.end] == "olena@example.org"


def test_the_records_with_a_kind_can_be_forgotten_after_a_preview(memory: Memory, scope: Scope) -> None:
    ids = memory.add(["My IBAN is DE89 3704 0044 0532 0130 00", "I like tea", "mail anna@example.org"], scope=scope).ids
    assert memory.personal_records("iban", scope=scope) == [ids[0]]
    planned = memory.plan_forgetting(scope=scope, ids=memory.personal_records(PersonalKind.IBAN, scope=scope))
    assert planned.ids == (ids[0],)
    assert memory.forget(planned).removed["personal_data"] == 1
    assert memory.personal_records("iban", scope=scope) == []
    assert memory.personal_records("email", scope=scope) == [ids[2]]


def test_other_scopes_and_tenants_are_not_counted(memory: Memory, scope: Scope) -> None:
    memory.add("anna@example.org", scope=scope)
    memory.add("bo@example.org", scope=Scope("acme", "bo"))
    memory.add("cy@example.org", scope=Scope("other", "anna"))
    assert memory.personal_data(scope=scope)[PersonalKind.EMAIL].spans == 1
    assert memory.personal_data(scope=Scope("acme", "nobody")) == {}
    assert len(memory.personal_records("email", scope=Scope("acme", "bo"))) == 1


def test_an_unknown_kind_is_refused_with_the_known_ones(memory: Memory, scope: Scope) -> None:
    with pytest.raises(InvalidInput, match="email, phone, iban"):
        memory.personal_records("shoe size", scope=scope)


def test_reindexing_finds_it_again_and_removes_what_belongs_to_nothing(memory: Memory, scope: Scope) -> None:
    memory.add(["anna@example.org and +49 170 1234567", "tea"], scope=scope)
    with memory._database.write("acme") as transaction:
        (entry,) = scopes.view(transaction, scope)
        table = schema.personal_data
        transaction.run(delete(table).where(table.c.tenant == "acme", table.c.kind == "email"))
        orphan = PersonalSpan(b"\x00" * 16, 0, 3, "phone")
        personal.insert_spans(transaction, entry.scope_id, [orphan])
    memory.reindex()
    assert {kind.value: count.spans for kind, count in memory.personal_data(scope=scope).items()} == {
        "email": 1,
        "phone": 1,
    }


def test_erasing_a_record_leaves_no_span_of_it(memory: Memory, scope: Scope) -> None:
    ids = memory.add(["anna@example.org", "bo@example.org"], scope=scope).ids
    memory.erase(ids[0], scope=scope)
    assert spans(memory) == 1
    memory.erase(ids[1], scope=scope)
    assert spans(memory) == 0


def test_what_is_shown_elsewhere_can_be_masked_by_its_spans(memory: Memory, scope: Scope) -> None:
    from retentia.security.personal import find_personal

    text = memory.get(memory.add("Call me at +49 170 1234567", scope=scope).id, scope=scope).text
    assert mask_personal(text, find_personal(text)) == "Call me at [phone]"
