"""Check and normalise what a model answered, so that no unsound vector is ever stored."""

from collections.abc import Callable, Sequence
from itertools import accumulate, chain

import numpy as np
from numpy.typing import NDArray

from retentia.errors import EmbeddingFailed

Rows = NDArray[np.float32]
Encode = Callable[[list[str]], object]

_SHORTEST = 1e-12


def embed_pieces(texts: Sequence[list[str]], encode: Encode, dimension: int) -> Rows:
    """Embed texts given as their pieces; a text of several pieces gets the direction of their mean.

    Returns unit rows, shape (n, dimension), float32. Raises EmbeddingFailed naming the first text (from 0) that has
    no sound vector.
    """
    flat = list(chain.from_iterable(texts))
    if not flat:
        return np.zeros((0, dimension), dtype=np.float32)
    owners = [number for number, pieces in enumerate(texts) for _ in pieces]
    rows = unit_rows(encode(flat), owners, dimension)
    if len(flat) == len(texts):
        return rows
    starts = list(accumulate((len(pieces) for pieces in texts[:-1]), initial=0))
    return unit_rows(np.add.reduceat(rows, starts, axis=0), range(len(texts)), dimension)


def embed_one(pieces: list[str], encode: Encode, dimension: int) -> Rows:
    """Embed one text given as its pieces; return its unit vector, shape (dimension,), float32."""
    vector: Rows = embed_pieces([pieces], encode, dimension)[0]
    return vector


def unit_rows(answer: object, owners: Sequence[int], dimension: int = 0) -> Rows:
    """Return a model's answer as rows of length 1; `owners` names the text each row belongs to.

    A dimension of 0 accepts any. Raises EmbeddingFailed for another number of rows or another dimension, and for
    rows that have no direction: zeros, NaN, infinity.
    """
    try:
        rows = np.asarray(answer, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise EmbeddingFailed("the embedder answered with something other than a table of numbers") from error
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise EmbeddingFailed(f"the embedder answered with shape {rows.shape}; expected one flat vector for each text")
    if len(rows) != len(owners):
        raise EmbeddingFailed(f"the embedder answered with {len(rows)} vectors for {len(owners)} texts")
    if dimension and rows.shape[1] != dimension:
        raise EmbeddingFailed(
            f"the embedder answered with {rows.shape[1]} dimensions instead of {dimension}; was its model exchanged?"
        )
    # In float64, because the squares of large but finite numbers overflow float32.
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    unsound = ~(np.isfinite(lengths) & (lengths > _SHORTEST))
    if unsound.any():
        first = int(np.argmax(unsound))
        fault = "is zero" if np.isfinite(lengths[first]) else "is not finite"
        raise EmbeddingFailed(f"the embedder's vector of text {owners[first]} {fault}")
    unit: Rows = (rows / lengths[:, None]).astype(np.float32)
    return unit
