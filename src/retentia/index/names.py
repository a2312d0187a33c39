"""Names: one form for what people write of one person, place or thing, and its digest; to compare, never to show."""

import hashlib
import re

from retentia.index.fold import SEPARATORS, fold, fold_umlauts, one_script
from retentia.index.stems import cyrillic_stem

_ARTICLES = frozenset("the a an der die das den dem des ein eine einen einem einer eines".split())  # noqa: SIM905
_POSSESSIVE = "'s"
_NAMED_BY_SIGN = re.compile(r"[a-z]{1,2}(?:\+\+|#)")


def name_form(text: str) -> str:
    """Return a name without case, accents, article and closing mark; Cyrillic words lose their endings.

    "Києві" and "Київ", "Größe" and "Groesse", "the Beatles" and "Beatles" are one name each, "Ann" and "Anna" are two.
    A text without a letter or a digit keeps what it has.
    """
    words = [form for piece in fold(text).split() for form in _forms(piece)]
    while len(words) > 1 and words[0] in _ARTICLES:
        words = words[1:]
    return " ".join(words) or text.strip().casefold()


def name_key(text: str) -> bytes:
    """Return the digest of a name's form, 16 bytes."""
    return hashlib.sha256(name_form(text).encode()).digest()[:16]


def _forms(piece: str) -> list[str]:
    if sign := _NAMED_BY_SIGN.match(piece):  # C, C++ and C# are three
        return [sign[0]]
    bare = piece.strip(SEPARATORS).removesuffix(_POSSESSIVE)
    return [_form(word) for word in one_script(bare) if word]


def _form(word: str) -> str:
    return fold_umlauts(word) if word.isascii() else cyrillic_stem(word)
