"""From what is stored to what a prompt shows: records and hits as the values of the context."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from retentia.errors import NotFound
from retentia.lifecycle.forget import Forgetting
from retentia.model.feed import Feed
from retentia.model.ids import RecordId, id_bytes
from retentia.model.manifest import Manifest, Seen, Shown, Why
from retentia.model.provenance import Trust
from retentia.model.record import ItemRecord, MessageRecord, Record, Status, ToolCallRecord
from retentia.model.summary import Summary
from retentia.model.time import Moment
from retentia.read.listing import Page
from retentia.read.query import Hit, Recall
from retentia.read.suspicion import LOOKS_LIKE_INSTRUCTION, looks_like_instruction
from retentia.store import manifests, records, summaries
from retentia.store.database import Transaction
from retentia.store.records import View
from retentia.working.context import Context, ContextSettings, Material
from retentia.working.extractive import MADE_BY, shortened_to, without_head
from retentia.working.history import History
from retentia.working.opening import Opening
from retentia.working.records import RecalledItem
from retentia.working.said import window_message
from retentia.working.strategy import STANDARD, Strategy, assemble_by
from retentia.working.tokens import RememberingCounter, TokenCounter
from retentia.working.told import in_short, quotes_of
from retentia.working.window import with_tool_groups

ASK_FIRST = "not confirmed, ask before acting on it"
"""The mark of what the person has not confirmed, where something that matters may follow from it."""


def context_of(
    request: str,
    *,
    recalled: Sequence[Hit],
    read: Callable[[bool], History],
    role: str,
    budget: int,
    counter: TokenCounter,
    settings: ContextSettings,
    opening: Opening | None = None,
    strategy: Strategy = STANDARD,
    consequential: bool = False,
) -> Context:
    """Assemble the next prompt from what was recalled and the history of the session, which `read` reads.

    `consequential` marks what of the `opening` the person has not confirmed, as a recall does for what it finds.

    Where a summary does not fit, the whole session is read, so that every message that is not shown can be named. No
    message is missing where the session fits as it was said: its summaries then make room.
    """
    counter = RememberingCounter(counter)
    history = read(strategy.reads_whole)
    profile = list(_opening_items(opening, consequential=consequential)) if opening else []
    material = Material(request=request, role=role, recalled=[recalled_item(hit) for hit in recalled], profile=profile)
    make = partial(assemble_by, strategy, budget=budget, counter=counter, settings=settings)
    made = make(_with_history(material, history, counter))
    if any(history.unread.get(one.id) for one in made.dropped):
        made = make(_with_history(material, read(True), counter))
    if made.gap is not None and history.covered_tokens and made.full_history_tokens < budget:
        spoken = replace(read(True), summaries=(), unread={}, covered_tokens=0)
        whole = make(_with_history(material, spoken, counter))
        return whole if whole.gap is None else made
    return made


def _with_history(material: Material, history: History, counter: TokenCounter) -> Material:
    messages = [
        window_message(message, counter, summarised_by=history.covering(message.seq)) for message in history.messages
    ]
    uncovered = sum(message.tokens for message in messages if not message.summarised_by)
    last = messages[-1] if messages else None
    is_said = last is not None and last.role == "user" and last.text.strip() == material.request.strip()
    return replace(
        material,
        messages=with_tool_groups(messages),
        summary=[summary_item(one) for one in history.summaries],
        history_tokens=history.covered_tokens + uncovered,
        request_id=last.id if last is not None and is_said else "",
    )


def _opening_items(opening: Opening, *, consequential: bool) -> Iterator[RecalledItem]:
    """Prepare what a session begins with: the profile, what is open, and the latest sessions."""
    for known in opening.profile:
        yield replace(
            item_of(
                known,
                in_short(known),
                status=_status(known, ask=consequential and known.status is not Status.CONFIRMED),
            ),
            day=0,  # what holds now is not told with the day it was said
            source=known.sources[0].id if known.sources else "",
        )
    for item in opening.open_items:
        yield RecalledItem(id=item.message_id, kind="open item", text=item.text)
    for session in opening.sessions:
        day = Moment.at(session.started_at).local_day()
        text = without_head(session.summary)
        yield RecalledItem(id=session.id, kind="session", text=text, speaker=session.session, day=day)


def manifest_of(made: Context) -> Manifest:
    """Return what a context shows, to be kept with the reply it leads to."""
    return Manifest(
        seen=tuple(
            Seen(record_id=RecordId(one.id), kind=one.kind, part=one.part, label=one.label, score=one.score)
            for one in made.manifest
        ),
        budget=made.budget,
        tokens=made.total_tokens,
        counted=made.counted,
        tokens_by_part=made.tokens_by_part,
        missing=made.gap.count if made.gap else 0,
    )


def explained(transaction: Transaction, view: View, reply: MessageRecord) -> Why:
    """Look up what a reply saw; raise NotFound where that was not kept."""
    found = (manifests.find(transaction, scope_id, id_bytes(reply.id)) for scope_id in view.scope_ids)
    kept = next(filter(None, found), None)
    if kept is None:
        raise NotFound(f"what the reply {reply.id!r} saw was not kept; add replies with context=")
    manifest, created_at = kept
    ids = [id_bytes(one.record_id) for one in manifest.seen if one.record_id is not None]
    there: dict[bytes, Record | Summary] = {
        **records.fetch(transaction, view, records.kinds_of(transaction, view, ids))
    }
    for scope_id in view.scope_ids:
        there |= summaries.by_ids(transaction, scope_id, ids)
    shown = [Shown(one, there.get(id_bytes(one.record_id)) if one.record_id else None) for one in manifest.seen]
    return Why(reply=reply, manifest=manifest, shown=tuple(shown), created_at=created_at)


def shown_ids(answer: object) -> Iterator[str]:
    """Name the records that an answer shows, whichever verb gave it."""
    match answer:
        case Record():
            yield answer.id
        case Forgetting():
            yield from (*answer.ids, *answer.along, *answer.binned)
            yield from (sample.id for sample in (*answer.remains, *answer.related))
        case Page():
            yield from shown_ids(list(answer.records))
        case Feed():
            yield from (one.record_id for one in answer)
        case History():
            yield from shown_ids(list(answer.messages))
        case Why():
            yield from shown_ids(
                [answer.reply, *(one.record for one in answer.shown if isinstance(one.record, Record))]
            )
        case Recall() | list():
            for one in answer:
                yield from _ids_of(one)


def _ids_of(one: object) -> tuple[str, ...]:
    match one:
        case Hit():
            return one.shown_ids
        case Record():
            return (one.id,)
        case str():
            return (one,)
    return ()


def recalled_item(hit: Hit) -> RecalledItem:
    """Prepare a hit for the prompt: its excerpt, who said it, when, and whether it came from outside."""
    status = _status(hit.record, ask=True) if hit.needs_confirmation else ""
    return item_of(hit.record, hit.shown_text, score=hit.score, status=status)


def _status(record: Record, *, ask: bool) -> str:
    """Say how firmly an item is believed, and to ask first where that is not enough."""
    told = record.status.value if isinstance(record, ItemRecord) else ""
    return _joined(told, ASK_FIRST if ask else "")


def _joined(*told: str) -> str:
    return "; ".join(filter(None, told))


def item_of(record: Record, text: str, *, score: float = 0.0, status: str = "") -> RecalledItem:
    """Prepare a record for the prompt, with `text` as what is shown of it, marked where it looks like an order."""
    role = speaker = ""
    match record:
        case MessageRecord():
            role, speaker = record.role, record.speaker
        case ToolCallRecord():
            role, speaker = "tool", record.name
    return RecalledItem(
        id=record.id,
        kind=record.kind.value,
        text=text,
        role=role,
        speaker=speaker,
        day=record.occurred.local_day() if record.occurred else 0,
        score=score,
        trusted=record.trust is not Trust.OUTSIDE,
        status=_joined(status, LOOKS_LIKE_INSTRUCTION if looks_like_instruction(record, text) else ""),
        quotes=quotes_of(record),
    )


def summary_item(made: Summary) -> RecalledItem:
    """Prepare a summary for the prompt: when what it covers began, and who made it."""
    return RecalledItem(
        id=made.id,
        kind="summary",
        text=without_head(made.text),
        speaker=made.made_by,
        day=Moment.at(made.started_at).local_day(),
        shorten=partial(shortened_to, made) if made.made_by == MADE_BY else None,
    )
