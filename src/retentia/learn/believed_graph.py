"""The graph of what a memory believes: the claims of a view, read from the store step by step."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from retentia.index.names import name_key
from retentia.learn.graph import Edge, node_of
from retentia.model.attributes import Attributes
from retentia.model.claim import claim_of
from retentia.model.record import ItemRecord, Kind
from retentia.store import claim_graph, records
from retentia.store.database import Transaction
from retentia.store.records import View

ALSO_CALLED = "also_called"
"""The attribute by which a person says that two names are one."""
_NAMES_OF_ONE = 16


class BelievedGraph:
    """The claims that a view believes now, for as long as its transaction is open; `items` has those read, by id.

    What holds only somewhere ("at work") is left out: a question does not say where it asks. Names that a person said
    are one lead to each other's claims.
    """

    def __init__(self, transaction: Transaction, view: View, attributes: Attributes) -> None:
        self._transaction = transaction
        self._view = view
        self._attributes = attributes
        self.items: dict[str, ItemRecord] = {}

    def nodes(self, names: Collection[str]) -> Mapping[str, str]:
        """Return the nodes of the names that a claim has as its subject or its value."""
        keys = {name: name_key(name) for name in names}
        known = claim_graph.known_keys(self._transaction, self._view, set(keys.values()))
        return {name: key.hex() for name, key in keys.items() if key in known}

    def edges(
        self, nodes: Collection[str], relations: Collection[str], *, is_inverse: bool, limit: int
    ) -> Sequence[Edge]:
        """Return the claims of these relations, by whichever of their names they are asked for; the latest first."""
        asked_as = self._also(nodes)
        names = [(self._attributes.of(relation).name, relation) for relation in relations]
        asked = dict(sorted(names, key=lambda pair: (pair[0] == pair[1], pair[1])))  # its own name outranks an alias
        ids = claim_graph.edges_at(
            self._transaction,
            self._view,
            {bytes.fromhex(node) for node in asked_as},
            asked,
            is_inverse=is_inverse,
            limit=limit,
        )
        latest = sorted(self._items(ids), key=lambda one: (_since(one), one.recorded_at, one.id), reverse=True)
        return [edge for one in latest for edge in _edges(one, asked, asked_as)]

    def _also(self, nodes: Collection[str]) -> Mapping[str, str]:
        """Return the nodes, and those that a person said are one with them, each with the node it was asked as."""
        keys = {bytes.fromhex(node) for node in nodes}
        asked_as = {node: node for node in nodes}
        for is_inverse in (False, True):
            ids = claim_graph.edges_at(
                self._transaction, self._view, keys, (ALSO_CALLED,), is_inverse=is_inverse, limit=_NAMES_OF_ONE
            )
            for claim in filter(None, (claim_of(one.body) for one in self._items(ids))):
                ends = (node_of(claim.subject), node_of(claim.value))
                asked, other = ends[::-1] if is_inverse else ends
                asked_as.setdefault(other, asked)
        return asked_as

    def _items(self, ids: Collection[bytes]) -> list[ItemRecord]:
        found = records.fetch(self._transaction, self._view, {Kind.FACT: list(ids)})
        items = [one for one in found.values() if isinstance(one, ItemRecord)]
        self.items |= {one.id: one for one in items}
        return items


def _edges(one: ItemRecord, asked: Mapping[str, str], asked_as: Mapping[str, str]) -> Iterator[Edge]:
    claim = claim_of(one.body)
    if claim is not None and not claim.applies_to and claim.attribute in asked:
        subject, value = node_of(claim.subject), node_of(claim.value)
        yield Edge(
            subject=claim.subject,
            relation=asked[claim.attribute],
            object=claim.value,
            subject_node=asked_as.get(subject, subject),
            object_node=asked_as.get(value, value),
            source=one.id,
        )


def _since(one: ItemRecord) -> int:
    if one.valid_from is not None:
        return one.valid_from
    return one.recorded_at if one.occurred is None else one.occurred.start
