"""One call with what came of it, whether it was logged, or said in messages, or both. Pure."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from retentia.model.ids import RecordId, id_bytes
from retentia.model.message import JSON
from retentia.model.record import Kind, MessageRecord, Record, ToolCallRecord
from retentia.model.time import Moment
from retentia.store.tool_uses import ToolUse
from retentia.tools.normalise import call_key, canonical, link_key
from retentia.tools.spoken import SpokenCall, calls_in, outcomes_in

CallStatus: TypeAlias = Literal["ok", "error", "open"]


@dataclass(frozen=True, slots=True)
class Pair:
    """A call by its keys, and its outcome where that is told by another record."""

    call: ToolUse
    outcome: ToolUse | None = None

    @property
    def status(self) -> CallStatus:
        """How it ended; "open" as long as no outcome is known."""
        told = self.call.status or (self.outcome.status if self.outcome else "")
        return "error" if told == "error" else "ok" if told else "open"

    @property
    def outcome_key(self) -> bytes | None:
        """The key of its outcome."""
        return self.outcome.outcome_key if self.outcome else self.call.outcome_key

    @property
    def record_ids(self) -> tuple[tuple[Kind, bytes], ...]:
        """The records that tell of it."""
        uses = [self.call, *([self.outcome] if self.outcome else [])]
        return tuple((Kind(use.kind), use.record_id) for use in uses)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a tool. `id` names the record that has its result, or else the record that made it.

    `called_at` is in UTC microseconds, as `at` tells, or else when it was recorded. `error` is the text of a failure.
    """

    id: RecordId
    name: str
    arguments: JSON
    status: CallStatus
    result: JSON
    error: str
    called_at: int
    at: Moment | None
    session: str
    kind: Kind
    full_bytes: int | None = None


def paired(calls: Iterable[ToolUse], outcomes: Iterable[ToolUse]) -> list[Pair]:
    """Join calls, in their order, with the first outcome of the same session and link that follows each.

    What was logged and is said in messages, too, is one call: the logged one stays.
    """
    by_link: dict[tuple[bytes, bytes | None], list[ToolUse]] = defaultdict(list)
    for outcome in sorted(outcomes, key=lambda use: (use.seq, use.part)):
        by_link[outcome.session_id, outcome.link_key].append(outcome)
    pairs = [Pair(use, None if use.status else _answer(use, by_link)) for use in calls]
    return _without_twins(pairs)


def call_of(pair: Pair, records: Mapping[bytes, Record]) -> Call | None:
    """Return a call from the records that tell of it, None when they are gone."""
    record = records.get(pair.call.record_id)
    match record:
        case ToolCallRecord():
            return _logged(record)
        case MessageRecord():
            return _spoken(pair, record, records)
    return None


def json_of(text: JSON) -> JSON:
    """Return the object or array that a text holds, or else the text."""
    if not isinstance(text, str) or text.strip()[:1] not in ("{", "["):
        return text
    try:
        found: JSON = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found


def _answer(use: ToolUse, by_link: Mapping[tuple[bytes, bytes | None], Sequence[ToolUse]]) -> ToolUse | None:
    if use.link_key is None:
        return None
    return next((one for one in by_link.get((use.session_id, use.link_key), ()) if one.seq >= use.seq), None)


def _without_twins(pairs: list[Pair]) -> list[Pair]:
    logged = [pair for pair in pairs if pair.call.kind == Kind.TOOL_CALL]
    spoken = [pair for pair in pairs if pair.call.kind == Kind.MESSAGE]
    twins: set[tuple[bytes, int]] = set()
    for pair in logged if spoken else ():
        alike = [one for one in spoken if (one.call.record_id, one.call.part) not in twins and _is_twin(pair, one)]
        if alike:
            nearest = min(alike, key=lambda one: abs(one.call.called_at - pair.call.called_at))
            twins.add((nearest.call.record_id, nearest.call.part))
    return [pair for pair in pairs if (pair.call.record_id, pair.call.part) not in twins]


def _is_twin(logged: Pair, spoken: Pair) -> bool:
    call, other = logged.call, spoken.call
    if (call.session_id, call.call_key) != (other.session_id, other.call_key):
        return False
    is_linked = call.link_key is not None and call.link_key == other.link_key
    return is_linked or (spoken.outcome_key is not None and logged.outcome_key == spoken.outcome_key)


def _logged(record: ToolCallRecord) -> Call:
    failed = record.status == "error"
    return Call(
        id=record.id,
        name=record.name,
        arguments=record.arguments,
        status="error" if failed else "ok",
        result=record.result,
        error=record.error or (str(record.result or "") if failed else ""),
        called_at=_called_at(record),
        at=record.occurred,
        session=record.session,
        kind=record.kind,
        full_bytes=record.full_bytes,
    )


def _spoken(pair: Pair, record: MessageRecord, records: Mapping[bytes, Record]) -> Call | None:
    tenant = record.scope.tenant
    key = pair.call.link_key
    made = [one for one in calls_in(record.parts) if key is None or (one.id and link_key(tenant, one.id) == key)]
    # Where personal data is masked, the arguments are not those that the key was made from.
    call = next((one for one in made if _key_of(tenant, one) == pair.call.call_key), None) or next(
        (one for one in made if one.name == pair.call.name), None
    )
    if call is None:
        return None
    answer = records.get(pair.outcome.record_id) if pair.outcome else None
    outcome = None
    if isinstance(answer, MessageRecord) and key is not None:
        told = outcomes_in(answer.text, answer.parts, answer.metadata)
        outcome = next((one for one in told if link_key(tenant, one.id) == key), None)
    return Call(
        id=answer.id if answer is not None and outcome is not None else record.id,
        name=call.name,
        arguments=json_of(call.arguments),
        status="open" if outcome is None else "error" if outcome.is_error else "ok",
        result=None if outcome is None or outcome.is_error else json_of(outcome.result),
        error="" if outcome is None else outcome.error,
        called_at=_called_at(record),
        at=record.occurred,
        session=record.session,
        kind=record.kind,
    )


def _key_of(tenant: str, call: SpokenCall) -> bytes:
    return call_key(tenant, call.name, canonical(call.arguments))


def _called_at(record: Record) -> int:
    return record.occurred.start if record.occurred else record.recorded_at


def ids_of(pairs: Iterable[Pair]) -> dict[Kind, list[bytes]]:
    """Return the ids of the records that tell of calls, by kind."""
    found: dict[Kind, list[bytes]] = {}
    for pair in pairs:
        for kind, record_id in pair.record_ids:
            found.setdefault(kind, []).append(record_id)
    return found


def by_id(records: Iterable[Record]) -> dict[bytes, Record]:
    """Return records by the 16 bytes of their id."""
    return {id_bytes(record.id): record for record in records}
