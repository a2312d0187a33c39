"""Relations between a subject and an object: how many objects each has, how it is stated and how it is asked for.

What ships is in `relations.toml`; more, or others of the same name, come from a table of the same form.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from retentia.errors import InvalidInput
from retentia.learn.templates import check_template
from retentia.learn.words import Phrase, read_phrase, words_of
from retentia.model.attributes import Attributes

_LISTS = ("says", "nouns", "asks", "back", "verbs", "done_by", "hints")
_FIELDS = frozenset({"values", "subject", "object", "inverse", *_LISTS})
_TYPE_FIELDS = frozenset({"is", "words", "asked"})
_WORD_LISTS = frozenset(
    {
        "stop",
        "openers",
        "hedges",
        "pronouns",
        "pronouns_before_small",
        "not_in_names",
        "articles",
        "tails",
        "asking",
        "speaker",
        "joining",
        "before_doer",
    }
)
_GENERIC_LISTS = frozenset({"known", "unknown", "not_a_relation"})
_TABLES = frozenset({"relation", "type", "generic", "words"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A relation under its one name. `subject` and `object` are types; `inverse` is what the subject is to the object.

    `says` are sentences that state it. `nouns`, `asks` and `hints` lead from the subject to the object, `back` the
    other way; `verbs` say what the subject does, `done_by` what the object does.
    """

    name: str
    has_many: bool = True
    subject: str = "thing"
    object: str = "thing"
    inverse: str = ""
    says: tuple[str, ...] = ()
    nouns: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    back: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    done_by: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeOfThing:
    """What a thing can be. `words` name it in a question, `asked` are the question words that ask for it."""

    name: str
    wider: str = ""
    words: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Relations:
    """Relations by name, the types of things, and the words that belong to neither."""

    by_name: Mapping[str, Relation]
    types: Mapping[str, TypeOfThing]
    generic: Mapping[str, tuple[str, ...]]
    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, name: str) -> Relation:
        """Return a relation by its name; one that is not known has many objects of any type."""
        return self.by_name.get(name) or Relation(name=name)

    def words(self, name: str) -> frozenset[str]:
        """Return the folded words of a list of `[words]`: "stop", "hedges", "articles" …"""
        return self._folded_lists.get(name, frozenset())

    def is_a(self, one: str, other: str) -> bool:
        """Tell whether a type is the other one or a kind of it."""
        seen: set[str] = set()
        while one and one != other and one not in seen:
            seen.add(one)
            one = self.types[one].wider if one in self.types else ""
        return one == other

    def phrase(self, text: str) -> Phrase:
        """Read a phrase of the data, such as "depend* on"."""
        return read_phrase(text, self.words("stop"))

    def attributes(self, known: Attributes) -> Attributes:
        """Return the registry of attributes with these relations in it; an attribute that it has stays as it is."""
        names = set(known.names())
        return known.extended(
            {
                relation.name: {"values": "many" if relation.has_many else "one", "type": relation.object}
                for relation in self.by_name.values()
                if relation.name not in names
            }
        )

    def extended(self, data: Mapping[str, Any]) -> "Relations":
        """Return these relations with more of them, or others under the same names; raise InvalidInput.

        `data` is a table as `relations.toml` has it. Lists of words add to those that are there.
        """
        more = read_relations(data)
        for text in (says for relation in more.by_name.values() for says in relation.says):
            check_template(text)
        return Relations(
            by_name={**self.by_name, **more.by_name},
            types={**self.types, **more.types},
            generic=_joined(self.generic, more.generic),
            lists=_joined(self.lists, more.lists),
        )

    @cached_property
    def _folded_lists(self) -> Mapping[str, frozenset[str]]:
        return {name: frozenset(" ".join(words_of(text)) for text in texts) for name, texts in self.lists.items()}


def read_relations(data: Mapping[str, Any]) -> Relations:
    """Read relations, types and words from a table as `relations.toml` has it; raise InvalidInput."""
    if unknown := sorted(data.keys() - _TABLES):
        raise InvalidInput(f"relations: there is no table {unknown[0]!r}; use {', '.join(sorted(_TABLES))}")
    return Relations(
        by_name={name: _relation(name, fields) for name, fields in _table(data, "relation").items()},
        types={name: _type(name, fields) for name, fields in _table(data, "type").items()},
        generic=_lists("generic", _table(data, "generic"), _GENERIC_LISTS),
        lists=_lists("words", _table(data, "words"), _WORD_LISTS),
    )


@cache
def shipped_relations() -> Relations:
    """Return the relations that come with the package."""
    return read_relations(tomllib.loads((Path(__file__).parent / "relations.toml").read_text("utf-8")))


def _relation(name: str, fields: Any) -> Relation:
    what = f"relation {name!r}"
    _check_fields(what, fields, _FIELDS)
    if (how_many := fields.get("values", "many")) not in ("one", "many"):
        raise InvalidInput(f"{what}: values is 'one' or 'many', not {how_many!r}")
    return Relation(
        name=name,
        has_many=how_many == "many",
        subject=str(fields.get("subject", "thing")),
        object=str(fields.get("object", "thing")),
        inverse=str(fields.get("inverse", "")),
        **{key: _texts(f"{what}: {key}", fields.get(key, [])) for key in _LISTS},
    )


def _type(name: str, fields: Any) -> TypeOfThing:
    what = f"type {name!r}"
    _check_fields(what, fields, _TYPE_FIELDS)
    return TypeOfThing(
        name=name,
        wider=str(fields.get("is", "")),
        words=_texts(f"{what}: words", fields.get("words", [])),
        asked=_texts(f"{what}: asked", fields.get("asked", [])),
    )


def _lists(what: str, table: Mapping[str, Any], names: frozenset[str]) -> dict[str, tuple[str, ...]]:
    _check_fields(what, table, names)
    return {name: _texts(f"{what}: {name}", texts) for name, texts in table.items()}


def _table(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = data.get(name, {})
    if not isinstance(table, Mapping):
        raise InvalidInput(f"relations: {name!r} is a table")
    return table


def _check_fields(what: str, fields: Any, known: Iterable[str]) -> None:
    if not isinstance(fields, Mapping) or not set(known).issuperset(fields):
        raise InvalidInput(f"{what}: it is a table with some of {', '.join(sorted(known))}")


def _texts(what: str, texts: Any) -> tuple[str, ...]:
    if not isinstance(texts, list) or not all(isinstance(text, str) and text.strip() for text in texts):
        raise InvalidInput(f"{what} is a list of texts")
    return tuple(texts)


def _joined(some: Mapping[str, tuple[str, ...]], more: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {name: (*some.get(name, ()), *more.get(name, ())) for name in {**some, **more}}
