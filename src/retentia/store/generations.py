"""Generations of vectors: one per embedder a store has been indexed with. A search never mixes two of them."""

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import bindparam, delete, func, select, text, update

from retentia.store.database import Transaction
from retentia.store.schema import generation, setting

STORE = "store"
"""The setting with the random identity of a store."""
ANALYZER = "analyzer"
"""The setting that names the tokenizer the store was indexed with."""

_IN_STATE = select(generation).where(generation.c.state == bindparam("state"))
_WRITE_SETTING = text(
    "INSERT INTO setting (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
)

State = Literal["building", "serving", "retired"]


@dataclass(frozen=True, slots=True)
class Generation:
    """One embedder's vectors; `identity` is the embedder's own JSON."""

    id: int
    identity: str
    state: State


def serving(transaction: Transaction) -> Generation | None:
    """Return the generation that answers searches, or None when the store has no embedder."""
    return _one(transaction, "serving")


def building(transaction: Transaction) -> Generation | None:
    """Return the generation that is being made, if any."""
    return _one(transaction, "building")


def begin(transaction: Transaction, identity: str, state: State) -> Generation:
    """Register an embedder, its generation empty; when another process was faster, return what it registered."""
    while True:
        number = transaction.number(select(func.coalesce(func.max(generation.c.id), 0) + 1))
        made = {"id": number, "identity": identity, "state": state, "created_at": transaction.now}
        if transaction.insert_new(generation, made):
            return Generation(number, identity, state)
        if (faster := _one(transaction, state)) is not None:
            return faster


def serve(transaction: Transaction, chosen: Generation) -> None:
    """Let a finished generation answer from now on; the one before it retires."""
    transaction.run(update(generation).where(generation.c.state == "serving").values(state="retired"))
    transaction.run(update(generation).where(generation.c.id == chosen.id).values(state="serving"))


def retire(transaction: Transaction, unwanted: Generation) -> None:
    """Give up a generation; its vectors may go."""
    transaction.run(update(generation).where(generation.c.id == unwanted.id).values(state="retired"))


def retired(transaction: Transaction) -> list[Generation]:
    """Return the generations whose vectors may go."""
    rows = transaction.rows(select(generation).where(generation.c.state == "retired"))
    return [Generation(row.id, row.identity, row.state) for row in rows]


def drop(transaction: Transaction, number: int) -> None:
    """Forget a generation whose vectors are gone."""
    transaction.run(delete(generation).where(generation.c.id == number))


def read_setting(transaction: Transaction, name: str) -> str | None:
    """Return what the store remembers about itself under a name."""
    row = transaction.first(select(setting.c.value).where(setting.c.name == name))
    return None if row is None else str(row.value)


def write_setting(transaction: Transaction, name: str, value: str) -> None:
    """Remember something about the store itself."""
    transaction.run(_WRITE_SETTING, {"name": name, "value": value})


def _one(transaction: Transaction, state: State) -> Generation | None:
    row = transaction.first(_IN_STATE, {"state": state})
    return None if row is None else Generation(row.id, row.identity, row.state)
