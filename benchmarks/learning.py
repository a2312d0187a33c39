"""Learning by rules: what it takes to look for facts in a message, and to hold a candidate to its message."""

from collections.abc import Sequence

from benchmarks.corpus import messages, of_length
from benchmarks.setting import Setting
from benchmarks.tables import Table
from benchmarks.timing import seconds
from retentia.learn.extract import extract
from retentia.learn.ground import ground
from retentia.working.original import Original

_CHARACTERS = 120
_NOTHING = ("Could the button be a bit wider, and is there a way to keep both tables on one page of the report?",)
_FULL = (
    "My name is Samuel Okafor, I live in Bristol and I speak English, Igbo and French. I work as a vet at Brightwave.",
    "Ich heiße Jürgen Groß, bin 52 Jahre alt und wohne in Görlitz. Ich mag keinen Kaffee. Ich muss SAP verwenden.",
    "Мене звати Олена, живу в Києві, мені 29 років. Я розмовляю польською. Працюю аналітиком у Монобанку.",
)


def measure(setting: Setting) -> list[Table]:
    """Measure processor time a user's message of 120 characters, and a candidate."""
    said = messages(setting.middle, setting.data)
    ordinary = of_length([one.text for one in said], _CHARACTERS)
    setting.say("learning by rules")
    rows: list[tuple[str, float, float, float | None]] = []
    for name, texts, goal in (
        ("ordinary messages", ordinary, 150.0),
        ("messages without a word of any pattern", of_length(_NOTHING, _CHARACTERS) * len(ordinary), 20.0),
        ("messages full of facts", of_length(_FULL, _CHARACTERS) * (len(ordinary) // len(_FULL)), None),
    ):
        originals = _originals(texts)
        found = extract(originals)
        runs = (seconds(lambda given=originals: extract(given))[1] for _ in range(3))  # type: ignore[misc]
        rows.append((f"extract: {name}", len(found) / len(texts), min(runs) / len(texts) * 1e6, goal))
    originals = _originals(of_length(_FULL, _CHARACTERS))
    by_id = {one.id: one for one in originals}
    offered = extract(originals)
    _, spent = seconds(lambda: [ground(one, by_id[one.message_id]) for one in offered])
    rows.append(("ground a candidate", 1, spent / len(offered) * 1e6, None))
    notes = (f"{len(ordinary):,} messages of {_CHARACTERS} characters; the second column counts candidates.",)
    return [Table("Learning by rules", ("", "each", "µs of CPU time", "goal"), rows, notes)]


def _originals(texts: Sequence[str]) -> list[Original]:
    return [Original(id=f"m{number}", role="user", text=text) for number, text in enumerate(texts)]
