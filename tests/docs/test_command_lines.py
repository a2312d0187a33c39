"""Every `retentia …` that an error, a remedy or a document names is a command line that parses."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from retentia.cli.main import cli

ROOT = Path(__file__).parents[2]
DOCUMENTS = [path for path in ROOT.glob("*.md") if path.name != "CHANGELOG.md"] + [*(ROOT / "docs").rglob("*.md")]
GENERATED = ROOT / "docs" / "reference" / "cli.md"
QUOTED = re.compile(r"`(retentia [^`]+)`")
AT_A_PROMPT = re.compile(r"^(?:\$ )?(retentia \w.*)$", re.MULTILINE)
NAMED = re.compile(rf"\bretentia ({'|'.join(cli.commands)})\b")


def texts_of(source: Path) -> Iterator[tuple[str, str]]:
    """Yield each text of a module with its place, the values of f-strings as X; the module's own docstring aside."""
    tree = ast.parse(source.read_text("utf-8"))
    docstring = tree.body[0].value if tree.body and isinstance(tree.body[0], ast.Expr) else None
    inside: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside.update(ast.walk(node))
            parts = [part.value if isinstance(part, ast.Constant) else "X" for part in node.values]
            yield f"{source.name}:{node.lineno}", "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in inside | {docstring}:
            yield f"{source.name}:{node.lineno}", node.value


def in_texts() -> Iterator[tuple[str, str]]:
    for source in sorted((ROOT / "src").rglob("*.py")):
        for place, text in texts_of(source):
            yield from ((place, found) for found in QUOTED.findall(text))


def in_documents() -> Iterator[tuple[str, str]]:
    for document in DOCUMENTS:
        if document != GENERATED:
            text = document.read_text("utf-8")
            found = [*QUOTED.findall(text), *AT_A_PROMPT.findall(text)]
            # A command's bare name names the command, as "`retentia eval` measures" does.
            yield from ((document.name, line) for line in found if line.split()[1:] not in [[n] for n in cli.commands])


def parse(line: str) -> None:
    """Parse a command line as click would, but for the existence of files; raise what click raises."""
    _, *words = shlex.split(line, comments=True)
    command: click.Command = cli
    context = click.Context(cli, info_name="retentia", **cli.context_settings)  # a command keeps its first help option
    while isinstance(command, click.Group) and words:
        name, chosen, words = command.resolve_command(context, words)
        assert chosen is not None
        command, context = chosen, click.Context(chosen, info_name=name, parent=context)
    given, left, _ = command.make_parser(context).parse_args(list(words))
    if left:
        raise click.UsageError(f"unexpected: {left}", context)
    for param in command.params:
        value = given.get(param.name or "")
        if isinstance(param.type, click.Path):
            if param.required and not value:
                raise click.MissingParameter(ctx=context, param=param)
        else:
            param.handle_parse_result(context, {param.name or "": value} if value is not None else {}, [])


TEXTS, LINES = list(in_texts()), list(in_documents())


@pytest.mark.parametrize(("place", "line"), [*TEXTS, *LINES], ids=lambda part: part)
def test_a_command_line_that_is_named_parses(place: str, line: str) -> None:
    try:
        parse(line)
    except click.ClickException as error:
        pytest.fail(f"{place} names `{line}`: {error.format_message()}")


def test_command_lines_are_found_where_they_are_named() -> None:
    assert ("serving.py", "retentia reembed --to NAME") in {(place.split(":")[0], line) for place, line in TEXTS}
    assert {line.split()[1] for _, line in LINES} >= {"ingest", "recall", "context", "eval", "reembed"}


def test_a_command_is_named_in_backticks_so_that_it_is_checked_here() -> None:
    bare = [
        (place, found.group())
        for source in sorted((ROOT / "src").rglob("*.py"))
        for place, text in texts_of(source)
        for found in NAMED.finditer(QUOTED.sub("", text))
    ]
    assert bare == []


@pytest.mark.parametrize(
    "line",
    [
        "retentia reembed",
        "retentia reembed --embedder e5",
        "retentia reindex NAME",
        "retentia jobs --retry",
        "retentia x",
    ],
)
def test_a_command_line_that_the_command_refuses_is_noticed(line: str) -> None:
    with pytest.raises(click.ClickException):
        parse(line)
