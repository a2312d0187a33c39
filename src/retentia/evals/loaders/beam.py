"""BEAM: long chats with an assistant and probing questions of ten abilities (Tavakoli et al., ICLR 2026).

A chat is a list of batches, a batch a list of turns, a turn a list of messages. A batch is one session: it alone has
a date, on its first message. The generator's markers (`->-> 3,7`) leak the order and are stripped, from the
assistant's messages too, where one chat has copied them. Abstention questions have no answer in their chat.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from retentia.errors import InvalidInput
from retentia.evals.dataset import Dataset, Entry, Group, Question, ask_neighbours, existing
from retentia.evals.loaders.reading import read_json, shape_of

_EXPECTED = "BEAM: folders that hold chat.json and probing_questions/probing_questions.json"
_MARKER = re.compile(r"\s*->\s*->\s*\d+\s*,\s*(?:\d+|N/A)(?=\W*\Z)")
_UNANSWERABLE = "abstention"


def load_beam(path: Path) -> Dataset:
    """Read one BEAM size (a folder with one folder for each chat), or a single chat's folder.

    Raises InvalidInput when there is no chat, or a file has another structure.
    """
    folders = [path] if (path / "chat.json").is_file() else sorted(_chats(path), key=_by_number)
    if not folders:
        raise InvalidInput(f"no chat.json below {str(path)!r}; expected {_EXPECTED}")
    groups = [_group(folder) for folder in folders]
    abstaining = sum(len(group.unanswerable) for group in groups)
    notes = (f"{abstaining} abstention questions count as not answerable",)
    return Dataset(name="beam", groups=ask_neighbours(groups), notes=notes, is_of_chats=True)


def strip_marker(text: str) -> str:
    """Remove the generator's marker from the end of a message."""
    return _MARKER.sub("", text).rstrip()


def flat_ids(value: object) -> Iterator[str]:
    """Yield the message ids in any nesting of objects and lists, in order."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from flat_ids(part)
    elif value is not None:
        yield str(value)


def _chats(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from (folder for folder in path.iterdir() if (folder / "chat.json").is_file())


def _by_number(folder: Path) -> tuple[int, str]:
    return (int(folder.name) if folder.name.isdigit() else 0, folder.name)


def _group(folder: Path) -> Group:
    chat_file, probes_file = folder / "chat.json", folder / "probing_questions" / "probing_questions.json"
    batches, probes = read_json(chat_file, _EXPECTED), read_json(probes_file, _EXPECTED)
    with shape_of(chat_file, _EXPECTED):
        entries = tuple(entry for batch in batches for entry in _session(batch))
    with shape_of(probes_file, _EXPECTED):
        questions = tuple(
            _question(f"{folder.name}/{ability}/{number}", ability, probe, entries)
            for ability, items in probes.items()
            for number, probe in enumerate(items)
        )
    return Group(name=folder.name, entries=entries, questions=questions)


def _session(batch: Mapping[str, Any]) -> Iterator[Entry]:
    messages = [message for turn in batch["turns"] for message in turn]
    at = _date_of(messages)
    for message in messages:
        yield Entry(
            source=str(message["id"]),
            text=strip_marker(message["content"]),
            session=f"batch_{batch['batch_number']}",
            role=message["role"],
            at=at,
        )


def _date_of(messages: Sequence[Mapping[str, Any]]) -> str:
    anchor = next((message["time_anchor"] for message in messages if message.get("time_anchor")), None)
    return "" if anchor is None else datetime.strptime(f"{anchor} +0000", "%B-%d-%Y %z").date().isoformat()


def _question(question_id: str, ability: str, probe: Mapping[str, Any], entries: tuple[Entry, ...]) -> Question:
    return Question(
        id=question_id,
        text=probe["question"],
        gold=existing(flat_ids(probe.get("source_chat_ids")), entries),
        category=ability,
        answer=str(probe.get("answer") or probe.get("ideal_answer") or ""),
        answerable=ability != _UNANSWERABLE,
    )
