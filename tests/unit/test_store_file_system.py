"""Which file system a path lies on, by the table of mounts."""

from pathlib import Path

import pytest

from retentia.store.sqlite_file import file_system_of, is_network_file_system

MOUNTS = r"""/dev/root / ext4 rw,relatime 0 0
proc /proc proc rw 0 0
server:/export /mnt/nfs nfs4 rw,vers=4.2 0 0
//nas/share /mnt/nas\040of\040Jürgen cifs rw 0 0
tmpfs /mnt/nfs/local tmpfs rw 0 0
remote: /home/ann/far fuse.sshfs rw 0 0
/dev/sda1 /mnt/disk xfs rw 0 0
server:/over /mnt/disk nfs rw 0 0
back /mnt/back\134slash 9p rw 0 0
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/ann/memory.db", "ext4"),
        ("/mnt/nfs/memory.db", "nfs4"),
        ("/mnt/nfs/deep/er/memory.db", "nfs4"),
        ("/mnt/nfs", "nfs4"),
        ("/mnt/nfs2/memory.db", "ext4"),
        ("/mnt/nfs/local/memory.db", "tmpfs"),
        ("/mnt/nas of Jürgen/memory.db", "cifs"),
        ("/mnt/nas of Anna/memory.db", "ext4"),
        ("/home/ann/far/memory.db", "fuse.sshfs"),
        ("/mnt/disk/memory.db", "nfs"),  # mounted over the disk
        ("/mnt/back\\slash/memory.db", "9p"),
    ],
)
def test_the_longest_and_latest_mount_holds_a_path(path: str, kind: str) -> None:
    assert file_system_of(Path(path), MOUNTS) == kind


def test_without_mounts_nothing_is_known() -> None:
    assert file_system_of(Path("/memory.db"), "") == ""


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p"])
def test_file_systems_of_a_network_are_known(kind: str) -> None:
    assert is_network_file_system(kind)


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "overlay", "tmpfs", "zfs", "fuse", "fuseblk", ""])
def test_local_file_systems_are_let_through(kind: str) -> None:
    assert not is_network_file_system(kind)
