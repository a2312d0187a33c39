"""Statements about the world: "Anna works for Acme" is (Anna, employer, Acme), in English, German and Ukrainian.

A sentence is read by the templates of `relations.toml`, and where none names its relation, by its plain form: "The
mascot of X is Y". Of several readings the one holds that leaves the least to the two names. Questions, conditions,
negations and guesses are not read, nor what is about the speaker or points to an earlier sentence: better to miss than
to invent.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

from retentia.learn.relations import Relations, shipped_relations
from retentia.learn.templates import Template, Templates, read_template
from retentia.learn.words import Word, fits, read_phrase, read_words, words_of
from retentia.model.candidate import Candidate
from retentia.model.ids import RecordId
from retentia.model.record import Kind
from retentia.working.original import sentences_of

_EDGES = " \t\n\r\"'“”„«»‘’`*"
_CODE = "`"
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»")
_ABBREVIATION = re.compile(r"(?:\.\w{1,2}|\b(?:Inc|Ltd|Corp|Co|Jr|Sr))\.$")
_INITIAL = re.compile(r"(?:^|\b[A-ZА-ЯІЇЄҐ][\w'’-]*\.?\s|\b(?:by|of|to|von|is|ist)\s|\.)[A-ZА-ЯІЇЄҐ]\.$")
_CAPITAL, _SMALL = "[A-ZÄÖÜА-ЯІЇЄҐ]", "[a-zäöüßа-яіїєґ]"
_SPEAKER = re.compile(r"(?:^|[,;–-]\s*)I\b(?!\s+[A-Z])")
_MAX_NAME_WORDS = 14
_MAX_KIND_WORDS = 2
_MAX_RELATION_WORDS = 3
_SMALL_WORD = 3
_MAX_CHARACTERS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a sentence says: `subject` has `relation` to `object`, both as said.

    The sentence is at [start, end) of the text given, its subject and its object within.
    """

    subject: str
    relation: str
    object: str
    start: int
    end: int
    subject_start: int
    subject_end: int
    object_start: int
    object_end: int

    def candidate(self, message_id: RecordId) -> Candidate:
        """Return it as a candidate that quotes the message it was read in."""
        return Candidate(
            kind=Kind.FACT,
            subject=self.subject,
            attribute=self.relation,
            value=self.object,
            message_id=message_id,
            start=self.start,
            end=self.end,
        )


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int


def read_statement(text: str, relations: Relations | None = None) -> Statement | None:
    """Read one sentence; None where it states no relation plainly. `relations` are those shipped unless given."""
    return _reader(relations or shipped_relations()).read(text)


def read_statements(text: str, relations: Relations | None = None) -> Iterator[Statement]:
    """Yield the statements of a text, sentence by sentence, with places in the whole text; code is left out."""
    for start, end in _sentences(text):
        if found := read_statement(text[start:end], relations):
            yield _moved(found, start)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a text; the dot of an initial ("T. S. Eliot", "John E. Sununu") ends none."""
    begun: int | None = None
    for start, end in sentences_of(text):
        start = start if begun is None else begun
        begun = start if _INITIAL.search(text[start:end]) else None
        if begun is None:
            yield start, end
    if begun is not None:
        yield begun, end


class _Reader:
    """The templates of some relations, ready to read with."""

    def __init__(self, relations: Relations) -> None:
        self._relations = relations
        self._templates = Templates(
            [read_template(says, relation.name) for relation in relations.by_name.values() for says in relation.says]
        )

    def read(self, text: str) -> Statement | None:
        sentence = _trimmed(text, 0, len(text))
        if not 0 < sentence.end - sentence.start <= _MAX_CHARACTERS or not self._is_plain(text, sentence):
            return None
        words = words_of(text)
        for some in ((self._templates, self._named), (self._unknown,)):
            fitting = [template for templates in some for template in templates.fitting(words)]
            readings = [reading for template in fitting if (reading := self._as(text, sentence, template))]
            if readings:
                return min(readings, key=_left_to_names)
        return None

    def _as(self, text: str, sentence: _Span, template: Template) -> Statement | None:
        match = template.pattern.fullmatch(text, sentence.start, sentence.end)
        if match is None:
            return None
        subject, object_ = self._name(text, *match.span("s")), self._name(text, *match.span("o"))
        if subject is None or object_ is None:
            return None
        relation, is_turned = template.relation, False
        if not relation:
            relation, is_turned = self._relation_named(match["r"])
        if not relation or not self._fits(text, match, relation, subject, object_):
            return None
        if is_turned:
            subject, object_ = object_, subject
        return Statement(
            subject=text[subject.start : subject.end],
            relation=relation,
            object=text[object_.start : object_.end],
            start=sentence.start,
            end=sentence.end,
            subject_start=subject.start,
            subject_end=subject.end,
            object_start=object_.start,
            object_end=object_.end,
        )

    def _fits(self, text: str, match: re.Match[str], relation: str, subject: _Span, object_: _Span) -> bool:
        """Tell whether the two can stand in a relation: only names have some that nobody registered."""
        if self._relations.of(relation).object == "kind":
            return len(read_words(text[object_.start : object_.end])) <= _MAX_KIND_WORDS
        if relation in self._relations.by_name:
            return True
        if not all(word[0].isupper() for word in text[subject.start : subject.end].split() if len(word) > _SMALL_WORD):
            return False
        return not (match["r"][0].isupper() and text[object_.start].islower())

    def _is_plain(self, text: str, sentence: _Span) -> bool:
        if text.rstrip().endswith("?"):
            return False
        spoken = read_words(_QUOTED.sub(lambda match: " " * len(match.group()), text))
        if spoken and spoken[0].text in self._relations.words("openers"):
            return False
        # Not folded: "würde" is a hedge and "wurde" is none.
        return not any(text[word.start : word.end] in self._hedges for word in spoken)

    def _name(self, text: str, start: int, end: int) -> _Span | None:
        """Return the stretch that is a name, or None where it is none."""
        if tail := self._tail.search(text, start, end):
            end = tail.start()
        span = _trimmed(text, start, end)
        words = read_words(text[span.start : span.end])
        if words and len(words) > 1 and words[0].text in self._relations.words("articles"):
            following = text[span.start + words[1].start]
            if text[span.start].islower() or not following.isupper():
                span = _Span(span.start + words[1].start, span.end)
                words = read_words(text[span.start : span.end])
        is_long = len(words) > _MAX_NAME_WORDS or _CODE in text[span.start : span.end]
        if not words or is_long or self._points(text, span, words):
            return None
        return span

    def _points(self, text: str, span: _Span, words: list[Word]) -> bool:
        """Tell whether a stretch is about the speaker, about something said before, or more than a name."""
        said = [text[span.start + word.start : span.start + word.end] for word in words]
        if _SPEAKER.search(text[span.start : span.end]) or not self._not_in_names.isdisjoint(said):
            return True
        if words[0].text in self._relations.words("pronouns"):
            return True
        if words[0].text not in self._relations.words("pronouns_before_small"):
            return False
        return len(words) == 1 or text[span.start + words[1].start].islower()

    def _relation_named(self, name: str) -> tuple[str, bool]:
        """Return the relation that a noun names, and whether it names the subject; "" where it names none."""
        words = words_of(name)
        for noun, relation, is_turned in self._nouns:
            if len(noun) == len(words) and all(map(fits, noun, words)):
                return relation, is_turned
        if len(words) > _MAX_RELATION_WORDS or words[0] in self._no_relations:
            return "", False
        return "_".join(words), False

    @cached_property
    def _not_in_names(self) -> frozenset[str]:
        return frozenset(self._relations.lists.get("not_in_names", ()))

    @cached_property
    def _hedges(self) -> frozenset[str]:
        return frozenset(self._relations.lists.get("hedges", ()))

    @cached_property
    def _no_relations(self) -> frozenset[str]:
        return frozenset(self._relations.generic.get("not_a_relation", ()))

    @cached_property
    def _nouns(self) -> list[tuple[tuple[str, ...], str, bool]]:
        """Nouns of objects first, those of subjects then; a relation's own name outranks the noun of another."""
        known = self._relations.by_name.values()
        names = [(relation.name.replace("_", " "), relation.name, False) for relation in known]
        nouns = [(noun, relation.name, False) for relation in known for noun in relation.nouns]
        back = [(noun, relation.name, True) for relation in known for noun in relation.back]
        return [(read_phrase(noun, ()).words, name, is_turned) for noun, name, is_turned in (*names, *nouns, *back)]

    @cached_property
    def _named(self) -> Templates:
        nouns = {noun for relation in self._relations.by_name.values() for noun in (*relation.nouns, *relation.back)}
        names = "|".join(_noun_pattern(noun) for noun in sorted(nouns, key=len, reverse=True))
        return Templates([read_template(says, names=names) for says in self._relations.generic.get("known", ())])

    @cached_property
    def _unknown(self) -> Templates:
        return Templates([read_template(says) for says in self._relations.generic.get("unknown", ())])

    @cached_property
    def _tail(self) -> re.Pattern[str]:
        """Find where a name ends though the sentence goes on; "and" ends it before a small letter only."""
        tails = _any_of(self._relations.lists.get("tails", ()))
        joining, articles = (_any_of(self._relations.lists.get(name, ())) for name in ("joining", "articles"))
        goes_on = rf"\s+(?:{joining})\s+(?!(?:{articles})\s+{_CAPITAL})(?={_SMALL})"
        return re.compile(rf"(?:,\s*|\s+)(?:{tails})(?=\W|$)|,?{goes_on}")


@cache
def _reader(relations: Relations) -> _Reader:
    return _Reader(relations)


def _any_of(words: Sequence[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)) or "(?!)"


def _noun_pattern(noun: str) -> str:
    return re.escape(noun).replace(r"\*", r"\w*").replace(r"\ ", r"\s+")


def _moved(statement: Statement, by: int) -> Statement:
    places = ("start", "end", "subject_start", "subject_end", "object_start", "object_end")
    return replace(statement, **{place: getattr(statement, place) + by for place in places})


def _left_to_names(statement: Statement) -> int:
    return statement.subject_end - statement.subject_start + statement.object_end - statement.object_start


def _trimmed(text: str, start: int, end: int) -> _Span:
    """Leave out white space, quotes and what ends a sentence; the dot of "D.C." is the name's."""
    while end > start and text[end - 1] in _EDGES + "!;,:—–":
        end -= 1
    if text[:end].endswith(".") and (text[:end].endswith("..") or not _ABBREVIATION.search(text, start, end)):
        end -= 1
    while end > start and text[end - 1] in _EDGES:
        end -= 1
    while start < end and text[start] in _EDGES + ",:;—–-":
        start += 1
    return _Span(start, end)
