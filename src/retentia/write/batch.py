"""Several messages at once: which are refused, which belong together, which are there already. Pure."""

from collections.abc import Mapping, Sequence, Set
from typing import TypeAlias

from retentia.errors import ErasedEarlier, RetentiaError
from retentia.model.ids import id_text, new_id_bytes
from retentia.model.time import Moment
from retentia.write import admission
from retentia.write.admission import AdmittedMessage, MessageLike
from retentia.write.receipt import Failed, Written

InSession: TypeAlias = tuple[str, MessageLike]
"""The name of a session, and what was said in it."""
Placed: TypeAlias = tuple[int, AdmittedMessage]
"""Where a message stood in what was handed in, and the message."""


def admit_each(
    given: Sequence[InSession], *, now: Moment
) -> tuple[dict[str, list[Placed]], tuple[Failed, ...], tuple[str, ...]]:
    """Admit what can be admitted, by session, with what was refused and what was changed on the way.

    Raises the first refusal when nothing can be admitted.
    """
    sessions: dict[str, list[Placed]] = {}
    notes: dict[str, None] = {}
    failed: list[Failed] = []
    first: RetentiaError | None = None
    for position, (session, one) in enumerate(given):
        try:
            message = admission.admit_message(admission.as_message(one), now=now)
            name = admission.admit_name("session", session)
        except RetentiaError as error:
            first = first or error
            failed.append(Failed(position=position, code=error.code, reason=str(error)))
        else:
            sessions.setdefault(name, []).append((position, message))
            notes.update(dict.fromkeys(message.notes))
    if first is not None and not sessions:
        raise first
    return sessions, tuple(failed), tuple(notes)


def leave_out_erased(admitted: Sequence[Placed], erased: Set[str]) -> tuple[list[Placed], tuple[Failed, ...]]:
    """Separate what may be kept from what was erased under its key and may not come back from the same source."""
    kept = [(position, message) for position, message in admitted if message.key not in erased]
    refused = (position for position, message in admitted if message.key in erased)
    return kept, tuple(
        Failed(position=position, code=ErasedEarlier.code, reason=str(ErasedEarlier())) for position in refused
    )


def leave_out_known(
    admitted: Sequence[Placed], known: Mapping[str, bytes]
) -> tuple[list[tuple[AdmittedMessage, bytes]], list[Written]]:
    """Separate what is new, with its id, from what is there under its key, also within the batch itself."""
    fresh: list[tuple[AdmittedMessage, bytes]] = []
    written: list[Written] = []
    seen = dict(known)
    for position, message in admitted:
        earlier = seen.get(message.key) if message.key else None
        record_id = earlier or new_id_bytes()
        if earlier is None:
            fresh.append((message, record_id))
        if message.key:
            seen[message.key] = record_id
        written.append(Written(position=position, id=id_text(record_id), is_new=earlier is None))
    return fresh, written
