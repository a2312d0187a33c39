"""Search: from scored passages to ranked records, in an order that does not depend on how the rows came in."""

from itertools import islice

import numpy as np
from numpy.typing import NDArray

from retentia.index.columns import Columns
from retentia.index.neighbours import Layout
from retentia.index.ranking import RankedPassage, RankedRecord
from retentia.index.signals import Signal, Signals

_SPARE = 4
_SCORE_STEPS = 1e6
_LOWEST = float(np.finfo(np.float32).min)


def best_records(
    scores: Signal, signals: Signals, columns: Columns, layout: Layout, *, limit: int, cosines: Signal | None = None
) -> tuple[RankedRecord, ...]:
    """Return the `limit` best records, each by its best passage; what scores -inf is never returned."""
    wanted = limit * _SPARE
    while True:
        best = best_positions(scores, columns, layout, wanted)
        places: dict[bytes, list[int]] = {}
        for place, record in enumerate(columns.ids(layout.rows[best])):
            places.setdefault(record, []).append(place)
        if len(places) >= limit or len(best) < wanted:
            return _records(best, dict(islice(places.items(), limit)), scores, signals, columns, layout, cosines)
        wanted *= _SPARE


def best_positions(scores: Signal, columns: Columns, layout: Layout, wanted: int) -> NDArray[np.intp]:
    """Return the `wanted` best positions, and more when scores are equal, best first; ties by record id, then part."""
    least = _LOWEST
    if wanted < len(scores):
        least = max(least, float(np.partition(scores, len(scores) - wanted)[len(scores) - wanted]))
    places = np.flatnonzero(scores >= least)
    rows = layout.rows[places]
    record, part = columns.record.values[rows], columns.part.values[rows]
    # Rounded, so that the last bits of a sum, which may depend on the order of rows, decide nothing.
    steps = -np.round(scores[places].astype(np.float64) * _SCORE_STEPS)
    ordered: NDArray[np.intp] = places[np.lexsort((part, record[:, 1], record[:, 0], steps))]
    return ordered


def _records(
    best: NDArray[np.intp],
    places: dict[bytes, list[int]],
    scores: Signal,
    signals: Signals,
    columns: Columns,
    layout: Layout,
    cosines: Signal | None,
) -> tuple[RankedRecord, ...]:
    chosen = best[[place for found in places.values() for place in found]]
    rows = layout.rows[chosen]
    spans = (columns.part.values[rows], columns.start.values[rows], columns.end.values[rows], scores[chosen])
    passages = map(RankedPassage._make, zip(*(column.tolist() for column in spans), strict=True))
    first = best[[found[0] for found in places.values()]]
    kinds = columns.kind.codes[layout.rows[first]].tolist()
    near: list[float | None] = [None] * len(first) if cosines is None else cosines[first].tolist()
    return tuple(
        RankedRecord(record, columns.kind.labels[kind], found[0].score, said, found, cosine)
        for (record, at), kind, said, cosine in zip(places.items(), kinds, signals.at(first), near, strict=True)
        for found in (tuple(islice(passages, len(at))),)
    )
