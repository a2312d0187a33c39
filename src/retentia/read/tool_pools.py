"""The tools of the views that are asked, held ready to be selected from, with the requests they have served."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from retentia.errors import EmbeddingFailed
from retentia.model.message import JSON
from retentia.model.scope import Scope
from retentia.providers.threads import one_blas_thread
from retentia.read.presence import Presence
from retentia.read.serving import Serving, ServingEmbedder
from retentia.read.unit_vectors import Vector, parts_of, sum_of, unit, vectors_of
from retentia.read.views import Held, Touched, Views
from retentia.store import registered_tools, scopes
from retentia.store.database import Database, Transaction
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


class Shelf:
    """The tools of a view, and what ranks them; tools of an agent's own come beside the shared ones."""

    def __init__(self) -> None:
        self.tools: list[Registered] = []
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
        held.scope_ids = tuple(entry.scope_id for entry in view)
        _shelve(held, transaction, generation)
        _learn(held, transaction, generation)

    def _apply(self, held: HeldTools, transaction: Transaction, touched: Touched, generation: int) -> None:
        known = {one.record_id for one in held.shelf.tools}
        if any(_are_tools(transaction, scope_id, ids, known) for scope_id, ids in touched.items()):
            _shelve(held, transaction, generation)
        _learn(held, transaction, generation)


class ToolRanking:
    """Ranks registered tools for a request. Safe to use from many threads."""

    def __init__(self, database: Database, pools: ToolPools, embedding: ServingEmbedder, presence: Presence) -> None:
        self._database = database
        self._pools = pools
        self._embedding = embedding
        self._presence = presence

    def scored(self, request: str, scope: Scope) -> tuple[list[Registered], Scores]:
        """Return the tools of a scope, and what speaks for each of them."""
        serving = self._embedding.current()
        vector = _embedded(request, serving)
        keep = self._presence.enter()  # before the snapshot: what is erased after it comes with a notice
        with self._database.read(scope.tenant) as transaction:
            view = scopes.view(transaction, scope)
            if view and view[0].generation != serving.generation:
                serving, vector = self._embedding.current(view[0].generation), None
            held = self._pools.current(
                transaction, view, generation=serving.generation, dimension=serving.dimension, keep=keep
            )
            with held.lock, one_blas_thread():
                return list(held.shelf.tools), held.shelf.index.score(request, vector)


def _are_tools(transaction: Transaction, scope_id: int, ids: Collection[bytes], known: Collection[bytes]) -> bool:
    return any(one in known for one in ids) or any(registered_tools.rows(transaction, scope_id, ids))


def _shelve(held: HeldTools, transaction: Transaction, generation: int) -> None:
    """Read the tools of a view anew; where an agent registered one of the shared names, its own is taken."""
    by_key: dict[str, tuple[Registered, ToolEntry]] = {}
    for scope_id in held.scope_ids[::-1]:
        found = [
            Registered(row.record_id, row.text, json.loads(row.body))
            for row in registered_tools.rows(transaction, scope_id)
        ]
        tools = [one for one in found if "name" in one.body]
        vectors = parts_of(transaction, scope_id, generation, [one.record_id for one in tools])
        for one in tools:
            by_key[str(one.body["key"])] = one, _entry(one, vectors.get(one.record_id, {}))
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
    """Read anew which requests the tools of a view have served: those logged, and those said to be examples."""
    places: dict[str, list[int]] = {}
    for place, one in enumerate(held.shelf.tools):
        places.setdefault(one.name, []).append(place)
    served: dict[bytes, set[int]] = {}
    vectors: dict[bytes, Vector] = {}
    for scope_id in held.scope_ids:
        here: dict[bytes, set[int]] = {}
        for message_id, name in registered_tools.served(transaction, scope_id):
            here.setdefault(message_id, set()).update(places.get(name, ()))
        for row in registered_tools.rows(transaction, scope_id):
            for name in json.loads(row.body).get("served_by", ()):
                here.setdefault(row.record_id, set()).update(places.get(name, ()))
        vectors |= vectors_of(transaction, scope_id, generation, [key for key, tools in here.items() if tools])
        served |= here
    held.shelf.uses = [PastUse(vector, frozenset(served[key])) for key, vector in sorted(vectors.items())]
    held.shelf.index.learn(held.shelf.uses)


def _embedded(request: str, serving: Serving) -> Vector | None:
    if serving.embedder is None or not request.strip():
        return None
    try:
        return serving.embedder.embed_query(request)
    except EmbeddingFailed:
        return None
