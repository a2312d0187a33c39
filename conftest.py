"""Documents are tests: every Python block of the README and of docs/ runs, each page in an empty folder."""

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from sybil import Sybil
from sybil.integration.pytest import SybilItem
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

# A busy machine draws examples slowly, and that says nothing about the code.
settings.register_profile("retentia", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("retentia")


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


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the blocks of a page back into their order: tests are shuffled, a page is read from top to bottom."""
    places = [place for place, item in enumerate(items) if isinstance(item, SybilItem)]
    blocks = sorted((items[place] for place in places), key=lambda item: (str(item.path), item.example.line))
    for place, block in zip(places, blocks, strict=True):
        items[place] = block
