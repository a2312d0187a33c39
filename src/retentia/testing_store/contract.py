"""The contract as a whole."""

from retentia.testing_store.beliefs import BeliefsContract
from retentia.testing_store.index_rows import IndexRowsContract
from retentia.testing_store.jobs import JobsContract
from retentia.testing_store.records import RecordsContract
from retentia.testing_store.scopes import ScopesContract
from retentia.testing_store.sessions import SessionsContract
from retentia.testing_store.transactions import TransactionsContract


class StoreContract(
    TransactionsContract,
    ScopesContract,
    SessionsContract,
    RecordsContract,
    IndexRowsContract,
    JobsContract,
    BeliefsContract,
):
    """Inherit this in a test class with two fixtures to prove that a database keeps its promises.

    `clock` is a FixedClock, and `database` an empty Database that was opened with it.
    """
