"""What can be told of a file before SQLite opens it: whether it is ours, may be written, and lies on a local disk."""

import os
import re
import sys
from pathlib import Path

from retentia import errors
from retentia.store.sqlite_bytes import descriptor

APPLICATION_ID = 0x52544E54  # "RTNT": marks the file as ours
SQLITE_HEADER = b"SQLite format 3\x00"
_ESCAPED = re.compile(r"\\([0-7]{3})")
_MOUNTS = Path("/proc/self/mounts")
# On these, a lock or a shared memory map of one machine is not seen by the others.
_NETWORK_FILE_SYSTEMS = (
    "9p afs beegfs ceph cifs davfs drvfs fuse.ceph fuse.davfs fuse.gcsfuse fuse.glusterfs fuse.rclone fuse.s3fs "
    "fuse.sshfs fuse.vmhgfs-fuse glusterfs lustre ncpfs nfs nfs3 nfs4 prl_fs smb3 smbfs vboxsf"
)


def check_file(path: Path, *, is_encrypted: bool = False) -> None:
    """Refuse an absolute path that cannot be a store, before anything is created; raise StoreError."""
    try:
        _check_place(path)
        if is_encrypted:
            _check_is_not_plain(path)
        else:
            _check_header(path)
        _check_rights(path)
    except OSError as error:
        raise errors.StoreUnavailable(f"{str(path)!r} cannot be looked at: {error.strerror}") from error


def first_bytes(path: Path, count: int) -> bytes:
    """Return the beginning of a file, nothing of one that does not exist; raise StoreUnavailable."""
    if not path.exists():
        return b""
    if not os.access(path, os.R_OK):
        raise errors.StoreUnavailable(f"{str(path)!r} may not be read; check its permissions")
    with descriptor(path) as opened:  # this process may have the store open already
        return os.read(opened, count)


def file_system_of(path: Path, mounts: str) -> str:
    """Return the type of file system a resolved path lies on, by a table of mounts as Linux writes it; "" if none."""
    best, kind = "", ""
    for line in mounts.splitlines():
        _, mount, file_system, *_ = line.split(" ")
        mount = _ESCAPED.sub(lambda code: chr(int(code[1], 8)), mount)
        if path.is_relative_to(mount) and len(mount) >= len(best):  # of two at one place, the later hides the earlier
            best, kind = mount, file_system
    return kind


def is_network_file_system(kind: str) -> bool:
    """Tell whether several machines may have such a file system open at once."""
    return kind in _NETWORK_FILE_SYSTEMS.split()


def _check_place(path: Path) -> None:
    if not path.parent.is_dir():
        raise errors.StoreUnavailable(f"there is no folder {str(path.parent)!r}; create it first")
    if path.is_dir():
        raise errors.NotARetentiaStore(f"{str(path)!r} is a folder; name a file in it, such as memory.db")
    if path.exists() and not path.is_file():
        raise errors.NotARetentiaStore(f"{str(path)!r} is a device or a pipe, not a file; choose another path")
    kind = file_system_of(path.resolve(), _MOUNTS.read_text("utf-8", "replace")) if sys.platform == "linux" else ""
    if is_network_file_system(kind):
        raise errors.NetworkFileSystem(
            f"{str(path)!r} lies on a network file system ({kind}), where SQLite's write-ahead log loses data; "
            "move the file to a local disk, or use postgresql://"
        )


def _check_header(path: Path) -> None:
    """An empty or missing file becomes a new store."""
    header = first_bytes(path, 100)
    if header and (header[:16] != SQLITE_HEADER or int.from_bytes(header[68:72], "big") != APPLICATION_ID):
        raise errors.NotARetentiaStore(
            f"{str(path)!r} is not a retentia store; choose another path, or give the key if it is encrypted"
        )


def _check_is_not_plain(path: Path) -> None:
    if first_bytes(path, len(SQLITE_HEADER)) == SQLITE_HEADER:
        raise errors.WrongKey(
            f"a key was given and {str(path)!r} is not encrypted; open it without, or run `retentia encrypt`"
        )


def _check_rights(path: Path) -> None:
    if path.exists() and not os.access(path, os.W_OK):
        raise errors.StoreReadOnly(f"{str(path)!r} may not be written; check its permissions, or copy it elsewhere")
    if not os.access(path.parent, os.W_OK):
        raise errors.StoreReadOnly(
            f"the folder {str(path.parent)!r} may not be written, and SQLite keeps its log beside the file; "
            "check the folder's permissions, or choose another one"
        )
