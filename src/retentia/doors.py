"""Doors: what stands around the verbs of facts and episodes: who may use them, whose word counts, and the log."""

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from retentia.model.record import Kind, Record
from retentia.model.scope import Scope

_R = TypeVar("_R", bound=Record)


class Show(Protocol):
    """Logs records that are about to be shown, and returns them in their order as this reader may see them."""

    def __call__(self, found: Sequence[_R], /) -> list[_R]: ...


class Doors(Protocol):
    """What stands around each verb. Where something is not permitted, a door raises AccessDenied."""

    def reading(
        self, scope: Scope, kinds: Collection[Kind], *, proposals: bool = False
    ) -> AbstractContextManager[Show]:
        """Open a read of records of some kinds; with `proposals`, of what waits for the person."""
        ...

    def writing(self, scope: Scope, kinds: Collection[Kind]) -> AbstractContextManager[None]:
        """Open a write of records of some kinds."""
        ...

    def deciding(self, scope: Scope) -> AbstractContextManager[Show]:
        """Open a decision in the person's name about what is believed or proposed, and the answer to it."""
        ...

    def decides(self, scope: Scope) -> bool:
        """Tell whether what is said through these doors is the person's own word, who also sees what is proposed."""
        ...

    def author(self, given: str) -> str:
        """Return who a write is by: a principal is its id, whatever name was given."""
        ...
