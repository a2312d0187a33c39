"""Prepare texts for an embedder: any text becomes one or a few clean pieces it can take.

Models stumble over what people and tools really send. Lone surrogates cannot be encoded, NUL ends a C string, and
100 kB took the default embedder 3.5 s and the multilingual one 80 s. Stored passages have about 600 characters, so
only pasted questions and whole items are ever cut: into at most `max_pieces` stretches, spread evenly over the text.
"""

import unicodedata
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How texts are prepared before a model sees them; part of an embedder's identity.

    `normal_form` is a Unicode form to bring texts into. `note` is anything else that decides the vectors, such as
    fields of a request.
    """

    piece_characters: int = 2000
    max_pieces: int = 8
    passage_prefix: str = ""
    query_prefix: str = ""
    normal_form: Literal["", "NFC", "NFKC"] = ""
    note: str = ""

    def __str__(self) -> str:
        parts = [f"{self.max_pieces}x{self.piece_characters}"]
        if self.passage_prefix or self.query_prefix:
            parts.append(f"passage={self.passage_prefix!r} query={self.query_prefix!r}")
        return " ".join(filter(None, [*parts, self.normal_form, self.note]))

    def passage(self, text: str) -> list[str]:
        """Return the pieces to embed for a stored text, prefix included."""
        return [self.passage_prefix + piece for piece in self._pieces(text)]

    def query(self, text: str) -> list[str]:
        """Return the pieces to embed for a question, prefix included."""
        return [self.query_prefix + piece for piece in self._pieces(text)]

    def _pieces(self, text: str) -> list[str]:
        text = clean(text)
        if self.normal_form and not text.isascii():
            # Before cutting: one code point may become 18.
            text = unicodedata.normalize(self.normal_form, text)
        return cut(text, size=self.piece_characters, limit=self.max_pieces)


def clean(text: str) -> str:
    """Return valid Unicode without NUL: split surrogate pairs are joined, lone halves become U+FFFD."""
    if not text.isprintable():  # quick and true of most texts; NUL and surrogates are not printable
        text = text.replace("\0", " ")
        try:
            text.encode()
        except UnicodeEncodeError:
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def cut(text: str, *, size: int, limit: int) -> list[str]:
    """Return the text as stretches of at most `size` characters, at most `limit` of them, spread evenly over it.

    Together they cover a text of up to `size * limit` characters; the last one ends where the text ends.
    """
    if len(text) <= size:
        return [text]
    count = min(limit, -(-len(text) // size))
    if count == 1:
        return [text[:size]]
    spare = len(text) - size
    starts = [place * spare // (count - 1) for place in range(count)]
    return [text[start : start + size] for start in starts]
