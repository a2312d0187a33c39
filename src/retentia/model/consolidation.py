"""Consolidation: what was put together in a scope, or would be."""

from dataclasses import dataclass

from retentia.model.ids import RecordId


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """`gone` said what `kept` says; it has their sources now, and `removal` brings them back (None in a preview)."""

    kept: RecordId
    gone: tuple[RecordId, ...]
    text: str
    removal: RecordId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicMade:
    """A topic that quotes its members; `id` is None in a preview. `instead` names topics it takes the place of."""

    title: str
    members: tuple[RecordId, ...]
    instead: tuple[RecordId, ...] = ()
    id: RecordId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Surer:
    """A record that more sources speak for."""

    id: RecordId
    before: float
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation:
    """What was put together in a scope; with `is_preview` what would be.

    `skipped` counts what was planned and left alone, because it had changed by the time it was to be written.
    """

    merged: tuple[Merged, ...] = ()
    topics: tuple[TopicMade, ...] = ()
    surer: tuple[Surer, ...] = ()
    skipped: int = 0
    is_preview: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there was nothing to do."""
        return not (self.merged or self.topics or self.surer)
