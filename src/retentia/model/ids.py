"""Identifiers: UUID version 7 (RFC 9562), as text outside and as 16 bytes inside.

They sort roughly by creation time, which keeps inserts local in an index, but nothing may rely on them as an order.
"""

import os
import time
from typing import NewType

RecordId = NewType("RecordId", str)
SessionId = NewType("SessionId", str)


def new_id_bytes() -> bytes:
    """Return a fresh UUIDv7 as its 16 bytes: 48 bits of milliseconds, then 74 random bits."""
    random = bytearray(os.urandom(10))
    random[0] = 0x70 | (random[0] & 0x0F)
    random[2] = 0x80 | (random[2] & 0x3F)
    return (time.time_ns() // 1_000_000).to_bytes(6, "big") + bytes(random)


def new_id() -> RecordId:
    """Return a fresh UUIDv7 in the usual text form."""
    return id_text(new_id_bytes())


def id_text(raw: bytes) -> RecordId:
    """Write 16 bytes as the usual 8-4-4-4-12 text."""
    digits = raw.hex()
    return RecordId(f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}")


def id_bytes(text: str) -> bytes:
    """Read the text form of an id; raise ValueError when it is not one."""
    raw = bytes.fromhex(text.replace("-", ""))
    if len(raw) != 16:
        raise ValueError(f"{text!r} is not an id: expected 32 hexadecimal digits")
    return raw
