"""Dialogue: what the messages around a sentence make of it: an answer to a choice, a proposal that was taken.

The nearest message of the other side before and after counts, as far as two messages away.
"""

import re
from collections.abc import Sequence
from functools import cache

from retentia.languages import load_languages
from retentia.languages.cues import Cue, cue_form, load_cues
from retentia.working.sentence import Sentence

_WORD = re.compile(r"[^\W_]+")
# Who opens with a subject tells something and who opens so asks for something; an answer opens with what was chosen.
_TELLS = re.compile(
    r"(?:i|we|you|he|she|it|let|this|these|that|those|there|thanks?|here|ich|wir|es|er|sie|das|dies|danke|hier"
    r"|я|ми|він|вона|це|дякую|ось"
    r"|tell|provide|explain|give|show|identify|write|list|describe|summari[sz]e|create|what|how|why|who|does|do|can|could"
    r"|nenne?|erkläre?|zeige?|schreibe?|gib|beschreibe?|was|wie|warum|wer|розкажи|поясни|напиши|покажи|дай|що|як|чому)\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[,.;:!…]|\s(?:because|since|weil|denn|бо|тому що)\s", re.IGNORECASE)
# Verbs that tell what is the case: an answer that only names what was chosen has none.
_VERB = re.compile(
    r"\b(?:is|are|was|were|seems?|has|have|had|does|did|helps?|helped|makes?|made|looks?|feels?|would|can|could|clarify"
    r"|ist|sind|war|waren|hat|haben|hatte|macht|kann|wird|scheint|є|був|була|було|були|може|стало)\b",
    re.IGNORECASE,
)
_AGREEMENT = re.compile(r"^\w+(?: \w+)?[,.!:] ")
# No stop words of the search ("die" may be the English verb), yet no things that two sentences have in common.
_LINKING = frozenset(("die", "because", "since", "weil", "denn", "тому", "оскільки"))
_REACH = 2
_OPENING_WORDS = 6
_BEFORE = 5
_FEWEST_WORDS = 3
_SETTLING = (Cue.PLAN, Cue.FRAME, Cue.FRAGMENT, Cue.ACCEPT)
_LAST_SENTENCES = 4
_LONGEST_CHOICE = 8


class Dialogue:
    """The sentences of a stretch, small talk and all, by message; asked about one of them at a time."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        self._said: dict[int, list[Sentence]] = {}
        for sentence in sentences:
            self._said.setdefault(sentence.place, []).append(sentence)

    def answers_choice(self, sentence: Sentence) -> bool:
        """Tell whether a reply opens with one of the things between which the other side let choose."""
        if not self._is_choice(self._before(sentence)) or not self._opens_reply(sentence):
            return False
        opening = _CLAUSE_END.split(sentence.quote, maxsplit=1)[0]
        if len(opening.split()) > _OPENING_WORDS or _TELLS.match(opening) or _VERB.search(opening):
            return False
        if load_cues().said(Cue.HYPOTHETICAL, cue_form(opening)):
            return False
        earlier = self._earlier(sentence, 3)
        options = (one for one in earlier if one.says(Cue.CHOICE) and not one.says(Cue.FACT, Cue.HYPOTHETICAL))
        return any(_shared(_words(opening), _words(option.quote)) for option in options)

    def answers_question(self, sentence: Sentence) -> bool:
        """Tell whether a sentence opens the reply to a question."""
        before = self._before(sentence)
        return bool(before) and before[-1].is_question and self._opens_reply(sentence)

    def takes_proposal(self, sentence: Sentence) -> bool:
        """Tell whether a sentence accepts what the other side proposed, and says in its own words what."""
        is_plan, agrees = sentence.says(Cue.PLAN), sentence.says(Cue.ACCEPT)
        if not self._opens_reply(sentence) or not (agrees or (is_plan and self._follows_acceptance(sentence))):
            return False
        rest = _AGREEMENT.sub("", cue_form(sentence.quote)) if agrees else sentence.quote
        if not is_plan and (_TELLS.match(rest) or _VERB.search(_CLAUSE_END.split(rest, maxsplit=1)[0])):
            return False
        offered = [one for one in self._before(sentence) if one.says(Cue.PROPOSAL, Cue.CHOICE)]
        said = _words(rest)
        return len(said) > 1 and any(_shared(said, _words(one.quote)) for one in offered)

    def is_taken(self, sentence: Sentence) -> bool:
        """Tell whether a definite proposal is all that the other side's next message agrees to."""
        if sentence.is_question or sentence.says(Cue.CHOICE) or not sentence.says(Cue.PROPOSAL):
            return False
        following = self._after(sentence)
        return bool(following) and following[0].says(Cue.BARE_ACCEPT)

    def is_restated(self, sentence: Sentence) -> bool:
        """Tell whether the other side's next message repeats what a sentence settles; the closest sentence counts."""
        after = self._after(sentence)
        if not after or after[0].is_question:
            return False
        if not after[0].says(Cue.RESTATED) or not (after[0].says(Cue.FIRM) or sentence.says(*_SETTLING)):
            return False
        said, repeated = _words(sentence.quote), _words(after[0].quote)
        if len(after[0].quote.split()) < _FEWEST_WORDS:
            return sentence.says(Cue.ACCEPT, Cue.FRAGMENT)
        own = self._said[sentence.place]
        if any(one.says(Cue.DECISION) for one in own):
            return False
        closest = max(own, key=lambda one: (len(_shared(_words(one.quote), repeated)), one.start))
        return closest is sentence and len(_shared(said, repeated)) > 0

    def names_what_was_said(self, sentence: Sentence) -> bool:
        """Tell whether a sentence has a word of the messages shortly before it, or of its own message before it."""
        said = _words(sentence.quote)
        earlier = self._earlier(sentence, _BEFORE)
        earlier += [one for one in self._said[sentence.place] if one.start < sentence.start]
        return any(_shared(said, _words(one.quote)) for one in earlier)

    def names_what_was_offered(self, sentence: Sentence) -> bool:
        """Tell whether a sentence has a word of what the other side said last."""
        said = _words(sentence.quote)
        return any(_shared(said, _words(one.quote)) for one in self._before(sentence))

    def repeats(self, sentence: Sentence) -> bool:
        """Tell whether a sentence says again what the other side said last: two words or more of it."""
        said = _words(sentence.quote)
        return any(len(_shared(said, _words(one.quote))) > 1 for one in self._before(sentence))

    def replied_to(self, sentence: Sentence) -> Sequence[Sentence]:
        """Return the other side's last message before a sentence; empty without one."""
        return self._before(sentence)

    def _is_choice(self, said: Sequence[Sentence]) -> bool:
        """Tell whether what the other side said last lets choose; among many sentences an "or" seldom does."""
        if not said or len(self._said[said[0].place]) > _LONGEST_CHOICE:
            return False
        is_asked = any(one.is_question or one.says(Cue.PROPOSAL) for one in said)
        return is_asked and any(one.says(Cue.CHOICE) for one in said)

    def _opens_reply(self, sentence: Sentence) -> bool:
        """Tell whether nothing but small talk or acceptance stands before a sentence in its message."""
        earlier = [one for one in self._said[sentence.place] if one.start < sentence.start]
        return all(
            one.is_aside or one.says(Cue.ACCEPT) or one.is_question or len(one.quote.split()) < _FEWEST_WORDS
            for one in earlier
        )

    def _follows_acceptance(self, sentence: Sentence) -> bool:
        earlier = [one for one in self._said[sentence.place] if one.start < sentence.start]
        return bool(earlier) and earlier[-1].says(Cue.ACCEPT)

    def _earlier(self, sentence: Sentence, messages: int) -> list[Sentence]:
        """Return the last sentences of each of so many messages before a sentence's own."""
        places = range(sentence.place - messages, sentence.place)
        return [one for place in places for one in self._said.get(place, [])[-_LAST_SENTENCES:]]

    def _before(self, sentence: Sentence) -> Sequence[Sentence]:
        said = self._other_side(sentence, range(sentence.place - 1, sentence.place - 1 - _REACH, -1))
        return said[-_LAST_SENTENCES:]

    def _after(self, sentence: Sentence) -> Sequence[Sentence]:
        return self._other_side(sentence, range(sentence.place + 1, sentence.place + 1 + _REACH))

    def _other_side(self, sentence: Sentence, places: range) -> Sequence[Sentence]:
        for place in places:
            said = self._said.get(place, ())
            if said and said[0].message.role != sentence.message.role:
                return said
        return ()


def _words(text: str) -> frozenset[str]:
    words = (word for word in _WORD.findall(cue_form(text)) if len(word) > 2 or word.isdecimal())
    return frozenset(words) - _stop_words()


def _shared(words: frozenset[str], others: frozenset[str]) -> frozenset[str]:
    """Return the words that others share, as far as endings allow: Plitka, Plitkoju."""
    return frozenset(word for word in words if word in others or any(_alike(word, other) for other in others))


def _alike(word: str, other: str) -> bool:
    shorter = min(len(word), len(other))
    if shorter < 4 or abs(len(word) - len(other)) > 3 or word.isdecimal():
        return False
    stem = shorter - (1 if shorter < 6 else 2)
    return word[:stem] == other[:stem]


@cache
def _stop_words() -> frozenset[str]:
    return _LINKING.union(*(language.stop_words for language in load_languages()))
