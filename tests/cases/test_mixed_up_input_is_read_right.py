"""Input as it comes: several languages at once, names within names, old chats after new ones, broken characters."""

import pytest

from retentia import Memory, Message, Scope


def profile(memory: Memory, scope: Scope) -> dict[str, list[str]]:
    return {name: sorted(values) for name, values in memory.facts.profile(scope=scope).values().items()}


def test_one_session_in_several_languages_is_one_profile(memory: Memory, scope: Scope) -> None:
    said = ["I live in Lviv.", "Ich arbeite bei Siemens.", "Мене звати Олена.", "J'habite à Paris.", "Vivo en Madrid."]
    memory.add(said, scope=scope)
    assert profile(memory, scope) == {"home": ["Lviv"], "employer": ["Siemens"], "name": ["Олена"]}


def test_a_name_that_begins_another_stays_another(memory: Memory, scope: Scope) -> None:
    memory.add(["My friend Ann hates football.", "My friend Anna loves football."], scope=scope)
    assert profile(memory, scope) == {"friend": ["Ann", "Anna"]}
    assert [one.value for one in memory.facts.get("dislikes", scope=scope, subject="Ann")] == ["football"]
    assert [one.value for one in memory.facts.get("likes", scope=scope, subject="Anna")] == ["football"]


def test_an_old_chat_that_comes_in_later_ends_nothing_newer(memory: Memory, scope: Scope) -> None:
    memory.add("I live in Lviv.", scope=scope)
    memory.add([Message(role="user", content="I live in Graz.", at="2020-01-01")], scope=scope)
    assert profile(memory, scope) == {"home": ["Lviv"]}


def test_what_a_year_to_come_will_bring_is_not_so_yet(memory: Memory, scope: Scope) -> None:
    memory.add(["I live in Lviv.", "In 2091 I will live in Graz."], scope=scope)
    assert profile(memory, scope) == {"home": ["Lviv"]}


@pytest.mark.parametrize("mark", ["🏔️🎉", "\x00", "\ud83d", "أعيش في القاهرة", "\u200f"])
def test_what_stands_beside_a_fact_does_not_hide_it(memory: Memory, scope: Scope, mark: str) -> None:
    memory.add(f"I live in Graz. {mark}", scope=scope)
    assert profile(memory, scope) == {"home": ["Graz"]}
