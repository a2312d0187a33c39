"""Whether the content of a store has keys, and under which master key these are kept.

One row of `setting` says so: the salt of the master key, a proof that tells a wrong one, and whether everything is
sealed by now.
"""

import json
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from sqlalchemy import bindparam, func, select, update

from retentia.errors import InvalidInput, StoreCorrupt, WrongKey
from retentia.store import generations, jobs
from retentia.store.schema import content_key, setting

if TYPE_CHECKING:
    from retentia.store.database import Database, Transaction
    from retentia.store.sealing import MasterKey

SETTING = "content_keys"
State = Literal["sealed", "sealing"]
_VERSION = 1
_HOW = "give content_key=, or set RETENTIA_KEY, RETENTIA_KEY_FILE or RETENTIA_KEY_COMMAND"
_REWRAP = (
    update(content_key)
    .where(content_key.c.tenant == bindparam("t"), content_key.c.scope_id == bindparam("s"))
    .values(wrapped=bindparam("anew"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyMarks:
    """What a store says of its master key; salt and proof in hexadecimal."""

    state: State
    salt: str
    proof: str
    version: int = _VERSION


def read_marks(transaction: "Transaction") -> KeyMarks | None:
    """Return what a store says of its master key; None where content has no keys. Raises StoreCorrupt."""
    said = generations.read_setting(transaction, SETTING)
    if said is None:
        return None
    try:
        marks = KeyMarks(**json.loads(said))
        bytes.fromhex(marks.salt + marks.proof)
    except (ValueError, TypeError) as error:
        raise StoreCorrupt("what the store says of its content keys was changed; restore a backup") from error
    if marks.version != _VERSION:
        raise InvalidInput("the content keys were made by a newer version of retentia; upgrade retentia")
    return marks


def unlock(database: "Database", given: str | None) -> "MasterKey | None":
    """Return the master key of a store whose content has keys, None for a plain one.

    A store without any tenant gets keys when a key is given. Raises WrongKey for a wrong key and for none where one is
    needed, InvalidInput for a key where content is plain, or not all sealed yet.
    """
    with database.read("") as transaction:
        marks = read_marks(transaction)
    if marks is None:
        if given is None:
            return None
        marks = _begin(database, given)
    if marks.state == "sealing":
        raise InvalidInput(
            "the content of this store is not all encrypted yet; run `retentia encrypt`, which continues"
        )
    return master_key(marks, given)


def master_key(marks: KeyMarks, given: str | None) -> "MasterKey":
    """Return the master key that was given; raise WrongKey when it is not that of the store."""
    from retentia.store.sealing import MasterKey

    if given is None:
        raise WrongKey(f"the content of this store is encrypted; {_HOW} to its key")
    master = MasterKey(given, bytes.fromhex(marks.salt))
    if not master.proves(bytes.fromhex(marks.proof)):
        raise WrongKey("the content of this store does not open with this key; give the one it was made with")
    return master


def new_marks(given: str, state: State) -> KeyMarks:
    """Return what a store says of a new master key."""
    from retentia.store.sealing import SALT_BYTES, MasterKey

    salt = os.urandom(SALT_BYTES)
    return KeyMarks(state=state, salt=salt.hex(), proof=MasterKey(given, salt).proof().hex())


def write_marks(transaction: "Transaction", marks: KeyMarks) -> None:
    """Let the store say this of its master key from now on."""
    generations.write_setting(transaction, SETTING, json.dumps(asdict(marks)))


def rewrap(transaction: "Transaction", old: "MasterKey", new: "MasterKey") -> int:
    """Keep every content key of the tenant under another master key; return how many."""
    from retentia.store.sealing import place_of_key

    rows = transaction.rows(select(content_key).where(content_key.c.tenant == transaction.tenant))
    for row in rows:
        place = place_of_key(row.tenant, row.scope_id, row.key_id)
        anew = new.wrap(old.unwrap(row.wrapped, place), place)
        transaction.run(_REWRAP, {"t": row.tenant, "s": row.scope_id, "anew": anew})
    return len(rows)


def count(transaction: "Transaction") -> int:
    """Count the content keys of the tenant."""
    return transaction.number(
        select(func.count()).select_from(content_key).where(content_key.c.tenant == transaction.tenant)
    )


def _begin(database: "Database", given: str) -> KeyMarks:
    """Give an empty store keys, unless another process has just done so."""
    made = new_marks(given, "sealed")
    with database.write("") as transaction:
        if jobs.tenants(transaction):
            raise InvalidInput(
                "the content of this store is not encrypted; leave the key out, or encrypt it with `retentia encrypt`"
            )
        transaction.insert_new(setting, {"name": SETTING, "value": json.dumps(asdict(made))})
        found = read_marks(transaction)
    return found or made
