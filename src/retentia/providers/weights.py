"""Fingerprint the weights of a model that came as a file."""

import hashlib
from pathlib import Path

_BLOCK = 4096
_BLOCKS = 256


def fingerprint(*paths: Path) -> str:
    """Return 16 hexadecimal digits that change when other weights are installed.

    Hashes the sizes and 256 blocks of 4 kB spread evenly over each file: about 1 ms instead of 0.2 s for 70 MB. It
    notices an exchanged model, it is no defence against someone who wants to go unnoticed.
    """
    digest = hashlib.sha256()
    for path in paths:
        size = path.stat().st_size
        digest.update(size.to_bytes(8, "big"))
        with path.open("rb") as file:
            for place in range(_BLOCKS):
                file.seek(place * max(size - _BLOCK, 0) // (_BLOCKS - 1))
                digest.update(file.read(_BLOCK))
    return digest.hexdigest()[:16]
