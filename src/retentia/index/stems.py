"""Stems: one form for the inflected forms of a word.

The script alone decides the rule. Which language a message is in is never guessed: a question and the message that
answers it could be guessed differently, and a short question is in no language at all. Latin words pass the Snowball
English stemmer (Porter 2) and then lose German endings that English rarely has; Cyrillic words lose Ukrainian and
Russian endings. The endings were chosen by how many dictionary forms reach their lemma's stem, and how many lemmas
then share one: docs/decisions/0004-text-analysis.md.
"""

import re

from retentia.index.english import english_stem

_VOWEL = re.compile("[аеєиіїоуюяыэ]")
_REFLEXIVE = re.compile("(?<=....)(?:ся|сь)$")
# Case, person and number of nouns, adjectives and verbs, Ukrainian and Russian; the longest that fits goes.
_ENDINGS = frozenset(
    """
    тиму тимеш тиме тимемо тимете тимуть
    ами ями ові еві єві ого ому ему ими ыми ою ею єю ої ей ів їв ев ов ам ям ом ем єм им ім ым ах ях их ых
    ий ій ый ой ое ые уть ють ать їть ють ємо емо имо їмо ймо ете єте йте еш єш иш ешь ишь еть єть іть ает яет ует
    вши ючи ячи ачи а я у ю і ї и о е є ы
    """.split()  # noqa: SIM905 - a table is easier to read than 75 quoted strings
)
# What then remains of tense, aspect and derivation: читав, читала, читання.
_SUFFIXES = frozenset(
    """
    ува юва увал ювал овал ував ював уван анн ал ил ул ял ав ив ув яв ов ев єв ат ит ут ят а я у ю і и е
    """.split()  # noqa: SIM905
)
_INFINITIVE = re.compile("(?<=..[^о])ти$")  # читати, not роботи
# A vowel that comes and goes or turns into another before the last consonant: день, дня; рік, року; Київ, Києва.
_FLEETING_VOWEL = re.compile("(?<=[^аеєиіїоуюяыэ])[оеі](?=[^аеєиіїоуюяыэ]$)")
_ALTERNATIONS = {"ц": "к", "з": "г"}  # руці, рука; книзі, книга
_LABIALS = "бпвмф"  # люблю, любити

_GERMAN_ENDING = re.compile(r"(?:(?<=..[a-z])(?:ern|em|en)|(?<=...[a-z])(?:er|es|e|(?<=[bdfghklmnrt])s|(?<=[lr])n))$")
_GERMAN_DEGREE = re.compile(r"(?<=...[a-z])(?:est|en|er|(?<=[bdfghklmnt])st)$")
_GERMAN_PARTICIPLE = re.compile(
    r"(|ab|an|auf|aus|bei|ein|her|hin|mit|nach|um|vor|weg|zu|zuruck)ge([a-z]{3,}?)(?:(?<=[dt])e)?t"
)


def latin_stem(word: str) -> str:
    """Stem a folded English or German word."""
    stem = _GERMAN_DEGREE.sub("", _GERMAN_ENDING.sub("", english_stem(word)))
    if stem.endswith("inn") and len(stem) > 5:  # Freundinnen, Freundin
        stem = stem[:-1]
    participle = _GERMAN_PARTICIPLE.fullmatch(stem)
    return participle[1] + participle[2] if participle else stem


def cyrillic_stem(word: str) -> str:
    """Stem a folded Ukrainian or Russian word."""
    stem = _REFLEXIVE.sub("", word)
    stem = stem[:-2] if _INFINITIVE.search(stem) else _without(_ENDINGS, stem).rstrip("ьй")
    stem = _without(_SUFFIXES, stem)
    if len(stem) > 2 and stem[-1] == stem[-2]:
        stem = stem[:-1]
    if len(stem) > 5 and stem.endswith("іст"):  # радість, радості
        stem = stem[:-3] + "ост"
    if len(stem) > 3 and stem[-1] == "л" and stem[-2] in _LABIALS:
        stem = stem[:-1]
    if len(stem) > 2:
        stem = _FLEETING_VOWEL.sub("", stem)
    return stem[:-1] + _ALTERNATIONS.get(stem[-1], stem[-1]) if stem else word


def _without(endings: frozenset[str], word: str) -> str:
    """Cut the longest ending that fits, unless too little would be left, or no vowel for more than one letter."""
    for length in range(min(6, len(word) - 2), 0, -1):
        if word[-length:] in endings:
            rest = word[:-length]
            return rest if length == 1 or _VOWEL.search(rest) else word
    return word
