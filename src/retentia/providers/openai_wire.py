"""The JSON of OpenAI's /v1/embeddings, as the many servers that imitate it write it too."""

import base64
import binascii
import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from retentia.errors import EmbeddingFailed

_IDENTIFIER = re.compile(r"[A-Za-z0-9_.:-]{1,60}")
# Statuses about who asks and for what, whose message cannot be about the text that was sent.
_SPEAKS_OF_SETUP = frozenset({401, 402, 403, 404, 405})
_LONGEST_MESSAGE = 200


def request_body(model: str, texts: list[str], fields: Mapping[str, object]) -> bytes:
    """Return the request for these texts; an empty one becomes a full stop, since most servers refuse it."""
    # Plain arrays of floats: the base64 form is smaller, but not every server knows it.
    spoken = [text if text.strip() else "." for text in texts]
    return json.dumps({"model": model, "input": spoken, "encoding_format": "float", **fields}).encode()


def read_vectors(body: bytes, count: int) -> list[object]:
    """Return the vectors of a reply in the order of the texts; raise EmbeddingFailed when it does not hold `count`."""
    try:
        data = json.loads(body)["data"]
        entries = [(entry.get("index", place), entry["embedding"]) for place, entry in enumerate(data)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise EmbeddingFailed("the embedding server's answer is not that of /v1/embeddings") from error
    if len(entries) != count:
        raise EmbeddingFailed(f"the embedding server answered with {len(entries)} vectors for {count} texts")
    by_index = {index: vector for index, vector in entries if isinstance(index, int)}
    if by_index.keys() != set(range(count)):
        raise EmbeddingFailed("the embedding server numbered its vectors in a way that fits no order of the texts")
    return [_numbers(by_index[place]) for place in range(count)]


def explain(status: int, body: bytes, *, secret: str = "") -> str:
    """Return what an error reply says, fit for a log: without the secret and without the text that was sent."""
    error = _error(body)
    parts = [f"HTTP {status}"]
    parts += [value for key in ("type", "code") if _IDENTIFIER.fullmatch(value := str(error.get(key, "")))]
    if status in _SPEAKS_OF_SETUP:
        parts.append(" ".join(str(error.get("message", "")).split())[:_LONGEST_MESSAGE])
    told = ", ".join(dict.fromkeys(part for part in parts if part and part != "None"))
    return told.replace(secret, "***") if secret else told


def _numbers(vector: object) -> object:
    if not isinstance(vector, str):
        return vector
    try:
        return np.frombuffer(base64.b64decode(vector, validate=True), dtype="<f4")
    except (binascii.Error, ValueError) as error:
        raise EmbeddingFailed("the embedding server sent a vector that is neither numbers nor base64") from error


def _error(body: bytes) -> dict[str, Any]:
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    error = reply.get("error", reply) if isinstance(reply, dict) else {}
    return error if isinstance(error, dict) else {"message": error}
