"""Workloads: what every system in a comparison is given, with its vectors, as files that two environments can read."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.corpus import Said, messages, questions
from benchmarks.peers.subject import Remembered
from benchmarks.setting import Setting
from benchmarks.vectors import WordVectors
from retentia.evals.dataset import Dataset, Entry
from retentia.evals.loaders.locomo import load_locomo
from retentia.index.passages import embedding_text
from retentia.model.time import Moment
from retentia.providers.base import Embedder
from retentia.providers.use import UseEmbedder


@dataclass(frozen=True, slots=True)
class Group:
    """What one scope is told and asked; `gold` holds the ids that answer each question."""

    entries: Sequence[Remembered]
    questions: Sequence[str]
    gold: Sequence[Sequence[str]] = ()


def speed(setting: Setting, size: int) -> Path:
    """Write one scope of `size` messages, and questions about it."""
    said = messages(size, setting.data, seed=4)
    group = Group(
        [_remembered(str(number), one) for number, one in enumerate(said)],
        questions(20 + setting.questions // 3, setting.data),
    )
    return _write(setting.folder / f"speed-{size}.json", [group], WordVectors())


def quality(setting: Setting, data: Path) -> tuple[Path, list[Group]]:
    """Write LoCoMo's development conversations and the questions that cite something, with USE's vectors."""
    dataset: Dataset = load_locomo(data / "locomo" / "locomo_dev.json").first(1 if setting.quick else None)
    groups = [
        Group(
            [_of_entry(entry) for entry in group.entries],
            [question.text for question in group.scored],
            [question.gold for question in group.scored],
        )
        for group in dataset.groups
    ]
    return _write(setting.folder / "quality.json", groups, UseEmbedder()), groups


def _remembered(name: str, one: Said) -> Remembered:
    day = Moment.parse(one.at, zone="UTC").local_day()
    shown = embedding_text(one.text, speaker=one.speaker, day=day)
    return Remembered(name, one.text, shown, one.speaker, one.role, one.at, one.session)


def _of_entry(entry: Entry) -> Remembered:
    text = entry.text.strip()  # passages are without it, so that their vectors would not be found
    if entry.caption:
        text += f"\n[picture: {entry.caption}]"
    return _remembered(entry.source, Said(text, entry.speaker, "user", entry.at, entry.session))


def _write(path: Path, groups: Sequence[Group], embedder: Embedder) -> Path:
    texts = list(
        dict.fromkeys(
            text for group in groups for text in (*(entry.shown for entry in group.entries), *group.questions)
        )
    )
    raw = [
        {
            "entries": [asdict(entry) for entry in group.entries],
            "questions": [{"text": text} for text in group.questions],
        }
        for group in groups
    ]
    path.write_text(json.dumps(raw), "utf-8")
    path.with_suffix(".texts.json").write_text(json.dumps(texts), "utf-8")
    np.save(path.with_suffix(".npy"), embedder.embed(texts))
    return path
