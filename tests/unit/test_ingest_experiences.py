"""Experiences in files: what was written is read back, and a bad line is named without losing the others."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_experience import experiences

from retentia.errors import InvalidInput
from retentia.ingest.experiences import BadLine, read_experiences, write_experiences
from retentia.model.experience import Experience
from retentia.model.experience_fields import experience_given
from retentia.model.time import Moment

NOW = Moment.parse("2026-06-01T10:00:00Z")


@given(st.lists(experiences(), max_size=5))
def test_what_was_written_is_read_back_as_it_was(given_: list[Experience]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "experiences.jsonl"
        assert write_experiences(path, given_) == len(given_)
        assert list(read_experiences(path, now=NOW)) == given_


def test_a_bad_line_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    good = json.dumps({"task": "fix it", "reward": 1, "outcome": "success"})
    bad = ["{", "[1]", '{"task": "x"}', '{"task": "x", "reward": NaN, "outcome": "success"}']
    path = tmp_path / "some.jsonl"
    path.write_text("\n".join([good, *bad, "", good]), "utf-8")
    found = list(read_experiences(path, now=NOW))
    assert [one.line for one in found if isinstance(one, BadLine)] == [2, 3, 4, 5]
    assert sum(isinstance(one, Experience) for one in found) == 2


def test_fields_may_be_nested_and_have_their_other_names() -> None:
    nested = {
        "id": "e1",
        "task": {"description": "fix it", "category": "debugging", "complexity": 0.2},
        "feedback": {"reward": 3, "message": "good", "tests_passed": 1, "tests_total": 2},
        "reward_range": [1, 5],
        "outcome": "partial",
        "timestamp": 1_780_300_800,
    }
    told = experience_given(nested, now=NOW)  # type: ignore[arg-type]
    assert (told.key, told.task.category, told.feedback.reward, told.feedback.message) == (
        "e1",
        "debugging",
        0.5,
        "good",
    )
    assert told.at.iso().startswith("2026-06-01")


@pytest.mark.parametrize(
    "broken",
    [
        {"timestamp": True},
        {"timestamp": []},
        {"timestamp": "soon"},
        {"reward_range": [0]},
        {"reward_range": "0-1"},
        {"reward_range": [0, 1], "reward": "1"},
        {"task": 7},
    ],
)
def test_a_field_that_cannot_be_read_says_which(broken: dict[str, object]) -> None:
    given_ = {"task": "fix it", "reward": 1, "outcome": "success", **broken}
    with pytest.raises(InvalidInput):
        experience_given(given_, now=NOW)  # type: ignore[arg-type]


def test_what_is_no_experience_and_no_mapping_is_refused() -> None:
    with pytest.raises(InvalidInput, match="not list"):
        experience_given([1], now=NOW)  # type: ignore[arg-type]


def test_a_file_that_cannot_be_read_or_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        list(read_experiences(tmp_path / "none.jsonl", now=NOW))
    with pytest.raises(InvalidInput, match="cannot be written"):
        write_experiences(tmp_path / "no" / "such.jsonl", [])
    (tmp_path / "bytes.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match="not UTF-8"):
        list(read_experiences(tmp_path / "bytes.jsonl", now=NOW))
