"""Use: how often a record was shown."""

from dataclasses import dataclass
from typing import Self

from retentia.model.ids import RecordId, id_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """How often a record was shown, by recall or in a prompt, and when last, in UTC microseconds."""

    record_id: RecordId
    shown: int
    last_shown_at: int

    @classmethod
    def of(cls, record_id: bytes, shown: int, last_shown_at: int) -> Self:
        """Make it of a row."""
        return cls(record_id=id_text(record_id), shown=shown, last_shown_at=last_shown_at)
