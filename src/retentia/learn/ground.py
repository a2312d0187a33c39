"""Grounding: whether a candidate is what its message says, whoever made it; a model is held to the same words as rules.

The quote has to stand in the message, the value in the quote, and what the sentence around it says of who, whether, and
how has to fit. What is denied, asked, supposed, reported or about somebody else is rejected; what is merely said in
another manner than claimed, follows without being said, or has a time that nobody named is flagged, and carries the
manner that was found.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from retentia.languages.facts import FactWords, fact_form, load_facts
from retentia.languages.guess import language_of, script_of
from retentia.learn.extract import extract
from retentia.learn.manner import is_question, unbelievable
from retentia.learn.quotes import misquoted, places_of, words_in
from retentia.model.attributes import Attributes, shipped_attributes
from retentia.model.candidate import PERSON, Candidate, Manner
from retentia.model.record import PROFILE_KINDS, Kind
from retentia.model.time import Moment
from retentia.working.literal_quotes import quotations
from retentia.working.original import Original, sentences_of

_HAPPENED = (Kind.EVENT, Kind.DECISION)
_TASTES = ("likes", "favourite", "style", "hobby")
_SAYS_NO = ("dislikes", "diet", "allergy", "style")
_TITLE = 12
_DENIED, _NOT_DENIED = "the sentence denies it", "nothing in the sentence denies it"
_BY_CUE = (
    ("forcing", Manner.FORCED),
    ("supposing", Manner.POSSIBLE),
    ("ending", Manner.FORMER),
    ("planning", Manner.INTENDED),
)
_WHY = {
    Manner.REPORTED: "it is what others say",
    Manner.ASSUMED: "it is only supposed",
    Manner.JOKING: "it is not meant",
    Manner.FORCED: "it is so against the speaker's will",
    Manner.POSSIBLE: "it is only possible",
    Manner.FORMER: "it is over",
    Manner.INTENDED: "it is yet to be",
}


class Grounding(StrEnum):
    """What became of a candidate."""

    OK = "ok"
    FLAGGED = "flagged"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a message makes of a candidate: as it may be kept, with the right place of its quote, and why, in words."""

    grounding: Grounding
    candidate: Candidate
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Around:
    """The sentence around a quote, its clause with the value, and the words of its language."""

    sentence: str
    before: str
    clause: str
    languages: tuple[FactWords, ...]

    def says(self, cue: str) -> bool:
        return any(words.says(cue, self.clause) for words in self.languages)

    def names_somebody(self) -> bool:
        """Tell whether the value follows upon a relative or a friend: "I have a brother in Madrid"."""
        return any(words.says("own_people", self.before) for words in self.languages)


def ground(
    candidate: Candidate,
    message: Original,
    *,
    quote: str = "",
    asked: Original | None = None,
    attributes: Attributes | None = None,
) -> Verdict:
    """Return whether a candidate is what a message says.

    `quote` is the quoted text where a model gave it: it counts more than the offsets, which models get wrong. Where
    the speaker has a name, that is who PERSON is. `asked` is the message right before, whose question a short reply
    answers.
    """
    if message.role != "user" or message.tool:
        return _rejected(candidate, f"the message is not the user's but of the role {message.role!r}")
    if candidate.message_id != message.id:
        return _rejected(candidate, f"it names message {candidate.message_id!r}, not {message.id!r}")
    places = list(places_of(message.text, candidate, quote))
    if not places:
        return _rejected(candidate, "the quote does not stand in the message")
    subject = message.speaker if message.speaker and candidate.subject == PERSON else candidate.subject
    candidate = replace(candidate, start=places[0][0], end=places[0][1], subject=subject)
    reason = misquoted(candidate, message)
    if reason:
        return _rejected(candidate, reason)
    known = attributes or shipped_attributes()
    said = [asked, message] if asked is not None else [message]
    verdict = _as_read(candidate, extract(said, attributes=known), known) or _judged(candidate, message, known)
    if verdict.grounding is not Grounding.OK:
        return verdict
    if len(places) > 1:
        return _flagged(candidate, "the quote stands in several places")
    unsaid = _unsaid_time(candidate, message.text)
    return _flagged(candidate, unsaid) if unsaid else verdict


def _rejected(candidate: Candidate, reason: str) -> Verdict:
    return Verdict(grounding=Grounding.REJECTED, candidate=candidate, reason=reason)


def _flagged(candidate: Candidate, reason: str) -> Verdict:
    return Verdict(grounding=Grounding.FLAGGED, candidate=candidate, reason=reason)


def _around(candidate: Candidate, text: str) -> _Around:
    spans = [span for span in sentences_of(text) if span[0] < candidate.end and candidate.start < span[1]]
    spans = [span for span in spans if candidate.value.casefold() in text[slice(*span)].casefold()][:1] or spans
    start, end = min(span[0] for span in spans), max(span[1] for span in spans)
    sentence = fact_form(text[start:end])
    at = sentence.casefold().find(fact_form(candidate.value).casefold(), max(0, candidate.start - start))
    at = at if at >= 0 else min(len(sentence), max(0, candidate.end - start))
    languages = _languages(sentence)
    first, last = 0, len(sentence)
    for words in languages:
        for bound in words.finds("bounds", sentence):
            if bound.end() <= at:
                first = max(first, bound.end())
            elif bound.start() >= at:
                last = min(last, bound.start())
    return _Around(sentence, sentence[:at], sentence[first:last], languages)


def _languages(sentence: str) -> tuple[FactWords, ...]:
    known = load_facts().words
    code = language_of(sentence)
    if code:
        return (known[code],)
    codes = ("uk",) if script_of(sentence) == "Cyrillic" else ("en", "de")
    return tuple(known[code] for code in codes)


def _as_read(candidate: Candidate, read: list[Candidate], attributes: Attributes) -> Verdict | None:
    """Judge a candidate by what the rules read of the same value; None where they read nothing of it."""
    attribute, value = attributes.of(candidate.attribute), words_in(candidate.value)
    about = [
        one for one in read if one.start < candidate.end and candidate.start < one.end and words_in(one.value) & value
    ]
    if any(one.attribute == attribute.opposite for one in about if not one.is_not):
        return _rejected(candidate, f"the sentence says {attribute.opposite!r}")
    same = [one for one in about if (one.attribute, one.subject) == (attribute.name, candidate.subject)]
    if not same:
        return None
    if all(one.is_not != candidate.is_not for one in same):
        return _rejected(candidate, _DENIED if same[0].is_not else _NOT_DENIED)
    if all(one.manner is not candidate.manner for one in same):
        return _flagged(replace(candidate, manner=same[0].manner), _WHY.get(same[0].manner, "it is asserted"))
    return Verdict(grounding=Grounding.OK, candidate=candidate)


def _is_of_another(candidate: Candidate, message: Original, around: _Around, attributes: Attributes) -> str:
    if candidate.subject != (message.speaker or PERSON):
        named = words_in(candidate.subject) <= words_in(message.text)
        return "" if named else f"nobody called {candidate.subject!r} is named"
    if candidate.kind not in PROFILE_KINDS:
        return ""
    is_person = attributes.of(candidate.attribute).type == "person"
    for words in around.languages:
        others = [
            found.end()
            for found in words.finds("of_others", around.before)
            if not (is_person and words.find("own_people", found[0]))
        ]
        own = [found.end() for found in words.finds("subject", around.before)]
        if others and (not own or own[-1] < others[-1]):
            return "it is about somebody else"
    return ""


def _judged(candidate: Candidate, message: Original, attributes: Attributes) -> Verdict:
    """Judge a candidate that the rules do not read, by the cues around it."""
    around = _around(candidate, message.text)
    reason = _is_of_another(candidate, message, around, attributes)
    if reason:
        return _rejected(candidate, reason)
    if candidate.kind not in (*PROFILE_KINDS, *_HAPPENED):
        return Verdict(grounding=Grounding.OK, candidate=candidate)
    reason = _unsaid(candidate, around)
    if reason:
        return _rejected(candidate, reason)
    return _judged_manner(candidate, around, attributes)


def _unsaid(candidate: Candidate, around: _Around) -> str:
    """Return in words why the sentence of a value does not say it; "" where it does."""
    if is_question(around.sentence) and not any(mark in around.sentence for mark in ",;"):
        return "it is asked, not said"
    if _is_in_quotes(candidate, around):
        return "it stands in quotation marks"
    for words in around.languages:
        own = [found.start() for found in words.finds("subject", around.before)]
        before = around.before[: own[-1]] if own else around.before
        why = unbelievable(before, before, around.sentence, words)
        if why is not None and candidate.manner is not why:
            return _WHY[why]
    return _contradicted(candidate, around)


def _judged_manner(candidate: Candidate, around: _Around, attributes: Attributes) -> Verdict:
    if candidate.kind not in PROFILE_KINDS:
        return Verdict(grounding=Grounding.OK, candidate=candidate)
    if candidate.manner is Manner.ASSERTED and not candidate.is_not:
        manner = next((manner for cue, manner in _BY_CUE if around.says(cue)), None)
        if manner is Manner.FORCED and candidate.attribute in _TASTES:
            return _rejected(candidate, _WHY[manner])
        if manner is not None:
            return _flagged(replace(candidate, manner=manner), _WHY[manner])
    return _inferred(candidate, around, attributes)


def _contradicted(candidate: Candidate, around: _Around) -> str:
    is_denied = around.says("negating")
    if candidate.is_not:
        return "" if is_denied or around.says("ending") else _NOT_DENIED
    is_allowed = candidate.attribute in _SAYS_NO or bool(candidate.corrects)
    return _DENIED if is_denied and not is_allowed else ""


def _inferred(candidate: Candidate, around: _Around, attributes: Attributes) -> Verdict:
    """Flag what may follow from a sentence that does not say it."""
    attribute = attributes.of(candidate.attribute)
    reason = ""
    if attribute.type != "person" and around.names_somebody():
        reason = "somebody else is named beside it"
    elif not any(words.says("first_person", around.sentence) for words in around.languages):
        reason = "the speaker does not speak of themselves"
    elif not load_facts().tells(attribute.name, around.sentence):
        reason = f"no word in it speaks of {attribute.name!r}"
    if not reason:
        return Verdict(grounding=Grounding.OK, candidate=candidate)
    manner = Manner.INFERRED if candidate.manner is Manner.ASSERTED else candidate.manner
    return _flagged(replace(candidate, manner=manner), reason)


def _is_in_quotes(candidate: Candidate, around: _Around) -> bool:
    place = len(around.before)
    return any(
        start <= place < end and end - start > len(candidate.value) + _TITLE
        for _, start, end in quotations(around.sentence)
    )


def _unsaid_time(candidate: Candidate, text: str) -> str:
    """Return which time of a candidate nobody named."""
    for moment in (candidate.since, candidate.until):
        if moment is not None and not _names(text, moment):
            return f"the time {moment.iso()} does not stand in the message"
    due = candidate.body.get("due")
    if isinstance(due, str) and due and not words_in(due) <= words_in(text):
        return f"the due date {due!r} does not stand in the message"
    return ""


def _names(text: str, moment: Moment) -> bool:
    return moment.iso()[:4] in text
