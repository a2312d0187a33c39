"""Quote: show stored text to a model as data that cannot pass for anything else.

Three fences, each enough against most attacks: every quoted line opens with "| ", so no stored line can look like a
line of ours; a block opens and closes with a nonce made from its own content, which that content cannot foresee; and
what imitates our tags, a chat template's control tokens or invisible characters is made harmless.
"""

import hashlib
import re
from collections.abc import Collection, Iterable

LINE = "| "

_OUR_TAGS = re.compile(r"<(?=\s*/?\s*(?:memory|untrusted|conversation)\b)", re.IGNORECASE)
# What chat templates read as control tokens when a server does not escape it: <|im_start|>, <start_of_turn>, [INST].
_CONTROL_TOKENS = re.compile(
    r"<(?P<bars>[|｜][^\n|｜<>]{1,60}[|｜])>|<(?P<word>/?(?:s|bos|eos|start_of_turn|end_of_turn))>|\[(?P<inst>/?INST)\]",
    re.IGNORECASE,
)
# Controls, direction overrides and tag characters show people nothing and tell models something. The joiners that
# emoji and several scripts need stay.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
_UNSENDABLE = re.compile("[\x00\ud800-\udfff]")
_WHITE = re.compile(r"\s+")
_LONGEST_LABEL = 60


def harmless(text: str) -> str:
    """Return text in which nothing closes a block of ours, steers a chat template or hides from the eye."""
    if not text.isprintable():  # what is invisible is not printable; asking takes a tenth of looking for it
        text = _INVISIBLE.sub("", text)
    if "<" not in text and "[" not in text:
        return text
    text = _OUR_TAGS.sub("‹", text)
    return _CONTROL_TOKENS.sub(lambda found: f"‹{found[found.lastgroup or 0]}›", text)


def sendable(text: str) -> str:
    """Return text that JSON and every chat API can carry: without NUL and lone surrogates, otherwise as it was said."""
    return _UNSENDABLE.sub("\ufffd", text)


def quoted(text: str) -> str:
    """Return text with every line marked as a quotation; every kind of line break counts."""
    lines = harmless("\n".join(text.splitlines())).split("\n")
    return "\n".join(LINE + line for line in lines)


def label(text: str) -> str:
    """Return a name fit for a line of ours: one line, harmless, at most 60 characters."""
    name = _WHITE.sub(" ", harmless(" ".join(text.splitlines()))).strip()
    return name if len(name) <= _LONGEST_LABEL else name[: _LONGEST_LABEL - 1] + "…"


def nonce_for(texts: Iterable[str]) -> str:
    """Return eight hexadecimal digits that depend on all the texts and occur in none: equal texts, equal nonce."""
    joined = "\0".join(texts)
    digest = hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()
    while digest[:8] in joined:
        digest = hashlib.sha256(digest.encode()).hexdigest()
    return digest[:8]


def block(tag: str, nonce: str, body: str) -> str:
    """Return a delimited block around lines that are already quoted."""
    return f"<{tag} {nonce}>\n{body}\n</{tag} {nonce}>"


def short_ids(ids: Iterable[str], length: int = 8, *, taken: Collection[str] = ()) -> dict[str, str]:
    """Return for each id the shortest ending, of at least `length` characters, that no other one has and none `taken`.

    The end of a UUIDv7 is random, its beginning is the time. A full id would cost some twenty tokens each.
    """
    distinct = dict.fromkeys(ids)
    longest = max((len(name) for name in distinct), default=0)
    while length < longest and len({name[-length:] for name in distinct}.difference(taken)) < len(distinct):
        length += 1
    return {name: name[-length:] for name in distinct}
