"""Whose a session is, as far as a log says it: by the id of a user, or by the name of who spoke as one."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from retentia.ingest.items import IngestMessage, IngestToolCall, Item
from retentia.ingest.messages import PERSON_FIELDS, first_of, text_of


def by_person(items: Iterable[Item]) -> Iterator[tuple[str, list[Item]]]:
    """Yield items in stretches of one session and one person, each with whose it is; "" where the log does not say so.

    What is known of a session from one stretch holds for its later ones that do not say it.
    """
    known: dict[str, str] = {}
    for session, stretch in groupby(items, key=_session_of):
        for named, found in _by_id(list(stretch)):
            person = named or known.get(session) or next(filter(None, map(_speaker_of, found)), "")
            if session and person:
                known[session] = person
            yield person, found


def _by_id(items: Sequence[Item]) -> Iterator[tuple[str, list[Item]]]:
    """Begin anew where another id is named: sessions that say the same may have one name and be of several people."""
    person = next(filter(None, map(_id_of, items)), "")
    found: list[Item] = []
    for item in items:
        named = _id_of(item) or person
        if named != person:
            yield person, found
            person, found = named, []
        found.append(item)
    yield person, found


def _session_of(item: Item) -> str:
    return item.session if isinstance(item, IngestMessage | IngestToolCall) else ""


def _id_of(item: Item) -> str:
    return text_of(first_of(item.message.metadata, PERSON_FIELDS)) if isinstance(item, IngestMessage) else ""


def _speaker_of(item: Item) -> str:
    return item.message.speaker if isinstance(item, IngestMessage) and item.message.role == "user" else ""
