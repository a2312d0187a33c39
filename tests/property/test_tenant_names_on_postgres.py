"""Whatever a tenant is called, PostgreSQL is told exactly that name and runs nothing else."""

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from retentia.store.database import Database
from retentia.store.open import open_database


@pytest.fixture(scope="module")
def database(migrated_postgres_url: str) -> Iterator[Database]:
    with closing(open_database(migrated_postgres_url)) as database:
        yield database


LETTERS = st.characters(codec="utf-8", exclude_characters="\0")
SYNTAX = "'\\;-$\"% E\u2019"
names = st.text(LETTERS, max_size=200) | st.text(SYNTAX, max_size=20)


@given(tenant=names)
@example(tenant="'; SET app.tenant = 'acme'; --")
@example(tenant="\\'; SET app.tenant = 'acme'; --")
@example(tenant="\\\\'")
@example(tenant="%s %(x)s {} {0} :name $1 $$ E'")
@example(tenant="Größe Київ 张伟 👩‍👩‍👧 \U0010ffff")
@example(tenant="\ufeff\u202e\u2028")
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_server_hears_the_tenant_as_it_is(database: Database, tenant: str) -> None:
    for opened in (database.read(tenant), database.write(tenant)):
        with opened as transaction:
            driver = transaction.connection.connection.driver_connection
            assert isinstance(driver, psycopg.Connection)
            assert driver.execute("SELECT current_setting('app.tenant')").fetchone() == (tenant,)
