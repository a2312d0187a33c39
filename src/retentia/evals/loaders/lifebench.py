"""LifeBench: what a person's phone kept in a year, and questions whose evidence lies in several places.

A user is a folder with `phone_data` and `QA`. A trace is a note, a message, a photo and so on, named by its type and
number as evidence cites it; what is cited and not there is counted out. Sentences that a model wrote about the traces
(`summarized_info`), and tables of health that nothing cites, stay out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from retentia.errors import InvalidInput
from retentia.evals.dataset import Dataset, Entry, Group, Question, ask_neighbours, existing
from retentia.evals.loaders.reading import read_json, shape_of

_EXPECTED = "LifeBench: folders that hold QA/QA_clean.json and phone_data/*.json"
_UNANSWERABLE = "Unanswerable"
_NOTHING = {"", "none", "None"}
_Trace = Mapping[str, Any]


def load_lifebench(path: Path) -> Dataset:
    """Read all users of LifeBench, or one user's folder. Raises InvalidInput."""
    folders = [path] if _questions_of(path).is_file() else sorted(_users(path))
    if not folders:
        raise InvalidInput(f"no QA/QA_clean.json below {str(path)!r}; expected {_EXPECTED}")
    loaded = [_group(folder) for folder in folders]
    dangling = sum(missing for _, missing in loaded)
    notes = (f"{dangling} pieces of evidence name traces that are not there and are not counted",)
    return Dataset(name="lifebench", groups=ask_neighbours([group for group, _ in loaded]), notes=notes)


def _questions_of(folder: Path) -> Path:
    return folder / "QA" / "QA_clean.json"


def _users(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from (folder for folder in path.iterdir() if _questions_of(folder).is_file())


def _group(folder: Path) -> tuple[Group, int]:
    named: dict[str, str] = {}
    entries: dict[str, Entry] = {}
    for kind, tell in _TOLD.items():
        file = folder / "phone_data" / f"{kind}.json"
        if not file.is_file():
            continue
        raw = read_json(file, _EXPECTED)
        with shape_of(file, _EXPECTED):
            for trace in raw:
                entry = _entry(kind, trace, tell(trace))
                named[entry.source] = entries.setdefault(entry.text, entry).source  # the same twice is one trace
    file = _questions_of(folder)
    asked = read_json(file, _EXPECTED)
    with shape_of(file, _EXPECTED):
        cited = [[f"{one['type']}/{one['id']}" for one in item.get("evidence", ())] for item in asked]
        questions = tuple(
            _question(f"{folder.name}/{number}", item, [named[one] for one in some if one in named], entries.values())
            for number, (item, some) in enumerate(zip(asked, cited, strict=True))
        )
    missing = sum(one not in named for some in cited for one in some)
    return Group(name=folder.name, entries=tuple(entries.values()), questions=questions), missing


def _entry(kind: str, trace: _Trace, told: Sequence[object]) -> Entry:
    at = str(trace.get("datetime") or trace["date"])
    said = [text for text in (str(part or "").strip() for part in told) if text not in _NOTHING]
    return Entry(
        source=f"{kind}/{trace['phone_id']}",
        text=f"{kind.replace('_', ' ')}, {at}: {'. '.join(said)}",
        kind="item",
        at=f"{at.replace(' ', 'T')}Z" if ":" in at else at,
    )


def _question(question_id: str, item: _Trace, gold: Sequence[str], entries: Any) -> Question:
    return Question(
        id=question_id,
        text=item["question"],
        gold=existing(gold, entries),
        category=item["question_type"],
        answer=str(item.get("answer", "")),
        answerable=item["question_type"] != _UNANSWERABLE,
    )


def _photo(trace: _Trace) -> list[object]:
    place = trace.get("location") or {}
    shown = [_listed(trace.get(name)) for name in ("faceRecognition", "imageTag")]
    return [trace["caption"], *shown, trace.get("ocrText"), place.get("poi"), place.get("district")]


def _listed(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")


def _agent_chat(trace: _Trace) -> list[object]:
    return [
        turn[who]["content"] for turn in trace["conversation"].values() for who in ("user", "assistant") if who in turn
    ]


_TOLD: Mapping[str, Callable[[_Trace], Sequence[object]]] = {
    "calendar": lambda trace: [trace["title"], trace["description"]],
    "note": lambda trace: [trace["title"], trace["content"]],
    "sms": lambda trace: [trace["contactName"], trace["message_content"]],
    "call": lambda trace: [trace["contactName"], trace.get("call_type"), trace.get("duration")],
    "push": lambda trace: [trace.get("source"), trace["title"], trace["content"]],
    "photo": _photo,
    "agent_chat": _agent_chat,
}
