"""Procedures: which ways of doing things fit the task at hand. Pure.

A procedure names the task it is for ("when you review code") or none, and then it applies everywhere. It fits where the
task at hand has at least half of its words, in any form; those that fit best come first, and then what applies always.
"""

from collections.abc import Iterable

from retentia.index.tokenizer import analyse
from retentia.model.episode import Procedure
from retentia.model.record import ItemRecord, Kind

_ENOUGH = 0.5


def task_of(record: ItemRecord) -> str:
    """Return the task that a procedure is for, "" for all."""
    told = (record.body.get("task"), record.body.get("applies_to"))
    return next((str(one).strip() for one in told if one and str(one).strip()), "")


def fitting(known: Iterable[ItemRecord], task: str) -> list[Procedure]:
    """Return the procedures among items that fit a task, the most specific first; without a task those for none."""
    wanted = stems_in(task)
    found = [made for record in known if record.kind is Kind.PROCEDURE and (made := _fit(record, wanted)) is not None]
    return sorted(found, key=lambda one: (-one.match, -len(stems_in(one.task)), -one.record.recorded_at, one.id))


def stems_in(text: str) -> frozenset[int]:
    """Return the ids of the words of a text, whatever their form, without stop words."""
    return frozenset(memoryview(analyse(text).stems).cast("I")) if text.strip() else frozenset()


def _fit(record: ItemRecord, wanted: frozenset[int]) -> Procedure | None:
    task = task_of(record)
    needed = stems_in(task)
    if not needed:
        return Procedure(record=record, task=task, match=0.0)
    match = len(needed & wanted) / len(needed)
    return Procedure(record=record, task=task, match=match) if match >= _ENOUGH else None
