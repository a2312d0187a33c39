"""Report a run: one JSON object for programs, a table for people, one line a question for whoever wants to know why."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from retentia.errors import InvalidInput
from retentia.evals.metrics import auroc, mean, percentile
from retentia.evals.runs import CONTEXT_TOKENS, IN_CONTEXT, Outcome, Run

Summary = dict[str, Any]

_COLUMNS = {
    "recall_at_1": "r@1",
    "recall_at_5": "r@5",
    "recall_at_10": "r@10",
    "hit_at_10": "hit@10",
    "mrr": "MRR",
    "ndcg_at_10": "NDCG",
    "gold_in_1300_tokens": "≤1300",
}
_DIGITS = 4
_NAME_WIDTH = 22


def summarise(run: Run) -> Summary:
    """Return the run's figures: means over questions, milliseconds, None where nothing was measured."""
    own = run.asked("own")
    searches = [outcome.search_ms for outcome in run.outcomes]
    summary: Summary = {"suite": run.suite, "questions": len(own), **_means(own)}
    if own and IN_CONTEXT in own[0].scores:
        single = [outcome for outcome in own if len(outcome.question.gold) == 1]
        summary[f"single_{IN_CONTEXT}"] = _rounded(mean([outcome.scores[IN_CONTEXT] for outcome in single]))
    summary["abstention_auroc"] = _separation(own, run.asked("foreign"))
    summary["unsaid_auroc"] = _separation(own, run.asked("unsaid"))
    summary["own_answered"] = _answered(own)
    summary["foreign_answered"] = _answered(run.asked("foreign"))
    summary["search_p50_ms"] = _rounded(percentile(searches, 0.5))
    summary["search_p95_ms"] = _rounded(percentile(searches, 0.95))
    summary["embed_p50_ms"] = _rounded(percentile(run.embed_ms, 0.5))
    summary["by_category"] = _by(own, lambda outcome: (outcome.question.category,))
    if tagged := _by(own, lambda outcome: outcome.question.tags):
        summary["by_tag"] = tagged
    return summary


def write_details(run: Run, summary: Summary, folder: Path) -> Path:
    """Write `<suite>.jsonl`, one line a question asked, and `<suite>.json`, the summary; return the former.

    Raises InvalidInput when the folder cannot be written.
    """
    lines = "".join(json.dumps(_line(outcome), ensure_ascii=False) + "\n" for outcome in run.outcomes)
    path = folder / f"{run.suite}.jsonl"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(lines, encoding="utf-8")
        path.with_suffix(".json").write_text(json.dumps(summary, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"cannot write to {str(folder)!r} ({error.strerror}); choose another --out") from error
    return path


def print_table(summary: Summary, console: Console) -> None:
    """Print recall by category, then what holds for the whole run; fits 80 columns.

    `r@k` is the share of the gold among the first k, `≤1300` the share within 1,300 tokens of returned text.
    """
    title = f"{summary['suite']}: {summary['questions']} questions"
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("category", no_wrap=True, max_width=_NAME_WIDTH)
    for heading in ("asked", *_COLUMNS.values()):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, row in _rows(summary):
        table.add_row(Text(name), str(row["questions"]), *(_shown(row.get(key)) for key in _COLUMNS))
    console.print(table)
    for line in _remarks(summary):
        console.print(line, highlight=False)


def _rows(summary: Summary) -> Iterable[tuple[str, Mapping[str, Any]]]:
    yield from summary["by_category"].items()
    yield from ((f"({tag})", row) for tag, row in summary.get("by_tag", {}).items())
    yield "all", summary


def _remarks(summary: Summary) -> Iterable[str]:
    yield f"abstention: AUROC {_shown(summary['abstention_auroc'])} against questions from elsewhere"
    answered = f"{_shown(summary['own_answered'])} of its own, {_shown(summary['foreign_answered'])} of those"
    yield f"with the cutoff it would answer {answered}"
    if summary["unsaid_auroc"] is not None:
        yield f"never said: AUROC {_shown(summary['unsaid_auroc'])} against unanswerable questions on its own topics"
    if IN_CONTEXT in summary:
        single = _shown(summary[f"single_{IN_CONTEXT}"])
        gold = _shown(summary[IN_CONTEXT])
        yield f"in a prompt of {CONTEXT_TOKENS:,} tokens: {gold} of the gold, {single} where one source answers"
    search = f"p50 {_shown(summary['search_p50_ms'])} ms, p95 {_shown(summary['search_p95_ms'])} ms"
    yield f"search: {search}; embedding a question: p50 {_shown(summary['embed_p50_ms'])} ms"


def _line(outcome: Outcome) -> dict[str, Any]:
    question = outcome.question
    return {
        "group": outcome.group,
        "id": question.id,
        "asked": outcome.asked,
        "question": question.text,
        "answer": question.answer,
        "category": question.category,
        "tags": list(question.tags),
        "gold": list(question.gold) if outcome.asked == "own" else [],
        "relevance": _rounded(outcome.relevance),
        "search_ms": _rounded(outcome.search_ms),
        **{name: _rounded(value) for name, value in outcome.scores.items()},
        "found": [
            {
                "source": found.source,
                "score": _rounded(found.score),
                "tokens": found.tokens,
                "signals": {name: _rounded(value) for name, value in found.signals.items()},
            }
            for found in outcome.shown
        ],
    }


def _means(outcomes: Sequence[Outcome]) -> Summary:
    names = outcomes[0].scores if outcomes else dict.fromkeys(_COLUMNS)
    return {name: _rounded(mean([outcome.scores[name] for outcome in outcomes])) for name in names}


def _by(outcomes: Sequence[Outcome], labels: Callable[[Outcome], Sequence[str]]) -> Summary:
    grouped: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        for label in labels(outcome):
            grouped.setdefault(label, []).append(outcome)
    return {label: {"questions": len(members), **_means(members)} for label, members in sorted(grouped.items())}


def _separation(own: Sequence[Outcome], others: Sequence[Outcome]) -> float | None:
    return _rounded(auroc([outcome.relevance for outcome in own], [outcome.relevance for outcome in others]))


def _answered(outcomes: Sequence[Outcome]) -> float | None:
    return _rounded(mean([float(outcome.relevance >= outcome.threshold) for outcome in outcomes]))


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
