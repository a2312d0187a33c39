"""What an embedder promises, and how a store remembers which one its vectors came from.

A store that changes its embedder without noticing compares vectors of two spaces: the mixed-generation index of
arXiv 2609.05339 finds 4.96 points where a clean one finds 11.90. So the identity is written down and compared.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Protocol

from retentia.errors import IndexStale
from retentia.providers import canary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """Everything that decides which space an embedder's vectors live in.

    `name` is what calibration constants are looked up by, such as "use" or "openai:nomic-embed-text". `checksum` is a
    fingerprint of the weights where we hold the file, of a few embedded canary sentences where we do not. `recipe`
    says how a text is prepared: prefixes, and how long ones are cut.
    """

    name: str
    version: str
    dimension: int
    checksum: str = ""
    recipe: str = ""

    def matches(self, other: "EmbedderIdentity") -> bool:
        """Say whether vectors made under the two identities may be compared; a missing checksum vouches for any."""
        if (self.name, self.version, self.dimension, self.recipe) != (
            other.name,
            other.version,
            other.dimension,
            other.recipe,
        ):
            return False
        return not self.checksum or not other.checksum or canary.agree(self.checksum, other.checksum)

    def to_json(self) -> str:
        """Write the identity as one line of JSON, the same line for the same identity."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "EmbedderIdentity":
        """Read what `to_json` wrote; raise IndexStale when it is something else."""
        try:
            fields = json.loads(text)
            return cls(
                name=str(fields["name"]),
                version=str(fields["version"]),
                dimension=int(fields["dimension"]),
                checksum=str(fields.get("checksum", "")),
                recipe=str(fields.get("recipe", "")),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise IndexStale(
                "the store does not say which embedder it was indexed with; run `retentia reembed --to NAME`"
            ) from error


class Embedder(Protocol):
    """Turns texts into vectors whose dot product says how close their meanings are.

    Safe to call from several threads. Any text is accepted: NUL, lone surrogates, 100 kB and nothing at all included.
    Raises EmbeddingFailed when there is no sound vector for each text; it never returns a part of them.
    """

    @property
    def identity(self) -> EmbedderIdentity:
        """Return which embedder this is; may ask a server once, and then raise EmbeddingFailed."""

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one row of length 1 for each text in their order: shape (n, dimension), float32."""

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        """Return the vector of a question: shape (dimension,), length 1, float32."""


EmbedderSpec = str | Embedder | Callable[[list[str]], object] | None
