"""Plain chats: JSON Lines or a JSON list, one message or one conversation a record.

Understood are {"role", "content", "timestamp", …} a line; {"messages": […]} a line (also "conversations", "turns", or a
bare list); prompt and completion pairs; and messages in an envelope, as agents log them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from retentia.errors import InvalidMoment
from retentia.ingest.items import IngestMessage, Item, Skipped
from retentia.ingest.json_stream import BrokenJson, loads, stream_elements
from retentia.ingest.keys import SessionKeys, text_digest
from retentia.ingest.messages import (
    ID_FIELDS,
    PERSON_FIELDS,
    SESSION_FIELDS,
    TIME_FIELDS,
    Context,
    first_of,
    moment_of,
    read_message,
    text_of,
)
from retentia.ingest.sources import Source
from retentia.ingest.text import MAX_CHARS, bounded_lines, open_text, undecoded
from retentia.model.message import JSON

_LISTS = ("messages", "conversations", "conversation", "turns", "chat", "dialog")
_ANSWERS = ("completion", "response", "answer")


def read_jsonl(source: Source, encoding: str, zone: str) -> Iterator[Item]:
    """Read a file line by line; a line that is broken, too long or not UTF-8 costs only itself."""
    records = _Records(source.name, zone)
    for where, value in numbered_lines(source, encoding):
        if isinstance(value, Skipped):
            yield value
        else:
            yield from records.items(value, where)


def read_json(source: Source, encoding: str, zone: str) -> Iterator[Item]:
    """Read a file that is one JSON value: a list of messages or of conversations, or one conversation."""
    records = _Records(source.name, zone)
    for where, value in numbered_elements(source, encoding):
        if isinstance(value, Skipped):
            yield value
        else:
            yield from records.items(value, where)


def numbered_lines(source: Source, encoding: str, *, limit: int | None = None) -> Iterator[tuple[str, object]]:
    """Yield the value of each line that is not blank with its place; a Skipped for one that cannot be read."""
    with open_text(source.open, encoding) as text:
        lines = bounded_lines(text) if limit is None else bounded_lines(text, limit=limit)
        for number, line in lines:
            where = f"{source.where}:{number}"
            if line is None:
                yield where, Skipped(where, "the line is too long", f"more than {limit or MAX_CHARS} characters")
            elif bad := undecoded(line):
                yield where, Skipped(where, "the line is not UTF-8", bad)
            elif line.strip():
                yield where, _parsed(line, where)


def numbered_elements(source: Source, encoding: str) -> Iterator[tuple[str, object]]:
    """Yield the elements of a file that is one JSON list with their places; a Skipped where the rest is unreadable."""
    number = 0
    try:
        with open_text(source.open, encoding) as text:
            for number, value in enumerate(stream_elements(text), 1):
                yield f"{source.where}#{number}", value
    except BrokenJson as error:
        yield source.where, Skipped(f"{source.where}#{number + 1}", "broken JSON: the rest was not read", str(error))


def keyed_items(
    where: str, session: str, records: Iterable[Mapping[str, object]], context: Context, keys: SessionKeys
) -> list[Item]:
    """Read records as messages of a session, each with its lasting key."""
    found: list[Item] = []
    for record in records:
        reading = read_message(record, context)
        keyed = (keys.keyed(session, message) for message in reading.messages)
        found.extend(IngestMessage(where=where, session=session, message=message) for message in keyed)
        found.extend(Skipped(where, reason, detail) for reason, detail in reading.problems)
    return found


def conversation_context(conversation: Mapping[str, object], zone: str) -> Context:
    """Read what a conversation says about all its messages: its time, where they have none, its title, whose it is."""
    try:
        at = moment_of(first_of(conversation, TIME_FIELDS), zone)
    except InvalidMoment:
        at = None
    title = text_of(first_of(conversation, ("title", "name")))
    person = text_of(first_of(conversation, PERSON_FIELDS))
    told: dict[str, JSON] = {"conversation": title, "user_id": person}
    return Context(zone, at, {name: value for name, value in told.items() if value})


def _parsed(line: str, where: str) -> object:
    try:
        return loads(line)
    except BrokenJson as error:
        return Skipped(where, "broken JSON", str(error))


class _Records:
    """The records of one file. Messages that name no session belong to one that is named after the file."""

    def __init__(self, session: str, zone: str) -> None:
        self._session = session
        self._keys = SessionKeys()
        self._plain = Context(zone)

    def items(self, value: object, where: str) -> list[Item]:
        if isinstance(value, list):
            return self._conversation({}, value, where)
        if not isinstance(value, dict):
            return [Skipped(where, "a record must be a JSON object", type(value).__name__)]
        listed = next((value[name] for name in _LISTS if isinstance(value.get(name), list)), None)
        if listed is not None:
            return self._conversation(value, listed, where)
        answer = first_of(value, _ANSWERS)
        if isinstance(value.get("prompt"), str) and isinstance(answer, str):
            pair = [{"role": "user", "content": value["prompt"]}, {"role": "assistant", "content": answer}]
            return self._conversation(value, pair, where)
        session = text_of(first_of(value, SESSION_FIELDS)) or self._session
        return keyed_items(where, session, [value], self._plain, self._keys)

    def _conversation(self, given: Mapping[str, object], listed: Sequence[object], where: str) -> list[Item]:
        """Read a conversation; without an id its whole text names it, as nothing else tells two of a file apart."""
        name = text_of(first_of(given, (*SESSION_FIELDS, *ID_FIELDS)))
        session = name or f"{self._session}-{text_digest(repr(listed))[:12]}"
        records = [record for record in listed if isinstance(record, dict)]
        found = keyed_items(where, session, records, conversation_context(given, self._plain.zone), self._keys)
        if len(records) < len(listed):
            missing = f"{len(listed) - len(records)} of {len(listed)}"
            found.append(Skipped(where, "a message must be a JSON object", missing))
        return found
