"""Canary sentences: notice that a model behind a name was exchanged.

A server may serve other weights under the same model name tomorrow. What it answers for a few fixed sentences is
kept as a short text and compared by cosine, not by equality: batching and half precision make the last digits differ.
"""

import base64
import binascii
import math
from collections.abc import Sequence

SENTENCES = (
    "The invoice of 14 March is still unpaid, although Maria called twice.",
    "Wann fährt am Sonntag der letzte Zug nach Lübeck?",
    "Олена переїхала з Києва до Гамбурга минулої весни.",
)

_PREFIX = "canary:"
_SAMPLES = 32
# The same model in another batch or precision stays above .999 even after rounding to 8 bits; another one is near 0.
_SAME_MODEL = 0.98


def checksum(rows: Sequence[Sequence[float]]) -> str:
    """Summarise the vectors of SENTENCES, in their order, in about 130 characters."""
    sampled = [row[place * len(row) // _SAMPLES] for row in rows for place in range(_SAMPLES)]
    largest = max(map(abs, sampled)) or 1.0
    rounded = bytes(round(value / largest * 127) & 0xFF for value in sampled)
    return _PREFIX + base64.b64encode(rounded).decode()


def agree(first: str, second: str) -> bool:
    """Say whether two checksums speak of the same model; those that are no canaries must be equal."""
    if first == second:
        return True
    if not (first.startswith(_PREFIX) and second.startswith(_PREFIX)):
        return False
    try:
        return _cosine(_samples(first), _samples(second)) >= _SAME_MODEL
    except (binascii.Error, ValueError):
        return False


def _samples(text: str) -> list[int]:
    return [byte - 256 if byte > 127 else byte for byte in base64.b64decode(text.removeprefix(_PREFIX), validate=True)]


def _cosine(first: list[int], second: list[int]) -> float:
    dot = sum(one * other for one, other in zip(first, second, strict=True))
    return dot / (math.hypot(*first) * math.hypot(*second) or 1.0)
