"""Experiences on their way in: without secrets, of a known category, of the past, and each once under its key. Pure."""

import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from retentia.errors import InvalidInput, RetentiaError
from retentia.experience.rules import ExperienceRules
from retentia.model.experience_fields import ExperienceLike, experience_given
from retentia.model.provenance import Trust
from retentia.model.record import Importance, Kind, Status
from retentia.model.scope import Scope
from retentia.model.time import Moment
from retentia.write import admission
from retentia.write.receipt import Failed
from retentia.write.rows import Draft

_CLOCKS_APART = 60_000_000
"""So many microseconds ahead may the clock be that told the time of an experience."""
_VERSION_8 = 0x80
_VARIANT = 0x80


@dataclass(frozen=True, slots=True)
class Drafted:
    """An experience that may be stored, and where it stood in what was handed in."""

    position: int
    draft: Draft


def draft_each(
    given: Sequence[ExperienceLike], *, rules: ExperienceRules, session: str, now: Moment, raises: bool
) -> tuple[list[Drafted], list[Failed]]:
    """Draft what can be kept, and say what cannot; if `raises`, raise the first refusal when nothing can."""
    drafted: list[Drafted] = []
    failed: list[Failed] = []
    first: RetentiaError | None = None
    for position, one in enumerate(given):
        try:
            drafted.append(Drafted(position, draft_experience(one, rules=rules, session=session, now=now)))
        except RetentiaError as error:
            first = first or error
            failed.append(Failed(position=position, code=error.code, reason=str(error)))
    if raises and first is not None and not drafted:
        raise first
    return drafted, failed


def draft_experience(given: ExperienceLike, *, rules: ExperienceRules, session: str, now: Moment) -> Draft:
    """Check and clean an experience; raise InvalidInput and ContentTooLarge."""
    told = experience_given(given, now=now)
    if told.at.start > now.start + _CLOCKS_APART:
        raise InvalidInput(f"an experience cannot have ended in the future ({told.at.iso()}); it is {now.iso()}")
    rules.check_category(told.task.category)
    texts = [
        admission.admit_text(text, limit=admission.MAX_MESSAGE_CHARACTERS)
        for text in (told.task.description, told.solution, told.feedback.message)
    ]
    description, solution, message = (one.text for one in texts)
    clean = replace(
        told,
        task=replace(told.task, description=description),
        solution=solution,
        feedback=replace(told.feedback, message=message),
        strategy=admission.admit_name("strategy", told.strategy),
        key=admission.admit_name("key", told.key),
        session=admission.admit_name("session", told.session or session),
    )
    return Draft(
        text=description,
        moment=clean.at,
        trust=Trust.AGENT,
        metadata=None,
        key=clean.key or None,
        notes=tuple(dict.fromkeys(note for one in texts for note in one.notes)),
        columns={
            "kind": Kind.EXPERIENCE,
            "status": Status.STATED,
            "importance": Importance.NORMAL,
            "author": "",
            "body": admission.dump(clean.body()),
        },
    )


def keyed_id(store: str, scope: Scope, key: str) -> bytes:
    """Return the id of what has a key, 16 bytes: the same each time it comes, so that what was erased stays known.

    `store` is the secret identity of the store: without it nobody can tell which key an id is of (RFC 9562, version 8).
    """
    named = json.dumps([scope.tenant, scope.user, scope.space, scope.agent, key])
    raw = bytearray(hmac.digest(store.encode(), named.encode(), "sha256")[:16])
    raw[6] = raw[6] & 0x0F | _VERSION_8
    raw[8] = raw[8] & 0x3F | _VARIANT
    return bytes(raw)
