"""From a record to the uses of tools that it tells of, by keys: what the guard finds calls by. Pure."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from retentia.model.ids import id_bytes
from retentia.model.message import JSON
from retentia.model.record import Kind, MessageRecord, Record, ToolCallRecord
from retentia.store.schema import message, tool_call
from retentia.store.tool_uses import ToolUse
from retentia.tools.freshness import Effect, ToolRules
from retentia.tools.normalise import (
    ANYTHING,
    call_key,
    canonical,
    link_key,
    outcome_key,
    target_key,
    targets_of,
)
from retentia.tools.spoken import calls_in, outcomes_in

_Fields = Mapping[str, Any]  # a row to be inserted, or what a record was read as


def uses_of_rows(table: str, rows: Iterable[_Fields], *, tenant: str, rules: ToolRules) -> Iterator[ToolUse]:
    """Yield the uses that rows which are about to be inserted tell of."""
    if table == tool_call.name:
        yield from chain.from_iterable(_of_logged(_read_call(row), tenant, rules) for row in rows)
    elif table == message.name:
        yield from chain.from_iterable(_of_message(_read_message(row), tenant, rules) for row in rows if row["parts"])


def uses_of_records(records: Iterable[Record], *, tenant: str, rules: ToolRules) -> Iterator[ToolUse]:
    """Yield the uses that records which were read back tell of, the same as when they were written."""
    for record in records:
        match record:
            case ToolCallRecord():
                yield from _of_logged(_fields(record), tenant, rules)
            case MessageRecord() if record.parts:
                yield from _of_message(_fields(record), tenant, rules)


def _of_logged(call: _Fields, tenant: str, rules: ToolRules) -> Iterator[ToolUse]:
    outcome = call["error"] if call["status"] == "error" else call["result"]
    told = _told(call, Kind.TOOL_CALL)
    yield from _called(
        {
            **told,
            "link_key": link_key(tenant, call["key"]) if call["key"] else None,
            "outcome_key": outcome_key(tenant, outcome),
            "status": "error" if call["status"] == "error" else "ok",
        },
        0,
        call["name"],
        call["arguments"],
        tenant,
        rules,
    )


def _of_message(said: _Fields, tenant: str, rules: ToolRules) -> Iterator[ToolUse]:
    told, part = _told(said, Kind.MESSAGE), 0
    for call in calls_in(said["parts"]):
        place = {**told, "link_key": link_key(tenant, call.id) if call.id else None, "outcome_key": None, "status": ""}
        for use in _called(place, part, call.name, call.arguments, tenant, rules):
            yield use
            part += 1
    for outcome in outcomes_in(said["text"], said["parts"], said["metadata"]):
        yield ToolUse(
            **told,
            part=part,
            name=None,
            call_key=None,
            link_key=link_key(tenant, outcome.id),
            target_key=None,
            outcome_key=outcome_key(tenant, outcome.result),
            status="error" if outcome.is_error else "ok",
        )
        part += 1


def _called(
    place: Mapping[str, Any], part: int, name: str, arguments: JSON, tenant: str, rules: ToolRules
) -> Iterator[ToolUse]:
    """Yield a call, and one more use for each further target it names."""
    key = call_key(tenant, name, canonical(arguments))
    effect = rules.rule_for(name, arguments).effect
    targets = [*targets_of(arguments), *([ANYTHING] if effect is Effect.ANYTHING else [])]
    keys = [target_key(tenant, target) for target in targets]
    yield ToolUse(**place, part=part, name=name, call_key=key, target_key=keys[0] if keys else None)
    for more, target in enumerate(keys[1:], start=part + 1):
        only = {**place, "link_key": None, "outcome_key": None, "status": ""}
        yield ToolUse(**only, part=more, name=name, call_key=None, target_key=target)


def _told(fields: _Fields, kind: Kind) -> dict[str, Any]:
    return {
        "record_id": fields["id"],
        "kind": kind.value,
        "session_id": fields["session_id"],
        "seq": fields["seq"],
        "called_at": fields["called_at"],
    }


def _read_call(row: _Fields) -> _Fields:
    return {
        **row,
        "key": row["client_key"] or "",
        "arguments": _json(row["arguments"]),
        "result": _json(row["result"]),
        "called_at": _called_at(row),
    }


def _read_message(row: _Fields) -> _Fields:
    return {
        **row,
        "parts": _json(row["parts"]) or {},
        "metadata": _json(row["metadata"]) or {},
        "called_at": _called_at(row),
    }


def _called_at(row: _Fields) -> int:
    return int(row["recorded_at"] if row["occurred_start"] is None else row["occurred_start"])


def _fields(record: MessageRecord | ToolCallRecord) -> dict[str, Any]:
    told = {name: getattr(record, name) for name in type(record).__dataclass_fields__}
    return {
        **told,
        "id": id_bytes(record.id),
        "session_id": id_bytes(record.session_id),
        "called_at": record.occurred.start if record.occurred else record.recorded_at,
    }


def _json(text: str | None) -> Any:
    return None if text is None else json.loads(text)
