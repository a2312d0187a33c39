"""Replay: assemble a prompt again as a reply saw it, from what its manifest names and what of that is still there.

With a reply, ids, parts and labels are kept, texts are not: what was erased, removed, made anew or changed since is
named and left out. Not kept either are the caller's role, the dates in the note about missing messages, and which
stretch of a long record was quoted; its beginning is.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import get_args

from retentia.model.manifest import Shown, Why
from retentia.model.record import MessageRecord
from retentia.model.summary import Summary
from retentia.read.excerpt import WHOLE_UP_TO, excerpt
from retentia.read.query import Span
from retentia.shown import item_of, summary_item
from retentia.working.budget import Dropped, DropReason, PartName
from retentia.working.context import Context, Layout, arranged, said_turns, tokens_of_turns
from retentia.working.context import Shown as ShownAgain
from retentia.working.quote import sendable
from retentia.working.records import HEADINGS, Labels, RecalledItem, RecordPart
from retentia.working.render import Turn, with_unique_call_ids
from retentia.working.said import window_message
from retentia.working.tokens import MESSAGE_OVERHEAD, TokenCounter
from retentia.working.window import with_tool_groups

_PARTS: frozenset[str] = frozenset(get_args(PartName))
_SAID = frozenset(("pinned", "recent"))
_SINCE: dict[DropReason, str] = {
    "erased since": "been erased",
    "made anew since": "been made anew or removed",
    "changed since": "changed",
}


def replayed(why: Why, *, role: str, request: str, counter: TokenCounter, layout: Layout) -> Context:
    """Return the prompt that a reply saw; `request` takes the place of the one that was kept with it.

    What is lost is in `dropped`, and said in a sentence of the prompt. Tokens are counted anew; the budget is that of
    the time, and no promise. What the whole session would have taken is not known, and 0.
    """
    shown = [one for one in why.shown if one.seen.part in _PARTS]
    there = [one for one in shown if one.record is not None and not one.is_changed]
    lost = tuple(_lost(why.shown))
    asked = request or _request(why, {one.seen.record_id for one in there})
    records = {part: list(_items(there, part)) for part in HEADINGS}
    labels = Labels({one.seen.record_id: one.seen.label for one in there if one.seen.record_id})
    pinned, recent = _said(there, counter, layout)
    lasting, passing = arranged(
        role=sendable(role),
        records=records,
        labels=labels,
        pinned=pinned,
        note="\n".join(_notes(why, lost)),
        recent=recent,
        request=sendable(asked),
        layout=layout,
    )
    turns = tuple(with_unique_call_ids((*lasting, *passing)))
    by_part = _tokens_by_part(turns, records, labels, role, counter)
    total = max(tokens_of_turns(turns, counter), sum(by_part.values()))
    return Context(
        turns=turns,
        tokens_by_part={**by_part, "frame": total - sum(by_part.values())},
        total_tokens=total,
        budget=why.manifest.budget,
        counted=counter.label,
        gap=None,
        manifest=tuple(_manifest(there)),
        dropped=lost,
        full_history_tokens=0,
    )


def _lost(shown: Collection[Shown]) -> Iterator[Dropped]:
    for one in shown:
        part: PartName = "current" if one.seen.part == "request" else one.seen.part  # type: ignore[assignment]  # as kept
        if one.seen.record_id is None:
            yield Dropped("", part, "erased since")
        elif one.record is None:
            yield Dropped(one.seen.record_id, part, "made anew since")
        elif one.is_changed:
            yield Dropped(one.seen.record_id, part, "changed since")


def _request(why: Why, shown: Collection[str | None]) -> str:
    """Return the request that was kept; one that was not stored is "", also where an older message stands for it."""
    kept = next((one.record for one in why.shown if one.seen.part == "request"), None)
    return "" if kept is None or kept.id in shown else kept.text


def _items(there: Collection[Shown], part: RecordPart) -> Iterator[RecalledItem]:
    for one in there:
        if one.seen.part != part or one.record is None:
            continue
        if isinstance(one.record, Summary):
            item = summary_item(one.record)
        else:
            item = item_of(one.record, excerpt(one.record.text, [Span(0, WHOLE_UP_TO)]))
        if part == "profile":  # it says what is known, not who said so and when
            item = replace(item, role="", speaker="", day=item.day if one.seen.kind == "session" else 0)
        yield replace(item, kind=one.seen.kind, score=one.seen.score)


def _said(there: Collection[Shown], counter: TokenCounter, layout: Layout) -> tuple[list[Turn], list[Turn]]:
    parts: dict[str, str] = {one.record.id: one.seen.part for one in there if isinstance(one.record, MessageRecord)}
    records = (one.record for one in there if isinstance(one.record, MessageRecord) and one.seen.part in _SAID)
    messages = with_tool_groups(window_message(record, counter) for record in records)
    end = max((one.record.last_seq for one in there if isinstance(one.record, Summary) and one.record.level), default=0)
    return said_turns(
        [message for message in messages if parts[message.id] == "pinned"],
        [message for message in messages if parts[message.id] == "recent"],
        summarised_to=end if layout == "cache" else None,
    )


def _notes(why: Why, lost: Collection[Dropped]) -> Iterator[str]:
    if missing := why.manifest.missing:
        yield f"({'1 earlier message was' if missing == 1 else f'{missing} earlier messages were'} not shown here.)"
    for reason, verb in _SINCE.items():
        if count := sum(one.reason == reason for one in lost):
            records = "1 record that was shown has" if count == 1 else f"{count} records that were shown have"
            yield f"({records} {verb} since.)"


def _tokens_by_part(
    turns: Collection[Turn],
    records: dict[RecordPart, list[RecalledItem]],
    labels: Labels,
    role: str,
    counter: TokenCounter,
) -> dict[str, int]:
    tokens: dict[str, int] = dict.fromkeys((*get_args(PartName), "gap"), 0)
    for part, some in records.items():
        if some:
            tokens[part] = sum(counter.count(labels.record(one)) for one in some) + counter.count(HEADINGS[part])
    tokens["role"] = counter.count(role) + MESSAGE_OVERHEAD if role else 0
    for turn in turns:
        if turn.part in ("pinned", "gap", "recent", "current"):
            tokens[turn.part] += counter.count_message(turn.as_message())
    return tokens


def _manifest(there: Collection[Shown]) -> Iterator[ShownAgain]:
    for one in there:
        seen = one.seen
        yield ShownAgain(
            id=seen.record_id or "",
            kind=seen.kind,
            part=seen.part,  # type: ignore[arg-type]  # as it was kept
            score=seen.score,
            label=seen.label,
        )
