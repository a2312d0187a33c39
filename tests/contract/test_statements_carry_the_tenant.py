"""No statement reaches the rows of a tenant that it does not name; the guard itself is proved here."""

import pytest
from sqlalchemy import Select, Update, delete, exists, func, insert, literal_column, or_, select, text, update

from retentia.model.scope import Scope
from retentia.store import scopes
from retentia.store.open import open_database
from retentia.store.schema import due, message, passage, session, vector
from statement_guard import TenantMissing, check, check_text

HERE = message.c.tenant == "acme"
AGAIN = message.alias("again")
LINKED = exists().where(vector.c.tenant == passage.c.tenant, vector.c.part == passage.c.part)
UNLINKED = exists().where(vector.c.part == passage.c.part)

KEPT = {
    "a read": select(message).where(HERE, message.c.seq > 3),
    "a count": select(func.count()).select_from(message).where(HERE),
    "a join": select(message).join(session, session.c.tenant == message.c.tenant).where(HERE),
    "an outer join": select(message).outerjoin(session, session.c.tenant == message.c.tenant).where(HERE),
    "an existence": select(passage).where(passage.c.tenant == "acme", ~LINKED),
    "existences in an OR": select(passage).where(passage.c.tenant == "acme", or_(LINKED, passage.c.seq == 1)),
    "a subquery": select(select(message.c.id).where(HERE).subquery()),
    "another name": select(AGAIN).where(AGAIN.c.tenant == "acme"),
    "an update": update(message).where(HERE).values(seq=1),
    "a delete": delete(message).where(HERE),
    "a table of names": select(due),
}
OPEN = {
    "a read": select(message).where(message.c.seq > 3),
    "a column": select(message.c.id),
    "a count": select(func.count()).select_from(message),
    "a join to an open table": select(message).join(session, session.c.id == message.c.session_id).where(HERE),
    "a join of two open tables": select(message).join(session, session.c.tenant == message.c.tenant),
    "a second table": select(message, session).where(HERE),
    "a tenant that is one of two choices": select(message).where(or_(HERE, message.c.seq == 1)),
    "all tenants but one": select(message).where(message.c.tenant != "acme"),
    "a tenant compared with text of SQL": select(message).where(message.c.tenant == literal_column("tenant")),
    "an existence": select(passage).where(passage.c.tenant == "acme", ~UNLINKED),
    "an existence in an OR": select(passage).where(passage.c.tenant == "acme", or_(UNLINKED, passage.c.seq == 1)),
    "a list": select(message).where(HERE, message.c.id.in_(select(passage.c.record_id))),
    "the same table again": select(message).where(HERE, message.c.id.in_(select(message.alias().c.id))),
    "a subquery": select(select(message.c.id).subquery()),
    "a scalar": select(select(func.count()).select_from(message).scalar_subquery()),
    "an update": update(message).values(seq=1),
    "a delete": delete(message).where(message.c.id == b"1"),
    "a delete by a list": delete(message).where(HERE, message.c.id.in_(select(passage.c.record_id))),
}


@pytest.mark.parametrize("statement", KEPT.values(), ids=KEPT.keys())
def test_a_statement_that_names_the_tenant_of_every_table_passes(statement: Select[tuple[object]] | Update) -> None:
    check(statement)


@pytest.mark.parametrize("statement", OPEN.values(), ids=OPEN.keys())
def test_a_statement_that_leaves_a_table_open_is_found(statement: Select[tuple[object]] | Update) -> None:
    with pytest.raises(TenantMissing):
        check(statement)


def test_a_row_without_a_tenant_is_found() -> None:
    check(insert(message), [{"tenant": "acme", "seq": 1}])
    for rows in ([{"seq": 1}], [{"tenant": "acme"}, {"tenant": None}], []):
        with pytest.raises(TenantMissing):
            check(insert(message), rows)


def test_text_may_not_touch_personal_data() -> None:
    check_text("CREATE TABLE message (tenant TEXT)")
    check_text("SELECT 1 FROM message_board")
    for sql in ('SELECT * FROM "message"', "delete from message where tenant = ?", "UPDATE passage SET seq = 1"):
        with pytest.raises(TenantMissing):
            check_text(sql)


def test_every_statement_of_these_tests_is_watched(sqlite_url: str, every_statement: set[str]) -> None:
    database = open_database(sqlite_url)
    with database.write("acme") as transaction:
        scopes.ensure(transaction, Scope("acme", "ann"))
        with pytest.raises(TenantMissing):
            transaction.rows(select(message))
        with pytest.raises(TenantMissing):
            transaction.rows(text("SELECT * FROM message"))
        with pytest.raises(TenantMissing):
            transaction.tuples(select(message), {})
    database.close()
    assert any("FROM scope" in sql for sql in every_statement)
