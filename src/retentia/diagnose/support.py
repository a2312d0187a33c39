"""Support: how much of what is claimed a text says. Pure; compared by the terms of the index and by numbers.

The measure is the share of the claim's terms that one stretch of the text holds, 0 to 1. Numbers are compared as they
are written: a text that says everything but the number says something else.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from retentia.index.tokenizer import analyse, split_passages
from retentia.index.words import words_of
from retentia.model.passage import HAS_TEMPORAL_EXPRESSION

_COMPARED_CHARACTERS = 40_000
_WHOLE_UP_TO = 600
_TOO_LITTLE = 0.5
_DECIMAL_ZEROS = re.compile(r"(\d+)\.0+")
_THOUSANDS = re.compile(r"(\d+)k")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a claim needs to find: its terms, its numbers and codes, and whether it tells a time.

    Times are said in many ways ("May 5", "2026-05-05", "next Friday"), so a missing one proves nothing.
    """

    terms: frozenset[int]
    numbers: frozenset[str]
    tells_time: bool


@dataclass(frozen=True, slots=True, order=True)
class Support:
    """How much of a claim the best stretch of a text says, and whether all of its numbers stand there, or others."""

    share: float
    has_numbers: bool
    has_others: bool = False


NO_SUPPORT = Support(0.0, False)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some sentences that stand together, and their terms."""

    terms: frozenset[int]
    text: str


def wanted(content: str) -> Wanted:
    """Return what a text must say to support a claim."""
    return Wanted(
        terms=terms_of(content),
        numbers=numbers_of(content),
        tells_time=bool(analyse(content).flags & HAS_TEMPORAL_EXPRESSION),
    )


def terms_of(text: str) -> frozenset[int]:
    """Return the terms of a text, stop words left out, as the index knows them."""
    return frozenset(np.frombuffer(analyse(text).stems, dtype="<u4").tolist())


def stretches(text: str) -> list[Stretch]:
    """Prepare a text for comparing: its stretches of about 600 characters each. Linear; a very long text is cut."""
    text = text[:_COMPARED_CHARACTERS]
    spans = split_passages(text, whole_up_to=_WHOLE_UP_TO)
    if len(spans) > 1:
        spans = [(first[0], second[1]) for first, second in pairwise(spans)]
    return [Stretch(terms_of(text[start:end]), text[start:end]) for start, end in spans]


def support(claim: Wanted, said: Iterable[Stretch]) -> Support:
    """Tell how much of a claim the best stretch of a text says."""
    best = NO_SUPPORT
    for one in said:
        share = len(claim.terms & one.terms) / max(1, len(claim.terms))
        if share >= best.share and share > 0:
            best = max(best, _support(claim, one, share))
    return best


def numbers_of(text: str) -> frozenset[str]:
    """Return the numbers and codes of a text in one spelling: 1,500 and 1.5k are 1500, 213.00 is 213."""
    return frozenset(_numbers(text))


def _support(claim: Wanted, said: Stretch, share: float) -> Support:
    if not claim.numbers or share < _TOO_LITTLE:  # what says less is no support, whatever its numbers
        return Support(share, has_numbers=not claim.numbers)
    numbers = _all_numbers(said.text)
    has_numbers = claim.numbers <= numbers
    return Support(share, has_numbers, has_others=not has_numbers and bool(numbers - claim.numbers))


def _numbers(text: str) -> Iterator[str]:
    for chunk in text.split():
        if any(map(str.isdigit, chunk)):
            whole = next((word.text for word in words_of(chunk[:200]) if any(map(str.isdigit, word.text))), "")
            if whole:
                yield _spelt(whole)


def _spelt(number: str) -> str:
    if match := _DECIMAL_ZEROS.fullmatch(number):
        return match[1]
    if match := _THOUSANDS.fullmatch(number):
        return match[1] + "000"
    return number


def _all_numbers(text: str) -> frozenset[str]:
    """Return the numbers of a text, whole and by their parts."""
    found = set(_numbers(text))
    for chunk in text.split():
        if any(map(str.isdigit, chunk)):
            found.update(_spelt(word.text) for word in words_of(chunk[:200]) if any(map(str.isdigit, word.text)))
    return frozenset(found)
