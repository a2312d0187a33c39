"""Selecting tools: register schemas once, and give a model the few that its request needs. `Memory.tools` has it."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from retentia.doors import Doors
from retentia.errors import InvalidInput, NotFound
from retentia.lifecycle.reindex import renew
from retentia.model.ids import RecordId, id_bytes, id_text, new_id_bytes
from retentia.model.message import JSON
from retentia.model.provenance import Trust
from retentia.model.record import Importance, ItemRecord, Kind, Status
from retentia.model.scope import Scope
from retentia.read.tool_pools import Registered, ToolRanking, registered_in
from retentia.store import beliefs, records, scopes
from retentia.store.database import Database, Transaction
from retentia.store.records import View
from retentia.store.schema import item
from retentia.tools.choice import Scores
from retentia.tools.log import Allow, Show, ToolLog, ToolReading
from retentia.tools.schemas import ToolSchema, key_of, read_tools
from retentia.working.tokens import EstimatingCounter
from retentia.write import admission, indexed
from retentia.write.items import key_content
from retentia.write.place import Place
from retentia.write.rows import Draft, Row

_KINDS = (Kind.TOOL,)
_MOST_COSTS = 50_000
Erase = Callable[[Sequence[str], Scope], object]
"""Erase records of a scope."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """What became of the tools that were handed in, by name: new, changed, known as they were, and taken away.

    `without_description` names those that are found by their names alone.
    """

    new: tuple[str, ...]
    changed: tuple[str, ...]
    known: tuple[str, ...]
    removed: tuple[str, ...] = ()
    without_description: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """A tool that was selected. `schema` is as it was registered, ready for the model.

    `score` is the sum of `signals` and means nothing across requests; `reason` says the same in words. `is_always`
    marks one that is in every selection.
    """

    id: RecordId
    name: str
    server: str
    score: float
    signals: Mapping[str, float]
    reason: str
    is_always: bool
    schema: Mapping[str, JSON]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection(Sequence[Selected]):
    """The tools for a request, best first, with what they cost beside all that are registered, in estimated tokens."""

    tools: tuple[Selected, ...]
    registered: int
    tokens: int
    all_tokens: int

    @property
    def schemas(self) -> list[Mapping[str, JSON]]:
        """What to hand to the model."""
        return [one.schema for one in self.tools]

    @overload
    def __getitem__(self, index: int) -> Selected: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Selected]: ...
    def __getitem__(self, index: int | slice) -> Selected | Sequence[Selected]:
        return self.tools[index]

    def __len__(self) -> int:
        return len(self.tools)


class ToolSelection:
    """Registered tools, by scope. Every verb takes the scope; safe to use from many threads."""

    def __init__(self, database: Database, doors: Doors, reading: ToolRanking, erase: Erase) -> None:
        self._database = database
        self._doors = doors
        self._reading = reading
        self._erase = erase
        self._counter = EstimatingCounter()
        self._costs: dict[bytes, tuple[Mapping[str, JSON], int]] = {}

    def register(
        self, tools: object, *, scope: Scope, server: str = "", always: Collection[str] = (), replace: bool = False
    ) -> Registration:
        """Register schemas of tools in the form of OpenAI, Anthropic or MCP: one, a list, or what a server lists.

        `server` tells tools of one name apart. A tool that changed takes the place of what it was; one that did not
        costs nothing. `always` names those that are in every selection. With `replace`, tools of this server that are
        not among these are erased. Raises InvalidInput, for two tools of one name as well.
        """
        server = admission.admit_name("server", server)
        given = [_storable(one) for one in read_tools(tools, server=server)]
        if unknown := sorted(set(always) - {one.name for one in given}):
            raise InvalidInput(f"always= names {unknown[0]!r}, which is not among the tools")
        bodies = {one.key: _body(one, is_always=one.name in always) for one in given}
        with self._doors.writing(scope, _KINDS):
            known = self._of_server(scope, server)
            fresh, changed = _sorted_out(given, known, bodies)
            if fresh or changed:
                known, fresh, changed = self._write(scope, server, given, bodies)
            gone = self._rows(scope, server, [key for key in known if key not in bodies]) if replace else []
        if gone:
            self._erase([id_text(one.record_id) for one in gone], scope)
        touched = {one.key for one in (*fresh, *changed)}
        return Registration(
            new=tuple(one.name for one in fresh),
            changed=tuple(one.name for one in changed),
            known=tuple(one.name for one in given if one.key not in touched),
            removed=tuple(dict.fromkeys(one.name for one in gone)),
            without_description=tuple(one.name for one in given if not one.description),
        )

    def select(self, request: str, k: int = 5, *, scope: Scope, always: Collection[str] = ()) -> Selection:
        """Return the `k` tools that a request needs most, best first, and beside them those that are always in.

        `always` names more of these for this request. Each says what spoke for it. Raises InvalidInput.
        """
        if k < 0:
            raise InvalidInput(f"k must be a number of tools from 0 on, not {k}")
        with self._doors.reading(scope, _KINDS) as show:
            tools, scores = self._reading.scored(request, scope)
            ranked = np.argsort(-np.round(scores.total, 6), kind="stable").tolist()  # tools come in the order of names
            kept = {at for at, one in enumerate(tools) if one.body.get("always") or one.name in always}
            chosen = set([at for at in ranked if at not in kept][:k]) | kept
            ordered = [at for at in ranked if at in chosen]
            shown = self._read_again(scope, [tools[at].record_id for at in ordered], show)
        selected = [
            _selected(record, at, scores, is_always=at in kept)
            for at in ordered
            if (record := shown.get(tools[at].record_id)) is not None
        ]
        costs = [self._cost(one) for one in tools]
        return Selection(
            tools=tuple(selected),
            registered=len(tools),
            tokens=sum(costs[at] for at in ordered),
            all_tokens=sum(costs),
        )

    def registered(self, *, scope: Scope) -> list[Selected]:
        """Return all tools that may be selected in a scope, by server and name."""
        found = self.select("", 0, scope=scope, always=self._names(scope))
        return sorted(found, key=lambda one: (one.server, one.name))

    def used(self, request: str, names: Sequence[str], *, scope: Scope) -> RecordId:
        """Say which tools served a request: like ones get them from now on. Return the id of the example.

        Logged calls that succeeded teach the same by themselves. Raises InvalidInput for a tool that there is not.
        """
        text = admission.admit_text(" ".join(request.split()), limit=admission.MAX_MESSAGE_CHARACTERS)
        if not text.text or not names:
            raise InvalidInput("an example is a request and the names of the tools that served it")
        if unknown := sorted(set(names) - self._names(scope)):
            raise InvalidInput(f"there is no tool {unknown[0]!r}; register it first")
        with self._doors.writing(scope, _KINDS), self._database.write(scope.tenant) as transaction:
            place = Place(transaction, scope)
            row = _row(place, text.text, {"served_by": list(names)}, None)
            place.insert(item, [row])
        return id_text(row.indexed.record_id)

    def forget(self, name: str, *, scope: Scope, server: str = "") -> None:
        """Erase a registered tool; raise NotFound."""
        known = self._rows(scope, server, [key_of(server, name)])
        if not known:
            raise NotFound(f"there is no tool {name!r} in {scope}")
        self._erase([id_text(one.record_id) for one in known], scope)

    def _write(
        self, scope: Scope, server: str, given: Sequence[ToolSchema], bodies: Mapping[str, Mapping[str, JSON]]
    ) -> tuple[dict[str, Registered], list[ToolSchema], list[ToolSchema]]:
        """Write what is new or changed; return what was known, and both. Others may have registered since the look."""
        with self._database.write(scope.tenant) as transaction:
            place = Place(transaction, scope)
            known = _under(transaction, place.scope_id, server)
            fresh, changed = _sorted_out(given, known, bodies)
            place.insert(item, [_row(place, one.text, bodies[one.key], key_content(one.key)) for one in fresh])
            if changed:
                _rewrite(transaction, scope, place.scope_id, {known[one.key].record_id: one for one in changed}, bodies)
        return known, fresh, changed

    def _of_server(self, scope: Scope, server: str) -> dict[str, Registered]:
        """Return what is registered in exactly this scope under a server, by key."""
        with self._database.read(scope.tenant) as transaction:
            scope_id = scopes.find(transaction, scope)
            return {} if scope_id is None else _under(transaction, scope_id, server)

    def _rows(self, scope: Scope, server: str, keys: Collection[str]) -> list[Registered]:
        """Return every row under some keys: one that came back from the bin may lie beside its successor."""
        with self._database.read(scope.tenant) as transaction:
            scope_id = scopes.find(transaction, scope)
            found = [] if scope_id is None else _all_under(transaction, scope_id, server)
        return [one for one in found if one.key in keys]

    def _names(self, scope: Scope) -> set[str]:
        with self._doors.reading(scope, _KINDS) as show:
            show([])
            return {one.name for one in self._reading.tools(scope)}

    def _read_again(
        self, scope: Scope, ids: Sequence[bytes], show: Callable[[list[ItemRecord]], list[ItemRecord]]
    ) -> dict[bytes, ItemRecord]:
        with self._database.read(scope.tenant) as transaction:
            found = records.fetch(transaction, records.view_of(transaction, scope), {Kind.TOOL: ids})
        shown = show([one for raw in ids if isinstance(one := found.get(raw), ItemRecord)])
        return {id_bytes(one.id): one for one in shown}

    def _cost(self, one: Registered) -> int:
        """Return how many tokens a schema takes; counted once as long as it stays as it is."""
        known = self._costs.get(one.record_id)
        if known is None or known[0] is not one.body:
            if len(self._costs) > _MOST_COSTS:
                self._costs.clear()
            known = self._costs[one.record_id] = (one.body, self._counter.count(json.dumps(one.body["schema"])))
        return known[1]


def _storable(one: ToolSchema) -> ToolSchema:
    for what, told in (("name", one.name), ("server", one.server)):
        if _admitted(told) != told:
            raise InvalidInput(f"the {what} of a tool cannot hold NUL, half a surrogate pair or a secret; rename it")
    return one


def _admitted(text: str) -> str:
    return admission.admit_text(text, limit=admission.MAX_MESSAGE_CHARACTERS).text


def _under(transaction: Transaction, scope_id: int, server: str) -> dict[str, Registered]:
    return {one.key: one for one in _all_under(transaction, scope_id, server)}


def _all_under(transaction: Transaction, scope_id: int, server: str) -> list[Registered]:
    tools, _ = registered_in(transaction, scope_id)
    return [one for one in tools if one.body["server"] == server]


def _sorted_out(
    given: Sequence[ToolSchema], known: Mapping[str, Registered], bodies: Mapping[str, Mapping[str, JSON]]
) -> tuple[list[ToolSchema], list[ToolSchema]]:
    """Tell the tools that are new, and those that are not what they were."""
    fresh = [one for one in given if one.key not in known]
    changed = [
        one
        for one in given
        if (earlier := known.get(one.key)) and (earlier.body, earlier.text) != (bodies[one.key], _admitted(one.text))
    ]
    return fresh, changed


def _rewrite(
    transaction: Transaction,
    scope: Scope,
    scope_id: int,
    changed: Mapping[bytes, ToolSchema],
    bodies: Mapping[str, Mapping[str, JSON]],
) -> None:
    rows = beliefs.rows(transaction, scope_id, list(changed))
    anew = {
        record_id: {
            **rows[record_id],
            "text": _admitted(one.text),
            "body": admission.dump(dict(bodies[one.key])),
            "version": rows[record_id]["version"] + 1,
        }
        for record_id, one in changed.items()
    }
    beliefs.rewrite(transaction, scope_id, anew)
    found = records.fetch(transaction, View({scope_id: scope}), {Kind.TOOL: list(anew)})
    renew(transaction, scope_id, list(found.values()))


def _body(one: ToolSchema, *, is_always: bool) -> dict[str, JSON]:
    told: dict[str, JSON] = {"name": one.name, "server": one.server, "key": one.key, "schema": dict(one.schema)}
    return json.loads(admission.dump({**told, "always": is_always}) or "{}")  # type: ignore[no-any-return]  # as stored


def _row(place: Place, text: str, body: Mapping[str, JSON], content: bytes | None) -> Row:
    draft = Draft(
        text=_admitted(text),
        moment=None,
        trust=Trust.OUTSIDE,
        metadata=None,
        columns={
            "kind": Kind.TOOL,
            "status": Status.STATED,
            "importance": Importance.NORMAL,
            "author": "",
            "body": admission.dump(dict(body)),
        },
    )
    described = indexed.item(Kind.TOOL, **draft.known(new_id_bytes(), place.transaction.now))
    return draft.row(described, content_key=content)


def _selected(record: ItemRecord, at: int, scores: Scores, *, is_always: bool) -> Selected:
    signals = {
        "words": float(scores.words[at]),
        "meaning": float(scores.meaning[at]),
        "past": float(scores.past[at]),
    }
    schema = record.body.get("schema")
    return Selected(
        id=record.id,
        name=str(record.body.get("name", "")),
        server=str(record.body.get("server", "")),
        score=float(scores.total[at]),
        signals=signals,
        reason=_reason(signals, int(scores.similar[at]), is_always=is_always),
        is_always=is_always,
        schema=schema if isinstance(schema, dict) else {},
    )


def _reason(signals: Mapping[str, float], similar: int, *, is_always: bool) -> str:
    """Say in words what speaks for a tool, the strongest first."""
    words = {
        "words": "shares words with the request",
        "meaning": "means about the same",
        "past": f"served {similar} similar request{'' if similar == 1 else 's'}",
    }
    told = [words[name] for name, value in sorted(signals.items(), key=lambda pair: -pair[1]) if value > 0]
    if not similar and words["past"] in told:
        told.remove(words["past"])
    return ", ".join((["always in"] if is_always else []) + told) or "nothing speaks for it but that it is there"


class ReadTools(ToolReading, ToolSelection):
    """The tool log, and the tools that are registered, as a principal may use them."""

    def __init__(
        self, database: Database, *, allow: Allow, show: Show, doors: Doors, ranking: ToolRanking, erase: Erase
    ) -> None:
        ToolReading.__init__(self, database, allow=allow, show=show)
        ToolSelection.__init__(self, database, doors, ranking, erase)


class Tools(ToolLog, ToolSelection):
    """The tool log, and the tools that are registered: `Memory.tools`."""

    def __init__(
        self, database: Database, *, allow: Allow, show: Show, doors: Doors, ranking: ToolRanking, erase: Erase
    ) -> None:
        ToolLog.__init__(self, database, allow=allow, show=show)
        ToolSelection.__init__(self, database, doors, ranking, erase)

    def behind(self, *, allow: Allow, show: Show, doors: Doors, erase: Erase) -> ReadTools:
        """Return what a principal may do, behind its doors."""
        return ReadTools(self._database, allow=allow, show=show, doors=doors, ranking=self._reading, erase=erase)
