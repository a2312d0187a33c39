"""The demonstration of learning from outcomes, on our own experiences and on trajectories."""

import importlib.util
import json
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner, Result

from retentia.ingest.experiences import BadLine, read_experiences
from retentia.languages.guess import language_of, script_of
from retentia.model.time import Moment

EXAMPLES = Path(__file__).parents[2] / "examples"
OWN = EXAMPLES / "experiences.jsonl"


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.chdir(tmp_path)
    spec = importlib.util.spec_from_file_location("demo_replay", EXAMPLES / "demo_replay.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(demo: ModuleType, *arguments: str) -> Result:
    return CliRunner().invoke(demo.main, [*arguments, "--embedder", "use"], catch_exceptions=False)


def trial(task: str, number: int, *, asked: str, call: str, reward: float) -> dict[str, object]:
    function = {"name": "cancel_reservation", "arguments": json.dumps({"reservation_id": call})}
    said = [{"role": "user", "content": asked}, {"role": "assistant", "tool_calls": [{"function": function}]}]
    return {"task_id": task, "trial": number, "reward": reward, "traj": said}


def test_the_experiences_are_whole_in_the_order_of_time_and_in_three_languages() -> None:
    found = [one for one in read_experiences(OWN, now=Moment.at(0)) if not isinstance(one, BadLine)]
    assert len(found) == len(OWN.read_text("utf-8").splitlines()) == len({one.key for one in found})
    assert [one.at.start for one in found] == sorted(one.at.start for one in found)
    assert Counter(script_of(one.task.description) for one in found)["Cyrillic"] >= 4
    assert sum(language_of(f"{one.task.description}. {one.solution}") == "de" for one in found) >= 4


def test_a_person_sees_curves_skills_choices_a_prompt_and_what_to_avoid(demo: ModuleType, tmp_path: Path) -> None:
    shown = run(demo).output
    assert "Only the attempts that did what the memory would have advised" in shown
    assert "similar tasks solved with" in shown
    assert "why it failed" in shown
    assert "proves nothing about an agent" in shown
    out = tmp_path / "out" / "replay"
    assert (out / "recorded.svg").read_text("utf-8").startswith("<svg")
    assert all((out / f"{name}.png").read_bytes().startswith(b"\x89PNG") for name in ("recorded", "advised"))


def test_the_same_is_shown_of_trajectories(demo: ModuleType, tmp_path: Path) -> None:
    asked = {"a": "Cancel my flight to Oslo", "b": "Is my suitcase too heavy?"}
    told = [
        trial(task, number, asked=words, call=task if number < 2 or task == "a" else "x", reward=float(task == "a"))
        for task, words in asked.items()
        for number in range(4)
    ]
    (tmp_path / "runs.json").write_text(json.dumps(told), "utf-8")
    shown = run(demo, str(tmp_path / "runs.json")).output
    assert "of the same task for 100% of 2 questions" in shown
    assert "Cannot tell" in shown
