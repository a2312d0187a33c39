"""Close: a later message of a person that says a commitment of theirs is done or dropped ends it.

The message is the cause. What could mean more than one open commitment ends none.
"""

from collections.abc import Iterator, Mapping, Sequence

from retentia.languages.facts import fact_form, load_facts
from retentia.learn.clause import is_quoted_line, own_words_until
from retentia.learn.closing import Told, content_of, meant_by, told_by
from retentia.learn.quoted import is_quoted, quoted_stretches
from retentia.model.candidate import PERSON
from retentia.model.claim import Change, Revision
from retentia.model.commitment import commitment_of
from retentia.model.ids import RecordId, id_bytes
from retentia.model.record import ItemRecord, Kind
from retentia.model.time import Moment
from retentia.store import beliefs, records
from retentia.store.records import View
from retentia.working.original import Original, sentences_of
from retentia.write.place import Place

_LATEST = 200
_LONGEST_SENTENCE = 400


def close_told(place: Place, said: Sequence[Original]) -> None:
    """Close what messages say is done or dropped; messages without such words cost no look at the database."""
    told = [(one, message) for message in said if _is_own(message) for one in _told_in(message)]
    if not told:
        return
    now = place.transaction.now
    view = View({place.scope_id: place.scope})
    held = records.latest_items(place.transaction, view, (Kind.COMMITMENT,), limit=_LATEST)
    promises = [commitment_of(str(one.body.get("value") or one.text), one.body) for one in held]
    contents = [content_of(one) for one in promises]
    order = {message.id: number for number, message in enumerate(said)}
    ends: dict[bytes, int] = {}
    revisions: list[Revision] = []
    for one, message in told:
        at = message.at.start if message.at else now
        open_then = [
            which
            for which in meant_by(one, contents)
            if id_bytes(held[which].id) not in ends
            and promises[which].owner == (message.speaker or PERSON)
            and _is_later(order[message.id], at, held[which], order)
        ]
        if len(open_then) == 1:
            record = held[open_then[0]]
            ends[id_bytes(record.id)] = at
            revisions.append(_closed(record, one, message))
    beliefs.change(place.transaction, place.scope_id, ends=ends, retracts=(), revisions=revisions)


def _is_own(message: Original) -> bool:
    return message.role == "user" and not message.tool


def _told_in(message: Original) -> Iterator[Told]:
    """Yield what the person's own sentences say has ended."""
    text = fact_form(message.text)
    own_until, quoted = own_words_until(text, list(load_facts().words.values())), quoted_stretches(message.text)
    for start, end in sentences_of(message.text):
        is_theirs = end <= own_until and not is_quoted_line(text, start) and not is_quoted(message.text, start, quoted)
        if is_theirs and end - start <= _LONGEST_SENTENCE and (told := told_by(text[start:end])) is not None:
            yield told


def _is_later(place: int, at: int, record: ItemRecord, order: Mapping[str, int]) -> bool:
    """Tell whether what was said at a place of a batch came after a commitment was made, there or before."""
    made = (record.occurred or Moment.at(record.recorded_at)).start
    return at >= made and all(order.get(one.id, -1) < place for one in record.sources)


def _closed(record: ItemRecord, told: Told, message: Original) -> Revision:
    return Revision(
        record_id=record.id,
        version=0,  # given when it is written
        changed_at=0,
        change=Change.CLOSED,
        author=message.speaker or PERSON,
        reason=told.outcome,
        cause=RecordId(message.id),
        before={"valid_to": None},
    )
