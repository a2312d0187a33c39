"""Echoes: a record that only quotes another one found says nothing more; the source is shown, once. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from retentia.model.record import ItemRecord
from retentia.read.query import Hit


def without_echoes(hits: Iterable[Hit]) -> list[Hit]:
    """Leave out items whose text stands word for word in one of their sources, where that is a hit, too.

    The source takes the place of the first of both, with its score; where one of both needs to be confirmed, so does
    the source.
    """
    listed = list(hits)
    by_id = {hit.id: hit for hit in listed}
    shown: dict[str, Hit] = {}
    for hit in listed:
        said = _said_in(hit, by_id) or hit
        first = shown.setdefault(said.id, replace(said, score=hit.score) if said is not hit else hit)
        if hit.needs_confirmation and not first.needs_confirmation:
            shown[said.id] = replace(first, needs_confirmation=True)
    return list(shown.values())


def _said_in(hit: Hit, found: Mapping[str, Hit]) -> Hit | None:
    record = hit.record
    sources = (found.get(source.id) for source in record.sources) if isinstance(record, ItemRecord) else ()
    return next((source for source in sources if source is not None and record.text in source.record.text), None)
