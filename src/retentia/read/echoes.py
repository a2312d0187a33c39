"""Echoes: records that say the same thing are shown once, with the ids of the others. Pure."""

from collections.abc import Iterable
from dataclasses import replace

from retentia.model.record import ItemRecord
from retentia.read.query import Hit


def shown_once(hits: Iterable[Hit]) -> list[Hit]:
    """Put hits together that say the same, each where its best one stood; `also` of what is shown names the others.

    An item whose text stands word for word in one of its sources is shown by that source, where that is a hit and still
    holds. Items with the same text, such as two facts of one sentence, are shown by the best of them.
    Where one of them needs to be confirmed, so does what is shown.
    """
    listed = list(hits)
    texts = {hit.id: hit.record.text for hit in listed if hit.newer is None or hit.newer.is_partly}
    groups: dict[str, list[Hit]] = {}
    for hit in listed:
        groups.setdefault(_shown_by(hit, texts), []).append(hit)
    return [_together(name, some) for name, some in groups.items()]


def _shown_by(hit: Hit, texts: dict[str, str]) -> str:
    """Name what shows a hit: a source, or the text that several items have in common, or itself."""
    record = hit.record
    if not isinstance(record, ItemRecord) or hit.newer is not None:
        return hit.id
    said = (source.id for source in record.sources if record.text in texts.get(source.id, ""))
    return next(said, None) or f"{record.scope} {record.text}"


def _together(name: str, hits: list[Hit]) -> Hit:
    if len(hits) == 1:
        return hits[0]
    shown = next((hit for hit in hits if hit.id == name), hits[0])
    others = tuple(hit.id for hit in hits if hit is not shown)
    doubtful = any(hit.needs_confirmation for hit in hits)
    return replace(shown, score=hits[0].score, also=others, needs_confirmation=doubtful)
