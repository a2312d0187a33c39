"""LoCoMo: long chats between two people, asked about months later (Maharana et al. 2024).

What the files hold and how it is read: categories 1 to 4 are asked for recall, 5 is adversarial (its gold is "not
answerable", its `adversarial_answer` a trap); evidence strings are sometimes malformed; some answers are integers;
pictures speak through `blip_caption`; `observation` and `session_summary` were written by a model and stay out.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from retentia.evals.dataset import Dataset, Entry, Group, Question, ask_neighbours, existing
from retentia.evals.loaders.reading import read_json, shape_of

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_EXPECTED = "LoCoMo: a JSON list of objects with 'sample_id', 'conversation' and 'qa', such as locomo10.json"
_TURN = re.compile(r"D:?(\d+):(\d+)")
_SESSION = re.compile(r"session_(\d+)")


def load_locomo(path: Path, *, corrections: Path | None = None) -> Dataset:
    """Read LoCoMo from its JSON file.

    `corrections` names the public audit's file, whose `correct_evidence` then replaces the cited one. Raises
    InvalidInput when a file is missing or is something else.
    """
    raw = read_json(path, _EXPECTED)
    corrected = _corrections(corrections)
    with shape_of(path, _EXPECTED):
        if not isinstance(raw, list) or not raw:
            raise TypeError
        groups = [_group(sample, corrected) for sample in raw]
    return Dataset(name="locomo", groups=ask_neighbours(groups), notes=_notes(groups), is_of_chats=True)


def turns_cited(evidence: list[str]) -> list[str]:
    """Read turn ids out of evidence strings, however they were typed: `D:11:26`, `D8:6; D9:17`, `D30:05`."""
    return [f"D{int(session)}:{int(turn)}" for text in evidence for session, turn in _TURN.findall(text)]


def _group(sample: Mapping[str, Any], corrected: Mapping[str, list[str]]) -> Group:
    name = str(sample["sample_id"])
    entries = _entries(sample["conversation"])
    questions = tuple(
        _question(f"{name}/{number}", item, entries, corrected) for number, item in enumerate(sample["qa"])
    )
    return Group(name=name, entries=entries, questions=questions)


def _entries(conversation: Mapping[str, Any]) -> tuple[Entry, ...]:
    sessions = sorted(int(found[1]) for key in conversation if (found := _SESSION.fullmatch(key)))
    return tuple(
        Entry(
            source=turns_cited([turn["dia_id"]])[0],
            text=turn["text"],
            session=f"session_{number}",
            role="user",
            speaker=turn["speaker"],
            at=_iso(conversation[f"session_{number}_date_time"]),
            caption=turn.get("blip_caption", ""),
        )
        for number in sessions
        for turn in conversation[f"session_{number}"]
    )


def _iso(text: str) -> str:
    # The chats name no zone; any fixed one keeps days and order, which is all that is asked for.
    return datetime.strptime(text.strip() + " +0000", "%I:%M %p on %d %B, %Y %z").isoformat()


def _question(
    question_id: str, item: Mapping[str, Any], entries: tuple[Entry, ...], corrected: Mapping[str, list[str]]
) -> Question:
    answerable = item["category"] != 5
    evidence = corrected.get(item["question"], item["evidence"]) if answerable else []
    return Question(
        id=question_id,
        text=item["question"],
        gold=existing(turns_cited(evidence), entries),
        category=CATEGORIES[item["category"]],
        answer=str(item.get("answer", "")),
        answerable=answerable,
    )


def _corrections(path: Path | None) -> dict[str, list[str]]:
    if path is None:
        return {}
    expected = "the LoCoMo audit: a JSON list of objects with 'question' and 'correct_evidence'"
    raw = read_json(path, expected)
    with shape_of(path, expected):
        return {item["question"]: list(item["correct_evidence"]) for item in raw if item["category"] != 5}


def _notes(groups: list[Group]) -> tuple[str, ...]:
    questions = [question for group in groups for question in group.questions]
    uncited = sum(question.answerable and not question.gold for question in questions)
    adversarial = sum(not question.answerable for question in questions)
    return (
        f"{uncited} answerable questions cite no turn that exists and are not scored",
        f"{adversarial} adversarial questions count as not answerable",
    )
