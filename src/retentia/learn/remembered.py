"""What is remembered, as a person is told: one line in plain language, and where it comes from. Pure."""

from collections.abc import Callable, Sequence

from retentia.errors import InvalidInput
from retentia.model.claim import claim_of
from retentia.model.episode import Remembered
from retentia.model.ids import id_bytes
from retentia.model.record import ItemRecord, Kind
from retentia.working.procedures import task_of
from retentia.working.told import says

SHOWN_FIRST = (
    *(Kind.FACT, Kind.PREFERENCE, Kind.PROCEDURE, Kind.COMMITMENT, Kind.DECISION),
    *(Kind.EVENT, Kind.KNOWLEDGE, Kind.NOTE, Kind.EXPERIENCE),
)
"""The order in which kinds are listed."""


def remembered(record: ItemRecord) -> Remembered:
    """Return an item as a person is told of it."""
    claim = claim_of(record.body)
    return Remembered(
        id=record.id,
        kind=record.kind,
        says=says(record),
        status=record.status,
        applies_to=claim.applies_to if claim else task_of(record),
        quote=record.text,
        sources=tuple(dict.fromkeys(one.id for one in record.sources)),
        review_at=record.review_at,
        expires_at=record.expires_at,
    )


def within_budget(
    entries: Sequence[Remembered], budget: int, count: Callable[[str], int]
) -> tuple[list[Remembered], int]:
    """Return as many of the first entries as fit into a budget of tokens, one at least, and what they take."""
    kept: list[Remembered] = []
    tokens = 0
    for one in entries:
        takes = count(f"{one.says}\n{one.quote}")
        if kept and tokens + takes > budget:
            break
        kept.append(one)
        tokens += takes
    return kept, tokens


def write_cursor(last: ItemRecord) -> str:
    """Write how far a reader has come."""
    return f"{last.kind.value}.{last.id}"


def read_cursor(text: str) -> tuple[int, bytes | None]:
    """Return the place of a kind and the id behind which to go on; raise InvalidInput for what is no cursor."""
    if not text:
        return 0, None
    kind, _, record_id = text.partition(".")
    try:
        return [one.value for one in SHOWN_FIRST].index(kind), id_bytes(record_id)
    except ValueError as error:
        raise InvalidInput(f"{text!r} is no cursor of what is remembered; pass back what the page gave") from error
