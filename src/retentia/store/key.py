"""Where the key of an encrypted store comes from: the caller, the environment, a file or a command."""

import os
import shlex
import subprocess
from pathlib import Path

from retentia.errors import InvalidInput

KEY, NEW_KEY = "RETENTIA_KEY", "RETENTIA_NEW_KEY"
_COMMAND_SECONDS = 30


def find_key(given: str | None) -> str | None:
    """Return the key that was given, or what the environment names; None for a store that is not encrypted.

    RETENTIA_KEY holds the key, RETENTIA_KEY_FILE names a file that does, RETENTIA_KEY_COMMAND a command that prints it
    (the one of a key store). Raises InvalidInput when the file or the command gives none.
    """
    return _found(KEY) if given is None else given


def find_new_key() -> str | None:
    """Return the key that is to take the place of the other, from RETENTIA_NEW_KEY, …_FILE or …_COMMAND."""
    return _found(NEW_KEY)


def _found(name: str) -> str | None:
    if key := os.environ.get(name):
        return key
    if file := os.environ.get(f"{name}_FILE"):
        return _from_file(Path(file), f"{name}_FILE")
    if command := os.environ.get(f"{name}_COMMAND"):
        return _from_command(command, f"{name}_COMMAND")
    return None


def _from_file(path: Path, name: str) -> str:
    try:
        key = path.read_text("utf-8").strip()
    except (OSError, ValueError) as error:
        raise InvalidInput(f"the key file {str(path)!r} of {name} cannot be read") from error
    if not key:
        raise InvalidInput(f"the key file {str(path)!r} of {name} is empty")
    return key


def _from_command(command: str, name: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - the person who runs us named it, and no shell reads it
            shlex.split(command), capture_output=True, text=True, timeout=_COMMAND_SECONDS, check=True
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise InvalidInput(f"the command of {name} failed; run it by hand to see why") from error
    key = done.stdout.strip()
    if not key:
        raise InvalidInput(f"the command of {name} printed nothing")
    return key
