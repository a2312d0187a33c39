"""What was learned from a message and is not yet believed: a candidate quotes its message and says how it was said."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from retentia.model.ids import RecordId
from retentia.model.message import JSON
from retentia.model.record import Importance, Kind
from retentia.model.time import Moment

PERSON = "user"
"""The subject of what a person says of themselves; a name or a thing otherwise."""


class Manner(StrEnum):
    """How something was said; only what is ASSERTED may be believed, everything else is a candidate or nothing.

    INFERRED follows from what was said without being said; POSSIBLE might be ("I might try Python"), FORCED is so
    against the person's will, FORMER was so, INTENDED is to be, REPORTED is what others say, ASKED is a question,
    ASSUMED is hypothetical, JOKING is not meant.
    """

    ASSERTED = "asserted"
    INFERRED = "inferred"
    POSSIBLE = "possible"
    FORCED = "forced"
    FORMER = "former"
    INTENDED = "intended"
    REPORTED = "reported"
    ASKED = "asked"
    ASSUMED = "assumed"
    JOKING = "joking"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Something that a message says: `subject` has `attribute` with `value`, or an event, a commitment, a procedure.

    Characters [start, end) of the message are the quote; `value` is in the words and the script of the quote. `is_not`
    denies it ("I no longer live in Kyiv"). `corrects` is the value that the speaker takes back, "" where none is named,
    and `is_correction` says that the speaker takes something back. `since` and `until` bound when it holds, where that
    is said. `applies_to` narrows it ("at work"). `body` has what only its kind has: owner and due of a commitment,
    reasons and rejected options of a decision, task and steps of a procedure.
    """

    kind: Kind
    subject: str
    attribute: str
    value: str
    message_id: RecordId
    start: int
    end: int
    manner: Manner = Manner.ASSERTED
    is_not: bool = False
    is_correction: bool = False
    corrects: str = ""
    since: Moment | None = None
    until: Moment | None = None
    applies_to: str = ""
    importance: Importance = Importance.NORMAL
    confidence: float = 1.0
    body: Mapping[str, JSON] = field(default_factory=dict)
