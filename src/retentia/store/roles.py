"""The role that a store is used as, on databases that have roles."""

from sqlalchemy import text

from retentia.store.database import Transaction

_UNBOUND = text("SELECT rolname FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)")


def unbound_role(transaction: Transaction) -> str:
    """Return the name of the role if row-level security does not hold for it; "" when it does, and on SQLite."""
    if transaction.connection.dialect.name != "postgresql":
        return ""
    row = transaction.first(_UNBOUND)
    return "" if row is None else str(row.rolname)
