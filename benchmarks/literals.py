"""Literals: what it takes to find them in a message, to check a summary, and to make an extract without a model."""

from collections.abc import Sequence

from benchmarks.corpus import messages, of_length
from benchmarks.setting import Setting
from benchmarks.tables import Table
from benchmarks.timing import seconds
from retentia.working.extract import extract
from retentia.working.literals import find_literals
from retentia.working.missing import missing
from retentia.working.original import Original

_CHARACTERS = 120
_RANGE = 30
_DENSE = (
    "Pay $1,299.50 by March 3rd, 2:30 pm: order ZX-9137-KI, see https://example.com/o?x=1 or auth.py line 42, v2.3.1.",
    "Überweise 1.299,50 € bis zum 3. März um 14.30 Uhr, siehe „Rechnung 7“ und Zeile 42 in auth.py auf Ubuntu 22.04.",
    "Сплати 1 299,50 грн до 3 березня о 14:30, замовлення ZX-9137-KIWI, рядок 42 у файлі auth.py, версія 2.1, «так».",
)


def measure(setting: Setting) -> list[Table]:
    """Measure processor time a message of 120 characters, and a range of 30 messages."""
    said = messages(setting.middle, setting.data)
    ordinary = of_length([one.text for one in said], _CHARACTERS)
    dense = of_length(_DENSE, _CHARACTERS) * (len(ordinary) // len(_DENSE))
    setting.say("finding literals")
    rows: list[tuple[str, float, float, float | None]] = []
    for name, texts, goal in (("ordinary messages", ordinary, 60.0), ("messages full of literals", dense, None)):
        found = sum(len(find_literals(text)) for text in texts) / len(texts)
        rows.append((f"find literals: {name}", found, _microseconds(texts), goal))
    setting.say("extracting")
    ranges = [
        [Original(id=str(number), role=one.role, text=one.text) for number, one in enumerate(said[at : at + _RANGE])]
        for at in range(0, min(len(said), 40 * _RANGE), _RANGE)
    ]
    literals = [[one for message in originals for one in find_literals(message.text)] for originals in ranges]
    made = [extract(originals) for originals in ranges]
    _, spent = seconds(lambda: [extract(originals) for originals in ranges])
    rows.append((f"extract of {_RANGE} messages", len(ranges[0]), spent / len(ranges) * 1e6, None))
    _, spent = seconds(lambda: [missing(one, two.text) for one, two in zip(literals, made, strict=True)])
    rows.append(("missing from it", sum(map(len, literals)) / len(ranges), spent / len(ranges) * 1e6, None))
    notes = (f"{len(ordinary):,} messages of {_CHARACTERS} characters; the second column counts literals or messages.",)
    return [Table("Literals", ("", "each", "µs of CPU time", "goal"), rows, notes)]


def _microseconds(texts: Sequence[str]) -> float:
    runs = (seconds(lambda: [find_literals(text) for text in texts])[1] for _ in range(3))
    return min(runs) / len(texts) * 1e6
