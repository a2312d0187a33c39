"""Who may forget, export, keep and see personal data: the roles and grants that say so, each call in the audit log."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from retentia import Document, LearningSettings, Memory, Principal, Scope, Source, ToolCall
from retentia.acting import ActingMemory
from retentia.errors import AccessDenied, InvalidInput, NotFound
from retentia.lifecycle.erase import Eraser
from retentia.model.grant import Right
from retentia.store import audit as audit_rows
from retentia.testing import FakeEmbedder
from retentia.testing_store.clock import FixedClock

ANNA = Scope("acme", "anna", "work")
CODER = Scope("acme", "anna", "work", "coder")
BOB = Scope("acme", "bob", "work")
MAIL, PHONE, IBAN = "anna@example.org", "+49 170 1234567", "DE89 3704 0044 0532 0130 00"
PERSON = Principal(id="u-1", role="person", tenant="acme", user="anna")
AGENT = Principal(id="key-1", role="agent", tenant="acme", user="anna", space="work")
OTHER_AGENT = Principal(id="key-2", role="agent", tenant="acme", user="anna", space="home")
STRANGER = Principal(id="u-2", role="person", tenant="acme", user="bob")
SUPPORT = Principal(id="sup-1", role="support", tenant="acme", reason="T-1832", expires_at="2100")
AUDITOR = Principal(id="aud-1", role="auditor", tenant="acme")
ADMIN = Principal(id="adm-1", role="admin", tenant="acme", reason="T-77")
ADMIN_WITHOUT_A_REASON = Principal(id="adm-2", role="admin", tenant="acme")
FOREIGN_ADMIN = Principal(id="adm-3", role="admin", tenant="globex", reason="T-77")
EVERYONE = (
    PERSON, AGENT, OTHER_AGENT, STRANGER, SUPPORT, AUDITOR, ADMIN, ADMIN_WITHOUT_A_REASON, FOREIGN_ADMIN,
)  # fmt: skip

DAY = timedelta(days=1)


def removed_before(owner: Memory) -> str:
    note = owner.remember(f"Anna may be reached by {MAIL}", scope=ANNA).id
    return owner.forget(owner.plan_forgetting(ids=[note], scope=ANNA), undo_for=DAY).id


Call = Callable[[ActingMemory, Memory, Path], object]
CALLS: dict[str, Call] = {
    "plan_forgetting": lambda acting, *_: acting.plan_forgetting(everything=True, scope=ANNA),
    "forget": lambda acting, owner, _: acting.forget(owner.plan_forgetting(everything=True, scope=ANNA)),
    "plan_forgetting_person": lambda acting, *_: acting.plan_forgetting_person("anna", tenant="acme"),
    "forget_person": lambda acting, owner, _: acting.forget_person(owner.plan_forgetting_person("anna", tenant="acme")),
    "personal_data": lambda acting, *_: acting.personal_data(scope=ANNA),
    "personal_records": lambda acting, *_: acting.personal_records("email", scope=ANNA),
    "export": lambda acting, _, folder: acting.export(folder / "out.jsonl", scope=ANNA),
    "keep": lambda acting, owner, _: acting.keep(owner.messages(scope=ANNA)[0].id, scope=ANNA, forever=True),
    "pin": lambda acting, owner, _: acting.pin(owner.messages(scope=ANNA)[0].id, scope=ANNA),
    "due_for_review": lambda acting, *_: acting.due_for_review(scope=ANNA),
    "remove": lambda acting, owner, _: acting.forget(owner.plan_forgetting(everything=True, scope=ANNA), undo_for=DAY),
    "removed": lambda acting, owner, _: removed_before(owner) and acting.keeping.removed(scope=ANNA, content=True),
    "restore": lambda acting, owner, _: acting.keeping.restore(removed_before(owner), scope=ANNA),
    "import_records": lambda acting, *_: acting.import_records([{"kind": "note", "text": "I cook"}], scope=ANNA),
    "import_export": lambda acting, owner, folder: acting.import_export(exported(owner, folder), scope=ANNA),
}
HOLDING: dict[str, Call] = {
    "hold": lambda acting, *_: acting.hold(scope=ANNA, reason="case 17"),
    "release": lambda acting, owner, _: acting.release(owner.hold(scope=ANNA, reason="case 17").id, tenant="acme"),
    "holds": lambda acting, *_: acting.holds(tenant="acme"),
    "custody": lambda acting, *_: acting.custody(tenant="acme"),
    "custody content": lambda acting, *_: acting.custody(tenant="acme", content=True),
}
OF_THE_PERSON = {"plan_forgetting_person", "forget_person"}
WITHOUT_A_GRANT = {
    PERSON.id: set(CALLS),
    AGENT.id: set(CALLS) - OF_THE_PERSON,
    ADMIN.id: {*OF_THE_PERSON, *HOLDING},
    ADMIN_WITHOUT_A_REASON.id: {"holds", "custody"},
    AUDITOR.id: {"holds", "custody"},
}
NEEDS = {
    "plan_forgetting": {Right.READ, Right.ERASE},
    "forget": {Right.ERASE},
    "personal_data": {Right.PERSONAL},
    "personal_records": {Right.PERSONAL},
    "export": {Right.READ, Right.EXPORT},
    "keep": {Right.READ, Right.WRITE},
    "pin": {Right.READ, Right.WRITE},
    "due_for_review": {Right.READ},
    "remove": {Right.ERASE},
    "removed": {Right.READ},
    "restore": {Right.READ, Right.WRITE, Right.ERASE},
    "import_records": {Right.WRITE},
    "import_export": {Right.WRITE},
}


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def memory(store_url: str, clock: FixedClock) -> Iterator[Memory]:
    nothing_learned = LearningSettings(is_on=False)  # what counts here is exactly what was said
    with Memory.open(store_url, embedder=FakeEmbedder(), worker=False, clock=clock, learning=nothing_learned) as opened:
        opened.add([f"Write to {MAIL} or call {PHONE}", "I like tea"], scope=ANNA)
        opened.add("Bob likes coffee", scope=BOB)
        opened.drain()
        yield opened


def exported(owner: Memory, folder: Path) -> Path:
    owner.export(folder / "bob.lines", scope=BOB, overwrite=True)
    return folder / "bob.lines"


def last(memory: Memory, who: Principal) -> list[tuple[str, bool]]:
    return [(one.action, one.refused) for one in memory.audit_log(who.tenant, limit=50) if one.by == who.id]


@pytest.mark.parametrize("who", EVERYONE, ids=lambda who: who.id)
@pytest.mark.parametrize("verb", CALLS | HOLDING)
def test_each_role_may_what_it_may_and_each_call_is_in_the_log_when_it_returns(
    memory: Memory, tmp_path: Path, who: Principal, verb: str
) -> None:
    call = (CALLS | HOLDING)[verb]
    if verb in WITHOUT_A_GRANT.get(who.id, set()):
        call(memory.acting_as(who), memory, tmp_path)
    else:
        with pytest.raises(AccessDenied):
            call(memory.acting_as(who), memory, tmp_path)
        assert memory.stats(scope=ANNA).records["message"] == 2
        assert list(tmp_path.glob("*.jsonl")) == []
        assert all(record.expires_at for record in memory.messages(scope=ANNA))
    logged = last(memory, who)
    assert {refused for _, refused in logged} == {verb not in WITHOUT_A_GRANT.get(who.id, set())}
    assert memory.verify_audit(who.tenant).is_sound


@pytest.mark.parametrize("who", [OTHER_AGENT, ADMIN_WITHOUT_A_REASON], ids=lambda who: who.id)
@pytest.mark.parametrize("verb", NEEDS)
def test_a_grant_gives_exactly_the_rights_it_names(memory: Memory, tmp_path: Path, who: Principal, verb: str) -> None:
    for right in NEEDS[verb]:
        too_few = memory.grant(scope=ANNA, to=who.id, rights=set(Right) - {right}, expires_at="2100")
        with pytest.raises(AccessDenied):
            CALLS[verb](memory.acting_as(who), memory, tmp_path)
        memory.revoke(too_few.id, tenant="acme")
    assert list(tmp_path.glob("*.jsonl")) == []
    memory.grant(scope=ANNA, to=who.id, rights=NEEDS[verb], expires_at="2100")
    CALLS[verb](memory.acting_as(who), memory, tmp_path)


@pytest.mark.parametrize("verb", NEEDS)
def test_a_grant_for_some_kinds_is_not_one_for_all(memory: Memory, tmp_path: Path, verb: str) -> None:
    memory.grant(scope=ANNA, to=OTHER_AGENT.id, rights=list(Right), kinds=["message"], expires_at="2100")
    with pytest.raises(AccessDenied):
        CALLS[verb](memory.acting_as(OTHER_AGENT), memory, tmp_path)


@pytest.mark.parametrize("verb", [*CALLS])
def test_no_grant_lets_support_change_or_take_along(memory: Memory, tmp_path: Path, verb: str) -> None:
    memory.grant(scope=ANNA, to=SUPPORT.id, rights=list(Right), expires_at="2100")
    memory.grant(scope=ANNA, to=AUDITOR.id, rights=list(Right), expires_at="2100")
    if verb in ("due_for_review", "personal_data", "personal_records", "removed"):
        CALLS[verb](memory.acting_as(SUPPORT), memory, tmp_path)
    else:
        with pytest.raises(AccessDenied):
            CALLS[verb](memory.acting_as(SUPPORT), memory, tmp_path)
    with pytest.raises(AccessDenied):
        CALLS[verb](memory.acting_as(AUDITOR), memory, tmp_path)
    assert list(tmp_path.glob("*.jsonl")) == []


def test_a_grant_that_ends_while_an_export_is_written_leaves_no_file(memory: Memory, tmp_path: Path) -> None:
    grant = memory.grant(scope=ANNA, to=OTHER_AGENT.id, rights=["read", "export"], expires_at="2100")

    def revoke(_: int) -> None:
        memory.revoke(grant.id, tenant="acme")

    with pytest.raises(AccessDenied):
        memory.acting_as(OTHER_AGENT).export(tmp_path / "while.jsonl", scope=ANNA, progress=revoke)
    assert [file.name for file in tmp_path.iterdir() if "while" in file.name] == []


def test_an_admin_sees_how_much_goes_and_not_what_it_says(memory: Memory) -> None:
    acting = memory.acting_as(ADMIN)
    planned = acting.plan_forgetting_person("anna", tenant="acme")
    assert [(one.counts, one.samples, one.related) for one in planned] == [({"message": 2}, (), ())]
    acting.forget_person(planned)
    assert [scope.user for scope in memory.scopes("acme")] == ["bob"]
    done = [one for one in memory.audit_log("acme") if one.by == ADMIN.id]
    assert [(one.action, one.count, one.reason) for one in done] == [("erase", 2, "T-77"), ("read", 2, "T-77")]


def test_a_preview_made_for_one_person_forgets_no_other(memory: Memory) -> None:
    theirs = memory.plan_forgetting(everything=True, scope=BOB)
    acting = memory.acting_as(PERSON)
    for call in (lambda: acting.forget(theirs), lambda: acting.forget_person([theirs])):
        with pytest.raises(AccessDenied):
            call()
    own = acting.plan_forgetting_person("anna", tenant="acme")
    with pytest.raises(AccessDenied):
        acting.forget_person([*own, theirs])
    assert len(memory.messages(scope=ANNA)) == 2
    assert len(memory.messages(scope=BOB)) == 1


def test_an_agent_neither_forgets_nor_keeps_what_the_users_agents_share(memory: Memory) -> None:
    shared = memory.messages(scope=ANNA)[0]
    acting = memory.acting_as(
        Principal(id="key-3", role="agent", tenant="acme", user="anna", space="work", agent="coder")
    )
    own = acting.add("The coder answers with patches", scope=CODER).id
    planned = acting.plan_forgetting(everything=True, scope=CODER)
    assert planned.ids == (own,)
    with pytest.raises(AccessDenied):
        acting.plan_forgetting(everything=True, scope=ANNA)
    with pytest.raises(AccessDenied):
        acting.keep(shared.id, scope=CODER, forever=True)
    with pytest.raises(AccessDenied):
        acting.pin(shared.id, scope=CODER)
    assert not memory.messages(scope=ANNA)[0].pinned
    assert memory.get(shared.id, scope=ANNA).expires_at == shared.expires_at
    assert acting.keep(own, scope=CODER, forever=True).expires_at is None
    assert acting.pin(own, scope=CODER).pinned
    assert acting.forget(planned).records == (own,)
    assert len(memory.messages(scope=ANNA)) == 2


def test_what_is_not_there_is_in_the_log_too(memory: Memory) -> None:
    acting = memory.acting_as(PERSON)
    planned = acting.plan_forgetting(everything=True, scope=ANNA)
    acting.forget(planned)
    assert acting.forget(planned).missing == planned.ids
    with pytest.raises(NotFound):
        acting.keep(planned.ids[0], scope=ANNA, forever=True)
    assert acting.forget_person([]) == []
    assert last(memory, PERSON) == [
        ("erase", False),
        ("write", False),
        ("erase", False),
        ("erase", False),
        ("read", False),
    ]


@pytest.fixture
def full(memory: Memory) -> Memory:
    """Personal data in every place of every kind of record, and a text long enough to be cut."""
    filler = "The garden needs water every day and the roses grow well. " * 8
    memory.log_tool_call(
        ToolCall(name="send", arguments={"to": [MAIL], "iban": IBAN}, result={MAIL: {"phone": PHONE}}), scope=ANNA
    )
    memory.add_document(
        Document(text=f"{filler} The zeppelin: {MAIL} {PHONE}. {filler}", title=f"About {MAIL}"), scope=ANNA
    )
    memory.remember(f"zeppelin account {IBAN}", "fact", scope=ANNA, metadata={"mail": MAIL, "n": 1}, author=MAIL)
    memory.add([{"role": "user", "content": f"zeppelin {MAIL}", "speaker": MAIL}], scope=ANNA, session=f"with {MAIL}")
    memory.drain()
    return memory


def everything_shown(acting: ActingMemory) -> str:
    shown: list[object] = [
        acting.recall("zeppelin account mail", scope=ANNA, min_relevance=0, limit=50),
        acting.context("zeppelin account mail", scope=ANNA).text(),
        acting.messages(scope=ANNA),
        acting.messages(scope=ANNA, session=f"with {MAIL}"),
        acting.sessions(scope=ANNA),
        acting.due_for_review(scope=ANNA),
    ]
    for kind in ("message", "tool_call", "document", "fact"):
        page = acting.records(scope=ANNA, kind=kind)
        shown += [page, *(acting.get(record.id, scope=ANNA) for record in page.records)]
    return repr(shown)


def test_support_sees_personal_data_masked_until_it_is_granted(full: Memory, clock: FixedClock) -> None:
    full.grant(scope=ANNA, to=SUPPORT.id, expires_at="2100")
    acting = full.acting_as(SUPPORT)
    shown = everything_shown(acting)
    assert [one for one in (MAIL, PHONE, IBAN, "example.org", "1234567", "0532 0130") if one in shown] == []
    assert all(one in shown for one in ("[email]", "[phone]", "[iban]", "I like tea"))
    with pytest.raises(AccessDenied):
        acting.personal_data(scope=ANNA)
    grant = full.grant(scope=ANNA, to=SUPPORT.id, rights=["personal"], expires_at="2100")
    assert all(one in everything_shown(acting) for one in (MAIL, PHONE, IBAN))
    full.revoke(grant.id, tenant="acme")
    assert MAIL not in everything_shown(acting)


def test_personal_data_granted_of_one_kind_stays_masked_in_the_others(full: Memory) -> None:
    full.grant(scope=ANNA, to=SUPPORT.id, expires_at="2100")
    full.grant(scope=ANNA, to=SUPPORT.id, rights=["personal"], kinds=["fact"], expires_at="2100")
    acting = full.acting_as(SUPPORT)
    assert IBAN in repr(acting.records(scope=ANNA, kind="fact"))
    assert MAIL not in repr(acting.records(scope=ANNA, kind="message"))
    assert MAIL not in repr(acting.sessions(scope=ANNA))


def test_an_excerpt_for_support_is_cut_from_the_masked_text_and_its_spans_lie_in_it(full: Memory) -> None:
    full.grant(scope=ANNA, to=SUPPORT.id, expires_at="2100")
    found = full.acting_as(SUPPORT).recall("zeppelin", scope=ANNA, kinds=["document"], min_relevance=0)
    hit = found[0]
    assert len(hit.text) < len(hit.record.text)
    assert "[email]" in "".join(hit.record.text[span.start : span.end] for span in hit.spans)


def test_what_recovery_finishes_is_not_logged_under_whoever_came_next(
    memory: Memory, store_url: str, tmp_path: Path
) -> None:
    bob_said = memory.messages(scope=BOB)[0].id
    options = {"embedder": FakeEmbedder(), "worker": False, "ledger": tmp_path / "erased.ledger"}

    class Killed(BaseException):
        pass

    def die(*_: object, **__: object) -> None:
        raise Killed

    with Memory.open(store_url, **options) as opened:  # type: ignore[arg-type]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Eraser, "_carry_out", die)
            with pytest.raises(Killed):
                opened.acting_as(STRANGER).erase(bob_said, scope=BOB)
        opened.acting_as(PERSON).forget(opened.plan_forgetting(everything=True, scope=ANNA))
        erased = [(one.by, one.role, one.count) for one in opened.audit_log("acme") if one.action == "erase"]
        assert erased == [("u-1", "person", 2), ("recovery", "recovery", 1)]


@pytest.mark.parametrize("name", ["owner", "recovery", "retention"])
def test_nobody_bears_the_name_of_the_system(name: str) -> None:
    with pytest.raises(InvalidInput, match="choose another id"):
        Principal(id=name, role="agent", tenant="acme", user="anna")


def test_what_lies_in_the_bin_is_masked_for_support_and_logged(memory: Memory) -> None:
    removed_before(memory)
    memory.grant(scope=ANNA, to=SUPPORT.id, expires_at="2100")
    acting = memory.acting_as(SUPPORT)
    (counted,) = acting.keeping.removed(scope=ANNA)
    assert (dict(counted.counts), counted.records) == ({"note": 1}, ())
    (shown,) = acting.keeping.removed(scope=ANNA, content=True)
    assert [record.text for record in shown.records] == ["Anna may be reached by [email]"]
    ids = [record for one in memory.audit_log("acme") if one.by == SUPPORT.id for record in one.records]
    assert ids == [shown.records[0].id]


def test_what_an_agent_derived_is_restored_by_who_may_write_there_too(memory: Memory) -> None:
    shared = memory.add("We meet on Monday", scope=ANNA).id
    cited = [Source(kind="message", id=shared, start=0, end=2)]
    own = memory.remember("Monday", "fact", scope=CODER, sources=cited).id
    planned = memory.plan_forgetting(ids=[shared], scope=ANNA)
    removal = memory.forget(planned, undo_for=DAY).id
    memory.grant(scope=ANNA, to=OTHER_AGENT.id, rights=list(Right), expires_at="2100")
    with pytest.raises(AccessDenied):
        memory.acting_as(OTHER_AGENT).keeping.restore(removal, scope=ANNA)
    assert set(memory.acting_as(PERSON).keeping.restore(removal, scope=ANNA)) == {shared, own}
    assert last(memory, PERSON)[0] == ("restore", False)


def test_a_look_into_custody_is_in_the_log_with_its_reason_before_the_answer(memory: Memory) -> None:
    hold = memory.hold(scope=ANNA, reason="case 17, Anna against all")
    said = [record.id for record in memory.messages(scope=ANNA)]
    memory.erase(said, scope=ANNA)
    seen = memory.acting_as(ADMIN).custody(tenant="acme", content=True)
    assert {one.id for one in seen} == set(said)
    memory.custody(tenant="acme")
    memory.acting_as(ADMIN).release(hold.id, tenant="acme")
    log = memory.audit_log("acme")[::-1]
    told = [(one.by, one.action, one.reason, set(one.records)) for one in log if one.action != "read"]
    assert told[-4:] == [
        ("owner", "hold", "", {hold.id}),
        ("adm-1", "custody", "T-77", set(said)),
        ("owner", "custody", "", set(said)),
        ("adm-1", "release", "T-77", {hold.id, *said}),
    ]
    with memory._database.read("acme") as transaction:
        logged = [bytes(row.entry) for row in audit_rows.newest(transaction, before=None, limit=50)]
    assert not any(b"case" in entry or b"anna" in entry for entry in logged)
    memory.forget_person(memory.plan_forgetting_person("anna", tenant="acme"))
    assert memory.verify_audit("acme").is_sound


@pytest.mark.parametrize("reason", ["", "Anna is ill"])
def test_content_in_custody_is_not_shown_without_an_opaque_reason(memory: Memory, reason: str) -> None:
    memory.hold(scope=ANNA, reason="case 17")
    memory.erase(memory.messages(scope=ANNA)[0].id, scope=ANNA)
    before = memory.audit_head("acme")
    with pytest.raises(InvalidInput):
        memory.custody(tenant="acme", content=True, reason=reason)
    assert memory.audit_head("acme") == before


def test_an_import_that_loses_its_right_keeps_nothing(memory: Memory, tmp_path: Path) -> None:
    grant = memory.grant(scope=ANNA, to=OTHER_AGENT.id, rights=["write"], expires_at="2100")
    path = exported(memory, tmp_path)

    def revoke(_: int) -> None:
        if memory.grants(tenant="acme")[0].revoked_at is None:
            memory.revoke(grant.id, tenant="acme")

    with pytest.raises(AccessDenied):
        memory.acting_as(OTHER_AGENT).import_export(path, scope=ANNA, progress=revoke)
    assert [record.text for record in memory.messages(scope=ANNA)] == [f"Write to {MAIL} or call {PHONE}", "I like tea"]
