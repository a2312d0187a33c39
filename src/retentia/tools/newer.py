"""What came after: a result that was recalled, beside a newer one of the same call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from retentia.model.ids import RecordId, id_bytes
from retentia.model.record import Kind, MessageRecord, Record
from retentia.store import records, tool_uses
from retentia.store.database import Transaction
from retentia.store.records import View
from retentia.store.tool_uses import ToolUse
from retentia.tools.ages import ago
from retentia.tools.calls import Call, Pair, by_id, call_of, ids_of, paired
from retentia.tools.series import moved, number_of, shown, value_at

_LAST = 20


@dataclass(frozen=True, slots=True)
class Newer:
    """What is newer, by the id of its record, and in a line what has changed; `is_partly` when the rest still holds."""

    id: RecordId
    text: str
    is_partly: bool = False


def newer_results(
    transaction: Transaction, view: View, found: Sequence[Record], *, until: int | None = None
) -> dict[RecordId, Newer]:
    """Return what is newer than the results among some records, each from the same scope and of the same kind.

    `until` leaves out what was called at that time or later, in UTC microseconds.
    """
    told = [record for record in found if _tells(record)]
    if not told:
        return {}
    uses = tool_uses.of_records(transaction, view, [id_bytes(record.id) for record in told])
    known = by_id(told)
    answer: dict[RecordId, Newer] = {}
    for scope_id, use in uses:
        alone = View({scope_id: view.scopes[scope_id]})
        for call in [use] if use.call_key else _asking(transaction, alone, use):
            if (newer := _newer(transaction, alone, call, known, until)) is not None:
                answer[known[use.record_id].id] = newer
    return answer


def _tells(record: Record) -> bool:
    return record.kind is Kind.TOOL_CALL or (isinstance(record, MessageRecord) and bool(record.parts))


def _asking(transaction: Transaction, view: View, outcome: ToolUse) -> list[ToolUse]:
    """Return the calls that an outcome answers."""
    found = tool_uses.callers(transaction, view, [outcome.link_key] if outcome.link_key else [])
    return [use for use in found if use.session_id == outcome.session_id and use.seq <= outcome.seq][-1:]


def _newer(
    transaction: Transaction, view: View, call: ToolUse, known: Mapping[bytes, Record], until: int | None
) -> Newer | None:
    if call.call_key is None:
        return None
    uses = tool_uses.calls(transaction, view, call.call_key, kinds=(call.kind,), limit=_LAST)
    links = {use.link_key for use in (*uses, call) if use.link_key is not None and not use.status}
    outcomes = tool_uses.outcomes(transaction, view, links) if links else []
    later = [pair for pair in paired(uses, outcomes) if _is_later(pair, call, until)]
    before = paired([call], outcomes)
    if not later:
        return None
    fetched = {**records.fetch(transaction, view, ids_of([*later[:1], *before])), **known}
    last = call_of(later[0], fetched)
    first = call_of(before[0], fetched) if before else None
    return None if last is None else Newer(last.id, _line(first, last, transaction.now))


def _is_later(pair: Pair, call: ToolUse, until: int | None) -> bool:
    at = pair.call.called_at
    return pair.status == "ok" and at > call.called_at and (until is None or at < until)


def _line(first: Call | None, last: Call, now: int) -> str:
    newest = ago(timedelta(microseconds=now - last.called_at))
    if first is None or first.status != "ok":
        return f"newer result of the same call from {newest}"
    oldest = ago(timedelta(microseconds=now - first.called_at))
    before, after = value_at(first.result, None), value_at(last.result, None)
    if number_of(before) is not None and number_of(after) is not None:
        same = " still" if before == after else ""
        return f"this result is from {oldest} ({shown(before)}); {newest} it was{same} {shown(after)}"
    changes = "; ".join(moved(first.result, last.result))
    told = f": {changes}" if changes else ", which says the same" if first.result == last.result else ""
    return f"this result is from {oldest}; there is a newer one from {newest}{told}"
