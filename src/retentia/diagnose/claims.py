"""Claims about the past in an agent's text: "as I mentioned", "du hattest gesagt, dass", "ви казали, що".

Found are claims that something was said, agreed or done before, with what is claimed and who is said to have said it.
Questions, conditions, future, quotes, code, drafted letters and references to documents are none. The patterns are data
(claims.toml); how well they do is measured by `retentia eval claims`. Linear in the text.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_args

from retentia.diagnose.own_words import Sentence, plain, sentences
from retentia.index.tokenizer import analyse_query

_CONTENT = Literal["aside", "reason", "clause", "inside"]
_LONGEST_SENTENCE = 2_000
_LOOKED_BACK = 200
_MOST_IN_SENTENCE = 6  # more is no speech
_ENOUGH_TERMS = 2
_EDGES = " \t\n,;:.!?…()[]*_\"'–—-"
_COMMA = re.compile(r",(?=\s)|;|:\s|\n|\s[–—]\s")
_LEAD = re.compile(r"[\s,:(–—-]*")
_LEADS_ON = re.compile(r"^[\s,:]*(?:that|dass|що)(?!\w)", re.IGNORECASE)


class Author(StrEnum):
    """Who is said to have said it; both where "we" did, or no one is named."""

    AGENT = "agent"
    USER = "user"
    TOOL = "tool"
    BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One claim: characters [start, end) of the text are its sentence, [content_start, content_end) what is claimed.

    `content` is that stretch without the cue and without Markdown, "" for a bare claim ("as I mentioned."). `deed`
    says that something is said to have been done, not said.
    """

    start: int
    end: int
    by: Author
    cue: str
    content: str
    content_start: int
    content_end: int
    language: str
    deed: bool = False

    @property
    def is_bare(self) -> bool:
        """Whether nothing is claimed that could be compared."""
        return not self.content


def find_claims(text: str) -> list[Claim]:
    """Find the claims about the past in a text, in order. Takes any string."""
    found: list[Claim] = []
    for sentence in sentences(text):
        if sentence.end - sentence.start <= _LONGEST_SENTENCE:
            found.extend(islice(_in_sentence(text, sentence), _MOST_IN_SENTENCE))
    return found


@dataclass(frozen=True, slots=True)
class _Cue:
    by: Author
    content: _CONTENT
    deed: bool
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wording:
    """How one language makes claims; see claims.toml."""

    language: str
    near: re.Pattern[str]
    not_after: re.Pattern[str]
    not_in_clause: re.Pattern[str]
    not_before: re.Pattern[str]
    opener: re.Pattern[str]
    ends: re.Pattern[str]
    no_content: re.Pattern[str]
    cues: tuple[_Cue, ...]


@cache
def _wordings() -> tuple[_Wording, ...]:
    data = tomllib.loads(Path(__file__).with_name("claims.toml").read_text("utf-8"))
    return tuple(_wording(language, given) for language, given in data.items())


def _wording(language: str, given: Mapping[str, Any]) -> _Wording:
    words = given["words"]
    return _Wording(
        language=language,
        near=re.compile(given["near"]),
        not_after=_compile(given["not_after"], words),
        not_in_clause=_compile(given["not_in_clause"], words),
        not_before=_compile(given["not_before"], words),
        opener=_compile(given["opener"], words),
        ends=_compile(given["ends"], words),
        no_content=_compile(given["no_content"], words),
        cues=tuple(
            _Cue(Author(cue["by"]), _kind(cue["content"]), cue.get("deed", False), _compile(cue["pattern"], words))
            for cue in given["cue"]
        ),
    )


def _kind(given: str) -> _CONTENT:
    for one in get_args(_CONTENT):
        if one == given:
            return one  # type: ignore[no-any-return]  # get_args does not say what it returns
    raise ValueError(f"claims.toml has a cue whose content is {given!r}")


def _compile(pattern: str, words: Mapping[str, str]) -> re.Pattern[str]:
    for name, stands_for in words.items():
        pattern = pattern.replace(f"{{{name}}}", stands_for)
    return re.compile(pattern, re.IGNORECASE)


def _in_sentence(text: str, sentence: Sentence) -> Iterator[Claim]:
    taken: list[tuple[int, int]] = []
    lower = sentence.own.lower()  # ten times as fast as a pattern that ignores case
    for wording in _wordings():
        if wording.near.search(lower) is None:
            continue
        for cue in wording.cues:
            for match in cue.pattern.finditer(sentence.own):
                if any(start < match.end() and match.start() < end for start, end in taken):
                    continue
                if _is_claim(sentence, wording, cue, match):
                    taken.append(match.span())
                    yield _claim(text, sentence, wording, cue, match)


def _is_claim(sentence: Sentence, wording: _Wording, cue: _Cue, match: re.Match[str]) -> bool:
    before, after = sentence.own[max(0, match.start() - _LOOKED_BACK) : match.start()], sentence.own[match.end() :]
    if sentence.is_question and cue.content in ("clause", "inside") and ";" not in after:
        return False
    if wording.not_after.search(before) or wording.not_in_clause.search(before) or wording.not_before.match(after):
        return False
    return cue.content != "clause" or wording.opener.search(before) is not None


def _claim(text: str, sentence: Sentence, wording: _Wording, cue: _Cue, match: re.Match[str]) -> Claim:
    start, end = _content(sentence, wording, cue, match)
    own = sentence.own
    if start < match.start() and match.end() < end:
        said = f"{_slice(text, sentence, start, match.start())} {_slice(text, sentence, match.end(), end)}"
    else:
        said = _slice(text, sentence, start, end)
    content = plain(said).strip(_EDGES)
    if not _says_something(content) or wording.no_content.match(content):
        content, start, end = "", match.end(), match.end()
    return Claim(
        start=sentence.start,
        end=sentence.end,
        by=cue.by,
        cue=plain(own[match.start() : match.end()]).strip(_EDGES),
        content=content,
        content_start=sentence.start + start,
        content_end=sentence.start + end,
        language=wording.language,
        deed=cue.deed,
    )


def _slice(text: str, sentence: Sentence, start: int, end: int) -> str:
    return text[sentence.start + start : sentence.start + end]


def _content(sentence: Sentence, wording: _Wording, cue: _Cue, match: re.Match[str]) -> tuple[int, int]:
    """Return where in the sentence what is claimed stands."""
    own = sentence.own
    match cue.content:
        case "inside":
            return match.span("content")
        case "aside":
            return _beside(own, wording, match)
        case "reason":
            return _trimmed(own, match.end(), _first(_COMMA, own, match.end()))
        case "clause":
            return _trimmed(own, match.end(), _first(wording.ends, own, match.end()))


def _beside(own: str, wording: _Wording, match: re.Match[str]) -> tuple[int, int]:
    """Return what follows an aside; what it follows where that is too little or no comma parts them, or both."""
    after = _trimmed(own, match.end(), _first(wording.ends, own, match.end()))
    begin = max((found.end() for found in wording.ends.finditer(own, 0, match.start())), default=0)
    before = _trimmed(own, begin, match.start())
    before_says, after_says = _terms(own[slice(*before)]), _terms(own[slice(*after)])
    is_parted = own[match.end() : match.end() + 1] in (",", ":")
    if after_says >= _ENOUGH_TERMS and (is_parted or not before_says):
        return after
    if not before_says:
        return after
    return (before[0], after[1]) if after_says and before_says < _ENOUGH_TERMS else before


def _first(pattern: re.Pattern[str], own: str, start: int) -> int:
    """Return where a stretch that begins at `start` ends, a comma or colon right at its beginning not counted."""
    lead = _LEAD.match(own, start)
    found = pattern.search(own, lead.end() if lead else start)
    return found.start() if found else len(own)


def _trimmed(own: str, start: int, end: int) -> tuple[int, int]:
    if lead := _LEADS_ON.match(own[start:end]):
        start += lead.end()
    stretch = own[start:end]
    first = start + len(stretch) - len(stretch.lstrip(_EDGES))
    return first, max(first, start + len(stretch.rstrip(_EDGES)))


def _terms(stretch: str) -> int:
    return len(analyse_query(stretch).stems)


def _says_something(stretch: str) -> bool:
    return _terms(stretch) > 0
