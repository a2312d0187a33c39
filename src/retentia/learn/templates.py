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
_FREE = re.compile(r"\w*(?:\[[^\]]*\]|\([^)]*\))\w*|\{[sor]\}|\S*\*\S*")


@dataclass(frozen=True, slots=True)
class Template:
    """A sentence that states `relation` ("" where the sentence names it), its pattern, and the words it must have."""

    relation: str
    pattern: re.Pattern[str]
    words: frozenset[str]
    literal: int


@dataclass(frozen=True, eq=False)
class Templates:
    """Templates by a word that they must have, so that a sentence is compared with the few that can fit."""

    templates: Sequence[Template]

    def fitting(self, words: Iterable[str]) -> list[Template]:
        """Return the templates whose words a text has, those with the most literal characters first."""
        has = frozenset(words)
        tried = [template for word in has for template in self._by_word.get(word, ())]
        fitting = [one for one in (*tried, *self._by_word.get("", ())) if one.words <= has]
        return sorted(fitting, key=lambda template: -template.literal)

    @cached_property
    def _by_word(self) -> Mapping[str, list[Template]]:
        by_word: dict[str, list[Template]] = {}
        for template in self.templates:
            by_word.setdefault(max(template.words, key=len, default=""), []).append(template)
        return by_word


def read_template(text: str, relation: str = "", names: str = r"\w[\w\s'’-]*?") -> Template:
    """Read one template; `names` is the pattern that {r} stands for. Raises InvalidInput where a bracket is open."""
    required = _FREE.sub(" ", text)
    try:
        pattern = re.compile(_pattern(text, names), re.IGNORECASE)
    except re.error as error:
        raise InvalidInput(f"template {text!r}: {error}") from error
    if not {"s", "o"} <= set(pattern.groupindex):
        raise InvalidInput(f"template {text!r}: it needs {{s}} and {{o}}")
    return Template(relation, pattern, frozenset(words_of(required)), len(re.sub(r"\{.\}", "", text)))


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
