"""XQuAD: the same paragraphs and questions in several languages, asked across them (Artetxe et al. 2020)."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from retentia.errors import InvalidInput
from retentia.evals.dataset import Dataset, Entry, Group, Question
from retentia.evals.loaders.reading import read_json, shape_of

LANGUAGES = ("en", "de")
_EXPECTED = "XQuAD: a folder with xquad.en*.json and xquad.de*.json in SQuAD form"


def load_xquad(path: Path, *, limit: int | None = None) -> Dataset:
    """Read the paragraphs as one scope for each language, asked in both; `limit` counts articles.

    A question's category is `asked→stored`. Both languages hold the same facts, so no question is foreign to either
    and abstention cannot be measured. Raises InvalidInput.
    """
    articles = {language: _articles(path, language)[:limit] for language in LANGUAGES}
    with shape_of(path, _EXPECTED):
        groups = tuple(_group(stored, articles) for stored in LANGUAGES)
    return Dataset(name="xquad", groups=groups)


def _articles(path: Path, language: str) -> list[Mapping[str, Any]]:
    files = sorted(path.glob(f"xquad.{language}*.json")) if path.is_dir() else []
    if not files:
        raise InvalidInput(f"no xquad.{language}*.json in {str(path)!r}; expected {_EXPECTED}")
    raw = read_json(files[0], _EXPECTED)
    with shape_of(files[0], _EXPECTED):
        return list(raw["data"])


def _group(stored: str, articles: Mapping[str, Sequence[Mapping[str, Any]]]) -> Group:
    asked = (question for language in LANGUAGES for question in _questions(articles[language], f"{language}→{stored}"))
    return Group(name=stored, entries=tuple(_paragraphs(articles[stored])), questions=tuple(asked))


def _numbered(articles: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, article in enumerate(articles):
        for position, paragraph in enumerate(article["paragraphs"]):
            yield f"{number}/{position}", paragraph


def _paragraphs(articles: Sequence[Mapping[str, Any]]) -> Iterator[Entry]:
    for source, paragraph in _numbered(articles):
        yield Entry(source=source, text=paragraph["context"], kind="item")


def _questions(articles: Sequence[Mapping[str, Any]], category: str) -> Iterator[Question]:
    for source, paragraph in _numbered(articles):
        for item in paragraph["qas"]:
            yield Question(
                id=f"{category}/{item['id']}",
                text=item["question"],
                gold=(source,),
                category=category,
                answer=item["answers"][0]["text"],
            )
