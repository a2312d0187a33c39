"""Something known: as it is handed in, what makes two of them the same, and the records it is known from."""

import hashlib
import json
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from retentia.errors import EmptyContent, InvalidInput
from retentia.model.claim import claim_of
from retentia.model.ids import id_bytes
from retentia.model.provenance import Source, Trust
from retentia.model.record import BELIEVED, ITEM_KINDS, PROFILE_KINDS, Importance, Kind, Status
from retentia.model.scope import Scope
from retentia.model.time import Moment
from retentia.store import records, schema
from retentia.store.database import Transaction
from retentia.store.topics import MEMBER
from retentia.write import admission
from retentia.write.rows import Draft


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something known, as it is handed in: see `Memory.remember`."""

    text: str
    kind: Kind
    at: Moment | None
    importance: Importance
    author: str
    metadata: str | None
    sources: tuple[Source, ...]


def draft_item(given: Item) -> Draft:
    """Check and clean something known; raise InvalidInput."""
    if given.kind is Kind.EXPERIENCE:
        raise InvalidInput("an experience has a task, a solution and a reward; use `memory.experience.record`")
    if given.kind is Kind.TOOL:
        raise InvalidInput("a tool has a schema; use `memory.tools.register`")
    if given.kind not in ITEM_KINDS:
        raise InvalidInput(f"{given.kind.value!r} cannot be remembered; use one of {', '.join(sorted(ITEM_KINDS))}")
    text = admission.admit_text(given.text, limit=admission.MAX_MESSAGE_CHARACTERS)
    if not text.text.strip():
        raise EmptyContent
    return Draft(
        text=text.text,
        moment=given.at,
        trust=Trust.PERSON,
        metadata=given.metadata,
        notes=text.notes,
        columns={
            "kind": given.kind,
            "status": Status.STATED,
            "importance": given.importance,
            "author": admission.admit_name("author", given.author),
        },
    )


def content_key(text: str) -> bytes:
    """Return what makes two contents the same: their words, whatever the case, spacing and closing full stop."""
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".!")
    return hashlib.sha256(folded.encode()).digest()[:16]


def one_content(kind: str, values: Mapping[str, Any]) -> bytes | None:
    """Return what makes a row of an item one with all of its kind in the same words, None where that is not enough.

    A fact is told by its claim, and one quote may make several; what is proposed, over, or not believed any more is not
    what is said anew. An experience or a tool is told by its key.
    """
    if kind in (Kind.EXPERIENCE, Kind.TOOL):
        key = json.loads(values["body"] or "{}").get("key")
        return key_content(key) if key else None
    is_now = values["status"] in BELIEVED and values["valid_to"] is None and values["retracted_at"] is None
    makes_claim = kind in PROFILE_KINDS and claim_of(json.loads(values["body"] or "{}")) is not None
    return content_key(values["text"]) if is_now and not makes_claim else None


def key_content(key: str) -> bytes:
    """Return what makes two experiences, or tools, one: the key that the caller gave it, or server and name."""
    return hashlib.sha256(f"key:{key}".encode()).digest()[:16]


def check_sources(transaction: Transaction, scope: Scope, sources: Collection[Source]) -> None:
    """Refuse a source that the scope does not have: nothing may cite what its reader cannot see."""
    view = records.view_of(transaction, scope)
    known = records.kinds_of(transaction, view, [id_bytes(source.id) for source in sources])
    found = {record_id for ids in known.values() for record_id in ids}
    for source in sources:
        if id_bytes(source.id) not in found:
            raise InvalidInput(f"the source {source.id!r} is not in this scope; cite a record that is")


def link_sources(transaction: Transaction, record_id: bytes, sources: Iterable[Source]) -> int:
    """Note which records an item is known from; return how many of them were not noted yet."""
    return sum(
        transaction.insert_new(
            schema.derived_from,
            {
                "tenant": transaction.tenant,
                "child_kind": "item",
                "child_id": record_id,
                "parent_kind": source.kind,
                "parent_id": id_bytes(source.id),
                "start": source.start,
                "end": source.end,
                "role": source.role,
            },
        )
        for source in sources
    )


def derive_also_from(transaction: Transaction, record_id: bytes, instead_of: Collection[bytes]) -> None:
    """Note an item as a source of all that is known from some others, beside them; what quotes them is left out."""
    derived_from = schema.derived_from
    statement = select(derived_from).where(
        derived_from.c.tenant == transaction.tenant,
        derived_from.c.parent_kind == "item",
        derived_from.c.parent_id.in_(instead_of),
        derived_from.c.child_id != record_id,
        derived_from.c.role != MEMBER,
    )
    for row in transaction.rows(statement):
        copied = {column.name: getattr(row, column.name) for column in derived_from.c}
        transaction.insert_new(derived_from, {**copied, "parent_id": record_id, "start": 0, "end": 0})
