"""Our own small set: one person's memories in English, German and Ukrainian, asked in all three.

Ships with the package. Each question carries the language asked and stored (`uk→de`) and tags for what makes it
hard: inflection, a compound, an umlaut written as two letters, ґ written as г, a paraphrase.
"""

from importlib.resources import files
from pathlib import Path

from retentia.evals.dataset import Dataset, Entry, Group, Question
from retentia.evals.loaders.reading import read_json, shape_of

NOTHING = "nothing"
_EXPECTED = "an object with 'memories' (id, text) and 'questions' (text, gold, category, tags)"


def load_multilingual() -> Dataset:
    """Read the shipped set; the questions of category `nothing` are foreign to every memory."""
    path = Path(str(files("retentia.evals") / "data" / "multilingual.json"))
    raw = read_json(path, _EXPECTED)
    with shape_of(path, _EXPECTED):
        entries = tuple(Entry(source=item["id"], text=item["text"], kind="item") for item in raw["memories"])
        asked = tuple(
            Question(
                id=f"q{number}",
                text=item["text"],
                gold=tuple(item["gold"]),
                category=item["category"],
                tags=tuple(item.get("tags", ())),
                answerable=item["category"] != NOTHING,
            )
            for number, item in enumerate(raw["questions"], start=1)
        )
    group = Group(
        name="memories",
        entries=entries,
        questions=tuple(question for question in asked if question.answerable),
        foreign=tuple(question for question in asked if not question.answerable),
    )
    return Dataset(name="multilingual", groups=(group,))
