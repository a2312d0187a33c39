"""Where the key of an encrypted store comes from: the caller, the environment, a file or a command."""

import os
import shlex
import subprocess
from pathlib import Path

from retentia.errors import InvalidInput

KEY, KEY_FILE, KEY_COMMAND = "RETENTIA_KEY", "RETENTIA_KEY_FILE", "RETENTIA_KEY_COMMAND"
_COMMAND_SECONDS = 30


def find_key(given: str | None) -> str | None:
    """Return the key that was given, or what the environment names; None for a store that is not encrypted.

    RETENTIA_KEY holds the key, RETENTIA_KEY_FILE names a file that does, RETENTIA_KEY_COMMAND a command that prints it
    (the one of a key store). Raises InvalidInput when the file or the command gives none.
    """
    if given is not None:
        return given
    if key := os.environ.get(KEY):
        return key
    if file := os.environ.get(KEY_FILE):
        return _from_file(Path(file))
    if command := os.environ.get(KEY_COMMAND):
        return _from_command(command)
    return None


def _from_file(path: Path) -> str:
    try:
        key = path.read_text("utf-8").strip()
    except (OSError, ValueError) as error:
        raise InvalidInput(f"the key file {str(path)!r} of {KEY_FILE} cannot be read") from error
    if not key:
        raise InvalidInput(f"the key file {str(path)!r} of {KEY_FILE} is empty")
    return key


def _from_command(command: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - the person who runs us named it, and no shell reads it
            shlex.split(command), capture_output=True, text=True, timeout=_COMMAND_SECONDS, check=True
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise InvalidInput(f"the command of {KEY_COMMAND} failed; run it by hand to see why") from error
    key = done.stdout.strip()
    if not key:
        raise InvalidInput(f"the command of {KEY_COMMAND} printed nothing")
    return key
