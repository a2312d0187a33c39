"""Forgetting shows what would go, and then lets go of exactly that."""

from datetime import timedelta
from pathlib import Path

import pytest

from retentia import Memory, Scope, Source
from retentia.errors import InvalidInput
from retentia.lifecycle.forget import Request, read_request


@pytest.fixture
def filled(memory: Memory, scope: Scope) -> Memory:
    memory.add(["I met Olena at the bakery", "Olenas Hund heißt Bello", "The boiler is broken"], scope=scope)
    memory.add("Олену звільнили", scope=scope, session="work")
    memory.remember("Olena likes rye bread", "preference", scope=scope, metadata={"topic": "food"})
    memory.drain()
    return memory


def texts(memory: Memory, scope: Scope) -> set[str]:
    kinds = ("message", "preference", "fact", "note")
    return {record.text for kind in kinds for record in memory.records(scope=scope, kind=kind).records}


def test_a_topic_is_matched_by_its_words_in_any_form_and_nothing_else_goes(filled: Memory, scope: Scope) -> None:
    planned = filled.plan_forgetting("forget what I said about Olena", scope=scope)
    assert planned.counts == {"message": 2, "preference": 1}
    named = {"I met Olena at the bakery", "Olenas Hund heißt Bello", "Olena likes rye bread"}
    assert {sample.text for sample in planned.samples} == named
    assert len(texts(filled, scope)) == 5
    filled.forget(planned)
    assert texts(filled, scope) == {"The boiler is broken", "Олену звільнили"}


def test_what_is_said_after_the_preview_stays(filled: Memory, scope: Scope) -> None:
    planned = filled.plan_forgetting(about="Olena", scope=scope)
    filled.add("Olena called again", scope=scope)
    filled.forget(planned)
    assert "Olena called again" in texts(filled, scope)
    assert filled.forget(planned).missing == planned.ids


@pytest.mark.parametrize(
    ("conditions", "gone"),
    [
        ({"session": "work"}, {"Олену звільнили"}),
        ({"kinds": ["preference"]}, {"Olena likes rye bread"}),
        ({"where": {"topic": "food"}}, {"Olena likes rye bread"}),
        ({"about": "Olena", "kinds": ["message"]}, {"I met Olena at the bakery", "Olenas Hund heißt Bello"}),
        ({"about": "Olena bakery"}, {"I met Olena at the bakery"}),
        ({"until": "2020"}, set()),
        ({"about": "nobody ever said this"}, set()),
    ],
)
def test_every_condition_must_hold(filled: Memory, scope: Scope, conditions: dict[str, object], gone: set[str]) -> None:
    before = texts(filled, scope)
    filled.forget(filled.plan_forgetting(scope=scope, **conditions))  # type: ignore[arg-type]
    assert texts(filled, scope) == before - gone


def test_the_last_hour_is_what_was_kept_in_it(filled: Memory, scope: Scope) -> None:
    planned = filled.plan_forgetting("vergiss die letzte Stunde", scope=scope)
    assert sum(planned.counts.values()) == 5
    assert filled.plan_forgetting(within=timedelta(microseconds=1), scope=scope).ids == ()


def test_everything_must_be_said_and_another_scope_is_never_touched(filled: Memory, scope: Scope) -> None:
    other = Scope("acme", "bert")
    filled.add("Bert likes tea", scope=other)
    with pytest.raises(InvalidInput, match="say what shall be forgotten"):
        filled.plan_forgetting(scope=scope)
    filled.forget(filled.plan_forgetting(everything=True, scope=scope))
    assert texts(filled, scope) == set()
    assert texts(filled, other) == {"Bert likes tea"}


def test_the_preview_names_what_goes_along_and_what_stays_because_of_another_source(
    memory: Memory, scope: Scope
) -> None:
    one, other = memory.add(["Olena moved to Lviv", "The office is in Lviv"], scope=scope).ids
    cite = [Source(kind="message", id=record_id, start=0, end=5) for record_id in (one, other)]
    alone = memory.remember("Olena lives in Lviv", "fact", scope=scope, sources=cite[:1])
    both = memory.remember("Lviv matters", "fact", scope=scope, sources=cite)
    planned = memory.plan_forgetting(about="Olena moved", scope=scope)
    assert planned.along == (alone.id,)
    assert [sample.id for sample in planned.remains] == [both.id]
    done = memory.forget(planned)
    assert set(done.records) == {one, alone.id}
    assert memory.get(both.id, scope=scope).text == "Lviv matters"


@pytest.mark.parametrize(
    ("topic", "gone"),
    [
        ("Haus", {"Die Häuser sind groß", "Mein Haus"}),
        ("будинок", {"Будинки великі"}),
        ("北京", {"我喜欢北京烤鸭"}),
        ("🙂", {"a 🙂 for you"}),
        ("\"hello'", {'He said "hello" twice'}),
        ("the", set()),
        ("und der", set()),
        ("   ", set()),
        ("?!", set()),
        ("' OR 1=1 --", set()),
    ],
)
def test_a_topic_in_any_script_takes_what_says_it_and_one_without_a_word_takes_nothing(
    memory: Memory, scope: Scope, topic: str, gone: set[str]
) -> None:
    memory.add(
        ["Die Häuser sind groß", "Mein Haus", "Будинки великі", "我喜欢北京烤鸭", "昨天我去了上海", "a 🙂 for you"],
        scope=scope,
    )
    memory.add(['He said "hello" twice', "the and der und"], scope=scope)
    before = texts(memory, scope)
    memory.forget(memory.plan_forgetting(about=topic, scope=scope))
    assert texts(memory, scope) == before - gone


def test_nobody_elses_record_is_named_or_goes(filled: Memory, scope: Scope) -> None:
    others = [Scope("acme", "bert"), Scope("globex", scope.user), Scope("acme", scope.user, space="work")]
    ids = [filled.add("Olena is here, too", scope=other).id for other in others]
    assert filled.plan_forgetting(ids=ids, scope=scope).counts == {}
    receipt = filled.erase(ids, scope=scope)
    assert (receipt.records, set(receipt.missing)) == ((), set(ids))
    planned = filled.plan_forgetting(about="Olena", scope=scope)
    assert not set(ids) & {*planned.ids, *planned.along, *(one.id for one in planned.related)}
    assert all(filled.get(record_id, scope=other) for record_id, other in zip(ids, others, strict=True))


def test_what_cannot_be_meant_is_refused_and_what_is_unknown_is_nothing(filled: Memory, scope: Scope) -> None:
    for conditions in ({"ids": ["nonsense"]}, {"ids": ["zz" * 16]}, {"since": "2027", "until": "2020"}):
        with pytest.raises(InvalidInput):
            filled.plan_forgetting(scope=scope, **conditions)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="not an id"):
        filled.erase("12", scope=scope)
    with pytest.raises(InvalidInput):
        filled.verify_erasure("acme", ["nonsense"])
    for conditions in ({"session": "nobody knows"}, {"within": timedelta(days=-1)}, {"where": {"topic": "none"}}):
        assert filled.plan_forgetting(scope=scope, **conditions).counts == {}  # type: ignore[arg-type]
    assert filled.plan_forgetting(everything=True, scope=Scope("acme", "never seen")).counts == {}
    assert filled.erase([], scope=scope).records == ()


@pytest.mark.parametrize(
    ("sentence", "asked"),
    [
        ("forget what I said about Anna's divorce.", Request(about="Anna's divorce")),
        ("Please forget everything about the house", Request(about="the house")),
        ("Vergiss, was ich über Olena gesagt habe!", Request(about="Olena")),
        ("vergiss alles über das Haus", Request(about="das Haus")),
        ("забудь, що я казав про Олену", Request(about="Олену")),
        ("Забудь усе про будинок", Request(about="будинок")),
        ("forget the last hour", Request(within=timedelta(hours=1))),
        ("forget the last 3 days", Request(within=timedelta(days=3))),
        ("Vergiss die letzten zwei Stunden", Request(within=timedelta(hours=2))),
        ("забудь останню годину", Request(within=timedelta(hours=1))),
        ("забудь останні три дні", Request(within=timedelta(days=3))),
        ("forget everything", Request(everything=True)),
        ("Vergiss alles über mich", Request(everything=True)),
        ("забудь усе", Request(everything=True)),
    ],
)
def test_a_request_in_three_languages_is_understood(sentence: str, asked: Request) -> None:
    assert read_request(sentence) == asked


@pytest.mark.parametrize("sentence", ["", "what did I say about Anna?", "remember the milk", "don't forget the milk"])
def test_what_is_unclear_is_asked_again(sentence: str) -> None:
    with pytest.raises(InvalidInput, match="does not say what to forget"):
        read_request(sentence)


def test_a_person_goes_from_every_space_with_their_name(memory: Memory, tmp_path: Path) -> None:
    name = "zwetschgenkuchen@example.com"
    scopes = [Scope("acme", name), Scope("acme", name, "work"), Scope("acme", name, "work", "coder")]
    for place in scopes:
        memory.add("said by one who wants to be forgotten", scope=place, session=f"with {name}")
    memory.add("said by another", scope=Scope("acme", "bert"))
    memory.drain()
    planned = memory.plan_forgetting_person(name, tenant="acme")
    assert {one.scope for one in planned} == set(scopes)
    memory.forget_person(planned)
    assert [place.user for place in memory.scopes("acme")] == ["bert"]
    assert len(memory.messages(scope=Scope("acme", "bert"))) == 1
    for file in tmp_path.glob("memory.db*"):
        assert name.encode() not in file.read_bytes()
    assert memory.forget_person(memory.plan_forgetting_person(name, tenant="acme")) == []


def test_what_a_person_says_while_being_forgotten_stays(memory: Memory, scope: Scope) -> None:
    memory.add("the first", scope=scope)
    planned = memory.plan_forgetting_person(scope.user, tenant=scope.tenant)
    memory.add("the second", scope=scope)
    memory.forget_person(planned)
    assert [message.text for message in memory.messages(scope=scope)] == ["the second"]
