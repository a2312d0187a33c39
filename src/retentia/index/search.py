"""Search: from scored passages to ranked records, in an order that does not depend on how the rows came in."""

from collections.abc import Sequence
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
        best = best_positions(scores, columns, layout, wanted, limit)
        records = layout.records[best]
        firsts = _firsts(records)
        if len(firsts) >= limit or len(best) < wanted:
            chosen = records[firsts[:limit]]
            here = np.flatnonzero(_marked(chosen, layout)[records])
            places: dict[int, list[int]] = {record: [] for record in chosen.tolist()}
            for place, record in zip(best[here].tolist(), records[here].tolist(), strict=True):
                places[record].append(place)
            return _records(list(places.values()), scores, signals, columns, layout, cosines)
        wanted *= _SPARE


def best_positions(scores: Signal, columns: Columns, layout: Layout, wanted: int, limit: int) -> NDArray[np.intp]:
    """Return the `wanted` best positions, and more when scores are equal, best first; ties by record id, then part.

    Of those that tie for the last place only passages of better records are returned, where these are `limit` already:
    what is ranked behind the candidates of a big view ties by the thousand.
    """
    least = _LOWEST
    if wanted < len(scores):
        least = max(least, float(np.partition(scores, len(scores) - wanted)[len(scores) - wanted]))
    places = np.flatnonzero(scores >= least)
    # Rounded, so that the last bits of a sum, which may depend on the order of rows, decide nothing.
    steps = -np.round(scores[places].astype(np.float64) * _SCORE_STEPS)
    if len(places) > wanted:
        better = _marked(layout.records[places[steps < steps.max()]], layout)
        if np.count_nonzero(better) >= limit:
            kept = better[layout.records[places]]
            places, steps = places[kept], steps[kept]
    rows = layout.rows[places]
    record, part = columns.record.values[rows], columns.part.values[rows]
    ordered: NDArray[np.intp] = places[np.lexsort((part, record[:, 1], record[:, 0], steps))]
    return ordered


def _firsts(numbers: NDArray[np.int32]) -> NDArray[np.intp]:
    """Return where each number stands for the first time, in rising order."""
    here = np.arange(len(numbers))
    first = np.empty(numbers.max(initial=-1) + 1, dtype=np.intp)
    first[numbers[::-1]] = here[::-1]  # of what is assigned twice the last stays
    return np.flatnonzero(first[numbers] == here)


def _marked(records: NDArray[np.int32], layout: Layout) -> NDArray[np.bool_]:
    """Mark some records by their numbers."""
    marks = np.zeros(len(layout), dtype=bool)
    marks[records] = True
    return marks


def _records(
    places: Sequence[Sequence[int]],
    scores: Signal,
    signals: Signals,
    columns: Columns,
    layout: Layout,
    cosines: Signal | None,
) -> tuple[RankedRecord, ...]:
    """Describe records, each given by the positions of its passages, best first."""
    chosen = np.array([place for found in places for place in found], dtype=np.intp)
    rows = layout.rows[chosen]
    spans = (columns.part.values[rows], columns.start.values[rows], columns.end.values[rows], scores[chosen])
    passages = map(RankedPassage._make, zip(*(column.tolist() for column in spans), strict=True))
    first = np.array([found[0] for found in places], dtype=np.intp)
    rows = layout.rows[first]
    kinds = columns.kind.codes[rows].tolist()
    near: list[float | None] = [None] * len(first) if cosines is None else cosines[first].tolist()
    told = zip(columns.ids(rows), places, kinds, signals.at(first), near, strict=True)
    return tuple(
        RankedRecord(record, columns.kind.labels[kind], found[0].score, said, found, cosine)
        for record, at, kind, said, cosine in told
        for found in (tuple(islice(passages, len(at))),)
    )
