"""The graph that is searched: things and how they stand to one another, as far as a caller may see and now believes."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from retentia.index.names import name_key
from retentia.learn.relations import Relations, shipped_relations
from retentia.learn.statements import Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """One current statement: `subject` has `relation` to `object`, as `source` says it.

    `subject_node` and `object_node` are what the graph knows the two by; equal ones are the same thing.
    """

    subject: str
    relation: str
    object: str
    subject_node: str
    object_node: str
    source: str = ""


class Graph(Protocol):
    """What a search for chains asks of a store. Both answers are bounded by what is asked for."""

    def nodes(self, names: Collection[str]) -> Mapping[str, str]:
        """Return, for those of the names that are known, what the graph knows them by."""
        ...

    def edges(
        self, nodes: Collection[str], relations: Collection[str], *, is_inverse: bool, limit: int
    ) -> Sequence[Edge]:
        """Return current edges of these relations out of the nodes, or into them; the newest first.

        No more than `limit` of one relation at one node.
        """
        ...


def node_of(name: str) -> str:
    """Return the node of a name: spellings of one name have the same."""
    return name_key(name).hex()


class StatedGraph:
    """A graph in memory, made of statements in the order in which they were made; the last one holds."""

    def __init__(self, relations: Relations | None = None) -> None:
        self._relations = relations or shipped_relations()
        self._out: dict[tuple[str, str], dict[str, Edge]] = {}
        self._into: dict[tuple[str, str], dict[str, Edge]] = {}
        self._known: set[str] = set()

    def state(self, statement: Statement, source: str = "") -> None:
        """Add a statement; it takes the place of an earlier object where the relation has one."""
        subject, object_ = node_of(statement.subject), node_of(statement.object)
        edge = Edge(
            subject=statement.subject,
            relation=statement.relation,
            object=statement.object,
            subject_node=subject,
            object_node=object_,
            source=source,
        )
        slot = (subject, statement.relation)
        if not self._relations.of(statement.relation).has_many:
            for old in self._out.pop(slot, {}):
                self._into[old, statement.relation].pop(subject)
        self._put_last(self._out, slot, object_, edge)
        self._put_last(self._into, (object_, statement.relation), subject, edge)
        self._known |= {subject, object_}

    def nodes(self, names: Collection[str]) -> Mapping[str, str]:
        """Return the nodes of the names that were stated."""
        return {name: node for name in names if (node := node_of(name)) in self._known}

    def edges(
        self, nodes: Collection[str], relations: Collection[str], *, is_inverse: bool, limit: int
    ) -> Sequence[Edge]:
        """Return the edges that hold, newest first."""
        table = self._into if is_inverse else self._out
        return [
            edge for node in nodes for relation in relations for edge in _newest(table.get((node, relation)), limit)
        ]

    @staticmethod
    def _put_last(table: dict[tuple[str, str], dict[str, Edge]], at: tuple[str, str], key: str, edge: Edge) -> None:
        edges = table.setdefault(at, {})
        edges.pop(key, None)
        edges[key] = edge


def stated(statements: Iterable[Statement], relations: Relations | None = None) -> StatedGraph:
    """Return the graph of some statements; each one's source is its place among them."""
    graph = StatedGraph(relations)
    for place, statement in enumerate(statements):
        graph.state(statement, str(place))
    return graph


def _newest(edges: Mapping[str, Edge] | None, limit: int) -> list[Edge]:
    return list((edges or {}).values())[::-1][:limit]
