"""The doors of one principal: the verbs of facts and episodes, each call checked before, and logged.

Only the person decides what is believed of them. What an agent says of the person is a proposal, and what is proposed
is no business of an agent, unless the person or an admin has granted it the right to decide.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from retentia.doors import Show
from retentia.gate import Gate
from retentia.masked import masked_record
from retentia.model.grant import Right
from retentia.model.record import Kind, Record
from retentia.model.scope import Scope
from retentia.security.access import ALL_KINDS
from retentia.security.audit import Action

_R = TypeVar("_R", bound=Record)


class ActingDoors(Gate):
    """The doors of a principal; `ActingMemory.facts` and `ActingMemory.episodes` have them."""

    @contextmanager
    def reading(self, scope: Scope, kinds: Collection[Kind], *, proposals: bool = False) -> Iterator[Show]:
        """Let a read through to who may read these kinds, and for proposals may decide."""
        self._check(Action.READ, Right.READ, scope, kinds)
        if proposals:
            self._check(Action.READ, Right.DECIDE, scope, ALL_KINDS)

        def show(found: Sequence[_R], /) -> list[_R]:
            self._give(Action.READ, Right.READ, [scope], found, kinds=kinds)
            return self._seen(found)

        yield show

    @contextmanager
    def writing(self, scope: Scope, kinds: Collection[Kind]) -> Iterator[None]:
        """Let a write through to who may write these kinds."""
        with self._writing(scope, kinds):
            yield

    @contextmanager
    def deciding(self, scope: Scope) -> Iterator[Show]:
        """Let a decision through to who may read and decide."""
        self._check(Action.WRITE, Right.READ, scope, ALL_KINDS)

        def show(found: Sequence[_R], /) -> list[_R]:
            self._give(Action.READ, Right.READ, [scope], found, kinds=ALL_KINDS)
            return self._seen(found)

        with self._writing(scope, ALL_KINDS, Right.DECIDE):
            yield show

    def decides(self, scope: Scope) -> bool:
        """Tell whether the principal may decide about all of a scope."""
        return self._look(Right.DECIDE, [scope]).kinds(Right.DECIDE, scope) == ALL_KINDS

    def author(self, given: str) -> str:
        """Name the principal, whatever name was given."""
        return self.principal.id

    def _seen(self, found: Sequence[_R]) -> list[_R]:
        return [
            masked_record(record) if is_masked else record
            for record, is_masked in zip(found, self._masking(found), strict=True)
        ]
