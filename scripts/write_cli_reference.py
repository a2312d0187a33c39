"""Write docs/reference/cli.md from the commands themselves. `--check` only tells whether it is up to date."""

import sys
from pathlib import Path

import click

from retentia.cli.main import cli

TARGET = Path(__file__).parents[1] / "docs" / "reference" / "cli.md"
_WIDTH = 100
_INTRODUCTION = """# Command line

Generated from the commands themselves by `python scripts/write_cli_reference.py`.

The options of store and scope can be set once in the environment: `RETENTIA_STORE`, `RETENTIA_EMBEDDER`,
`RETENTIA_TENANT`, `RETENTIA_USER`, `RETENTIA_SPACE`, `RETENTIA_AGENT`. Answers go to standard output, progress and
errors to standard error. Exit codes: 0 done, 1 refused or failed with one line saying why, 2 wrong usage,
130 interrupted.
"""


def reference() -> str:
    """Return the page: the help of every command, in order of name."""
    sections = [_INTRODUCTION, _section(cli, "retentia", None)]
    return "\n".join(sections)


def _section(command: click.Command, name: str, parent: click.Context | None) -> str:
    settings = {**command.context_settings, "max_content_width": _WIDTH, "terminal_width": _WIDTH}
    context = click.Context(command, info_name=name.split()[-1], parent=parent, **settings)
    text = f"## {name}\n\n```\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for child in sorted(command.commands):
            text += "\n" + _section(command.commands[child], f"{name} {child}", context)
    return text


if __name__ == "__main__":
    written = reference()
    if "--check" in sys.argv:
        sys.exit(0 if TARGET.read_text("utf-8") == written else f"{TARGET} is out of date; run this without --check")
    TARGET.write_text(written, "utf-8")
