"""The reference pages tell what the code does."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_command_reference_is_what_the_commands_say() -> None:
    page = runpy.run_path(str(ROOT / "scripts" / "write_cli_reference.py"))["reference"]()
    assert (ROOT / "docs" / "reference" / "cli.md").read_text("utf-8") == page


def test_every_extra_is_documented() -> None:
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    documents = "".join(path.read_text("utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
    assert [extra for extra in extras if f"[{extra}]" not in documents] == []


def test_every_public_name_is_documented() -> None:
    import retentia

    documents = "".join(path.read_text("utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
    assert [name for name in retentia.__all__ if name not in documents] == []
