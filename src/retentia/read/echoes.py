"""Echoes: a record that only quotes another one found says nothing more; the source is shown, once. Pure."""

from collections.abc import Iterable

from retentia.model.record import ItemRecord
from retentia.read.query import Hit


def without_echoes(hits: Iterable[Hit]) -> list[Hit]:
    """Leave out items whose text stands word for word in one of their sources, where that is a hit, too."""
    listed = list(hits)
    texts = {hit.id: hit.record.text for hit in listed}
    return [hit for hit in listed if not _is_echo(hit, texts)]


def _is_echo(hit: Hit, texts: dict[str, str]) -> bool:
    record = hit.record
    if not isinstance(record, ItemRecord):
        return False
    return any(record.text in texts.get(source.id, "") for source in record.sources)
