"""The commands of a chat: each looks at the memory or changes it, and answers for people and for programs."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from retentia import Memory
from retentia.cli.chat.account import Took, took, took_today
from retentia.cli.chat.conversation import Conversation
from retentia.cli.chat.screen import Answer, Screen
from retentia.cli.forgetting import in_preview
from retentia.cli.output import erased_in_words
from retentia.cli.prompt import seen_in_words
from retentia.errors import InvalidInput, NotFound
from retentia.lifecycle.forget import Forgetting
from retentia.model.price import Price, price_of
from retentia.model.record import MessageRecord, Record
from retentia.model.session_record import SessionRecord
from retentia.working.account import NAMES, REASONS
from retentia.working.context import Context

_BAR = 30
_NAME = 27
_HITS = 5
_TEXT = 100
_KIND = re.compile(r"(note|fact|preference|event|decision|commitment|procedure|knowledge)\s*:\s*(.+)", re.DOTALL)
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """What the commands of one chat work with."""

    memory: Memory
    talk: Conversation
    screen: Screen
    model: str
    prices: Mapping[str, Price]


def show_context(chat: Chat, _: str) -> Answer:
    """Show what the model was sent for the last reply: tokens by part, what was dropped, what is missing."""
    made = _last(chat)
    value = {
        "tokens_by_part": made.tokens_by_part,
        "total_tokens": made.total_tokens,
        "budget": made.budget,
        "full_history_tokens": made.full_history_tokens,
        "cacheable_tokens": made.cacheable_tokens,
        "dropped": made.dropped,
        "gap": made.gap.ids if made.gap else (),
        "layers": chat.talk.manner.strategy.layers,
    }
    return Answer(command="context", value=value, lines=list(_in_bars(made)))


def show_cost(chat: Chat, _: str) -> Answer:
    """Show what the last reply, this session and today took, and what the full history would have taken."""
    price = price_of(chat.model, chat.prices)
    replies = _replies(chat)
    rows = [
        *([took("last reply", replies[-1:], price)] if replies else ()),
        took("this session", replies, price),
        took_today(chat.memory.spending.usage(chat.talk.session.scope.tenant, days=1), chat.prices),
    ]
    columns = ("", "calls", "tokens in", "tokens out", "full history in", "cost", "full history")
    return Answer(command="cost", value=rows, columns=columns, rows=[_cells(one) for one in rows])


def show_why(chat: Chat, which: str) -> Answer:
    """Show what the last reply saw, or the N-th of the session: /why 3."""
    replies = _replies(chat)
    if not replies:
        raise NotFound("there is no reply in this session yet")
    number = int(which) if which.isdecimal() else len(replies) if not which else 0
    if not 1 <= number <= len(replies):
        raise InvalidInput(f"/why takes the number of a reply of this session, 1 to {len(replies)}; not {which!r}")
    found = chat.memory.why(replies[number - 1].id, scope=chat.talk.session.scope)
    made = found.manifest
    told = f"reply {number} of {len(replies)}: {made.tokens:,} of {made.budget:,} tokens ({made.counted})"
    lines = [told, *([f"{made.missing} messages were named as missing"] if made.missing else ())]
    rows = [(one.seen.part, one.seen.record_id or "", *seen_in_words(one)) for one in found.shown]
    columns = ("part", "id", "kind", "score", "what it says")
    return Answer(command="why", value=found, lines=lines, columns=columns, rows=rows)


def recall(chat: Chat, text: str) -> Answer:
    """Search the memory: /recall TEXT."""
    found = chat.memory.recall(_needed(text, "recall"), scope=chat.talk.session.scope, limit=_HITS)
    rows = [(f"{hit.score:.2f}", hit.record.kind.value, _when(hit.record), _short(hit.text), hit.id) for hit in found]
    if not rows:
        return Answer(command="recall", value={"hits": [], "reason": found.reason}, lines=[f"nothing: {found.reason}"])
    value = {"hits": found.hits, "reason": found.reason}
    return Answer(command="recall", value=value, columns=("score", "kind", "when", "text", "id"), rows=rows)


def pin(chat: Chat, which: str) -> Answer:
    """Keep your last message in every context of the session: /pin, or /pin ID."""
    return _pinned(chat, which, pinned=True)


def unpin(chat: Chat, which: str) -> Answer:
    """Let it go again: /unpin, or /unpin ID."""
    return _pinned(chat, which, pinned=False)


def forget(chat: Chat, request: str) -> Answer:
    """Show what would be forgotten, ask, and forget it: /forget what I said about Anna, /forget ID."""
    planned = _planned(chat, _needed(request, "forget"))
    lines = list(in_preview(planned))
    if not planned.ids and not planned.binned:
        return Answer(command="forget", value=planned, lines=lines)
    chat.screen.answer(Answer(command="forget preview", value=planned, lines=lines))
    count = sum(planned.counts.values()) + len(planned.binned)
    if not chat.screen.confirm(f"forget these {count} for good?"):
        return Answer(command="forget", value={"erased": False}, lines=["nothing was forgotten"])
    done = chat.memory.forget(planned)
    chat.talk.last = None  # it may quote what is gone
    with suppress(ImportError):
        import readline

        readline.clear_history()
    return Answer(command="forget", value=done, lines=list(erased_in_words(done)))


def remember(chat: Chat, text: str) -> Answer:
    """Keep something known: /remember I am allergic to nuts, /remember preference: short answers."""
    given = _KIND.fullmatch(_needed(text, "remember"))
    kind, content = given.groups() if given else ("fact", text)
    receipt = chat.memory.remember(content, kind, scope=chat.talk.session.scope)
    (written,) = receipt.written
    lines = [f"{'remembered' if written.is_new else 'already known, seen again'}: {kind} {written.id}", *receipt.notes]
    return Answer(command="remember", value=receipt, lines=lines)


def show_summary(chat: Chat, _: str) -> Answer:
    """Show the summaries that stand for what is older than the window."""
    session = chat.talk.session
    found = chat.memory.history(scope=session.scope, session=session.name).summaries
    lines = [line for one in found for line in (one.text, f"({one.messages} messages, made by {one.made_by})")]
    return Answer(command="summary", value=found, lines=lines or ["no summary yet: all of it is in the window"])


def checkpoint(chat: Chat, _: str) -> Answer:
    """Summarise the session as it is now, and show its record."""
    return _recorded("checkpoint", chat.talk.session.checkpoint())


def end(chat: Chat, _: str) -> Answer:
    """End the session, with its summary, and the chat."""
    return _recorded("end", chat.talk.session.end())


def show_help(_: Chat, __: str) -> Answer:
    """Show the commands."""
    told = {name: (command.__doc__ or "").strip() for name, command in COMMANDS.items()}
    told |= {"retry": "Ask again for a reply to your last message.", "quit": "End the chat; the session stays open."}
    rows = [(f"/{name}", text) for name, text in told.items()]
    lines = ["What begins with another / is said as it is: //etc is /etc."]
    return Answer(command="help", value=told, columns=("command", "what it does"), rows=rows, lines=lines)


Command = Callable[[Chat, str], Answer]
COMMANDS: Mapping[str, Command] = {
    "context": show_context,
    "cost": show_cost,
    "why": show_why,
    "recall": recall,
    "pin": pin,
    "unpin": unpin,
    "forget": forget,
    "remember": remember,
    "summary": show_summary,
    "checkpoint": checkpoint,
    "end": end,
    "help": show_help,
}


def _last(chat: Chat) -> Context:
    if chat.talk.last is None:
        raise NotFound("nothing was sent yet, or what was sent was forgotten; say something first")
    return chat.talk.last.context


def _replies(chat: Chat) -> list[MessageRecord]:
    return [message for message in chat.talk.session.messages() if message.role == "assistant"]


def _in_bars(made: Context) -> Iterator[str]:
    for part, tokens in made.tokens_by_part.items():
        if tokens:
            bar = "█" * max(1, round(_BAR * tokens / made.total_tokens))
            yield f"{NAMES.get(part, part):<{_NAME}} {tokens:>7,}  {bar}"
    yield f"{'in all':<{_NAME}} {made.total_tokens:>7,}  of {made.budget:,} tokens ({made.counted})"
    yield f"{'the whole session':<{_NAME}} {made.full_history_tokens:>7,}"
    yield f"{'same in the next call':<{_NAME}} {made.cacheable_tokens:>7,}"
    for (part, reason), count in Counter((one.part, one.reason) for one in made.dropped).items():
        yield f"left out of {NAMES.get(part, part)}, {count} times, because it {REASONS[reason]}"
    if made.gap is not None:
        yield f"gap: {made.gap.count} messages of the session are not shown, and the model was told so"


def _pinned(chat: Chat, which: str, *, pinned: bool) -> Answer:
    if not which:
        mine = [message for message in chat.talk.session.messages() if message.role == "user"]
        if not mine:
            raise NotFound("you have said nothing in this session yet")
        which = mine[-1].id
    kept = chat.memory.pin(which, scope=chat.talk.session.scope, pinned=pinned)
    done = "pinned" if pinned else "unpinned"
    return Answer(command="pin" if pinned else "unpin", value=kept, lines=[f"{done}: {_short(kept.text)}"])


def _planned(chat: Chat, request: str) -> Forgetting:
    """Read what is to be forgotten: a record, a whole sentence, or what follows "forget"."""
    scope = chat.talk.session.scope
    if _ID.fullmatch(request):
        return chat.memory.plan_forgetting(scope=scope, ids=[request])
    with suppress(InvalidInput):
        return chat.memory.plan_forgetting(request, scope=scope)
    return chat.memory.plan_forgetting(f"forget {request}", scope=scope)


def _recorded(command: str, made: SessionRecord | None) -> Answer:
    if made is None:
        return Answer(command=command, value=None, lines=["nothing to record yet, or it will come with the queue"])
    lines = [
        *([f"topic: {made.topic}"] if made.topic else ()),
        made.summary,
        *(f"decided: {one.text}" for one in made.decisions),
        *(f"open: {one.text}" for one in made.open_items),
    ]
    return Answer(command=command, value=made, lines=lines)


def _cells(one: Took) -> tuple[object, ...]:
    full = "" if one.full_history is None else f"{one.full_history:,}"
    money = ("" if cost is None else f"{cost:.6f}" for cost in (one.cost, one.full_cost))
    return (one.what, f"{one.calls:,}", f"{one.tokens_in:,}", f"{one.tokens_out:,}", full, *money)


def _needed(text: str, command: str) -> str:
    if not text:
        raise InvalidInput(f"/{command} needs a text; /help shows how")
    return text


def _when(record: Record) -> str:
    return record.occurred.iso()[:16] if record.occurred else ""


def _short(text: str) -> str:
    line = " ".join(text[: 4 * _TEXT].split())
    return line if len(line) <= _TEXT else f"{line[: _TEXT - 1]}…"
