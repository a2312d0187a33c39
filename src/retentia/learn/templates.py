"""Templates of sentences: "{s} (works|is working) for [the ]{o}" becomes a pattern that finds the two in a text.

(a|b) is either, [a] may be missing, a word that ends in * is every word that begins so, {s}, {o} and {r} are the
subject, the object and the name of a relation. Everything else is meant literally; case makes no difference.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from retentia.errors import InvalidInput
from retentia.learn.words import words_of

_PART = re.compile(r"\{(?P<slot>[sor])\}|(?P<mark>[()|\[\]])|(?P<rest>\*)|(?P<space>\s+)|(?P<other>.)")
_MARKS = {"(": "(?:", ")": ")", "|": "|", "[": "(?:", "]": ")?"}
_OPTIONAL = re.compile(r"\w*\[[^\]]*\]\w*|\{[sor]\}|\S*\*\S*")
_EITHER = re.compile(r"\w*\([^)]*\)\w*")


@dataclass(frozen=True, eq=False)
class Template:
    """A sentence that states `relation` ("" where the sentence names it); `regex` finds its parts.

    A text fits only if it has all of `words`, and of each of `either` all words of one alternative.
    """

    relation: str
    regex: str
    words: frozenset[str]
    either: tuple[tuple[frozenset[str], ...], ...]

    def may_fit(self, words: frozenset[str]) -> bool:
        """Tell whether a text with these words has those that the template needs."""
        return self.words <= words and all(any(one <= words for one in some) for some in self.either)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The regular expression, made when a text first needs it: most are never needed."""
        return re.compile(self.regex, re.IGNORECASE)

    @property
    def anchors(self) -> frozenset[str]:
        """Words of which a text must have one; none where there is no such word."""
        if self.words:
            return frozenset([max(self.words, key=len)])
        sure = (some for some in self.either if all(some))
        return frozenset(max(one, key=len) for one in next(sure, ()))


@dataclass(frozen=True, eq=False)
class Templates:
    """Templates by a word that they must have, so that a sentence is compared with the few that can fit."""

    templates: Sequence[Template]

    def fitting(self, words: Iterable[str]) -> list[Template]:
        """Return the templates whose words a text has, in the order they were given."""
        has = frozenset(words)
        tried = {place for word in has for place in self._by_word.get(word, ())}.union(self._by_word.get("", ()))
        return [self.templates[place] for place in sorted(tried) if self.templates[place].may_fit(has)]

    @cached_property
    def _by_word(self) -> Mapping[str, list[int]]:
        by_word: dict[str, list[int]] = {}
        for place, template in enumerate(self.templates):
            for anchor in template.anchors or ("",):
                by_word.setdefault(anchor, []).append(place)
        return by_word


def read_template(text: str, relation: str = "", names: str = r"\w[\w\s'’-]*?") -> Template:
    """Read one template; `names` is the pattern that {r} stands for."""
    needed = _OPTIONAL.sub(" ", text)
    either = [_alternatives(match.group()) for match in _EITHER.finditer(needed)]
    words = frozenset(words_of(_EITHER.sub(" ", needed)))
    return Template(relation, _pattern(text, names), words, tuple(filter(all, either)))


def check_template(text: str) -> None:
    """Raise InvalidInput where a template has no {s} or no {o}, or a bracket of it is open."""
    try:
        slots = set(read_template(text).pattern.groupindex)
    except re.error as error:
        raise InvalidInput(f"template {text!r}: {error}") from error
    if not {"s", "o"} <= slots:
        raise InvalidInput(f"template {text!r}: it needs {{s}} and {{o}}")


def _alternatives(group: str) -> tuple[frozenset[str], ...]:
    """Return the words of each alternative; none where a part of a word is one."""
    if not group.startswith("(") or not group.endswith(")"):
        return (frozenset(),)
    return tuple(frozenset(words_of(one)) for one in group[1:-1].split("|"))


def _pattern(text: str, names: str) -> str:
    """Take little for what stands first and much for what stands in the middle: "The author of {s} is {o}"."""
    parts: list[str] = []
    for match in _PART.finditer(text):
        if slot := match["slot"]:
            parts.append(f"(?P<{slot}>{names if slot == 'r' else '.+' if parts else '.+?'})")
        elif mark := match["mark"]:
            parts.append(_MARKS[mark])
        elif match["space"]:
            parts.append(r"\s+")
        else:
            parts.append(r"\w*" if match["rest"] else re.escape(match["other"]))
    return "".join(parts)
