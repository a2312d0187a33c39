"""The knowledge graph of MCP's memory server: an entity or a relation a line.

Each observation becomes a piece of knowledge, each relation too, on the trust of the agent that noted them.
"""

from collections.abc import Iterator, Mapping

from retentia.ingest.chats import numbered_lines
from retentia.ingest.items import IngestRecord, Item, Skipped
from retentia.ingest.mem0 import knowledge
from retentia.ingest.messages import text_of
from retentia.ingest.sources import Source
from retentia.model.message import JSON

_AUTHOR = "mcp-memory"


def read_mcp_memory(source: Source, encoding: str) -> Iterator[Item]:
    """Read a file line by line; a line that cannot be read costs only itself."""
    for where, value in numbered_lines(source, encoding):
        if isinstance(value, Skipped):
            yield value
        elif isinstance(value, dict) and value.get("type") == "entity":
            yield from _entity(value, where)
        elif isinstance(value, dict) and value.get("type") == "relation":
            yield _relation(value, where)
        else:
            yield Skipped(where, "neither an entity nor a relation")


def _entity(entity: Mapping[str, object], where: str) -> Iterator[Item]:
    name, kind, observations = (
        text_of(entity.get("name")),
        text_of(entity.get("entityType")),
        entity.get("observations"),
    )
    if not name:
        yield Skipped(where, "an entity without a name")
        return
    metadata: dict[str, JSON] = {"entity": name, "entity_type": kind}
    if not observations:
        yield IngestRecord(where=where, record=knowledge(f"{name}: {kind}", author=_AUTHOR, metadata=metadata))
        return
    for observation in observations if isinstance(observations, list) else [observations]:
        if isinstance(observation, str) and observation.strip():
            text = f"{name}: {observation}"
            yield IngestRecord(where=where, record=knowledge(text, author=_AUTHOR, metadata=metadata))
        else:
            yield Skipped(where, "an observation without text", type(observation).__name__)


def _relation(relation: Mapping[str, object], where: str) -> Item:
    ends = [text_of(relation.get(name)) for name in ("from", "relationType", "to")]
    if not all(ends):
        return Skipped(where, "a relation without from, relationType and to")
    metadata: dict[str, JSON] = {"from": ends[0], "relation": ends[1], "to": ends[2]}
    return IngestRecord(where=where, record=knowledge(" ".join(ends), author=_AUTHOR, metadata=metadata))
