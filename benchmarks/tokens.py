"""How far the token estimate is off: run as `python -m benchmarks.tokens` where an exact tokenizer is installed.

Without arguments it measures the messages in tokens_samples.toml and this project's own code. Folders of public
benchmarks and text files (one message a line) add rows. The tokenizer is tiktoken, which downloads its tables once, or
bpe-openai, which carries them in its package.
"""

import json
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from retentia.working.tokens import MESSAGE_OVERHEAD, SMALL_VOCABULARY, EstimatingCounter

_HERE = Path(__file__).parent
_CODE_LINES = 15
_TOKENIZERS = ("bpe_openai", "tiktoken")
_COUNTERS = {"o200k_base": EstimatingCounter(), "cl100k_base": EstimatingCounter(SMALL_VOCABULARY)}

_SAMPLES = {
    "English": "Could you remind me on Sunday at six to call my mother, and send her the pictures of the garden",
    "Ukrainian": "Нагадай мені, будь ласка, зателефонувати мамі в неділю о шостій вечора й надіслати фотографії саду.",
}


@dataclass(frozen=True, slots=True)
class Errors:
    """How a counter did on some texts, as shares: texts underestimated, mean overshoot of texts and of messages."""

    texts: int
    undershot: float
    worst: float
    overshoot: float
    overshoot_of_messages: float
    total: float


@click.command()
@click.option("--encoding", type=click.Choice(list(_COUNTERS)), default="o200k_base", show_default=True)
@click.option("--locomo", type=click.Path(exists=True, path_type=Path), help="A LoCoMo JSON file.")
@click.option("--beam", type=click.Path(exists=True, path_type=Path), help="A folder with BEAM chats.")
@click.option("--xquad", type=click.Path(exists=True, path_type=Path), help="A folder with XQuAD's JSON files.")
@click.option("--lines", "files", type=(str, click.Path(exists=True, path_type=Path)), multiple=True, help="NAME FILE")
def main(
    encoding: str, locomo: Path | None, beam: Path | None, xquad: Path | None, files: tuple[tuple[str, Path], ...]
) -> None:
    """Print, as a Markdown table, how the estimate compares with the exact count of each kind of text."""
    exact, counter = _tokenizer(encoding), _COUNTERS[encoding]
    print("| texts | number | underestimated | worst | mean overshoot: text | message | all together |")
    print("|---|---|---|---|---|---|---|")
    for name, texts in _corpora(locomo, beam, xquad, files):
        errors = measure([text for text in texts if text.strip()], exact, counter)
        print(
            f"| {name} | {errors.texts} | {errors.undershot:.1%} | {errors.worst:+.0%} | {errors.overshoot:+.0%} "
            f"| {errors.overshoot_of_messages:+.0%} | {errors.total:+.0%} |"
        )
    for language, sample in _SAMPLES.items():
        print(f"\n{len(sample)} characters of {language} take {_microseconds(counter, sample):.1f} µs of CPU time")


def measure(texts: list[str], exact: Callable[[str], int], counter: EstimatingCounter) -> Errors:
    """Compare the estimate with the exact count; a message adds the same overhead to both."""
    pairs = [(exact(text), counter.count(text)) for text in texts]
    shares = [(estimated - counted) / counted for counted, estimated in pairs]
    of_messages = [(estimated - counted) / (counted + MESSAGE_OVERHEAD) for counted, estimated in pairs]
    return Errors(
        texts=len(pairs),
        undershot=sum(share < 0 for share in shares) / len(pairs),
        worst=min(0.0, *shares),
        overshoot=sum(shares) / len(pairs),
        overshoot_of_messages=sum(of_messages) / len(pairs),
        total=sum(estimated for _, estimated in pairs) / sum(counted for counted, _ in pairs) - 1,
    )


def _tokenizer(encoding: str) -> Callable[[str], int]:
    for name in _TOKENIZERS:
        try:
            encode = import_module(name).get_encoding(encoding).encode_ordinary
        except ImportError:
            continue
        return lambda text: len(encode(text))
    raise click.ClickException("no exact tokenizer: install one of " + ", ".join(_TOKENIZERS))


def _corpora(
    locomo: Path | None, beam: Path | None, xquad: Path | None, files: tuple[tuple[str, Path], ...]
) -> Iterator[tuple[str, list[str]]]:
    yield from tomllib.loads((_HERE / "tokens_samples.toml").read_text("utf-8")).items()
    yield "Python code", list(_code(_HERE.parent))
    if locomo:
        yield (
            "English, LoCoMo turns",
            [turn["text"] for turn in _dicts(json.loads(locomo.read_text("utf-8"))) if "dia_id" in turn],
        )
    if beam:
        chats = [json.loads(path.read_text("utf-8")) for path in sorted(beam.glob("**/chat.json"))]
        messages = [one["content"] for one in _dicts(chats) if "content" in one and "role" in one]
        yield "English, BEAM messages", messages
    for path in sorted(xquad.glob("xquad.*.json")) if xquad else ():
        paragraphs = [one for one in _dicts(json.loads(path.read_text("utf-8"))) if "context" in one]
        language = path.name.split(".")[1]
        yield f"{language}, XQuAD paragraphs", [one["context"] for one in paragraphs]
        yield f"{language}, XQuAD questions", [question["question"] for one in paragraphs for question in one["qas"]]
    for name, path in files:
        yield name, path.read_text("utf-8").splitlines()


def _code(root: Path) -> Iterator[str]:
    for folder in ("src", "tests"):
        for path in sorted(root.glob(f"{folder}/**/*.py")):
            lines = path.read_text("utf-8").splitlines()
            yield from ("\n".join(lines[at : at + _CODE_LINES]) for at in range(0, len(lines), _CODE_LINES))


def _dicts(value: Any) -> Iterator[dict[str, Any]]:  # what a JSON file holds has no static type
    """Yield every object of a JSON value, outer ones first."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _dicts(item)


def _microseconds(counter: EstimatingCounter, text: str, rounds: int = 20_000) -> float:
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        for _ in range(rounds):
            counter.count(text)
        best = min(best, time.process_time() - start)
    return best / rounds * 1e6


if __name__ == "__main__":
    main()
