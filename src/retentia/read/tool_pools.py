"""The tools of the views that are asked, held ready to be selected from, with the requests they have served."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from retentia.model.message import JSON
from retentia.model.scope import Scope
from retentia.providers.threads import one_blas_thread
from retentia.read.looks import Looks
from retentia.read.unit_vectors import Vector, parts_of, sum_of, unit, vectors_of
from retentia.read.views import Held, Touched, Views
from retentia.store import registered_tools
from retentia.store.database import Transaction
from retentia.store.scopes import ScopeVersion
from retentia.tools.choice import PastUse, Scores, ToolEntry, ToolIndex
from retentia.tools.schemas import words_of

_NAME_PART = 0


@dataclass(frozen=True, slots=True)
class Registered:
    """A registered tool: the id of its record, and what was registered."""

    record_id: bytes
    text: str
    body: Mapping[str, JSON]

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.body["name"])

    @property
    def key(self) -> str:
        """What makes it one: see `retentia.tools.schemas.key_of`."""
        return str(self.body["key"])


Examples = dict[bytes, tuple[str, ...]]
"""By the record of a request the names of the tools that are said to have served it."""


def registered_in(transaction: Transaction, scope_id: int) -> tuple[list[Registered], Examples]:
    """Return what is registered in exactly one scope: its tools, and its examples of what tools were used for."""
    tools: list[Registered] = []
    examples: Examples = {}
    for record_id, text, packed in registered_tools.rows(transaction, scope_id):
        body = json.loads(packed)
        if "name" in body:
            tools.append(Registered(record_id, text, body))
        else:
            examples[record_id] = tuple(body.get("served_by", ()))
    return tools, examples


class Shelf:
    """The tools of a view, and what ranks them; tools of an agent's own come beside the shared ones."""

    def __init__(self) -> None:
        self.tools: list[Registered] = []
        self.examples: dict[int, Examples] = {}
        self.index = ToolIndex(())
        self.uses: list[PastUse] = []

    def __len__(self) -> int:
        return len(self.tools)

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        return sum(len(one.text) * 40 for one in self.tools) + sum(one.vector.nbytes for one in self.uses)


@dataclass(slots=True, kw_only=True)
class HeldTools(Held):
    """The tools of one view."""

    shelf: Shelf = field(default_factory=Shelf)
    scope_ids: tuple[int, ...] = ()

    @property
    def content(self) -> Shelf:
        """The tools."""
        return self.shelf


class ToolPools(Views[HeldTools]):
    """The tools in memory; see `Views`."""

    def _empty(self, dimension: int) -> HeldTools:
        return HeldTools()

    def _load(
        self, held: HeldTools, transaction: Transaction, view: Sequence[ScopeVersion], generation: int, dimension: int
    ) -> None:
        held.scope_ids = tuple(entry.scope_id for entry in sorted(view, key=lambda entry: entry.agent))  # shared first
        _shelve(held, transaction, generation)
        _learn(held, transaction, generation)

    def _apply(self, held: HeldTools, transaction: Transaction, touched: Touched, generation: int) -> None:
        known = {one.record_id for one in held.shelf.tools}.union(*held.shelf.examples.values())
        if any(
            not known.isdisjoint(ids) or any(registered_tools.rows(transaction, scope_id, ids))
            for scope_id, ids in touched.items()
        ):
            _shelve(held, transaction, generation)
        _learn(held, transaction, generation)


class ToolRanking(Looks[HeldTools]):
    """Ranks registered tools for a request. Safe to use from many threads."""

    def tools(self, scope: Scope) -> list[Registered]:
        """Return the tools of a scope, by key."""
        with self._look(scope) as look, look.held.lock:
            return list(look.held.shelf.tools)

    def scored(self, request: str, scope: Scope) -> tuple[list[Registered], Scores]:
        """Return the tools of a scope, by key, and what speaks for each of them."""
        with self._look(scope, request) as look, look.held.lock, one_blas_thread():
            shelf = look.held.shelf
            return list(shelf.tools), shelf.index.score(request, look.vector)


def _shelve(held: HeldTools, transaction: Transaction, generation: int) -> None:
    """Read the tools of a view anew; where an agent registered one of the shared names, its own is taken."""
    by_key: dict[str, tuple[Registered, ToolEntry]] = {}
    held.shelf.examples = {}
    for scope_id in held.scope_ids:
        tools, held.shelf.examples[scope_id] = registered_in(transaction, scope_id)
        vectors = parts_of(transaction, scope_id, generation, [one.record_id for one in tools])
        for one in tools:
            by_key[one.key] = one, _entry(one, vectors.get(one.record_id, {}))
    ordered = [by_key[key] for key in sorted(by_key)]
    held.shelf.tools = [one for one, _ in ordered]
    held.shelf.index = ToolIndex([entry for _, entry in ordered])


def _entry(one: Registered, parts: dict[int, Vector]) -> ToolEntry:
    rest = {place: vector for place, vector in parts.items() if place != _NAME_PART}
    return ToolEntry(
        words=words_of(one.name),
        text=one.text.partition("\n")[2],
        name_vector=parts.get(_NAME_PART),
        text_vector=unit(sum_of(rest)) if rest else None,
    )


def _learn(held: HeldTools, transaction: Transaction, generation: int) -> None:
    """Learn anew which requests the tools of a view have served: those logged, and those said to be examples."""
    places: dict[str, list[int]] = {}
    for place, one in enumerate(held.shelf.tools):
        places.setdefault(one.name, []).append(place)
    served: dict[bytes, set[int]] = {}
    vectors: dict[bytes, Vector] = {}
    for scope_id, examples in held.shelf.examples.items():
        here: dict[bytes, set[int]] = {}
        said = [(record_id, name) for record_id, names in examples.items() for name in names]
        for record_id, name in (*registered_tools.served(transaction, scope_id), *said):
            here.setdefault(record_id, set()).update(places.get(name, ()))
        vectors |= vectors_of(transaction, scope_id, generation, [key for key, tools in here.items() if tools])
        served |= here
    held.shelf.uses = [PastUse(vector, frozenset(served[key])) for key, vector in sorted(vectors.items())]
    held.shelf.index.learn(held.shelf.uses)
