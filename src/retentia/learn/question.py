"""What a question names and asks for: known things, words that point to relations, and the type of the answer."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from itertools import islice

from retentia.learn.relations import Relation, Relations
from retentia.learn.words import Phrase, Word, places, read_words
from retentia.model.candidate import PERSON

_MAX_WORDS = 80
_MAX_NAME_WORDS = 9
_MAX_NAMED = 6
_STRONG = 1.0
_WEAK = 0.5


class Role(Enum):
    """Who does what a cue says: the subject of the relation, its object, or nobody where the cue is no verb."""

    NONE = "none"
    SUBJECT = "subject"
    OBJECT = "object"


@dataclass(frozen=True, slots=True)
class Named:
    """A known thing that a question names: words [first, last) of it; `is_name` where it is written as a name."""

    node: str
    first: int
    last: int
    is_name: bool


@dataclass(frozen=True, slots=True)
class Cue:
    """Words of a question, by index, that point to a relation, from its subject or (`is_inverse`) from its object.

    The place of a verb says who does it: `role` is what its subject is to the relation. `beside` are the small words
    that stand before its object.
    """

    at: tuple[int, ...]
    weight: float
    is_inverse: bool
    role: Role = Role.NONE
    beside: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, read: its words, which of them have content, what it names, its cues by relation, the type asked for.

    `cued` are the words that belong to a cue or name a type, whatever the relation.
    """

    words: Sequence[Word]
    content: frozenset[int]
    cued: frozenset[int]
    named: Sequence[Named]
    cues: Mapping[str, Sequence[Cue]]
    type_words: Mapping[str, frozenset[int]]
    asked_type: str


def read_question(text: str, find: Callable[[Collection[str]], Mapping[str, str]], relations: Relations) -> Question:
    """Read a question; `find` returns the known ones of some names, each with what the graph knows it by."""
    words = read_words(text)[:_MAX_WORDS]
    vocabulary = _vocabulary(relations)
    named = _named(text, words, find, relations)
    taken = {at for one in named if one.is_name and not vocabulary.has(words, one) for at in range(one.first, one.last)}
    free = [at for at in range(len(words)) if at not in taken]
    stop = relations.words("stop")
    content = frozenset(at for at in free if words[at].text not in stop)
    cues = vocabulary.cues([words[at].text for at in free], free, stop)
    for name in _unregistered(words, sorted(content), relations):
        cues.setdefault(name[0], []).append(Cue(name[1], _STRONG, is_inverse=False))
    type_words = vocabulary.type_words([words[at].text for at in free], free)
    cued = {at for found in cues.values() for cue in found for at in cue.at} & content
    return Question(
        words=words,
        content=content,
        cued=frozenset(cued | {at for found in type_words.values() for at in found}) & content,
        named=named,
        cues=cues,
        type_words=type_words,
        asked_type=_asked_type(words, free, type_words, relations),
    )


_Entry = tuple[Phrase, str, float, bool, Role]


class _Vocabulary:
    """The phrases of some relations and types, by how their first word begins."""

    def __init__(self, relations: Relations) -> None:
        self._cues: dict[str, list[_Entry]] = {}
        self._loose: list[_Entry] = []
        self._types: dict[str, list[tuple[Phrase, str]]] = {}
        for relation in relations.by_name.values():
            for text, weight, is_inverse, role in _texts(relation):
                phrase = relations.phrase(text)
                entry = (phrase, relation.name, weight + (len(phrase.words) - 1) / 10, is_inverse, role)
                (self._loose if phrase.is_loose else self._cues.setdefault(_head(phrase.words[0]), [])).append(entry)
        for kind in relations.types.values():
            for text in kind.words:
                phrase = relations.phrase(text)
                self._types.setdefault(_head(phrase.words[0]), []).append((phrase, kind.name))

    def cues(self, words: list[str], at: Sequence[int], stop: Collection[str]) -> dict[str, list[Cue]]:
        """Return the cues in some words, by relation; `at` are the places of the words in the question."""
        content = [(word, place) for word, place in zip(words, at, strict=True) if word not in stop]
        texts, found = [word for word, _ in content], dict[str, list[Cue]]()
        entries = {id(entry): entry for word in texts for entry in self._cues.get(_head(word), ())}
        for entry in entries.values():
            for match in places(entry[0], texts):
                _add_cue(found, entry, tuple(content[index][1] for index in match))
        for entry in self._loose:
            for match in places(entry[0], words):
                _add_cue(found, entry, tuple(at[index] for index in match))
        return found

    def type_words(self, words: list[str], at: Sequence[int]) -> dict[str, frozenset[int]]:
        """Return which of some words name a type, by type."""
        found: dict[str, set[int]] = {}
        for index, word in enumerate(words):
            for phrase, kind in self._types.get(_head(word), ()):
                length = len(phrase.words)
                if next(places(phrase, words[index : index + length]), None):
                    found.setdefault(kind, set()).update(at[index : index + length])
        return {kind: frozenset(some) for kind, some in found.items()}

    def has(self, words: Sequence[Word], named: Named) -> bool:
        """Tell whether what is named is a word to ask with, such as "sport"."""
        texts = [word.text for word in words[named.first : named.last]]
        return bool(self.cues(texts, range(len(texts)), ())) or bool(self.type_words(texts, range(len(texts))))


@cache
def _vocabulary(relations: Relations) -> _Vocabulary:
    return _Vocabulary(relations)


def _texts(relation: Relation) -> Iterator[tuple[str, float, bool, Role]]:
    """Yield each phrase with its weight, whether it leads to the subject, and who does what it says."""
    for texts, weight, is_inverse, role in (
        (relation.nouns, _STRONG, False, Role.NONE),
        (relation.asks, _STRONG, False, Role.NONE),
        (relation.hints, _WEAK, False, Role.NONE),
        (relation.back, _STRONG, True, Role.NONE),
        (relation.verbs, _STRONG, False, Role.SUBJECT),
        (relation.verbs, _STRONG, True, Role.SUBJECT),
        (relation.done_by, _STRONG, False, Role.OBJECT),
        (relation.done_by, _STRONG, True, Role.OBJECT),
    ):
        for text in texts:
            yield text, weight, is_inverse, role


def _head(word: str) -> str:
    return word[:2]


def _add_cue(found: dict[str, list[Cue]], entry: _Entry, at: tuple[int, ...]) -> None:
    phrase, relation, weight, is_inverse, role = entry
    found.setdefault(relation, []).append(Cue(at, weight, is_inverse, role, phrase.beside))


def _named(
    text: str, words: Sequence[Word], find: Callable[[Collection[str]], Mapping[str, str]], relations: Relations
) -> list[Named]:
    """Return what is known of the names in a question: the longest first, none within or across another."""
    spans = [
        (first, last)
        for first in range(len(words))
        for last in range(first + 1, min(first + _MAX_NAME_WORDS, len(words)) + 1)
        if last - first > 1 or words[first].text not in relations.words("stop")
    ]
    names = {(first, last): text[words[first].start : words[last - 1].end] for first, last in spans}
    speaker = relations.words("speaker")
    names |= {(at, at + 1): PERSON for at, word in enumerate(words) if word.text in speaker}
    known = find(set(names.values()))
    found: list[Named] = []
    for (first, last), name in sorted(names.items(), key=lambda item: (item[0][0] - item[0][1], item[0][0])):
        if name in known and all(last <= other.first or other.last <= first for other in found):
            is_name = name != PERSON and any(
                not character.islower() for character in (text[words[at].start] for at in range(first, last))
            )
            found.append(Named(known[name], first, last, is_name))
    whole = (one for one in found if not _is_cut(text, words, one, relations))
    return list(islice(sorted(whole, key=lambda one: not one.is_name), _MAX_NAMED))


def _is_cut(text: str, words: Sequence[Word], named: Named, relations: Relations) -> bool:
    """Tell whether a name goes on where the known one ends: Ann in "Ann Smith" is not the Ann that is known."""
    if not named.is_name:
        return False
    stop = relations.words("stop")

    def goes_on(at: int, between: str) -> bool:
        if not 0 <= at < len(words) or between not in (" ", "-", ". "):
            return False
        only = Named("", at, at + 1, is_name=True)
        is_word = words[at].text in stop or words[at].text in relations.words("asking")
        return text[words[at].start].isupper() and not is_word and not _vocabulary(relations).has(words, only)

    before = text[words[named.first - 1].end : words[named.first].start] if named.first else ""
    after = text[words[named.last - 1].end : words[named.last].start] if named.last < len(words) else ""
    return goes_on(named.last, after) or (named.first > 1 and goes_on(named.first - 1, before))


def _unregistered(
    words: Sequence[Word], content: Sequence[int], relations: Relations
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the names that a relation of nobody's registry would have in these words: "favourite_colour"."""
    for first in range(len(content)):
        for last in range(first + 1, min(first + 3, len(content)) + 1):
            at = tuple(content[first:last])
            name = "_".join(words[index].text for index in at)
            if at[-1] - at[0] == len(at) - 1 and name not in relations.by_name:
                yield name, at


def _asked_type(
    words: Sequence[Word], free: Sequence[int], type_words: Mapping[str, frozenset[int]], relations: Relations
) -> str:
    """Return the type of the answer: of "who" and "where", or of the first noun after "which" and "what".

    What is asked after an "and" outranks what is asked first: "in which country …, and who is its head".
    """
    asking, joining = relations.words("asking"), relations.words("joining")
    asked = {word: kind.name for kind in relations.types.values() for word in kind.asked}
    found = ""
    for place, at in enumerate(free):
        word = words[at].text
        if (word in asked or word in asking) and (not found or words[at - 1].text in joining):
            found = asked.get(word) or _type_of_noun(words, free[place + 1 :], type_words, relations) or "thing"
    return "" if found == "thing" else found


def _type_of_noun(
    words: Sequence[Word], free: Sequence[int], type_words: Mapping[str, frozenset[int]], relations: Relations
) -> str:
    stop = relations.words("stop")
    content = [at for at in free if words[at].text not in stop][:2]
    if len(content) == 2 and content[1] != content[0] + 1:
        content.pop()
    for at in reversed(content):
        for kind, some in type_words.items():
            if at in some:
                return kind
    return ""
