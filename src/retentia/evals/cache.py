"""Keep embeddings on disk, so that a second evaluation costs what searching costs.

One SQLite file for each embedder identity; a row is the SHA-256 of a text, what it was embedded as, and the vector
as float32. It holds benchmark texts' vectors only, never those of a person's store.
"""

import hashlib
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from retentia.errors import InvalidInput
from retentia.providers.base import Embedder, EmbedderIdentity

DEFAULT_FOLDER = Path.home() / ".cache" / "retentia" / "eval"
_CHUNK = 256
_TABLE = "CREATE TABLE IF NOT EXISTS embedding (sha256 BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"

Side = Literal["passage", "query"]


class CachedEmbedder:
    """An embedder that asks the one inside only for what no earlier run has embedded.

    `fresh` counts the texts that were. Safe to call from several threads and, on one folder, from several processes.
    Raises InvalidInput when the folder cannot be written or a file in it is no cache.
    """

    def __init__(self, inside: Embedder, folder: Path = DEFAULT_FOLDER) -> None:
        self.identity: EmbedderIdentity = inside.identity
        self.fresh = 0
        self._inside = inside
        self._lock = threading.Lock()
        self._db = _open(folder / f"{_file_name(inside.identity)}.sqlite")

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one unit vector a text, shape (n, dimension), float32."""
        keys = [_key("passage", text) for text in texts]
        with self._lock:
            known = self._known(keys)
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
            if missing:
                known |= self._keep(missing, self._inside.embed(list(missing.values())))
        dimension = self.identity.dimension
        return np.array([known[key] for key in keys], dtype=np.float32).reshape(len(keys), dimension)

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """Return the unit vector of a question, shape (dimension,), float32."""
        key = _key("query", text)
        with self._lock:
            known = self._known([key])
            if key not in known:
                known = self._keep({key: text}, self._inside.embed_query(text)[np.newaxis])
        return known[key]

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _known(self, keys: Iterable[bytes]) -> dict[bytes, npt.NDArray[np.float32]]:
        wanted = list(dict.fromkeys(keys))
        rows: list[tuple[bytes, bytes]] = []
        for start in range(0, len(wanted), _CHUNK):
            part = wanted[start : start + _CHUNK]
            marks = ",".join("?" * len(part))
            rows += self._db.execute(f"SELECT sha256, vector FROM embedding WHERE sha256 IN ({marks})", part)  # noqa: S608 - only question marks are put in
        return {key: np.frombuffer(vector, dtype="<f4") for key, vector in rows}

    def _keep(
        self, missing: dict[bytes, str], vectors: npt.NDArray[np.float32]
    ) -> dict[bytes, npt.NDArray[np.float32]]:
        made = dict(zip(missing, vectors.astype("<f4"), strict=True))
        with self._db:
            self._db.executemany(
                "INSERT OR IGNORE INTO embedding VALUES (?, ?)",
                [(key, vector.tobytes()) for key, vector in made.items()],
            )
        self.fresh += len(made)
        return made


def _key(side: Side, text: str) -> bytes:
    # Some embedders prefix questions and passages differently, so the same text has two vectors.
    return hashlib.sha256(f"{side}\0{text}".encode("utf-8", "surrogatepass")).digest()


def _file_name(identity: EmbedderIdentity) -> str:
    digest = hashlib.sha256(repr(identity).encode()).hexdigest()[:16]
    plain = "".join(char if char.isalnum() else "-" for char in identity.name)
    return f"{plain}-{digest}"


def _open(path: Path) -> sqlite3.Connection:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(path, timeout=60, check_same_thread=False)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute(_TABLE)
    except (OSError, sqlite3.Error) as error:
        raise InvalidInput(f"cannot keep embeddings in {str(path)!r} ({error}); choose another --cache-dir") from error
    return db


@contextmanager
def cached(inside: Embedder | None, folder: Path | None = None) -> Iterator[CachedEmbedder | None]:
    """Keep what an embedder embeds in a folder, the default one without a name; None for no embedder."""
    if inside is None:
        yield None
        return
    with closing(CachedEmbedder(inside, folder or DEFAULT_FOLDER)) as embedder:
        yield embedder
