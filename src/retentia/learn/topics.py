"""Topics: which events and pieces of knowledge belong together, by shared words and by meaning. Pure, without a model.

Records are looked at in the order of their ids, and each joins what it is closest to: a topic that is there, or another
record, until none is close enough to anything. So the same records always give the same topics, and looking again
changes nothing. Members of a topic stay together as long as they are there.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from retentia.index.tokenizer import analyse
from retentia.learn.consolidate import is_whole, topic_text
from retentia.model.record import ItemRecord, Kind

GATHERED = (Kind.EVENT, Kind.KNOWLEDGE)
"""The kinds that topics are made of."""

FEWEST_MEMBERS = 3
MOST_MEMBERS = 8
AT_ONCE = 4_000
"""So many records without a topic are looked at in one run, and so many that have one: the latest of each."""

_CLOSE = 0.5
_MOST_CHARACTERS = 3_000
_WIDTH = 4096
_SMALL = 10  # among a handful of records, what only one of them says must not outweigh what they share
_TITLE_WORDS = 3
_WORD = re.compile(r"[^\W\d_]{4,}")
Features = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """Records that belong together, in the order of their ids, under a title of their own words."""

    title: str
    members: tuple[ItemRecord, ...]

    @property
    def text(self) -> str:
        """What the topic says: every member, word for word."""
        return topic_text(self.title, self.members)


def gather(
    known: Sequence[ItemRecord], together: Sequence[Sequence[str]], vectors: Mapping[str, NDArray[np.float32]]
) -> list[Topic]:
    """Put records into topics; `together` names those that are in one topic already, `vectors` their meaning by id.

    Only topics that say all that their members say are given.
    """
    ordered = sorted(known, key=lambda one: one.id)
    place: dict[str, int] = {one.id: number for number, one in enumerate(ordered)}
    groups = [[place[one] for one in some if one in place] for some in together]
    groups = [sorted(set(some)) for some in groups if some]
    features = _features(ordered, vectors)
    _join(groups, features, [len(one.text) for one in ordered])
    worded = [_words(one.text) for one in ordered]
    everywhere = Counter(chain.from_iterable(worded))
    made = [_topic(sorted(group), ordered, worded, everywhere) for group in groups]
    found = [one for one in made if len(one.members) >= FEWEST_MEMBERS and is_whole(one.text, one.members)]
    return sorted(found, key=lambda one: one.members[0].id)


def _join(groups: list[list[int]], features: Features, lengths: Sequence[int]) -> None:
    """Let each record that is in no group join the closest group or the closest other one, until none is close."""
    gathering = _Gathering(groups, features @ features.T, lengths)
    while sum(gathering.place(one) for one in range(len(lengths))):
        pass


class _Gathering:
    """Groups while they grow: how close each record is to each group, on average, and to each other one."""

    def __init__(self, groups: list[list[int]], close: Features, lengths: Sequence[int]) -> None:
        count = len(lengths)
        self._groups = groups
        self._close = close
        self._lengths = np.array(lengths, dtype=np.int64)
        self._sums = np.zeros((count, count), dtype=np.float32)
        self._sizes = np.zeros(count, dtype=np.int64)
        self._characters = np.zeros(count, dtype=np.int64)
        self.is_alone = np.ones(count, dtype=bool)
        np.fill_diagonal(close, -1)
        for number, group in enumerate(groups):
            for one in group:
                self._take(number, one)

    def place(self, one: int) -> bool:
        """Let a record join what it is closest to; tell whether anything is close enough."""
        if not self.is_alone[one]:
            return False
        groups = len(self._groups)
        fits = self._sizes[:groups] < MOST_MEMBERS
        fits &= self._characters[:groups] + self._lengths[one] <= _MOST_CHARACTERS
        to_groups = np.where(fits, self._sums[:groups, one] / np.maximum(self._sizes[:groups], 1), -1)
        short = self.is_alone & (self._lengths + self._lengths[one] <= _MOST_CHARACTERS)
        to_others = np.where(short, self._close[one], -1)
        other = int(np.argmax(to_others))
        best_group = float(to_groups.max(initial=-1))
        if max(best_group, float(to_others[other])) <= _CLOSE:
            return False
        if best_group >= float(to_others[other]):
            number = int(np.argmax(to_groups))
        else:
            number = groups
            self._groups.append([other])
            self._take(number, other)
        self._groups[number].append(one)
        self._take(number, one)
        return True

    def _take(self, number: int, one: int) -> None:
        self.is_alone[one] = False
        self._sums[number] += self._close[one]
        self._sizes[number] += 1
        self._characters[number] += self._lengths[one]


def _features(known: Sequence[ItemRecord], vectors: Mapping[str, NDArray[np.float32]]) -> Features:
    """Return a unit row for each record: its words, weighted by how rare they are, and beside them its meaning.

    Meaning counts where all of them have a vector.
    """
    counted = np.zeros((len(known), _WIDTH), dtype=np.float32)
    for row, one in zip(counted, known, strict=True):
        stems = np.frombuffer(analyse(one.text).stems, dtype="<u4") % _WIDTH
        row[np.unique(stems)] = 1
    in_how_many = counted.sum(axis=0)
    words = _unit(counted * np.log1p((len(known) + _SMALL) / np.maximum(in_how_many, 1), dtype=np.float32))
    if not known or any(one.id not in vectors for one in known):
        return words
    meaning = _unit(np.stack([vectors[one.id] for one in known]).astype(np.float32))
    half = np.float32(np.sqrt(0.5))
    return np.concatenate([words * half, meaning * half], axis=1)


def _unit(rows: Features) -> Features:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Features = rows / np.maximum(lengths, np.float32(1e-9))
    return unit


def _topic(
    group: Sequence[int], known: Sequence[ItemRecord], worded: Sequence[frozenset[str]], everywhere: Mapping[str, int]
) -> Topic:
    """Name what most members have in common: words that few others have, as the first member writes them."""
    members = [known[one] for one in group]
    here = Counter(chain.from_iterable(worded[one] for one in group))
    written = {word.casefold(): word for one in reversed(members) for word in _WORD.findall(one.text)}
    common = [word for word, count in here.items() if count * 2 >= len(members)]
    best = sorted(common, key=lambda word: (-here[word] * here[word] / everywhere[word], word))
    title = ", ".join(written[word] for word in best[:_TITLE_WORDS]) or "related"
    return Topic(title=title, members=tuple(members))


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(text) if _says_something(word))


@lru_cache(maxsize=4096)
def _says_something(word: str) -> bool:
    """Tell whether a word is no stop word."""
    return bool(analyse(word).stems)
