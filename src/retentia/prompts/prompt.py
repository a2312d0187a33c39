"""Loading prompts: Markdown files with a header that says what they are for and what is filled in."""

from dataclasses import dataclass
from functools import cache
from importlib import resources
from string import Template

from retentia.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt and what it is for. `inputs` are the names of what is filled in, `output` says what is expected back."""

    purpose: str
    inputs: frozenset[str]
    output: str
    text: str

    def filled(self, **values: object) -> str:
        """Return the text with every input filled in; raises InvalidInput when one is missing or not known."""
        if values.keys() != self.inputs:
            raise InvalidInput(f"the prompt takes {', '.join(sorted(self.inputs))}, not {', '.join(sorted(values))}")
        return Template(self.text).substitute({name: str(value) for name, value in values.items()})


@cache
def load(name: str) -> Prompt:
    """Return a prompt of this package by the name of its file."""
    written = (resources.files("retentia.prompts") / f"{name}.md").read_text("utf-8")
    _, header, text = written.split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in header.splitlines())
    inputs = frozenset(part.strip() for part in fields["inputs"].split(",") if part.strip())
    return Prompt(fields["purpose"], inputs, fields["output"], text.strip())
