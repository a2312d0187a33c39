"""What mem0's `get_all` answers: a list of memories, or {"results": […]} with relations of its graph beside them.

A memory is what a model made of a conversation, so it becomes knowledge on the trust of an agent, whoever it is about.
"""

from collections.abc import Iterator, Mapping

from retentia.errors import InvalidMoment
from retentia.ingest.chats import numbered_elements
from retentia.ingest.items import IngestRecord, Item, Skipped
from retentia.ingest.messages import first_of, moment_of, text_of
from retentia.ingest.sources import Source
from retentia.model.message import JSON
from retentia.model.portable import occurred_json
from retentia.model.provenance import Trust
from retentia.model.record import Kind

_OWN_FIELDS = frozenset(("memory", "metadata", "created_at"))


def read_mem0(source: Source, encoding: str, zone: str) -> Iterator[Item]:
    """Read memories one at a time; those of an object with results as one piece."""
    for where, value in numbered_elements(source, encoding):
        if isinstance(value, Skipped):
            yield value
        elif isinstance(value, dict) and isinstance(value.get("results"), list):
            for place, memory in enumerate(value["results"], start=1):
                yield from _memory(memory, f"{source.where}#results/{place}", zone)
            for place, relation in enumerate(_listed(value.get("relations")), start=1):
                yield _relation(relation, f"{source.where}#relations/{place}")
        else:
            yield from _memory(value, where, zone)


def knowledge(text: str, *, author: str, metadata: Mapping[str, JSON]) -> dict[str, JSON]:
    """Write what an agent has noted as a record of an export."""
    return {
        "kind": Kind.KNOWLEDGE.value,
        "text": text,
        "trust": Trust.AGENT.value,
        "author": author,
        "metadata": {"imported_from": author, **metadata},
    }


def _memory(memory: object, where: str, zone: str) -> Iterator[Item]:
    if not isinstance(memory, dict) or not isinstance(memory.get("memory"), str) or not memory["memory"].strip():
        yield Skipped(where, "a memory without text")
        return
    given = memory.get("metadata")
    metadata: dict[str, JSON] = dict(given) if isinstance(given, dict) else {}
    for name, value in memory.items():
        if name not in _OWN_FIELDS and value not in (None, "", [], {}):
            metadata["mem0_id" if name == "id" else name] = value
    record = knowledge(memory["memory"], author="mem0", metadata=metadata)
    created = first_of(memory, ("created_at",))
    try:
        record["occurred"] = occurred_json(moment_of(created, zone))
    except InvalidMoment:
        yield Skipped(where, "the time cannot be read; kept without it", repr(created)[:80])
    yield IngestRecord(where=where, record=record, origin=text_of(memory.get("user_id")))


def _relation(relation: object, where: str) -> Item:
    known = relation if isinstance(relation, dict) else {}
    parts = [
        text_of(first_of(known, names))
        for names in (("source",), ("relationship", "relation"), ("target", "destination"))
    ]
    if not all(parts):
        return Skipped(where, "a relation without source, relationship and target")
    metadata: dict[str, JSON] = {"relation": parts[1], "from": parts[0], "to": parts[2]}
    return IngestRecord(where=where, record=knowledge(" ".join(parts), author="mem0", metadata=metadata))


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []
