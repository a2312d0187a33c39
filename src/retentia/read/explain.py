"""Why a hit was found, in words. Pure."""

from collections.abc import Mapping

_CLOSE = 0.75
_SOME = 0.15
_PHRASES = (
    ("lexical", _SOME, "shares words with the question"),
    ("grams", _SOME, "has similar word forms"),
    ("dense", _CLOSE, "is close in meaning"),
    ("speaker", _SOME, "was said by the person named in the question"),
    ("temporal", _SOME, "tells a time, as the question asks"),
    ("bigrams", _SOME, "has the same word pairs"),
    ("session", 0.5, "comes from a conversation about this"),
    ("confirmed", 1.0, "was confirmed"),
    ("importance", 1.0, "is marked important"),
)


def explain(signals: Mapping[str, float]) -> str:
    """Name the signals that count; say when nothing but the order speaks for the hit."""
    found = [phrase for name, least, phrase in _PHRASES if signals.get(name, 0.0) >= least]
    return ", ".join(found) or "is the best of what is there"
