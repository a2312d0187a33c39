"""An embedder of which only the function is known: its dimension and checksum are found by asking it once."""

from collections.abc import Sequence
from functools import partial

from retentia.errors import EmbeddingFailed
from retentia.providers import canary
from retentia.providers.base import EmbedderIdentity
from retentia.providers.prepare import Recipe
from retentia.providers.vectors import Encode, Rows, embed_one, embed_pieces, unit_rows


class ProbedEmbedder:
    """Builds the promises of an embedder on two functions from texts to rows, one for passages, one for questions.

    The first use, or the first look at `identity`, embeds the canary sentences. A failed probe is repeated at the
    next use, so a server may be down when a store is opened and come later. The functions get clean texts, may answer
    with anything numpy reads as a table, need not normalise, and have to be safe to call from several threads.
    Whatever they raise arrives as EmbeddingFailed. `quick` embeds passages for the probe when someone is waiting; it
    may give up sooner than `passages`.
    """

    def __init__(
        self,
        name: str,
        passages: Encode,
        queries: Encode,
        *,
        quick: Encode | None = None,
        version: str = "",
        recipe: Recipe | None = None,
    ) -> None:
        self._name = name
        self._version = version
        self._passages = passages
        self._queries = queries
        self._quick = quick or passages
        self._recipe = recipe or Recipe()
        self._known: EmbedderIdentity | None = None

    @property
    def identity(self) -> EmbedderIdentity:
        """Return which embedder this is, asking it the first time; raise EmbeddingFailed when it does not answer."""
        return self._identify(self._quick)

    def embed(self, texts: Sequence[str]) -> Rows:
        """Return one unit row for each text, shape (n, dimension), float32."""
        dimension = self._identify(self._passages).dimension
        pieces = [self._recipe.passage(text) for text in texts]
        return embed_pieces(pieces, partial(self._ask, self._passages), dimension)

    def embed_query(self, text: str) -> Rows:
        """Return the unit vector of a question, shape (dimension,), float32."""
        dimension = self._identify(self._quick).dimension
        return embed_one(self._recipe.query(text), partial(self._ask, self._queries), dimension)

    def _identify(self, encode: Encode) -> EmbedderIdentity:
        # Without a lock: a question must not wait for a background job that patiently asks a server that is down.
        if self._known is None:
            pieces = [piece for text in canary.SENTENCES for piece in self._recipe.passage(text)]
            rows = unit_rows(self._ask(encode, pieces), range(len(pieces)))
            checksum = canary.checksum(rows.tolist())
            self._known = EmbedderIdentity(self._name, self._version, rows.shape[1], checksum, str(self._recipe))
        return self._known

    def _ask(self, encode: Encode, texts: list[str]) -> object:
        try:
            return encode(texts)
        except EmbeddingFailed:
            raise
        except Exception as error:
            # Code we did not write may raise anything, and a search has to survive it. Its message may quote the
            # text that was embedded, and would outlive that text in the job's row: only its type is passed on.
            raise EmbeddingFailed(f"the embedder {self._name!r} raised {type(error).__name__}") from error
