"""Learning by rules where messages are written: in their own transaction, or by a job where many came at once."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby

from retentia.errors import InvalidInput
from retentia.index.names import name_key
from retentia.learn.apply import Taught, learn
from retentia.learn.close import close_told
from retentia.learn.consolidate import ConsolidationSettings
from retentia.learn.extract import extract
from retentia.learn.quoted import quoted_stretches, touches_quote
from retentia.learn.relations import Relations, shipped_relations
from retentia.learn.statements import read_statements
from retentia.model.attributes import Attributes, shipped_attributes
from retentia.model.candidate import Candidate
from retentia.model.ids import RecordId, id_bytes, id_text
from retentia.model.learned import Learned
from retentia.model.provenance import Trust
from retentia.model.record import ITEM_KINDS, Kind, MessageRecord
from retentia.model.time import Moment, Precision
from retentia.store import jobs, records
from retentia.store.claims import Lesson
from retentia.store.records import View
from retentia.working.original import Original
from retentia.write.place import Place
from retentia.write.rows import Row

_AT_ONCE = 32
"""So many messages in one write are learned from at once; more go through the queue."""
FEWEST_TOKENS = 200
"""A stretch that is shown to a model is not made shorter than this."""
_SHORT = 60
"""An answer of so many characters may need the question before it to be understood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningSettings:
    """Whether anything is learned from messages, and what is known: `attributes` and `relations` may be extended.

    `kinds` are the kinds of items that are learned; what is of another kind is neither believed nor proposed.
    Rules learn where messages are written. A model proposes, where one is configured (`Models`): it is shown at most
    about `stretch_tokens` of what was said at once. What it proposes waits for the person or a rule; with
    `model_states` a fact that its message bears out in every respect counts as stated.

    `counts_use` counts which records are shown, in numbers without content. `consolidation` says what is put together,
    and how often.
    """

    is_on: bool = True
    kinds: Collection[Kind] = ITEM_KINDS
    attributes: Attributes = field(default_factory=shipped_attributes)
    relations: Relations = field(default_factory=shipped_relations)
    model_states: bool = False
    stretch_tokens: int = 1500
    counts_use: bool = True
    consolidation: ConsolidationSettings = field(default_factory=ConsolidationSettings)

    def __post_init__(self) -> None:
        if other := sorted(set(self.kinds).difference(ITEM_KINDS)):
            raise InvalidInput(f"{other[0]!r} is no kind that is learned; use {', '.join(sorted(ITEM_KINDS))}")
        if self.stretch_tokens < FEWEST_TOKENS:
            raise InvalidInput(f"stretch_tokens must be {FEWEST_TOKENS} or more")

    @property
    def registry(self) -> Attributes:
        """The attributes, and the relations among them: how many values each has."""
        return _registry(self.attributes, self.relations)


class InlineLearning:
    """Learns from messages that were just written."""

    def __init__(self, settings: LearningSettings) -> None:
        self._settings = settings

    def __call__(self, place: Place, rows: Sequence[Row]) -> tuple[tuple[Learned, ...], tuple[RecordId, ...]]:
        """Return what was learned, and the jobs that will learn what was too much for one write."""
        told = [row for row in rows if row.values["role"] == "user"]
        if not told:
            return (), ()
        if len(rows) > _AT_ONCE:
            ids = [row.indexed.record_id for row in told]
            return (), jobs.enqueue_all(place.transaction, jobs.LEARN, place.scope_id, ids)
        learned: list[Learned] = []
        for _, some in groupby(rows, key=lambda row: row.values["session_id"]):
            of_session = list(some)
            said = [_said(row) for row in of_session]
            before = _question_before(place, of_session[0]) if len(said[0].text) <= _SHORT else []
            learned += learn_from(place, [*before, *said], said, self._settings, is_new=True)
        return tuple(learned), ()


def learn_from(
    place: Place, heard: Sequence[Original], said: Sequence[Original], settings: LearningSettings, *, is_new: bool
) -> list[Learned]:
    """Learn by rules from messages of one session; `heard` holds them with what was said before.

    From messages that were not written just now (`is_new`) nothing is learned again that was forgotten since.
    """
    wanted = {one.id: one for one in said}
    taught = [
        Taught(
            candidate=candidate,
            text=wanted[candidate.message_id].text[candidate.start : candidate.end],
            at=wanted[candidate.message_id].at or Moment.at(place.transaction.now),
            trust=Trust.PERSON,
            author=wanted[candidate.message_id].speaker or "user",
        )
        for candidate in read_by_rules(heard, settings)
        if candidate.message_id in wanted
    ]
    if not is_new:
        taught = not_forgotten(place, taught, settings.registry)
    learned = learn(place, taught, settings.registry) if taught else []
    close_told(place, said)
    return learned


def not_forgotten(place: Place, taught: Sequence[Taught], registry: Attributes) -> list[Taught]:
    """Leave out what these messages taught before and was forgotten since."""
    lessons = [_lesson(one.candidate, registry) for one in taught]
    gone = place.forgotten(lessons)
    return [one for one, lesson in zip(taught, lessons, strict=True) if lesson not in gone]


def _lesson(one: Candidate, registry: Attributes) -> Lesson:
    attribute = registry.of(one.attribute or one.kind.value).name
    return Lesson(id_bytes(one.message_id), name_key(one.subject), attribute, name_key(one.value))


def read_by_rules(heard: Sequence[Original], settings: LearningSettings) -> list[Candidate]:
    """Return what the rules find in messages, and where they find nothing, what is plainly stated about the world."""
    found = extract(heard, attributes=settings.registry)
    taken = [(one.message_id, one.start, one.end) for one in found]
    for message in heard:
        if message.role == "user" and not message.tool:
            stated = (one.candidate(RecordId(message.id)) for one in read_statements(message.text, settings.relations))
            own = [one for one in stated if not any(_overlap(one, other) for other in taken)]
            quoted = quoted_stretches(message.text) if own else []
            found += (one for one in own if not touches_quote(message.text, one.start, one.end, quoted))
    order = {message.id: place for place, message in enumerate(heard)}
    wanted = (one for one in found if one.kind in settings.kinds)
    return sorted(wanted, key=lambda one: (order[one.message_id], one.start))


@cache
def _registry(attributes: Attributes, relations: Relations) -> Attributes:
    return relations.attributes(attributes)


def _overlap(one: Candidate, other: tuple[RecordId, int, int]) -> bool:
    message_id, start, end = other
    return one.message_id == message_id and one.start < end and start < one.end


def original_of(record: MessageRecord) -> Original:
    """Return a message as it is read to learn from."""
    return Original(id=record.id, role=record.role, text=record.text, speaker=record.speaker, at=record.occurred)


def _said(row: Row) -> Original:
    values = row.values
    at = Moment(
        int(str(values["occurred_start"])),
        int(str(values["occurred_end"])),
        Precision(str(values["precision"])),
        str(values["zone"]),
    )
    return Original(
        id=id_text(row.indexed.record_id),
        role=str(values["role"]),
        text=str(values["text"]),
        speaker=str(values["speaker"]),
        at=at,
    )


def _question_before(place: Place, row: Row) -> list[Original]:
    """Return the message before a first short one of a session, which it may answer."""
    session_id, seq = bytes(row.values["session_id"]), int(str(row.values["seq"]))  # type: ignore[call-overload]
    if seq <= 1:
        return []
    view = View({place.scope_id: place.scope})
    before = records.session_messages(place.transaction, view, session_id, after=seq - 2, until=seq - 1)
    return [original_of(one) for one in before]
