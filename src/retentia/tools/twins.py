"""What is both logged and said in a message is shown once. Pure."""

from collections.abc import Sequence

from retentia.model.message import JSON
from retentia.model.record import MessageRecord, Record, ToolCallRecord
from retentia.tools.normalise import canonical
from retentia.tools.spoken import outcomes_in


def twins_among(found: Sequence[Record]) -> set[str]:
    """Return the ids of the records that tell again what an earlier one of the sequence tells.

    A logged call and the message with its result are twins when they are of one session and the result is the same.
    """
    told: dict[tuple[str, str], type[Record]] = {}
    twins: set[str] = set()
    for record in found:
        for outcome in _outcomes(record):
            place = (str(getattr(record, "session_id", "")), outcome)
            if told.setdefault(place, type(record)) is not type(record):
                twins.add(record.id)
    return twins


def _outcomes(record: Record) -> list[str]:
    match record:
        case ToolCallRecord():
            return _written(record.error if record.status == "error" else record.result)
        case MessageRecord() if record.parts:
            outcomes = [one.result for one in outcomes_in(record.text, record.parts, record.metadata)]
            return _written(outcomes[0]) if len(outcomes) == 1 else []
        case MessageRecord(role="tool"):
            return _written(record.text)
    return []


def _written(outcome: JSON) -> list[str]:
    """Write an outcome so that the same one is equal; one of nothing tells nothing."""
    text = canonical(outcome)
    return [text] if text and text != '""' else []
