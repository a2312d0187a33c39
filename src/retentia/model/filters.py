"""One filter language for metadata, the same on every store and in every listing.

A filter is a mapping; all its entries must hold:

    {"project": "atlas"}                                  equal
    {"price": {"gte": 200, "lt": 220}}                    eq ne gt gte lt lte
    {"tag": {"in": ["a", "b"]}}                           in nin
    {"reviewed": {"exists": False}}                       whether the key is there, be its value 0, False, "" or None
    {"tags": {"contains": "urgent"}}                      a list has the member, a text has the substring
    {"author.name": "Olena"}                              dots descend into nested mappings; a key with dots goes first
    {"or": [{...}, {...}], "and": [{...}], "not": {...}}

A missing key matches only `exists: false`, `ne` and `nin`. Unlike types are unequal and unordered, never an error: True
is not 1 and "10" is not greater than 9; 1 and 1.0 are the same number; NaN equals and exceeds nothing. Texts are
ordered by code point, so times written alike in ISO 8601 compare as times. What is malformed raises InvalidFilter,
because a filter that is understood wrongly must not let anything through.
"""

import math
import operator
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any, Final, TypeAlias

from retentia.errors import InvalidFilter
from retentia.model.message import JSON

_MAX_DEPTH = 32
_NEEDED = {"in": "a list", "nin": "a list", "exists": "true or false"}


class Filter(ABC):
    """A condition on metadata that was checked when it was parsed; `matches` never raises."""

    __slots__ = ()

    @abstractmethod
    def matches(self, metadata: Mapping[str, JSON]) -> bool:
        """Tell whether a record with this metadata passes."""


@dataclass(frozen=True, slots=True)
class Every(Filter):
    """All parts match; so does no part at all."""

    parts: tuple[Filter, ...]

    def matches(self, metadata: Mapping[str, JSON]) -> bool:
        return all(part.matches(metadata) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Either(Filter):
    """At least one part matches."""

    parts: tuple[Filter, ...]

    def matches(self, metadata: Mapping[str, JSON]) -> bool:
        return any(part.matches(metadata) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Negation(Filter):
    """The part does not match."""

    part: Filter

    def matches(self, metadata: Mapping[str, JSON]) -> bool:
        return not self.part.matches(metadata)


@dataclass(frozen=True, slots=True)
class Condition(Filter):
    """One operator on the value at one path."""

    path: str
    name: str
    operand: JSON

    def matches(self, metadata: Mapping[str, JSON]) -> bool:
        return _OPERATORS[self.name](_value_at(metadata, self.path), self.operand)


def parse_filter(spec: Mapping[str, object]) -> Filter:
    """Check a filter and make it ready to match; raise InvalidFilter naming what is wrong in it."""
    return _parse(spec, depth=0)


class _Absent(Enum):
    ABSENT = "absent"


_ABSENT: Final = _Absent.ABSENT
_Value: TypeAlias = "JSON | _Absent"


def _parse(spec: object, depth: int) -> Filter:
    if depth > _MAX_DEPTH:
        raise InvalidFilter(f"the filter is nested deeper than {_MAX_DEPTH} levels")
    if not isinstance(spec, Mapping):
        raise InvalidFilter(f"a filter must be a mapping such as {{'project': 'atlas'}}, not {reprlib.repr(spec)}")
    parts = [part for key, value in spec.items() for part in _parse_entry(key, value, depth)]
    return parts[0] if len(parts) == 1 else Every(tuple(parts))


def _parse_entry(key: object, value: object, depth: int) -> list[Filter]:
    match key:
        case "and":
            return [Every(_parse_list("and", value, depth))]
        case "or":
            return [Either(_parse_list("or", value, depth))]
        case "not":
            return [Negation(_parse(value, depth + 1))]
    path = _checked_path(key)
    if not isinstance(value, Mapping):
        return [Condition(path, "eq", _checked_json(value, path))]
    if not value:
        raise InvalidFilter(f"the filter on {path!r} has no operator: use one of {', '.join(_OPERATORS)}")
    return [Condition(path, *_checked_operator(path, name, operand)) for name, operand in value.items()]


def _parse_list(name: str, value: object, depth: int) -> tuple[Filter, ...]:
    if not isinstance(value, list | tuple):
        raise InvalidFilter(f"{name!r} needs a list of filters, not {reprlib.repr(value)}")
    return tuple(_parse(item, depth + 1) for item in value)


def _checked_path(key: object) -> str:
    if not isinstance(key, str) or not all(key.split(".")) or key.count(".") > _MAX_DEPTH:
        raise InvalidFilter(f"{reprlib.repr(key)} is no metadata key: use a name, with dots to descend")
    if key.startswith("$") or key.lower() in {"and", "or", "not"}:
        raise InvalidFilter(f"{key!r} is no operator here: write {key.lstrip('$').lower()!r}")
    return key


def _checked_operator(path: str, name: object, operand: object) -> tuple[str, JSON]:
    if not isinstance(name, str) or name not in _OPERATORS:
        raise InvalidFilter(
            f"unknown operator {reprlib.repr(name)} on {path!r}: use one of {', '.join(_OPERATORS)}; "
            "to compare with a mapping write {'eq': {...}}"
        )
    if name in {"in", "nin"} and isinstance(operand, AbstractSet):
        operand = list(operand)
    checked = _checked_json(operand, path)
    if not _fits(name, checked):
        needed = _NEEDED.get(name, "a number or a text")
        raise InvalidFilter(f"{name!r} on {path!r} needs {needed}, not {reprlib.repr(operand)}")
    return name, checked


def _fits(name: str, operand: JSON) -> bool:
    match name:
        case "in" | "nin":
            return isinstance(operand, list | tuple)
        case "exists":
            return isinstance(operand, bool)
        case "gt" | "gte" | "lt" | "lte":
            return isinstance(operand, str) or _is_number(operand)
        case _:
            return True


def _checked_json(value: object, path: str, depth: int = 0) -> JSON:
    """Return the value when JSON can express it, NaN excepted: `ne` NaN would match everything."""
    match value:
        case None | bool() | int() | str():
            return value
        case float() if not math.isnan(value):
            return value
        case list() | tuple() if depth < _MAX_DEPTH:
            return [_checked_json(item, path, depth + 1) for item in value]
        case Mapping() if depth < _MAX_DEPTH and all(isinstance(key, str) for key in value):
            return {key: _checked_json(item, path, depth + 1) for key, item in value.items()}
    raise InvalidFilter(
        f"{path!r} cannot be compared with {reprlib.repr(value)}: use JSON values, times as ISO 8601 text"
    )


def _value_at(metadata: object, path: str) -> _Value:
    if not isinstance(metadata, Mapping):
        return _ABSENT
    if path in metadata:
        value: _Value = metadata[path]
        return value
    head, dot, rest = path.partition(".")
    while dot:
        if head in metadata and (found := _value_at(metadata[head], rest)) is not _ABSENT:
            return found
        step, dot, rest = rest.partition(".")
        head = f"{head}.{step}"
    return _ABSENT


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _equal(value: object, operand: object) -> bool:
    match operand:
        case bool() | None:
            return value is operand
        case int() | float():
            return _is_number(value) and value == operand
        case str():
            return isinstance(value, str) and value == operand
        case list() | tuple():
            return isinstance(value, list | tuple) and len(value) == len(operand) and all(map(_equal, value, operand))
        case Mapping():
            return (
                isinstance(value, Mapping)
                and value.keys() == operand.keys()
                and all(_equal(value[key], item) for key, item in operand.items())
            )
    return False


def _is_one_of(value: _Value, operand: JSON) -> bool:
    return isinstance(operand, list | tuple) and any(_equal(value, item) for item in operand)


def _contains(value: _Value, operand: JSON) -> bool:
    if isinstance(value, str):
        return isinstance(operand, str) and operand in value
    return isinstance(value, list | tuple) and any(_equal(item, operand) for item in value)


def _ordered(compare: Callable[[Any, Any], bool], value: _Value, operand: JSON) -> bool:
    alike = (isinstance(value, str) and isinstance(operand, str)) or (_is_number(value) and _is_number(operand))
    return alike and compare(value, operand)


_OPERATORS: Final[Mapping[str, Callable[[_Value, JSON], bool]]] = {
    "eq": _equal,
    "ne": lambda value, operand: not _equal(value, operand),
    "in": _is_one_of,
    "nin": lambda value, operand: not _is_one_of(value, operand),
    "gt": partial(_ordered, operator.gt),
    "gte": partial(_ordered, operator.ge),
    "lt": partial(_ordered, operator.lt),
    "lte": partial(_ordered, operator.le),
    "exists": lambda value, operand: (value is not _ABSENT) is operand,
    "contains": _contains,
}
