"""Any function from texts to vectors as an embedder."""

from retentia.errors import InvalidInput
from retentia.providers.probed import ProbedEmbedder
from retentia.providers.vectors import Encode


class CallableEmbedder(ProbedEmbedder):
    """Embeds with a function that takes a list of texts and returns a list of lists or an array, one row each.

    Change `version` when the function changes its vectors. Rows need not be normalised.
    """

    def __init__(self, name: str, function: Encode, version: str = "1") -> None:
        if not name:
            raise InvalidInput("an embedder needs a name: the store remembers by it which one it was indexed with")
        super().__init__(name, function, function, version=version)
