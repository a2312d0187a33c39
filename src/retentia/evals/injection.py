"""How often orders in outside texts are marked: on published injections, and falsely on the messages of people.

BIPIA's strings (Yi et al. 2023) give orders of 15 kinds. Some of these only ask for another task, in words that a
person would use, too. The people's messages are read as if a tool had returned them: each that is marked is an alarm
for nothing.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from retentia.evals.dataset import Dataset
from retentia.evals.loaders.reading import read_json, shape_of
from retentia.security.injection import suspect

_EXPECTED = "BIPIA: a JSON object of lists of strings by kind, such as text_attack_train.json"


def load_injections(path: Path) -> dict[str, list[str]]:
    """Read BIPIA's strings by kind; raise InvalidInput when the file is missing or is something else."""
    raw = read_json(path, _EXPECTED)
    with shape_of(path, _EXPECTED):
        if not all(isinstance(texts, list) and all(isinstance(text, str) for text in texts) for texts in raw.values()):
            raise TypeError
        return dict(raw)


def marked(texts: Iterable[str]) -> int:
    """Count the texts that look like an instruction."""
    return sum(bool(suspect(text)) for text in texts)


def rows(attacks: Mapping[str, list[str]], benign: Dataset | None) -> dict[str, tuple[int, int]]:
    """Return by kind how many are marked, of how many; "all" kinds together, and the messages of a chat dataset."""
    found = {kind: (marked(texts), len(texts)) for kind, texts in attacks.items()}
    found["all"] = (sum(count for count, _ in found.values()), sum(of for _, of in found.values()))
    if benign is not None:
        said = [entry.text for group in benign.groups for entry in group.entries]
        found["false alarms"] = (marked(said), len(said))
    return found
