"""Weigh one distribution and all it requires, as installed: `python -m benchmarks.peers.weigh NAME`. Prints JSON."""

import json
import sys
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

from packaging.requirements import Requirement


def main() -> None:
    """Print the version, how many packages it takes, and their bytes; null for what is not installed."""
    found: dict[str, int] = {}
    _collect(sys.argv[1], frozenset(), found)
    known = version(sys.argv[1]) if found else None
    print(json.dumps({"version": known, "packages": len(found) or None, "bytes": sum(found.values()) or None}))


def _collect(name: str, extras: frozenset[str], found: dict[str, int]) -> None:
    try:
        installed = distribution(name)
    except PackageNotFoundError:
        return
    key = installed.metadata["Name"].lower().replace("_", "-")
    if key in found and not extras:
        return
    files = (Path(file.locate()) for file in installed.files or ())
    found[key] = sum(file.stat().st_size for file in files if file.is_file())
    for line in installed.requires or ():
        requirement = Requirement(line)
        if any(_applies(requirement, extra) for extra in extras | {""}):
            _collect(requirement.name, frozenset(requirement.extras), found)


def _applies(requirement: Requirement, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


if __name__ == "__main__":
    main()
