"""Moving from one tool to another: the new one holds, the old one is past, and both name the message that says so."""

import pytest

from retentia import Memory, Scope

TEAM = Scope("acme", "team")


@pytest.mark.parametrize(
    ("before", "change", "old", "new"),
    [
        ("We use PostgreSQL for our orders.", "We migrated from PostgreSQL to MySQL.", "PostgreSQL", "MySQL"),
        ("I use Vim.", "I switched from Vim to Emacs.", "Vim", "Emacs"),
        ("Ich benutze Vim.", "Ich bin von Vim auf Emacs umgestiegen.", "Vim", "Emacs"),
        ("Я користуюся Vim.", "Я перейшла з Vim на Emacs.", "Vim", "Emacs"),
    ],
)
def test_the_new_tool_holds_and_the_old_one_is_past(
    store_url: str, before: str, change: str, old: str, new: str
) -> None:
    with Memory.open(store_url, embedder=None, worker=False) as memory:
        memory.add("I also use Git.", scope=TEAM)
        first = memory.add(before, scope=TEAM).id
        second = memory.add(change, scope=TEAM).id
        assert set(memory.facts.profile(scope=TEAM).values()["uses"]) == {"Git", new}
        past, now = (
            next(one for one in memory.facts.history("uses", scope=TEAM) if one.value == value) for value in (old, new)
        )
        assert past.record.valid_to is not None
        assert [source.id for source in past.record.sources] == [first]
        assert [source.id for source in now.record.sources] == [second]
        assert past.changes[-1].cause == now.id
