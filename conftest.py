"""Documents are tests: every Python block of the README and of docs/ runs, each page in an empty folder."""

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser


def _enter(namespace: dict[str, Any]) -> None:
    namespace["_before"] = Path.cwd()
    namespace["_folder"] = tempfile.mkdtemp()
    os.chdir(namespace["_folder"])


def _leave(namespace: dict[str, Any]) -> None:
    os.chdir(namespace["_before"])
    shutil.rmtree(namespace["_folder"])


pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(), SkipParser()],
    patterns=["README.md", "docs/**/*.md"],
    setup=_enter,
    teardown=_leave,
).pytest()
