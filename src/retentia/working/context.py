"""Context: put what the model should see into one prompt that fits a token budget.

The order is: role and rules, summary, recalled records, profile and procedures, pinned messages, recent messages,
current request. Stored records come as quoted data in a user message, never in the system prompt. What is not shown is
named: dropped records with the reason, missing messages by their ids and in one sentence to the model.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from retentia.errors import BudgetTooSmall
from retentia.model.message import JSON
from retentia.working.budget import SHARES, Dropped, Fitted, Item, Part, PartName, Share, fit
from retentia.working.quote import sendable
from retentia.working.records import HEADINGS, RULES, Labels, RecalledItem, RecordPart, memory_blocks
from retentia.working.render import (
    CONTINUED,
    AnthropicPrompt,
    Turn,
    anthropic_prompt,
    openai_messages,
    plain_text,
    turns_of,
    with_unique_call_ids,
)
from retentia.working.shorten import shortened
from retentia.working.tokens import MESSAGE_OVERHEAD, RememberingCounter, TokenCounter
from retentia.working.window import (
    Gap,
    Unit,
    Window,
    WindowMessage,
    WindowSettings,
    newest_first,
    plan_window,
    tokens_of,
    units_of,
)

RECALL_HINT = "search the memory to see them"


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a context can be made of. `recalled` is ordered best first, `summary` oldest first.

    A summary's id is what the messages it covers name in `summarised_by`. `request_id` is the id under which the
    current request is already among the messages, if it is. `history_tokens` is what the whole session would take,
    None when it is what the messages take.
    """

    request: str = ""
    role: str = ""
    messages: Sequence[WindowMessage] = ()
    summary: Sequence[RecalledItem] = ()
    recalled: Sequence[RecalledItem] = ()
    profile: Sequence[RecalledItem] = ()
    request_id: str = ""
    history_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSettings:
    """How contexts are made: the window, the table of shares, and what to tell the model about missing messages."""

    window: WindowSettings = field(default_factory=WindowSettings)
    shares: tuple[Share, ...] = SHARES
    recall_hint: str = RECALL_HINT


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One record or message that the model sees, for the manifest; `label` is the short id it sees it by."""

    id: str
    kind: str
    part: PartName
    score: float = 0.0
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A prompt that fits its budget, and the account of it.

    No format takes more than `total_tokens` by the counter, whose label is `counted`. `tokens_by_part` adds up to it:
    the parts, the note about missing messages ("gap"), and rules and delimiters ("frame"). `full_history_tokens` is
    what the same request with the whole session would have taken. `dropped` names records; messages are in `gap`.
    """

    turns: tuple[Turn, ...]
    tokens_by_part: Mapping[str, int]
    total_tokens: int
    budget: int
    counted: str
    gap: Gap | None
    manifest: tuple[Shown, ...]
    dropped: tuple[Dropped, ...]
    full_history_tokens: int

    def text(self) -> str:
        """Write the context as one text."""
        return plain_text(self.turns)

    def openai_messages(self) -> list[dict[str, JSON]]:
        """Write the context as messages of OpenAI's Chat Completions API."""
        return openai_messages(self.turns)

    def anthropic_prompt(self) -> AnthropicPrompt:
        """Write the context as the system prompt and messages of Anthropic's Messages API."""
        return anthropic_prompt(self.turns)


def assemble(
    material: Material, *, budget: int, counter: TokenCounter, settings: ContextSettings | None = None
) -> Context:
    """Make a context of at most `budget` tokens by the counter, whatever the format.

    Nothing is given twice: a recalled message that the window shows is not quoted again. Raises BudgetTooSmall when the
    budget does not hold the role and the current request.
    """
    settings = settings or ContextSettings()
    counter = RememberingCounter(counter)
    material = _once(material)
    required = _required(material, counter)
    least = fit(required, budget, counter, settings.shares)
    window = plan_window(material.messages, settings.window)
    making = _Making(material, window, tuple(required), least, counter, settings)
    room = budget
    while room > least.tokens:
        choice = making.choice(room)
        context = making.context(choice)
        if context.total_tokens <= budget:
            return context
        # Delimiters, rules and the note about missing messages follow from the choice; the next leaves room for them.
        around = context.total_tokens - choice.fitted.tokens
        room = min(budget - around, room - (context.total_tokens - budget))
    least_choice = _Choice(least, {}, window.showing((), ()))
    context = making.context(least_choice)
    if context.total_tokens > budget:
        context = replace(making, settings=replace(settings, recall_hint="")).context(least_choice)
    if context.total_tokens > budget:
        raise BudgetTooSmall(f"the shortest context takes {context.total_tokens} tokens, the budget is {budget}")
    return context


@dataclass(frozen=True, slots=True)
class _Choice:
    """What fits: the parts of the budget, the records of each, and the window narrowed to what is shown."""

    fitted: Fitted
    records: Mapping[RecordPart, Sequence[RecalledItem]]
    window: Window


@dataclass(frozen=True, slots=True)
class _Making:
    """One assembly: what it is made of, and what cannot be left out (`required`, which takes `least`)."""

    material: Material
    window: Window
    required: tuple[Part, ...]
    least: Fitted
    counter: TokenCounter
    settings: ContextSettings

    def choice(self, room: int) -> _Choice:
        """Choose what fits into `room` tokens, delimiters not counted.

        Summaries are shortened before one is left out: without it, all it covers would be missing.
        """
        choice = self._choosing(room, self.material.summary)
        if len(choice.records["summary"]) == len(self.material.summary):
            return choice
        allowed = int((room - self.least.tokens) * _share_of("summary", self.settings.shares))
        shorter = shortened(self.material.summary, allowed, self.counter)
        return self._choosing(room, shorter)

    def _choosing(self, room: int, summary: Sequence[RecalledItem]) -> _Choice:
        candidates = _shown_in(self.window)
        choice = self._fitting(room, summary, without=candidates)
        shown = _shown_in(choice.window)
        if any(record.id in candidates and record.id not in shown for record in self.material.recalled):
            # The window had no room for it after all, so it may come as a recalled record.
            choice = self._fitting(room, summary, without=shown)
        return choice

    def _fitting(self, room: int, summary: Sequence[RecalledItem], *, without: Collection[str]) -> _Choice:
        recalled = [record for record in self.material.recalled if record.id not in without]
        offered = _records_of(self.material) | {"recalled": recalled, "summary": summary}
        pinned, recent = units_of(self.window.pinned), newest_first(self.window.verbatim)
        labels = Labels.of(record for records in offered.values() for record in records)
        parts = [
            *self.required,
            *(_records_part(name, records, labels) for name, records in offered.items()),
            Part("pinned", _unit_items(pinned)),
            Part("recent", _unit_items(recent), contiguous=True),
        ]
        fitted = fit(parts, room, self.counter, self.settings.shares)
        units = {_key(unit): unit for unit in (*pinned, *recent)}
        chosen = (units[item.id] for item in (*fitted.kept("pinned"), *fitted.kept("recent")))
        shown = {message.id for unit in chosen for message in unit}
        kept = {
            name: [record for record in records if record.id in _kept_ids(fitted, name) and record.id not in shown]
            for name, records in offered.items()
        }
        return _Choice(fitted, kept, self.window.showing(shown, _kept_ids(fitted, "summary")))

    def context(self, choice: _Choice) -> Context:
        """Write the choice as turns and account for their tokens."""
        labels = Labels.of(record for records in choice.records.values() for record in records)
        turns = with_unique_call_ids(self._turns(choice, labels))
        by_part = self._tokens_by_part(choice, turns)
        spent = sum(by_part.values())
        as_turns = sum(self.counter.count_message(turn.as_message()) for turn in turns)
        if any(turn.role == "assistant" for turn in turns):  # Anthropic's format may have to open with a user's turn
            as_turns += MESSAGE_OVERHEAD + self.counter.count(CONTINUED)
        total = max(spent, as_turns, self.counter.count(plain_text(turns)))
        history = self.material.history_tokens
        if history is None:
            history = sum(message.tokens for message in self.material.messages)
        return Context(
            turns=tuple(turns),
            tokens_by_part=by_part | {"frame": total - spent},
            total_tokens=total,
            budget=self.least.budget,
            counted=self.counter.label,
            gap=choice.window.gap,
            manifest=tuple(_manifest(choice, labels)),
            dropped=tuple(self._dropped(choice)),
            full_history_tokens=history + self.least.tokens,
        )

    def _turns(self, choice: _Choice, labels: Labels) -> list[Turn]:
        memory = memory_blocks(choice.records, labels)
        pinned = turns_of(choice.window.pinned, "pinned")
        recent = turns_of(choice.window.verbatim, "recent")
        quotes = memory or any("<untrusted " in turn.text for turn in (*pinned, *recent))
        role = "\n\n".join(filter(None, (self.material.role, RULES if quotes else "")))
        gap = choice.window.gap
        return [
            *([Turn(role="system", part="role", text=role)] if role else ()),
            *([Turn(role="user", part="memory", text=memory)] if memory else ()),
            *pinned,
            *([Turn(role="user", part="gap", text=self._note(gap))] if gap else ()),
            *recent,
            *([Turn(role="user", part="current", text=self.material.request)] if self.material.request else ()),
        ]

    def _note(self, gap: Gap) -> str:
        """Say in one sentence what is not shown and, with a hint, how to see it."""
        count = "1 earlier message is" if gap.count == 1 else f"{gap.count} earlier messages are"
        hint = f"{_when(gap)}; {self.settings.recall_hint}" if self.settings.recall_hint else ""
        return f"({count} not shown here{hint}.)"

    def _tokens_by_part(self, choice: _Choice, turns: Iterable[Turn]) -> dict[str, int]:
        tokens: dict[str, int] = {share.part: 0 for share in self.settings.shares} | {"gap": 0}
        tokens |= {part.name: part.tokens for part in choice.fitted.parts if part.name not in ("pinned", "recent")}
        for turn in turns:
            if turn.part in ("pinned", "gap", "recent"):
                tokens[turn.part] += self.counter.count_message(turn.as_message())
        return tokens

    def _dropped(self, choice: _Choice) -> Iterable[Dropped]:
        kept = {record.id for records in choice.records.values() for record in records}
        shown = _shown_in(choice.window)
        for part, records in _records_of(self.material).items():
            for record in records:
                if record.id not in kept:
                    yield Dropped(record.id, part, "already shown" if record.id in shown else "over budget")


def _once(material: Material) -> Material:
    """Leave out what is blank, the request where it is among the messages, and all but the first record of an id."""
    messages = [message for message in material.messages if message.id != material.request_id or not message.id]
    seen: set[str] = {material.request_id} if material.request_id else set()

    def fresh(records: Sequence[RecalledItem]) -> list[RecalledItem]:
        result = []
        for record in records:
            if record.id not in seen:
                seen.add(record.id)
                result.append(record)
        return result

    return replace(
        material,
        request=sendable(material.request) if material.request.strip() else "",
        role=sendable(material.role) if material.role.strip() else "",
        messages=messages,
        summary=fresh(material.summary),
        profile=fresh(material.profile),
        recalled=fresh(material.recalled),
    )


def _required(material: Material, counter: TokenCounter) -> list[Part]:
    parts: tuple[tuple[PartName, str], ...] = (("role", material.role), ("current", material.request))
    return [Part(name, (Item(name, tokens=counter.count(text) + MESSAGE_OVERHEAD),)) for name, text in parts if text]


def _records_of(material: Material) -> dict[RecordPart, Sequence[RecalledItem]]:
    return {"summary": material.summary, "recalled": material.recalled, "profile": material.profile}


def _records_part(name: RecordPart, records: Sequence[RecalledItem], labels: Labels) -> Part:
    # The newest summary is the last to go; recalled records come best first.
    ordered = reversed(records) if name == "summary" else records
    return Part(name, tuple(Item(record.id, labels.record(record)) for record in ordered), frame=HEADINGS[name])


def _unit_items(units: Iterable[Unit]) -> tuple[Item, ...]:
    return tuple(Item(_key(unit), tokens=tokens_of(unit)) for unit in units)


def _share_of(part: PartName, shares: Sequence[Share]) -> float:
    whole = sum(share.share for share in shares) or 1.0
    return sum(share.share for share in shares if share.part == part) / whole


def _key(unit: Unit) -> str:
    return unit[0].id


def _shown_in(window: Window) -> set[str]:
    return {message.id for message in (*window.pinned, *window.verbatim)}


def _kept_ids(fitted: Fitted, part: PartName) -> set[str]:
    return {item.id for item in fitted.kept(part)}


def _when(gap: Gap) -> str:
    if gap.since is None or gap.until is None:
        return ""
    first, last = gap.since.iso()[:10], gap.until.iso()[:10]
    return f", of {first}" if first == last else f", from {first} to {last}"


def _manifest(choice: _Choice, labels: Labels) -> Iterable[Shown]:
    for part, records in choice.records.items():
        for record in records:
            yield Shown(id=record.id, kind=record.kind, part=part, score=record.score, label=labels.by_id[record.id])
    for message in choice.window.pinned:
        yield Shown(id=message.id, kind="message", part="pinned")
    for message in choice.window.verbatim:
        yield Shown(id=message.id, kind="message", part="recent")
