"""Literals that open with a digit: dates, times, versions, addresses, and numbers with what stands around them.

A number is found first, then looked at from both sides: a few words before and behind decide what it is. That keeps an
ordinary message cheap, and every step is anchored, so the time is linear.
"""

import re
from collections.abc import Iterator
from functools import cache

from retentia.working.literal import LiteralKind, Span
from retentia.working.literal_words import LETTER, LiteralWords, Meaning, literal_words

_START = re.compile(rf"\d(?<![{LETTER}]\d)")
_END = rf"(?![{LETTER}])"
_HOUR = r"(?:[01]?\d|2[0-4])"
_NOON = rf"(?:[AaPp](?:[Mm]|\.[ ]?[Mm]\.?){_END})"
_DAY, _MONTH = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])"
_CLOCK = rf"{_HOUR}:[0-5]\d(?::[0-5]\d(?:[.,]\d{{1,6}})?)?"
_ZONE = r"(?:Z|[ ]?[+-]\d{2}:?\d{2}(?!\d))"

_TOKEN = re.compile(
    rf"(?P<date>\d{{4}}-{_MONTH}-{_DAY}(?!\d)(?:[T ]\d{{2}}:\d{{2}}(?::\d{{2}}(?:[.,]\d{{1,9}})?)?(?!\d){_ZONE}?)?"
    rf"|\d{{4}}(?P<sep>[/.]){_MONTH}(?P=sep){_DAY}(?!\d)"
    r"|\d{4}-(?:0[1-9]|1[0-2])(?![\d-])"
    r"|\d{1,2}(?P<mark>[./-])\d{1,2}(?P=mark)(?:\d{4}|\d{2})(?!\d|[./-]\d)"
    rf"|(?:(?<=am )|(?<=[bv][io][sm] )|(?<=zu[mr] )|(?<=до )|(?<=від )){_DAY}\.{_MONTH}\.)"
    rf"|(?P<ip>\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?![.]?\d)(?:/\d{{1,2}}|:\d{{1,5}})?{_END})"
    rf"|(?P<time>{_CLOCK}(?![\d:])(?:[ \u00a0\u202f]?{_NOON}|[ \u00a0](?:Uhr|UTC|GMT|CES?T|EES?T|[EPM][SD]T){_END})?"
    rf"|{_HOUR}\.[0-5]\d[ \u00a0]?Uhr{_END}|{_HOUR}h[0-5]\d{_END}"
    rf"|{_HOUR}[ \u00a0\u202f]?(?:{_NOON}|Uhr(?:[ ][0-5]\d)?{_END}|o['’]clock))"
    r"|(?P<grouped>\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?(?![.,]?\d))"
    rf"|(?P<version>\d++(?:\.\d++){{2,}}(?:[-+]?(?:rc|alpha|beta|dev|post|SNAPSHOT|LTS|a|b)[.-]?\d*)?{_END})"
    rf"|(?P<code>\d{{1,12}}(?:-\d{{1,12}}){{2,8}}(?![-\d])|\d{{4,12}}-\d{{1,12}}(?![-.,\d])){_END}"
    rf"|(?P<ratio>\d{{1,6}}[/:]\d{{1,6}}(?![\d/:])){_END}"
    r"|(?P<number>\d{1,3}(?:[ \u00a0\u202f\u2009]\d{3})++(?!\d)(?:[.,]\d++)?"
    r"|\d{1,3}(?:['’]\d{3})++(?!\d)(?:\.\d++)?|\d++(?:[.,]\d++)*+)"
)
_KINDS = {
    "date": LiteralKind.DATE,
    "ip": LiteralKind.IP,
    "time": LiteralKind.TIME,
    "version": LiteralKind.VERSION,
    "code": LiteralKind.CODE,
    "ratio": LiteralKind.NUMBER,
}
_MEASURES: dict[Meaning, LiteralKind] = {
    "currency": LiteralKind.AMOUNT,
    "percent": LiteralKind.PERCENT,
    "unit": LiteralKind.QUANTITY,
}
_WORD_AFTER = re.compile(
    r"[ \u00a0\u202f\u2009-]?"
    r"(?P<word>[%‰€£¥₴₹₽₩₺₿元円×]|°[CFС]?|(?:[A-Z]{1,2})?\$|[^\W\d_]+(?:[/·][^\W\d_]+)?[23²³]?\.?)"
)
_DAY_AND_MONTH = re.compile(
    r"(?:\.|st|nd|rd|th|-?го|-?е)?(?:[ \u00a0]of)?[ \u00a0-]?(?:the )?(?P<word>[^\W\d_]{3,}\.?)"
)
# 2-га is the second, not two hectares; 3 x 4 is a product.
_MISLEADING = re.compile(r"-[а-яіїєґ]{1,2}\.?|[ ][x×]")
_LIST_MARK = re.compile(r"[.)][ \t]")
_YEAR = re.compile(rf",?[ \u00a0-](?:of )?\d{{4}}{_END}(?!-\d)(?:[ \u00a0](?:року|р\.))?")
_YEAR_WORD = re.compile(r"[ \u00a0](?:року|році|р\.)(?!\w)")
_SUFFIX = re.compile(rf"(?:st|nd|rd|th|s|er|ers){_END}|-(?:й|го|му|м|ма|ми|х|те|ти|та|а|ої|ій|у|ша|ге|є|их|ті){_END}")
_DECADE = re.compile(rf"0s{_END}")
_SECOND_DAY = re.compile(r"\d{1,2}\.?[ ]?[–-][ ]?$")
_RANGE = re.compile(r"[-–]\d+")
_GLUED = re.compile(rf"[{LETTER}]")
_LOOK_BACK = 40
_NOT_A_WORD = "([{<„“\"'«"


def numbers(text: str) -> Iterator[Span]:
    """Yield what opens with a digit, in order and without overlap."""
    words = literal_words()
    place = 0
    while start := _START.search(text, place):
        token = _TOKEN.match(text, start.start())
        if token is None:  # every digit matches; a reader of the pattern need not prove it
            return
        place = token.end()
        kind = _KINDS.get(_group(token))
        if kind is LiteralKind.VERSION:
            yield kind, _product_before(text, token.start(), words), place
        elif kind is not None:
            yield kind, token.start(), place
        elif found := _Number(text, *token.span(), words).measured():
            yield found
            place = max(place, found[2])


def phones(text: str) -> Iterator[Span]:
    """Yield phone numbers; only a text with seven digits near each other can hold one."""
    if _MANY_DIGITS.search(text):
        for pattern in _phone_patterns():
            for match in pattern.finditer(text):
                yield LiteralKind.PHONE, *match.span()


_MANY_DIGITS = re.compile(r"\d(?:[ ()./-]{0,2}\d){6}")


@cache
def _phone_patterns() -> tuple[re.Pattern[str], ...]:
    no_more = rf"(?![{LETTER}]|[.,]\d)"
    return (
        re.compile(rf"\+\d(?:[ ()/.-]{{0,2}}\d){{6,14}}{no_more}"),
        re.compile(rf"\(?(?<![{LETTER}.,:/+-]\()0(?<![{LETTER}.,:/+-]0)\d{{2,4}}\)?(?:[ /-]{{0,2}}\d){{5,9}}{no_more}"),
        re.compile(rf"\([2-9]\d\d\)[ ]?\d{{3}}[-. ]\d{{4}}{no_more}"),
        re.compile(rf"\d(?<![{LETTER}.,:/+-]\d)\d\d(?P<sep>[-. ])\d{{3}}(?P=sep)\d{{4}}{no_more}"),
        re.compile(rf"\d(?<![{LETTER}.,:/+-]\d)\d\d-\d{{4}}(?![-\d]){no_more}"),
    )


class _Number:
    """A number at [start, end) of a text, to be extended by what belongs to it."""

    __slots__ = ("end", "first_end", "start", "text", "words")

    def __init__(self, text: str, start: int, end: int, words: LiteralWords) -> None:
        self.text, self.start, self.end, self.words = text, start, end, words
        self.first_end = end

    def measured(self) -> Span | None:
        """Return the number with its unit, currency, month or name; None when it is a part of a code."""
        text, start, end = self.text, self.start, self.end
        before = text[start - 1] if start else "\n"
        if self._counts_a_list():
            return None
        kind = self._date_from_day() or self._date_after_month() or self._measure()
        if before in "-−+" and (start == 1 or text[start - 2] in " \t\n(["):
            self.start -= 1
        if self._currency_before():
            return LiteralKind.AMOUNT, self.start, self.end
        if kind is None and before in " \u00a0:#№.":
            kind = self._named_before()
        if kind is None:
            suffix = _SUFFIX.match(text, end)
            if suffix:
                self.end = suffix.end()
            elif _GLUED.match(text, end):
                return None
            elif year := _YEAR_WORD.match(text, end):
                self.end, kind = year.end(), LiteralKind.DATE
        return kind or LiteralKind.NUMBER, self.start, self.end

    def _counts_a_list(self) -> bool:
        """Tell whether the number only counts the items of a list: "2. " at the start of a line."""
        if self.end - self.start > 3 or not _LIST_MARK.match(self.text, self.end):
            return False
        line = self.text[max(0, self.start - 8) : self.start].rpartition("\n")
        opens = bool(line[1]) or self.start <= 8
        return opens and not line[2].strip("#* \t>") and self._date_from_day() is None

    def _is_day(self) -> bool:
        digits = self.text[self.start : self.end]
        return len(digits) <= 2 and digits.isdecimal() and 1 <= int(digits) <= 31

    def _date_from_day(self) -> LiteralKind | None:
        """Take in a month behind a day, its year, and the first day of a range: 3.–5. März 2026."""
        if not self._is_day():
            return None
        found = _DAY_AND_MONTH.match(self.text, self.end)
        if found is None or self._meaning(found["word"])[0] != "month":
            return None
        self.end = found.start("word") + self._meaning(found["word"])[1]
        if year := _YEAR.match(self.text, self.end):
            self.end = year.end()
        if first := _SECOND_DAY.search(self.text[max(0, self.start - 6) : self.start]):
            self.start -= len(first[0])
        return LiteralKind.DATE

    def _measure(self) -> LiteralKind | None:
        """Take in a magnitude, and a unit, currency or per cent."""
        kind: LiteralKind | None = None
        for _ in range(2):
            found = _WORD_AFTER.match(self.text, self.end)
            if found is None or _DECADE.match(self.text, self.end - 1):
                break
            meaning, length = self._meaning(found["word"])
            if meaning is None or meaning == "month" or _MISLEADING.fullmatch(found[0]):
                break
            self.end = found.start("word") + length
            kind = _MEASURES.get(meaning, LiteralKind.NUMBER)
            if meaning != "magnitude":
                break
        return kind

    def _meaning(self, word: str) -> tuple[Meaning | None, int]:
        """Return what a word behind a number means, and how much of it says so."""
        whole = self.words.meaning(word)
        if whole in ("magnitude", "month"):  # 2,5 Mio. Euro; a full stop behind other words ends the sentence
            return whole, len(word)
        bare = word.rstrip(".")
        for known in (bare, bare.split("/")[0], word):
            if meaning := self.words.meaning(known):
                return meaning, len(known)
        return None, 0

    def _currency_before(self) -> bool:
        """Take in a currency before the number: $5, US$ 5, EUR 5."""
        before = self.text[max(0, self.start - 5) : self.start]
        bare = before.rstrip(" \u00a0\u202f")
        if len(before) - len(bare) > 1:
            return False
        gap = len(before) - len(bare)
        for length in (3, 2, 1):
            word = bare[-length:]
            if len(word) == length and self._is_currency(word, bare[:-length]):
                self.start -= length + gap
                return True
        return False

    def _is_currency(self, word: str, before: str) -> bool:
        if word in self.words.currency_codes:
            return not before[-1:].isalnum()
        return word in self.words.currency_signs

    def _named_before(self) -> LiteralKind | None:
        """Take in the word that says what the number counts or names: line 42, PostgreSQL 14, № 7, March 3rd."""
        text, start = self.text, self.start
        if text[start - 1] in "#№":
            self.start -= 1
            return LiteralKind.TICKET
        word, at = _word_before(text, start)
        known = word.casefold()
        if word in self.words.software:
            kind = LiteralKind.VERSION
        elif known in self.words.lines:
            kind = LiteralKind.LINE
            if more := _RANGE.match(text, self.end):
                self.end = more.end()
        elif known in self.words.versions:
            kind = LiteralKind.VERSION
            product, first = _word_before(text, at)
            at = first if product in self.words.software else at
        elif known in self.words.tickets:
            kind = LiteralKind.TICKET
        else:
            return None
        self.start = at
        return kind

    def _date_after_month(self) -> LiteralKind | None:
        """Take in a month in front, with the year behind the day: March 3rd, 2026; März 2026."""
        if self.text[self.start - 1 : self.start] not in (" ", "\u00a0"):
            return None
        word, at = _word_before(self.text, self.start)
        if not word or self._meaning(word)[0] != "month":
            return None
        digits = self.text[self.start : self.first_end]
        if self._is_day():
            if suffix := _SUFFIX.match(self.text, self.end):
                self.end = suffix.end()
            if year := _YEAR.match(self.text, self.end):
                self.end = year.end()
        elif not (len(digits) == 4 and digits.isdecimal()) or _GLUED.match(self.text, self.end):
            return None
        self.start = at
        return LiteralKind.DATE


def _word_before(text: str, place: int) -> tuple[str, int]:
    """Return the word that ends at most two blanks or a colon before a place, and where it opens; "" without one."""
    before = text[max(0, place - _LOOK_BACK) : place]
    bare = before.rstrip(" \u00a0:")
    if len(before) - len(bare) > 2 or not bare or bare[-1].isspace():
        return "", place
    word = bare.split()[-1].lstrip(_NOT_A_WORD)
    return word, place - len(before) + len(bare) - len(word)


def _product_before(text: str, start: int, words: LiteralWords) -> int:
    """Return where a version opens with the name in front of it: Python 3.11.4."""
    word, at = _word_before(text, start)
    return at if word in words.software else start


def _group(token: re.Match[str]) -> str:
    return token.lastgroup or ""
