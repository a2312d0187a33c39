"""Export, step by step: one snapshot -> header -> lines -> a check that nothing was erased meanwhile -> its name.

All of it is read from one snapshot: the file is the scope as it was at one instant, and writers do not wait for it.
While it is read, SQLite cannot shrink its write-ahead log, and an erasure says that its bytes are pending.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from retentia.errors import Conflict, InvalidInput
from retentia.model.ids import id_bytes
from retentia.model.message import JSON
from retentia.model.portable import FORMAT, SESSION, VERSION
from retentia.model.progress import Progress
from retentia.model.record import MessageRecord, Record
from retentia.model.scope import Scope
from retentia.model.time import Moment
from retentia.store import records, scopes
from retentia.store.database import Database, Transaction
from retentia.store.records import View
from retentia.store.scopes import ScopeVersion
from retentia.transfer.markdown import render
from retentia.transfer.new_file import new_file
from retentia.transfer.walk import counts, walk

ExportFormat: TypeAlias = Literal["jsonl", "markdown"]
_EXCERPT = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What an export wrote: `counts` by kind, sessions included; `created_at` is the instant it shows."""

    path: Path
    scope: Scope
    created_at: Moment
    counts: Mapping[str, int]
    bytes: int


def export(
    database: Database,
    scope: Scope,
    path: Path,
    as_format: ExportFormat,
    *,
    overwrite: bool,
    progress: Progress,
    agree: Callable[[], None] = lambda: None,
) -> Exported:
    """Write everything a scope holds to a file; raise InvalidInput, or Conflict when records were erased meanwhile.

    `agree` is called before the file gets its name; where it raises there is no file.
    """
    if as_format not in get_args(ExportFormat):
        raise InvalidInput(f"unknown format {as_format!r}; use one of {', '.join(get_args(ExportFormat))}")
    with new_file(path, overwrite=overwrite) as file:
        with database.read(scope.tenant) as transaction:
            seen = scopes.view(transaction, scope)
            own = next((entry for entry in seen if entry.agent == scope.agent), None)
            created_at = Moment.at(transaction.now)
            counted = counts(transaction, own.scope_id, scope) if own else {}
            lines = walk(transaction, own.scope_id) if own else iter(())
            header = _header(scope, created_at, counted)
            told = _told(lines, progress)
            if as_format == "jsonl":
                file.writelines(_jsonl(header, told))
            else:
                file.writelines(render(header, told, cite=_citing(transaction, View.of(seen, scope))))
        if own:
            _refuse_erased(database, scope, own)
        agree()
    return Exported(path=path, scope=scope, created_at=created_at, counts=counted, bytes=path.stat().st_size)


def _header(scope: Scope, created_at: Moment, counted: Mapping[str, int]) -> dict[str, JSON]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "created_at": created_at.iso(),
        "scope": {"tenant": scope.tenant, "user": scope.user, "space": scope.space, "agent": scope.agent},
        "counts": dict(counted),
    }


def _jsonl(header: Mapping[str, JSON], lines: Iterable[Mapping[str, JSON]]) -> Iterator[str]:
    yield _json_line(header)
    yield from map(_json_line, lines)


def _json_line(value: Mapping[str, JSON]) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("\x7f", "\\u007f") + "\n"  # so that no control character makes the file look binary


def _told(lines: Iterable[dict[str, JSON]], progress: Progress) -> Iterator[dict[str, JSON]]:
    for line in lines:
        yield line
        if line["kind"] != SESSION:
            progress(1)


def _citing(transaction: Transaction, view: View) -> Callable[[Sequence[str]], Mapping[str, str]]:
    """Return what tells the sources with some ids in one line each; what is not there is left out."""

    def cite(ids: Sequence[str]) -> dict[str, str]:
        kinds = records.kinds_of(transaction, view, [id_bytes(record_id) for record_id in ids])
        return {record.id: _cited(record) for record in records.fetch(transaction, view, kinds).values()}

    return cite


def _cited(record: Record) -> str:
    who = record.speaker or record.role if isinstance(record, MessageRecord) else record.kind.value
    when = f", {record.occurred.iso()[:10]}" if record.occurred else ""
    said = " ".join(record.text[: 4 * _EXCERPT].split())
    return f"{who}{when}: {said[:_EXCERPT]}{'…' if len(said) > _EXCERPT else ''}"


def _refuse_erased(database: Database, scope: Scope, before: ScopeVersion) -> None:
    """Raise Conflict when what was erased during the export may be in the file: an erasure must reach everything."""
    with database.read(scope.tenant) as transaction:
        seen = next((entry for entry in scopes.view(transaction, scope) if entry.scope_id == before.scope_id), before)
        if seen.version == before.version:
            return
        changed = scopes.changed_since(transaction, seen.scope_id, before.version, current=seen.version)
        if changed is not None:
            there = records.kinds_of(transaction, View({seen.scope_id: scope}), changed)
            if changed == {record_id for ids in there.values() for record_id in ids}:
                return
    raise Conflict("records may have been erased while they were exported, so no file was kept; export again")
