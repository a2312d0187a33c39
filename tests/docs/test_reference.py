"""The reference pages tell what the code does."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_command_reference_is_what_the_commands_say() -> None:
    # In a process of its own: click keeps the help option of whoever used a command first.
    check = [sys.executable, str(ROOT / "scripts" / "write_cli_reference.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_policy_page_is_what_the_package_says() -> None:
    check = [sys.executable, str(ROOT / "scripts" / "write_policy.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_tables_of_the_advisor_are_what_it_decides_by() -> None:
    check = [sys.executable, str(ROOT / "scripts" / "write_advisor_tables.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_table_of_what_summaries_keep_is_what_the_evaluation_says() -> None:
    check = [sys.executable, str(ROOT / "scripts" / "write_kept_table.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_table_of_what_is_learned_is_what_the_evaluation_says() -> None:
    check = [sys.executable, str(ROOT / "scripts" / "write_learning_table.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_confidence_is_what_the_development_half_says() -> None:
    check = [sys.executable, str(ROOT / "scripts" / "fit_confidence.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_extra_is_documented() -> None:
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    documents = "".join(path.read_text("utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
    assert [extra for extra in extras if f"[{extra}]" not in documents] == []


def test_every_public_name_is_documented() -> None:
    import retentia

    documents = "".join(path.read_text("utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
    assert [name for name in retentia.__all__ if name not in documents] == []
