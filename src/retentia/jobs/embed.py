"""Giving records their vectors: read what to embed, embed with nothing held, write what is still wanted."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from retentia.errors import EmbeddingFailed, JobLost
from retentia.index.passages import embedding_text
from retentia.jobs.work import give_back
from retentia.model.passage import VectorRow
from retentia.model.record import Kind
from retentia.providers.base import Embedder
from retentia.store import jobs, passages, records, scopes
from retentia.store.database import Database, Transaction
from retentia.store.jobs import Job

Embedders = Mapping[int, Embedder]
"""Which embedder fills which generation: the serving one, and the one being built if there is one."""


_RECORDS_AT_ONCE = 512


@dataclass(frozen=True, slots=True)
class _Text:
    record_id: bytes
    part: int
    text: str


class Embedding:
    """The work of a worker on records without a vector.

    `embedders` is asked before each round, so that a new generation is noticed.
    """

    kinds: tuple[str, ...] = (jobs.EMBED,)
    at_once = 32
    lease = jobs.LEASE

    def __init__(self, database: Database, embedders: Callable[[], Embedders]) -> None:
        self._database = database
        self._embedders = embedders

    def is_able(self) -> bool:
        """Tell whether there is anything to embed with."""
        return bool(self._embedders())

    def batches(self, claimed: Sequence[Job]) -> list[list[Job]]:
        """Group jobs so that a batch embeds a bounded number of records; one large job stays alone."""
        found: list[list[Job]] = []
        size = _RECORDS_AT_ONCE
        for job in claimed:
            if size + len(job.record_ids) > _RECORDS_AT_ONCE:
                found.append([])
                size = 0
            found[-1].append(job)
            size += len(job.record_ids)
        return found

    def run(self, batch: Sequence[Job]) -> None:
        """Embed the records of a batch of one tenant."""
        run_jobs(self._database, batch, self._embedders())


def run_jobs(database: Database, claimed: Sequence[Job], embedders: Embedders) -> int:
    """Embed the records of claimed jobs of one tenant; return how many passages got a vector.

    Results of jobs whose lease was lost, and of records erased meanwhile, are dropped. An embedder that fails gives
    its jobs back for later. No connection is held while it works.
    """
    done = 0
    by_scope = sorted(claimed, key=lambda job: job.scope_id)
    for scope_id, group in groupby(by_scope, key=lambda job: job.scope_id):
        done += _run_scope(database, scope_id, list(group), embedders)
    return done


def embed_records(
    database: Database, tenant: str, scope_id: int, record_ids: Collection[bytes], generation: int, embedder: Embedder
) -> int:
    """Embed records outside the queue, for a generation that is being built; return how many passages."""
    texts = _read(database, tenant, scope_id, record_ids)
    rows = _embed(texts, embedder)
    with database.write(tenant) as transaction:
        scopes.lock(transaction, [scope_id])
        return _write(transaction, scope_id, {generation: rows})


def _run_scope(database: Database, scope_id: int, group: list[Job], embedders: Embedders) -> int:
    tenant = group[0].tenant
    texts = _read(database, tenant, scope_id, {record_id for job in group for record_id in job.record_ids})
    try:
        rows = {generation: _embed(texts, embedder) for generation, embedder in embedders.items()}
    except EmbeddingFailed as error:
        give_back(database, group, str(error))
        return 0
    with database.write(tenant) as transaction:
        scopes.lock(transaction, [scope_id])  # an erasure that runs at the same time is before us, or after
        held = {record_id for job in group if _finished(transaction, job) for record_id in job.record_ids}
        wanted = {generation: [row for row in found if row.record_id in held] for generation, found in rows.items()}
        return _write(transaction, scope_id, wanted)


def _read(database: Database, tenant: str, scope_id: int, record_ids: Collection[bytes]) -> list[_Text]:
    with database.read(tenant) as transaction:
        rows = passages.load_passages(transaction, scope_id, record_ids)
        by_kind: dict[Kind, set[bytes]] = {}
        for row in rows:
            by_kind.setdefault(Kind(row.kind), set()).add(row.record_id)
        texts = records.texts(transaction, scope_id, by_kind)
    return [
        _Text(
            row.record_id,
            row.part,
            embedding_text(texts[row.record_id][row.start : row.end], speaker=row.speaker, day=row.day),
        )
        for row in rows
        if row.record_id in texts
    ]


def _embed(texts: Sequence[_Text], embedder: Embedder) -> list[VectorRow]:
    vectors = embedder.embed([entry.text for entry in texts]).astype("<f2")
    return [
        VectorRow(entry.record_id, entry.part, np.ascontiguousarray(vector).tobytes())
        for entry, vector in zip(texts, vectors, strict=True)
    ]


def _write(transaction: Transaction, scope_id: int, rows: Mapping[int, Sequence[VectorRow]]) -> int:
    """Write the vectors of passages that still exist; return how many."""
    touched = {row.record_id for found in rows.values() for row in found}
    if not touched:
        return 0
    alive = {(row.record_id, row.part) for row in passages.load_passages(transaction, scope_id, touched)}
    written = 0
    for generation, found in rows.items():
        kept = [row for row in found if (row.record_id, row.part) in alive]
        passages.insert_vectors(transaction, scope_id, generation, kept)
        written += len(kept)
    scopes.record_change(transaction, scope_id, sorted(touched))
    return written


def _finished(transaction: Transaction, job: Job) -> bool:
    try:
        jobs.finish(transaction, job)
    except JobLost:
        return False
    return True
