"""Which words of a message are the speaker's own: not what is pasted, quoted line by line, or said in jest."""

from collections.abc import Iterable

from retentia.languages.facts import FactWords, load_facts


def own_words_until(text: str, languages: Iterable[FactWords] | None = None) -> int:
    """Return where a message goes over to text that is not the user's own; 0 where none of it is meant.

    `text` comes from `fact_form`; without languages, the words of all of them count.
    """
    until = len(text)
    for words in languages or load_facts().words.values():
        if words.says("kidding", text):
            return 0
        if pasted := words.find("pasted", text):
            until = min(until, pasted.end())
    return until


def is_quoted_line(text: str, place: int) -> bool:
    """Tell whether the line of a place is quoted as mail and chats quote: behind > or |."""
    return text[text.rfind("\n", 0, place) + 1 : place].lstrip().startswith((">", "|"))
