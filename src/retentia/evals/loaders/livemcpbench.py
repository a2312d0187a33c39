"""LiveMCPBench: which of 527 tools of 70 MCP servers a task needs (Mo et al. 2025), by the annotators' lists."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from retentia.evals.loaders.reading import read_json, shape_of
from retentia.evals.tool_selection import Request
from retentia.model.message import JSON

_TOOLS = "LiveMCPBench: a folder with tools.json (a list of servers, each with 'tools')"
_TASKS = "LiveMCPBench: a folder with annotations*.json (a list of tasks with 'Question' and their tools)"
_NUMBERED = re.compile(r"^\s*\d+[.)]\s*(.+?)\s*$", re.MULTILINE)


def load_livemcpbench(path: Path) -> tuple[dict[str, list[Mapping[str, JSON]]], list[Request]]:
    """Return the tools by server, and the tasks; a task none of whose tools is registered is left out."""
    servers = _servers(path / "tools.json")
    known = {str(tool["name"]) for tools in servers.values() for tool in tools}
    file = next(iter(sorted(path.glob("annotations*.json"))), path / "annotations.json")
    raw = read_json(file, _TASKS)
    with shape_of(file, _TASKS):
        asked = [Request(one["Question"], _named(one) & known) for one in raw]
    return servers, [one for one in asked if one.tools]


def _servers(file: Path) -> dict[str, list[Mapping[str, JSON]]]:
    raw = read_json(file, _TOOLS)
    found: dict[str, list[Mapping[str, JSON]]] = {}
    with shape_of(file, _TOOLS):
        for server in raw:
            for name, told in server["tools"].items():
                tools = {tool["name"]: tool for tool in told["tools"]}
                found.setdefault(str(name), []).extend(tools.values())
    return found


def _named(task: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(_NUMBERED.findall(task["Annotator Metadata"]["Tools"]))
