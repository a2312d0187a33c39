"""Retentia itself under evaluation: a fresh store, filled and asked through the public verbs and nothing else."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

from retentia.errors import InvalidInput
from retentia.evals.cache import cached
from retentia.evals.dataset import Entry, Group
from retentia.evals.subject import Answer, Found
from retentia.index.signals import Weights
from retentia.learn.inline import LearningSettings
from retentia.memory import Memory
from retentia.model.message import Message
from retentia.model.record import ItemRecord, Kind
from retentia.model.scope import Scope
from retentia.providers.base import Embedder
from retentia.providers.resolve import resolve
from retentia.read.query import Hit

_EVERYTHING = 0.0
_NEW_SESSION = "the session of whoever asks"


class MemorySubject:
    """A memory as an application uses it: one scope a group, sessions as sessions, tools and paragraphs as knowledge.

    `embedder` is the one without a cache, timed by `embedding_ms`; None when the memory searches by words only.
    """

    def __init__(self, memory: Memory, embedder: Embedder | None) -> None:
        self._memory = memory
        self._embedder = embedder
        self._sources: dict[str, str] = {}
        self._threshold: float | None = None

    def ingest(self, group: Group) -> None:
        """Remember the group and embed it. Raises InvalidInput when an entry is refused or repeats another."""
        scope = _scope(group)
        for session, entries in groupby(group.entries, key=lambda entry: entry.session):
            self._remember(list(entries), session, scope)
        self._memory.drain()

    def ask(self, group: Group, question: str, *, limit: int) -> Answer:
        """Recall without the cutoff; the time is that of the whole call less that of embedding the question."""
        started = time.perf_counter()
        recall = self._memory.recall(question, scope=_scope(group), limit=limit, min_relevance=_EVERYTHING)
        spent_ms = (time.perf_counter() - started) * 1000
        return Answer(
            found=tuple(self._found(recall.hits)),
            relevance=recall.relevance,
            search_ms=spent_ms - recall.timing.embed_ms,
            threshold=self._cutoff(group),
        )

    def _found(self, hits: Sequence[Hit]) -> Iterator[Found]:
        """Yield what was found by its source; something learned stands for the message it was learned from, once."""
        seen: set[str] = set()
        for hit in hits:
            known_from = hit.record.sources if isinstance(hit.record, ItemRecord) else ()
            record = next((one for one in (hit.id, *(source.id for source in known_from)) if one in self._sources), "")
            source = self._sources.get(record, "")
            if source and source not in seen:
                seen.add(source)
                yield Found(source=source, tokens=hit.tokens, score=hit.score, signals=hit.signals)

    def shown(self, group: Group, question: str, *, budget: int) -> tuple[str, ...]:
        """Return what the context of a new session shows of the group, as the model would see it."""
        made = self._memory.context(question, scope=_scope(group), session=_NEW_SESSION, budget=budget)
        return tuple(dict.fromkeys(self._sources[one.id] for one in made.manifest if one.id in self._sources))

    def embedding_ms(self, questions: Sequence[str]) -> list[float]:
        """Time the embedder itself, loaded and warm."""
        if self._embedder is None or not questions:
            return []
        self._embedder.embed_query(questions[0])
        return [_timed_ms(self._embedder, question) for question in questions]

    def _cutoff(self, group: Group) -> float:
        """Return the calibrated threshold, which belongs to the embedder and is the same for every question."""
        if self._threshold is None:
            self._threshold = self._memory.recall("?", scope=_scope(group), limit=1).threshold
        return self._threshold

    def _remember(self, entries: Sequence[Entry], session: str, scope: Scope) -> None:
        messages = [entry for entry in entries if entry.kind == "message"]
        if messages:
            receipt = self._memory.add([_message(entry) for entry in messages], scope=scope, session=session)
            if receipt.failed:
                refused = receipt.failed[0]
                raise InvalidInput(f"entry {messages[refused.position].source!r} was refused: {refused.reason}")
            for record, entry in zip(receipt.ids, messages, strict=True):
                self._know(record, entry)
        for entry in entries:
            if entry.kind == "item":
                self._know(
                    self._memory.remember(entry.text, Kind.KNOWLEDGE, scope=scope, at=entry.at or None).id, entry
                )

    def _know(self, record: str, entry: Entry) -> None:
        if record in self._sources:
            raise InvalidInput(
                f"entry {entry.source!r} is the same as {self._sources[record]!r}; leave one of them out"
            )
        self._sources[record] = entry.source


@contextmanager
def fresh_subject(
    embedder: str, cache_dir: Path | None = None, weights: Weights | None = None, *, learns: bool = True
) -> Iterator[MemorySubject]:
    """Open a new store in a temporary folder, with embeddings cached in `cache_dir`; it is gone afterwards.

    `weights` says how much each signal counts, None as for any other store; `learns` whether rules learn from what is
    ingested.
    """
    inside = resolve(embedder)
    with (
        cached(inside, cache_dir) as kept,
        tempfile.TemporaryDirectory(prefix="retentia-eval-") as folder,
        Memory.open(
            Path(folder) / "eval.db",
            embedder=kept,
            worker=False,
            weights=weights,
            learning=LearningSettings(is_on=learns, counts_use=False),
        ) as memory,
    ):
        yield MemorySubject(memory, inside)


def _scope(group: Group) -> Scope:
    return Scope(tenant="eval", user=group.name)


def _message(entry: Entry) -> Message:
    picture = f"[picture: {entry.caption}]" if entry.caption else ""
    return Message(
        role="assistant" if entry.role == "assistant" else "user",
        content="\n".join(part for part in (entry.text, picture) if part),
        speaker=entry.speaker,
        at=entry.at or None,
        key=entry.source,
    )


def _timed_ms(embedder: Embedder, question: str) -> float:
    started = time.perf_counter()
    embedder.embed_query(question)
    return (time.perf_counter() - started) * 1000
