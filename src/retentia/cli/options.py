"""Options that many commands share, and opening the memory they name."""

import functools
import json
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import click

from retentia.errors import InvalidInput, StoreUnavailable
from retentia.model.scope import Scope

if TYPE_CHECKING:
    from retentia.memory import Memory
    from retentia.providers.chat.models import Models
    from retentia.working.settings import WorkingSettings

P = ParamSpec("P")
R = TypeVar("R")

DEFAULT_STORE = "memory.db"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Which store, whose memory in it, and how to answer."""

    store: str
    embedder: str
    ledger: str
    tenant: str
    user: str
    space: str
    agent: str
    as_json: bool

    @property
    def scope(self) -> Scope:
        """The scope the options name; raises InvalidScope."""
        return Scope(self.tenant, self.user, self.space, self.agent)

    def check_exists(self) -> None:
        """Refuse a file that is not there; raise StoreUnavailable."""
        if _is_missing_file(self.store):
            raise StoreUnavailable(f"there is no store {self.store!r}; name one with --store, or run `retentia init`")

    @contextmanager
    def open(
        self,
        *,
        create: bool = False,
        worker: bool = False,
        check_index: bool = True,
        replay_erasures: bool = False,
        working: "WorkingSettings | None" = None,
        models: "Models | None" = None,
    ) -> Iterator["Memory"]:
        """Open the memory and close it afterwards; commands run queued work themselves unless they say otherwise.

        Only `create` makes a new file: a mistyped name in a question must not leave an empty store behind.
        """
        from retentia.memory import Memory

        if not create:
            self.check_exists()
        memory = Memory.open(
            self.store,
            embedder=None if self.embedder == "none" else self.embedder,
            worker=worker,
            check_index=check_index,
            ledger=self.ledger,
            replay_erasures=replay_erasures,
            working=working,
            models=models,
        )
        with memory:
            yield memory

    @contextmanager
    def rehearse(self) -> Iterator["Memory"]:
        """Open the memory so that nothing that is written stays; where there is no store, one in a folder that goes."""
        from retentia.memory import Memory
        from retentia.store.open import dialect_of, find_keys
        from retentia.transfer.rehearsal import Rehearsal

        with TemporaryDirectory() as folder:
            store = Path(folder, "memory.db") if _is_missing_file(self.store) else self.store
            keys = find_keys(store)
            with (
                closing(Rehearsal(dialect_of(store, key=keys.key, content_key=keys.content_key))) as database,
                Memory(database, embedder=None, worker=False) as memory,
            ):
                database.begin()
                yield memory


def _is_missing_file(store: str) -> bool:
    name = store.removeprefix("sqlite:///")
    path = Path(name).expanduser()
    return ":" not in name and path.parent.is_dir() and not path.exists()


_STORE = (
    click.option(
        "--store",
        default=DEFAULT_STORE,
        show_default=True,
        envvar="RETENTIA_STORE",
        help="A file, sqlite:///path or postgresql://…",
    ),
    click.option(
        "--embedder", default="auto", show_default=True, envvar="RETENTIA_EMBEDDER", help="auto, use, e5, none …"
    ),
    click.option(
        "--ledger", default="auto", show_default=True, envvar="RETENTIA_LEDGER", help="File that remembers erasures."
    ),
)
_SCOPE = (
    click.option("--tenant", default="local", show_default=True, envvar="RETENTIA_TENANT", help="The organisation."),
    click.option("--user", default="me", show_default=True, envvar="RETENTIA_USER", help="The person remembered."),
    click.option("--space", default="default", show_default=True, envvar="RETENTIA_SPACE", help="The purpose."),
    click.option("--agent", default="", envvar="RETENTIA_AGENT", help="One agent; without it, what all share."),
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")


def targeted(command: Callable[Concatenate[Target, P], R]) -> Callable[P, R]:
    """Give a command the options that say which store and whose memory, as its first argument."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        chosen = {name: kwargs.pop(name) for name in Target.__slots__}
        return command(Target(**chosen), *args, **kwargs)  # type: ignore[arg-type]  # click has read them as declared

    wrapped: Callable[P, R] = run
    for option in reversed((*_STORE, *_SCOPE, _JSON)):
        wrapped = option(wrapped)
    return wrapped


def json_object(text: str | None) -> dict[str, Any] | None:
    """Read the JSON object of an option; raise InvalidInput when it is something else."""
    if text is None:
        return None
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InvalidInput(f"--metadata and --where take JSON: {error}") from error
    if not isinstance(value, dict):
        raise InvalidInput('--metadata and --where take a JSON object, such as {"project": "atlas"}')
    return value


def read_toml(file: Path) -> dict[str, object]:
    """Read the TOML file of an option; raise InvalidInput when it is something else."""
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise InvalidInput(f"{str(file)!r} cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{str(file)!r} is no TOML: {error}") from error
