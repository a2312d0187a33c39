"""The registry of attributes: which have one value at a time, by which names they go, and what their values are.

A name that is not in it is an attribute, too: it has many values, and none takes the place of another.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from retentia.errors import InvalidInput

_FIELDS = frozenset({"values", "type", "aliases", "opposite"})
_HOW_MANY = ("one", "many")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """An attribute under its one name. `has_many` values stand beside one another; of one, the newest holds.

    `type` says what a value is ("place", "date", "person", "text" …). `opposite` is the attribute that the same value
    cannot have at the same time (likes, dislikes), "" for none.
    """

    name: str
    has_many: bool = True
    type: str = "text"
    aliases: tuple[str, ...] = ()
    opposite: str = ""


class Attributes:
    """Attributes by name and alias."""

    def __init__(self, known: Iterable[Attribute]) -> None:
        self._by_name: dict[str, Attribute] = {}
        listed = list(known)
        for attribute in listed:
            for alias in attribute.aliases:
                self._by_name.setdefault(_folded(alias), attribute)
        for attribute in listed:  # a name outranks the alias of another
            self._by_name[_folded(attribute.name)] = attribute

    def of(self, name: str) -> Attribute:
        """Return the attribute of a name or alias; one that is not known has many values."""
        folded = _folded(name)
        return self._by_name.get(folded) or Attribute(name=folded.replace(" ", "_"))

    def knows(self, name: str) -> bool:
        """Tell whether a name or alias is registered."""
        return _folded(name) in self._by_name

    def names(self) -> list[str]:
        """Return the names of all registered attributes, sorted."""
        return sorted({attribute.name for attribute in self._by_name.values()})

    def extended(self, data: Mapping[str, Any]) -> "Attributes":
        """Return this registry with more attributes, as a table of a TOML file has them; raise InvalidInput.

        What is told of an attribute that is known takes the place of what was known; its aliases stay.
        """
        known = {attribute.name: attribute for attribute in self._by_name.values()}
        told = read_attributes(data)
        before = {one.name: known[one.name].aliases if one.name in known else () for one in told}
        fresh = [replace(one, aliases=(*one.aliases, *before[one.name])) for one in told]
        return Attributes([*fresh, *(known[name] for name in sorted(known.keys() - {one.name for one in told}))])


def read_attributes(data: Mapping[str, Any]) -> list[Attribute]:
    """Read attributes from a table: name to {values = "one" or "many", type, aliases, opposite}; raise InvalidInput."""
    return [_attribute(name, fields) for name, fields in data.items()]


@cache
def shipped_attributes() -> Attributes:
    """Return the attributes that come with the package."""
    folder = Path(__file__).parent
    return Attributes(read_attributes(tomllib.loads((folder / "attributes.toml").read_text("utf-8"))))


def _attribute(name: str, fields: Any) -> Attribute:
    if not name.strip():
        raise InvalidInput("an attribute needs a name")
    if not isinstance(fields, Mapping) or not _FIELDS.issuperset(fields):
        raise InvalidInput(f"attribute {name!r}: it is a table with some of {', '.join(sorted(_FIELDS))}")
    how_many, aliases = fields.get("values", "many"), fields.get("aliases", [])
    if how_many not in _HOW_MANY:
        raise InvalidInput(f"attribute {name!r}: values is {' or '.join(map(repr, _HOW_MANY))}, not {how_many!r}")
    if not isinstance(aliases, list) or not all(isinstance(alias, str) and alias.strip() for alias in aliases):
        raise InvalidInput(f"attribute {name!r}: aliases is a list of names")
    return Attribute(
        name=_folded(name).replace(" ", "_"),
        has_many=how_many == "many",
        type=str(fields.get("type", "text")),
        aliases=tuple(aliases),
        opposite=str(fields.get("opposite", "")),
    )


def _folded(name: str) -> str:
    return " ".join(name.replace("_", " ").replace("’", "'").casefold().split())
