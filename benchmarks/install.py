"""Installing: what `pip install .` brings into a fresh environment."""

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.setting import Setting
from benchmarks.tables import Table

_PROJECT = Path(__file__).parent.parent
_TOOLS = {"pip", "setuptools", "wheel"}
_COUNT = """
import json, importlib.metadata as metadata
found = {}
for one in metadata.distributions():
    size = sum(path.stat().st_size for file in one.files or () if (path := file.locate()).is_file())
    found[one.metadata["Name"].lower()] = size
print(json.dumps(found))
"""


def measure(setting: Setting) -> list[Table]:
    """Install the core alone into a fresh environment, and weigh it."""
    folder = setting.folder / "fresh"
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    setting.say("making a fresh environment")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    setting.say("installing the core into it")
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    constraints = _PROJECT / "constraints.txt"
    pinned = ["--constraint", str(constraints)] if constraints.exists() else []
    subprocess.run([*install, *pinned, str(_PROJECT)], check=True, capture_output=True)
    counted = subprocess.run([str(python), "-c", _COUNT], check=True, capture_output=True, text=True)
    sizes = {name: size for name, size in json.loads(counted.stdout).items() if name not in _TOOLS}
    heavy = sorted(sizes.items(), key=lambda entry: -entry[1])
    rows = [
        ("packages", len(sizes), 15),
        ("MB", sum(sizes.values()) / 1e6, 200),
        *((f"of which {name}", size / 1e6, None) for name, size in heavy[:5]),
    ]
    return [Table("pip install .", ("", "found", "goal"), rows)]
