"""MetaTool: which of 199 tools answers a request (Huang et al., ICLR 2024)."""

from collections.abc import Mapping
from pathlib import Path

from retentia.errors import InvalidInput
from retentia.evals.dataset import Dataset, Entry, Group, Question, existing
from retentia.evals.loaders.multilingual import load_multilingual
from retentia.evals.loaders.reading import read_csv, read_json, shape_of
from retentia.evals.tool_selection import Request
from retentia.model.message import JSON

QUERIES_PER_UNIT = 100
_TOOLS = "MetaTool: a folder with plugin_des.json (an object: tool name to description)"
_SINGLE = "MetaTool: a folder with single_tool*.csv (columns Query and Tool)"
_MULTI = "MetaTool: a folder with multi_tool*.json (a list of objects with 'query' and 'tool')"


def load_metatool(path: Path, *, limit: int | None = None, several: bool = False) -> Dataset:
    """Read the tools and the requests that need one of them, or with `several` those that need two.

    There is one catalogue and no conversation, so `limit` counts hundreds of requests. What cannot be answered by a
    tool is asked with the English questions of our own personal memories. Raises InvalidInput.
    """
    descriptions = _descriptions(path / "plugin_des.json")
    tools = tuple(Entry(source=name, text=f"{name}: {text}", kind="item") for name, text in descriptions.items())
    requests = _several(path) if several else _single(path)
    questions = tuple(
        Question(
            id=f"{'multi' if several else 'single'}/{number}",
            text=text,
            gold=existing(names, tools),
            category="two tools" if several else "one tool",
        )
        for number, (text, names) in enumerate(requests)
    )
    kept = questions if limit is None else questions[: limit * QUERIES_PER_UNIT]
    group = Group(name="tools", entries=tools, questions=kept, foreign=_personal_questions())
    return Dataset(name="metatool", groups=(group,))


def load_tool_requests(
    path: Path, *, limit: int | None = None
) -> tuple[dict[str, list[Mapping[str, JSON]]], list[Request], list[Request]]:
    """Return the tools as schemas, the requests for one of them, and those for two; `limit` as in `load_metatool`."""
    tools: list[Mapping[str, JSON]] = [
        {"name": name, "description": text} for name, text in _descriptions(path / "plugin_des.json").items()
    ]
    known = {str(tool["name"]) for tool in tools}
    single, several = (
        [Request(text, frozenset(names) & known) for text, names in some] for some in (_single(path), _several(path))
    )
    most = None if limit is None else limit * QUERIES_PER_UNIT
    return {"": tools}, [one for one in single if one.tools][:most], [one for one in several if one.tools][:most]


def _descriptions(path: Path) -> Mapping[str, str]:
    raw = read_json(path, _TOOLS)
    with shape_of(path, _TOOLS):
        return {str(name): str(text) for name, text in raw.items()}


def _single(path: Path) -> list[tuple[str, list[str]]]:
    rows = read_csv(_only(path, "single_tool*.csv", _SINGLE), ("Query", "Tool"), _SINGLE)
    return [(row["Query"], [row["Tool"]]) for row in rows]


def _several(path: Path) -> list[tuple[str, list[str]]]:
    file = _only(path, "multi_tool*.json", _MULTI)
    raw = read_json(file, _MULTI)
    with shape_of(file, _MULTI):
        return [(item["query"], list(item["tool"])) for item in raw]


def _only(path: Path, pattern: str, expected: str) -> Path:
    found = sorted(path.glob(pattern)) if path.is_dir() else []
    if not found:
        raise InvalidInput(f"no {pattern} in {str(path)!r}; expected {expected}")
    return found[0]


def _personal_questions() -> tuple[Question, ...]:
    own = load_multilingual().groups[0].questions
    return tuple(question for question in own if question.category.startswith("en→"))
