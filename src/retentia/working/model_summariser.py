"""Summaries by a chat model, held to what was said: in its language, of bounded length, with every literal."""

import re
from collections.abc import Iterable, Sequence

from retentia.errors import ModelReplyInvalid, SummaryFailed
from retentia.languages.guess import is_other_language
from retentia.model.record import MessageRecord
from retentia.model.summary import Summary
from retentia.prompts.prompt import load
from retentia.providers.chat.base import ChatMessage, ChatModel
from retentia.working.extractive import Extractive, literals_of
from retentia.working.importance import by_importance
from retentia.working.literal import Literal
from retentia.working.quote import block, label, nonce_for, quoted
from retentia.working.said import originals_of
from retentia.working.shorten import cut
from retentia.working.summariser import Draft
from retentia.working.tokens import TokenCounter

_TOKENS_A_WORD = 4
"""What a word takes at most on average, in the languages that cost most."""
_FENCE = re.compile(r"```\w*\n(?P<inside>.*?)\n?```", re.DOTALL)
_CITED = re.compile(r"[ \t]?[\[(](?P<id>[0-9a-f]{8}(?:-?[0-9a-f]{4}){0,6})[\])]")
_HEADING = re.compile(
    r"\A(?:#+[^\n]*\n|\*\*[^\n*]{1,60}\*\*:?\s*\n|(?:summary|notes?|zusammenfassung|notizen|підсумок|нотатки):)\s*",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\A(?:i['’]?m sorry|i am sorry|i can(?:no|['’])t|as an ai|es tut mir leid|ich kann (?:das |dies )?nicht|"
    r"вибачте|перепрошую|я не можу)",
    re.IGNORECASE,
)


class ModelSummariser:
    """Asks a chat model, and makes sure that nothing is lost by it.

    What the model leaves out of literals is appended, decisions and open items come from the messages by rule. Raises
    SummaryFailed for an answer that is no summary (empty, a refusal, in another language), and ModelError.
    """

    def __init__(self, model: ChatModel, counter: TokenCounter) -> None:
        """Ask `model`, count with `counter`."""
        self._model = model
        self._counter = counter
        self._rules = Extractive(counter)

    def segment(self, messages: Sequence[MessageRecord], *, words: int) -> Draft:
        """Say what the messages say, from them alone."""
        said = originals_of(messages)
        told = [f"{label(one.tool or one.speaker or one.role)}:\n{quoted(one.text)}" for one in said]
        by_rule = self._rules.segment(messages, words=words)
        text = self._answer("summarise_segment", told, [one.text for one in said], words)
        return self._kept(text, by_rule, by_importance(said), words)

    def merge(self, below: Sequence[Summary], *, words: int) -> Draft:
        """Make one summary of several."""
        notes = [quoted(one.text) for one in below if one.text]
        by_rule = self._rules.merge(below, words=words)
        text = self._answer("summarise_notes", notes, [one.text for one in below], words)
        return self._kept(text, by_rule, list(literals_of(below)), words)

    def boundaries(self, messages: Sequence[MessageRecord]) -> Sequence[int]:
        """Return where a phase of the conversation ends, by rule."""
        return self._rules.boundaries(messages)

    def _kept(self, text: str, by_rule: Draft, literals: Sequence[Literal], words: int) -> Draft:
        draft = Draft(text=text, made_by=self._model.identity, body=by_rule.body)
        return self._rules.with_literals(draft, literals, words=words)

    def _answer(self, prompt: str, told: Sequence[str], texts: Sequence[str], words: int) -> str:
        body = "\n".join(told)
        asked = [
            ChatMessage("system", load(prompt).filled(words=words)),
            ChatMessage("user", block("conversation", nonce_for([body]), body)),
        ]
        try:
            answer = self._model.complete(asked, max_tokens=_TOKENS_A_WORD * words)
        except ModelReplyInvalid as error:
            raise SummaryFailed(f"{self._model.identity} gave no summary; it will be asked again") from error
        return self._checked(answer.text, texts, words)

    def _checked(self, text: str, texts: Iterable[str], words: int) -> str:
        """Return what is kept of an answer; raise SummaryFailed where it is none."""
        fenced = _FENCE.fullmatch(text.strip())
        text = _HEADING.sub("", fenced["inside"] if fenced else text.strip()).strip()
        name = self._model.identity
        if not any(character.isalnum() for character in text):
            raise SummaryFailed(f"{name} answered nothing that is a summary; it will be asked again")
        if _REFUSAL.match(text):
            raise SummaryFailed(f"{name} declined to summarise; it will be asked again")
        if is_other_language(text, than="\n".join(texts)):
            raise SummaryFailed(f"{name} answered in another language than that of the conversation; it is asked again")
        return cut(_without_invented_ids(text, texts), 2 * words, self._counter)


def _without_invented_ids(text: str, texts: Iterable[str]) -> str:
    """Leave out ids in brackets that nobody wrote: the model is told none, so they would cite what does not exist."""
    said = "\n".join(texts)
    return _CITED.sub(lambda cited: cited[0] if cited["id"] in said else "", text).strip()
