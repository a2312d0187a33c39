"""Where bytes come from: files, folders and zip archives, one readable thing at a time."""

import io
import stat
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

from retentia.ingest.items import Skipped
from retentia.model.progress import Progress

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

READABLE_SUFFIXES = frozenset((".json", ".jsonl", ".ndjson", ".md", ".markdown", ".txt", ".text", ".zip", ".af"))
HEAD_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Source:
    """One thing to read. `where` is shown to people; `name` is its path within what was asked for, without suffix."""

    where: str
    name: str
    suffix: str
    size: int
    open: Callable[[], AbstractContextManager[BinaryIO]]

    def head(self) -> bytes:
        """Return the first 64 kB, which decide about format and encoding."""
        with self.open() as file:
            return file.read(HEAD_BYTES)


def find_sources(paths: Iterable[Path]) -> Iterator[Source | Skipped]:
    """Walk files and folders, in sorted order; hidden entries are passed over, links to folders not followed.

    A file that is named is read whatever its suffix; in a folder the suffix decides.
    """
    for path in paths:
        if path.is_dir():
            yield from _in_folder(path, path)
        else:
            yield from _of_file(path, PurePosixPath(path.name))


def total_bytes(paths: Iterable[Path]) -> int:
    """Return how many bytes the files hold that a walk would read."""
    return sum(found.size for found in find_sources(paths) if isinstance(found, Source))


def counted(
    opener: Callable[[], AbstractContextManager[BinaryIO]], progress: Progress
) -> Callable[[], AbstractContextManager[BinaryIO]]:
    """Open like `opener`, and tell `progress` the size of each piece that is read."""
    return lambda: io.BufferedReader(_Counted(opener(), progress), HEAD_BYTES)


def _in_folder(folder: Path, root: Path) -> Iterator[Source | Skipped]:
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        yield Skipped(str(folder), "the folder cannot be read", error.strerror or str(error))
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            if not entry.is_symlink():
                yield from _in_folder(entry, root)
        elif entry.suffix.lower() in READABLE_SUFFIXES:
            yield from _of_file(entry, PurePosixPath(entry.relative_to(root).as_posix()))
        else:
            yield Skipped(
                str(entry), "not a chat, a text or an export", f"file type {entry.suffix or 'without suffix'}"
            )


def _of_file(path: Path, name: PurePosixPath) -> Iterator[Source | Skipped]:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            yield Skipped(str(path), "not a regular file")
            return
        with path.open("rb") as file:
            is_zip = file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")
    except FileNotFoundError:
        yield Skipped(str(path), "no such file")
    except OSError as error:
        yield Skipped(str(path), "the file cannot be read", error.strerror or str(error))
    else:
        if is_zip:
            yield from _in_archive(path)
        else:
            yield Source(
                str(path), str(name.with_suffix("")), name.suffix.lower(), status.st_size, lambda: path.open("rb")
            )


def _in_archive(path: Path) -> Iterator[Source | Skipped]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = sorted(archive.infolist(), key=lambda member: member.filename)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        yield Skipped(str(path), "the zip archive is damaged", str(error))
        return
    for member in members:
        where, name = f"{path}!{member.filename}", PurePosixPath(member.filename)
        if name.is_absolute() or ".." in name.parts:
            yield Skipped(where, "an entry that leads out of the archive")
            continue
        if member.is_dir() or any(part.startswith((".", "__MACOSX")) for part in name.parts):
            continue
        if name.suffix.lower() not in READABLE_SUFFIXES - {".zip"}:
            yield Skipped(where, "not a chat, a text or an export", f"file type {name.suffix or 'without suffix'}")
        elif member.flag_bits & 1:
            yield Skipped(where, "the archive is encrypted: unpack it first")
        else:
            yield Source(where, str(name.with_suffix("")), name.suffix.lower(), member.file_size, _opener(path, member))


def _opener(path: Path, member: zipfile.ZipInfo) -> Callable[[], AbstractContextManager[BinaryIO]]:
    return lambda: _Member(path, member)


class _Member(io.BufferedReader):
    """A file inside an archive; closing it closes the archive."""

    def __init__(self, path: Path, member: zipfile.ZipInfo) -> None:
        self._archive = zipfile.ZipFile(path)
        try:
            super().__init__(self._archive.open(member))  # type: ignore[arg-type]  # a raw reader in all but name
        except BaseException:
            self._archive.close()
            raise

    def close(self) -> None:
        super().close()
        self._archive.close()


class _Counted(io.RawIOBase):
    def __init__(self, opened: AbstractContextManager[BinaryIO], progress: Progress) -> None:
        self._opened = opened
        self._file = opened.__enter__()
        self._progress = progress

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer)
        piece = self._file.read(len(view))
        view[: len(piece)] = piece
        self._progress(len(piece))
        return len(piece)

    def close(self) -> None:
        if not self.closed:
            self._opened.__exit__(None, None, None)
        super().close()
