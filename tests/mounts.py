"""File systems that tests mount: small ones, to fill them."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def mounted(kind: str, *options: str, source: Path | str = "none") -> Iterator[Path]:
    """Mount a file system on a new folder, or skip where that is not allowed."""
    with tempfile.TemporaryDirectory(prefix="retentia-") as name:
        done = subprocess.run(
            ["mount", "-t", kind, *options, str(source), name], capture_output=True, text=True, check=False
        )
        if done.returncode:
            pytest.skip(f"mounting a file system is not allowed here: {done.stderr.strip()}")
        try:
            yield Path(name)
        finally:
            subprocess.run(["umount", name], check=True)


def resize(folder: Path, size: str) -> None:
    """Give a mounted tmpfs another size."""
    remount(folder, f"size={size}")


def remount(folder: Path, options: str) -> None:
    """Change the options of what is mounted on a folder."""
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)
