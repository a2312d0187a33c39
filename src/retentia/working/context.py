"""Context: put what the model should see into one prompt that fits a token budget.

The order is: role and rules, summary, recalled records, profile and procedures, pinned messages, recent messages,
current request; or, for prompts that a provider caches, what lasts first: role and rules, profile, pinned messages,
summary, recent messages, and then what is new in each call. Stored records come as quoted data in a user message, never
in the system prompt. What is not shown is named: dropped records with the reason, missing messages by their ids and in
one sentence to the model.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from retentia.errors import BudgetTooSmall, InvalidInput
from retentia.model.cost import CostReport, cost_of
from retentia.model.message import JSON
from retentia.model.price import Price
from retentia.working.budget import SHARES, Dropped, Fitted, Item, Part, PartName, Share, fit
from retentia.working.prefix import fit_prefix_first, settled
from retentia.working.quote import sendable
from retentia.working.records import HEADINGS, RULES, Labels, RecalledItem, RecordPart, Written, memory_blocks
from retentia.working.render import (
    CONTINUED,
    AnthropicPrompt,
    Turn,
    anthropic_prompt,
    as_object,
    openai_messages,
    plain_text,
    turns_of,
    with_unique_call_ids,
)
from retentia.working.shorten import shortened
from retentia.working.tokens import MESSAGE_OVERHEAD, RememberingCounter, TokenCounter
from retentia.working.told import is_told
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

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

Layout = Literal["standard", "cache"]
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
    """How contexts are made: the window, the table of shares, and what to tell the model about missing messages.

    The layout "cache" puts first what lasts from call to call, and anchors the window.
    """

    window: WindowSettings = field(default_factory=WindowSettings)
    shares: tuple[Share, ...] = SHARES
    recall_hint: str = RECALL_HINT
    layout: Layout = "standard"

    def __post_init__(self) -> None:
        if self.layout not in ("standard", "cache"):
            raise InvalidInput(f"unknown layout {self.layout!r}; use 'standard' or 'cache'")
        if self.layout == "cache" and not self.window.anchored:
            object.__setattr__(self, "window", replace(self.window, anchored=True))


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

    `cacheable_tokens` are those at the beginning that the next call of the session begins with as well, if nothing but
    messages is added to it, no summary is made meanwhile and the budget does not cut the window; `cacheable_turns`
    counts the turns that they fill.
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
    cacheable_tokens: int = 0
    cacheable_turns: int = 0

    def text(self) -> str:
        """Write the context as one text."""
        return plain_text(self.turns)

    def openai_messages(self) -> list[dict[str, JSON]]:
        """Write the context as messages of OpenAI's Chat Completions API."""
        return openai_messages(self.turns)

    def anthropic_prompt(self, *, cache_control: bool = False) -> AnthropicPrompt:
        """Write the context as the system prompt and messages of Anthropic's Messages API.

        `cache_control` marks up to three places: behind the rules, before the window, and where what lasts ends.
        """
        if not cache_control or not self.cacheable_turns:
            return anthropic_prompt(self.turns)
        lasting = self.turns[: self.cacheable_turns]
        rules = sum(turn.part == "role" for turn in lasting)
        front = next((place for place, turn in enumerate(lasting) if turn.part == "recent"), len(lasting))
        return anthropic_prompt(self.turns, cache_after={place - 1 for place in (rules, front, len(lasting)) if place})

    def langchain_messages(self) -> "list[BaseMessage]":
        """Write the context as messages of langchain-core; raise MissingExtra without the package."""
        from retentia.working.langchain import langchain_messages

        return langchain_messages(self.turns)

    def cost(self, price: Price, *, tokens_out: int = 0) -> CostReport:
        """Return what a call with this context costs by a price, and what it would cost with the whole session.

        `tokens_out` are those that the model answers with.
        """
        return cost_of(
            price,
            tokens_in=self.total_tokens,
            cached=self.cacheable_tokens,
            full_history=self.full_history_tokens,
            request=self.tokens_by_part.get("current", 0),
            tokens_out=tokens_out,
        )

    def explain(self, price: Price | None = None) -> str:
        """Say in a few lines what was kept, what was left out and why, what it takes, and what it costs by a price."""
        from retentia.working.account import account

        return account(self, price)


def assemble(
    material: Material, *, budget: int, counter: TokenCounter, settings: ContextSettings | None = None
) -> Context:
    """Make a context of at most `budget` tokens by the counter, whatever the format.

    Nothing is given twice: a recalled message that the window shows is not quoted again. Raises BudgetTooSmall when the
    budget does not hold the role and the current request.
    """
    settings = settings or ContextSettings()
    counter = counter if isinstance(counter, RememberingCounter) else RememberingCounter(counter)
    material = _once(material)
    required = _required(material, counter, settings.layout)
    least = fit(required, budget, counter, settings.shares)
    window = plan_window(material.messages, settings.window)
    making = _Making(material, window, tuple(required), least, counter, settings, _Said.of(window))
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
class _Said:
    """What may be shown of a window word for word: its parts, and its units by the ids of their items."""

    parts: tuple[Part, Part]
    units: Mapping[str, Unit]

    @classmethod
    def of(cls, window: Window) -> "_Said":
        pinned, recent = units_of(window.pinned), newest_first(window.verbatim)
        parts = (Part("pinned", _unit_items(pinned)), Part("recent", _unit_items(recent), contiguous=True))
        return cls(parts, {_key(unit): unit for unit in (*pinned, *recent)})


@dataclass(frozen=True, slots=True)
class _Making:
    """One assembly: what it is made of, and what cannot be left out (`required`, which takes `least`)."""

    material: Material
    window: Window
    required: tuple[Part, ...]
    least: Fitted
    counter: TokenCounter
    settings: ContextSettings
    said: _Said
    written: Written = field(default_factory=dict)

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
        if any(
            self._is_said(record, part, candidates) and not self._is_said(record, part, shown)
            for part in ("recalled", "profile")
            for record in _records_of(self.material)[part]
        ):
            # The window had no room for it after all, so it may come as a recalled record.
            choice = self._fitting(room, summary, without=shown)
        return choice

    def _fitting(self, room: int, summary: Sequence[RecalledItem], *, without: Collection[str]) -> _Choice:
        offered = _records_of(self.material) | {"summary": summary}
        for part in ("recalled", "profile"):
            offered[part] = [one for one in offered[part] if not self._is_said(one, part, without)]
        labels = self._labels(offered)
        parts = [
            *self.required,
            *(_records_part(name, records, labels) for name, records in offered.items()),
            *self.said.parts,
        ]
        choose = partial(fit_prefix_first, budget=self.least.budget) if self._caches else fit
        fitted = choose(parts, room, self.counter, self.settings.shares)
        chosen = (self.said.units[item.id] for item in (*fitted.kept("pinned"), *fitted.kept("recent")))
        shown = {message.id for unit in chosen for message in unit}
        ids = {name: _kept_ids(fitted, name) for name in offered}
        kept = {
            name: [one for one in records if one.id in ids[name] and not self._is_said(one, name, shown)]
            for name, records in offered.items()
        }
        return _Choice(fitted, kept, self.window.showing(shown, ids["summary"]))

    def context(self, choice: _Choice) -> Context:
        """Write the choice as turns and account for their tokens."""
        labels = self._labels(choice.records)
        lasting, passing = self._turns(choice, labels)
        turns = with_unique_call_ids((*lasting, *passing))
        cacheable_turns, cacheable = self._cacheable(choice, turns[: len(lasting)])
        by_part = self._tokens_by_part(choice, turns)
        spent = sum(by_part.values())
        total = max(spent, tokens_of_turns(turns, self.counter))
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
            cacheable_tokens=cacheable,
            cacheable_turns=cacheable_turns,
        )

    def _is_said(self, record: RecalledItem, part: RecordPart, shown: Collection[str]) -> bool:
        """Tell whether messages that are shown say what a record says; a profile that is cached stays as it is."""
        if record.id in shown:
            return True
        is_settled = part == "summary" or (part == "profile" and self._caches)
        return not is_settled and any(one.id in shown for one in record.quotes)

    @property
    def _caches(self) -> bool:
        return self.settings.layout == "cache"

    def _labels(self, records: Mapping[RecordPart, Sequence[RecalledItem]]) -> Labels:
        """Label records. Where the prefix lasts, what is recalled now must not change the labels in it."""
        if self._caches:
            lasting = Labels.of(record for part, some in records.items() if part != "recalled" for record in some)
            return Labels.of(records.get("recalled", ()), beside=lasting, written=self.written)
        return Labels.of((record for some in records.values() for record in some), written=self.written)

    def _turns(self, choice: _Choice, labels: Labels) -> tuple[list[Turn], list[Turn]]:
        """Write what is chosen: what can last until the next call, and what follows it."""
        gap = choice.window.gap
        end = max((message.seq for message in self.material.messages if message.summarised_by), default=0)
        pinned, recent = said_turns(
            choice.window.pinned, choice.window.verbatim, summarised_to=end if self._caches else None
        )
        return arranged(
            role=self.material.role,
            records=choice.records,
            labels=labels,
            pinned=pinned,
            note=self._note(gap) if gap else "",
            recent=recent,
            request=self.material.request,
            layout=self.settings.layout,
        )

    def _cacheable(self, choice: _Choice, lasting: Sequence[Turn]) -> tuple[int, int]:
        """Count turns and tokens of what the next call begins with as well."""
        if self._caches:
            same = lasting[: settled(lasting)]
            return len(same), sum(self.counter.count_message(turn.as_message()) for turn in same)
        if not self.material.role:
            return 0, 0
        # Without a profile and a summary the rules come and go with what is recalled; the role before them stays.
        has_rules = bool(choice.records.get("profile") or choice.records.get("summary"))
        text = lasting[0].text if has_rules else self.material.role
        return 1, self.counter.count_message(Turn(role="system", part="role", text=text).as_message())

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
                    yield Dropped(
                        record.id, part, "already shown" if self._is_said(record, part, shown) else "over budget"
                    )


def arranged(
    *,
    role: str,
    records: Mapping[RecordPart, Sequence[RecalledItem]],
    labels: Labels,
    pinned: Sequence[Turn],
    note: str,
    recent: Sequence[Turn],
    request: str,
    layout: Layout,
) -> tuple[list[Turn], list[Turn]]:
    """Put the turns of a context in order: those that can last until the next call, and those that follow them."""

    def memory(*parts: RecordPart) -> list[Turn]:
        text = memory_blocks({part: records[part] for part in parts if part in records}, labels)
        return [Turn(role="user", part="memory", text=text)] if text else []

    noted = [Turn(role="user", part="gap", text=note)] if note else []
    asked = [Turn(role="user", part="current", text=request)] if request else []
    if layout == "cache":
        rules = [Turn(role="system", part="role", text=with_rules(role))]
        lasting = [*rules, *memory("profile"), *pinned, *memory("summary"), *recent]
        return lasting, [*memory("recalled"), *noted, *asked]
    shown = memory("summary", "recalled", "profile")
    quotes = shown or any("<untrusted " in turn.text for turn in (*pinned, *recent))
    text = with_rules(role) if quotes else role
    opening = [Turn(role="system", part="role", text=text)] if text else []
    return opening, [*shown, *pinned, *noted, *recent, *asked]


def said_turns(
    pinned: Sequence[WindowMessage], verbatim: Sequence[WindowMessage], *, summarised_to: int | None
) -> tuple[list[Turn], list[Turn]]:
    """Write messages as turns: those that are pinned, and those of the window.

    With the `seq` that summaries reach to, what is pinned and ends behind it stays in its place, in the window: there
    it does not push the summaries back.
    """
    behind: list[WindowMessage] = []
    if summarised_to is not None:
        behind = [message for unit in units_of(pinned) if unit[-1].seq > summarised_to for message in unit]
    ids = {message.id for message in behind}
    window = sorted((*behind, *verbatim), key=lambda message: message.seq)
    front = [message for message in pinned if message.id not in ids]
    return turns_of(front, "pinned"), turns_of(window, "recent", pinned=ids)


def tokens_of_turns(turns: Sequence[Turn], counter: TokenCounter) -> int:
    """Count turns in the format that takes most."""
    as_messages = sum(_most(turn, counter) for turn in turns)
    if any(turn.role == "assistant" for turn in turns):  # Anthropic's format may have to open with a user's turn
        as_messages += MESSAGE_OVERHEAD + counter.count(CONTINUED)
    return max(as_messages, counter.count(plain_text(turns)))


def _most(turn: Turn, counter: TokenCounter) -> int:
    """Count a turn in the format that takes most: some write a call's arguments anew, as an object."""
    anew = ((use.arguments, json.dumps(as_object(use.arguments), ensure_ascii=False)) for use in turn.tool_uses)
    more = sum(max(0, counter.count(written) - counter.count(given)) for given, written in anew)
    return counter.count_message(turn.as_message()) + more


def with_rules(role: str) -> str:
    """Return the role with the rules for quoted text behind it."""
    return "\n\n".join(filter(None, (role, RULES)))


def _once(material: Material) -> Material:
    """Leave out what is blank, the request where it is among the messages, all but the first record of an id, and what
    is recalled of words that the profile tells already.
    """
    messages = [message for message in material.messages if message.id != material.request_id or not message.id]
    seen: set[str] = {material.request_id} if material.request_id else set()

    def fresh(records: Sequence[RecalledItem]) -> list[RecalledItem]:
        result = []
        for record in records:
            if record.id not in seen:
                seen.add(record.id)
                result.append(record)
        return result

    profile = fresh(material.profile)
    told = [stretch for record in profile for stretch in record.quotes]
    return replace(
        material,
        request=sendable(material.request) if material.request.strip() else "",
        role=sendable(material.role) if material.role.strip() else "",
        messages=messages,
        summary=fresh(material.summary),
        profile=profile,
        recalled=[one for one in fresh(material.recalled) if not is_told(one.quotes, told)],
    )


def _required(material: Material, counter: TokenCounter, layout: Layout) -> list[Part]:
    role = with_rules(material.role) if layout == "cache" else material.role  # there the rules never come and go
    parts: tuple[tuple[PartName, str], ...] = (("role", role), ("current", material.request))
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
