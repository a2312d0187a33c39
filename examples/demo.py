"""The main job on a real conversation: remember months of chats in three languages, and ask about them.

Run `make demo`, or `python examples/demo.py [--embedder e5]`.
"""

import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from retentia import Memory, Message, Recall, Scope, Session
from retentia.cli.facts import history_in_words, proposal_in_words, standing
from retentia.cli.intake import Intake
from retentia.ingest import IngestMessage, read
from retentia.model.candidate import PERSON
from retentia.model.learned import Learned
from retentia.model.record import DocumentRecord, Kind, MessageRecord
from retentia.working.context import Context

HERE = Path(__file__).parent
SCOPE = Scope("larkspur", "mara")
SHOWN = ("q-01", "q-06", "q-25", "q-27", "q-41", "q-53", "q-58", "q-60", "q-63")
SESSION = "en_project/kickoff"
REQUEST = "Write a short note for Jonas: why did we leave Postgres for the events, and where does ClickHouse run now?"
PRICE_PER_MILLION = 3.0
LONG = Scope("larkspur", "mara", "checkout")
BUDGET = 1500
PICTURED = (11, 21, 31, 41, 51, 61, 71, 82)
WIDTH = 44
TOLD = (
    ("2026-01-05T09:00:00Z", "Hi, my name is Alice and I live in Berlin."),
    ("2026-01-05T09:01:00Z", "Actually my name is Alex, not Alice."),
    ("2026-01-06T09:00:00Z", "I'm forced to use Python at work."),
    ("2026-01-06T09:05:00Z", "I might try Rust."),
    ("2026-01-07T09:00:00Z", "My friend Jack hates football."),
    ("2026-04-10T09:00:00Z", "I moved to Lviv."),
    ("2026-04-11T09:00:00Z", "Always answer briefly."),
    ("2026-04-12T09:00:00Z", "I'll send the report by Friday."),
    ("2026-04-13T09:00:00Z", "I'm going to move to Odesa in June."),
)
LEFT_OF_THE_BUDGET = "3,650 euros: 4,850 in all, less the 1,200 that are reserved for Brandt & Co."

console = Console(highlight=False, width=110)


@click.command()
@click.option("--embedder", default="auto", help="use (the default) or e5, if it is installed")
def main(embedder: str) -> None:
    """Remember, ask, assemble a prompt, and say what it saved."""
    questions = json.loads((HERE / "questions.json").read_text("utf-8"))
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory.open(Path(folder) / "memory.db", embedder=embedder, worker=False, zone="Europe/Berlin") as memory,
    ):
        _remember(memory)
        _ask(memory, [question for question in questions if question["id"] in SHOWN])
        _score(memory, questions)
        _context(memory)
        _long_session(memory)
        _forget(memory, Path(folder))
        _learn(memory)


def _remember(memory: Memory) -> None:
    console.rule("1. Remember")
    started = time.perf_counter()
    intake = Intake(memory, SCOPE)
    intake.take(read([HERE / "chats", HERE / "documents"], zone="Europe/Berlin"))
    written = time.perf_counter() - started
    memory.drain()
    found = memory.stats(scope=SCOPE)
    kept = ", ".join(f"{count} {kind}s" for kind, count in found.records.items() if count)
    console.print(
        f"{kept} from {len(memory.sessions(scope=SCOPE))} sessions, durable and searchable after {written:.2f} s"
    )
    console.print(
        f"{found.passages} passages embedded by {found.embedder!r} after {time.perf_counter() - started:.1f} s"
    )


def _ask(memory: Memory, questions: Sequence[dict[str, object]]) -> None:
    console.rule("2. Ask, in three languages")
    for question in questions:
        answer = memory.recall(str(question["question"]), scope=SCOPE, limit=3)
        console.print(Text(f"\n{question['question']}", style="bold"))
        if not answer:
            console.print(f"   nothing: {answer.reason}", style="yellow")
        for hit in answer:
            right = " ✓" if _name(hit.record) in question["expects"] else ""
            console.print(Text(f"   {hit.score:.2f}{right} {_source(hit.record)}", style="dim"))
            console.print(Text(f"        {' '.join(hit.text.split())[:180]}"))
        console.print(Text(f"   {answer.timing.search_ms:.1f} ms, relevance {answer.relevance:.2f}", style="dim"))


def _score(memory: Memory, questions: Sequence[dict[str, object]]) -> None:
    console.rule("3. How often is the right message among the first five?")
    table = Table("asked in, about", "questions", "right among 5", "right first", "search p50")
    groups: dict[str, list[tuple[dict[str, object], Recall]]] = {}
    for question in questions:
        answer = memory.recall(str(question["question"]), scope=SCOPE, limit=5)
        about = f"{question['language']}, {question['about']}" if question["expects"] else "nothing to find"
        groups.setdefault(about, []).append((question, answer))
    for about, answered in groups.items():
        times = sorted(answer.timing.search_ms for _, answer in answered)
        table.add_row(
            about,
            str(len(answered)),
            str(sum(_is_right(question, answer, 5) for question, answer in answered)),
            str(sum(_is_right(question, answer, 1) for question, answer in answered)),
            f"{times[len(times) // 2]:.1f} ms",
        )
    console.print(table)


def _context(memory: Memory) -> None:
    console.rule("4. The next prompt, under a budget")
    made = memory.context(
        REQUEST, scope=SCOPE, session=SESSION, budget=1200, role="You are Mara's assistant. Answer in two sentences."
    )
    console.print(Text(made.text()))
    table = Table("part", "tokens (estimated)")
    for part, tokens in made.tokens_by_part.items():
        table.add_row(part, str(tokens))
    table.add_row("in all", f"{made.total_tokens} of {made.budget}")
    console.print(table)
    whole = sum(
        memory.context(REQUEST, scope=SCOPE, session=entry.name, budget=10**6).full_history_tokens
        for entry in memory.sessions(scope=SCOPE)
    )
    cost = PRICE_PER_MILLION / 1_000_000
    console.print(
        f"All of the history in the prompt: {whole:,} tokens, {whole / made.total_tokens:.0f} times as many. At "
        f"${PRICE_PER_MILLION:.2f} a million: ${whole * cost:.4f} instead of ${made.total_tokens * cost:.4f} a call."
    )


def _long_session(memory: Memory) -> None:
    console.rule(f"5. A working day of 82 messages, never more than {BUDGET:,} tokens")
    session = Session(memory, "checkout_week", scope=LONG)
    contexts: list[tuple[int, Context]] = []
    said = [item.message for item in read([HERE / "sessions"]) if isinstance(item, IngestMessage)]
    for number, message in enumerate(said, start=1):
        if message.role == "user":
            contexts.append((number, session.context(str(message.content), budget=BUDGET)))
        session.append(message)
        memory.drain()  # summaries and vectors; an application leaves that to the worker
    _picture(contexts)
    for summary in memory.history(scope=LONG, session=session.name).summaries:
        at = f"messages {summary.first_seq} to {summary.last_seq}"
        console.print(Text(f"\nThe summary of {at}, each line with the end of its message's id:", style="bold"))
        console.print(Text(summary.text))
        break
    _reply(memory, session, contexts[-1][1])
    _record(session)


def _picture(contexts: Sequence[tuple[int, Context]]) -> None:
    """Draw some prompts beside what the whole session would have taken, and say what all of them cost."""
    longest = max(made.full_history_tokens for _, made in contexts)
    console.print("at message  prompt (█) and the whole session (░), in tokens", style="bold")
    nearest = {min((number for number, _ in contexts), key=lambda one: abs(one - place)) for place in PICTURED}
    for number, made in contexts:
        if number in nearest:
            prompt = round(WIDTH * made.total_tokens / longest)
            whole = round(WIDTH * made.full_history_tokens / longest)
            bar = "█" * prompt + "░" * max(0, whole - prompt)
            missing = f", {made.gap.count} named as missing" if made.gap else ""
            console.print(Text(f"{number:>10}  {bar} {made.total_tokens:,} of {made.full_history_tokens:,}{missing}"))
    spent = sum(made.total_tokens for _, made in contexts)
    whole = sum(made.full_history_tokens for _, made in contexts)
    cost = PRICE_PER_MILLION / 1_000_000
    console.print(
        f"{len(contexts)} prompts took {spent:,} tokens (${spent * cost:.4f}); with the whole session in each it would "
        f"have been {whole:,} (${whole * cost:.4f}). The summaries were made by rules and cost nothing."
    )


def _reply(memory: Memory, session: Session, made: Context) -> None:
    """Answer from what was said in message 5, and tell why."""
    (reply,) = session.append({"role": "assistant", "content": LEFT_OF_THE_BUDGET}, context=made).ids
    text = made.text()
    there = " and ".join(figure for figure in ("4,850", "1,200") if figure in text)
    console.print(Text("\nThe last question: what is left of the budget after the review?", style="bold"))
    console.print(f"The figures of message 5 are in the prompt of message 82: {there}. The reply, by script:")
    console.print(Text(f"   {LEFT_OF_THE_BUDGET}"))
    why = memory.why(reply, scope=LONG)
    parts = {
        part: sum(one.seen.part == part for one in why.shown) for part in dict.fromkeys(s.seen.part for s in why.shown)
    }
    console.print(f"Why it said so, it saw: {', '.join(f'{count} {part}' for part, count in parts.items())}; such as:")
    for one in why.shown:
        if isinstance(one.record, MessageRecord) and "4,850" in one.record.text:
            console.print(Text(f"   {one.seen.part}, message {one.record.seq}: {one.record.text[:90]}…", style="dim"))


def _record(session: Session) -> None:
    record = session.end()
    assert record is not None
    console.print(Text("\nThe record of the session, for the next one to begin with:", style="bold"))
    console.print(Text(f"   topic: {record.topic}"))
    for name, items in (("decided", record.decisions), ("open", record.open_items)):
        for item in items:
            console.print(Text(f"   {name}: {item.text}"))


def _forget(memory: Memory, folder: Path) -> None:
    console.rule("6. Forget the last hour, and prove it")
    said = "By the way, the safe's combination is thirty-one, seven, forty-four."
    person = Scope(SCOPE.tenant, "jonas")
    memory.add([{"role": "user", "content": said, "speaker": "Jonas"}, "And the stand-up is at nine."], scope=person)
    memory.remember("Jonas told the combination of the safe", "note", scope=person)
    memory.drain()
    planned = memory.plan_forgetting("forget the last hour", scope=person)
    counts = ", ".join(f"{count} {kind}" for kind, count in planned.counts.items())
    console.print(f"preview: {counts}; such as:")
    for sample in planned.samples:
        console.print(Text(f"   {sample.kind.value}: {sample.text}", style="dim"))
    receipt = memory.forget(planned)
    console.print(f"receipt: removed {dict(receipt.removed)}, line {receipt.ledger_seq} of the ledger")
    found = memory.verify_erasure(person.tenant, receipt.records, erasure=receipt.id, texts=[said, "combination"])
    left = sum(found.rows.values()) + sum(found.files.values())
    size = sum(file.stat().st_size for file in folder.glob("memory.db*"))
    console.print(f"verified: {left} traces of {found.records} records in every table and {size:,} bytes of files")
    console.print(f"asked again: {memory.recall('What is the combination of the safe?', scope=person).reason}")


def _learn(memory: Memory) -> None:
    console.rule("7. What was learned, from which words, and what becomes of it")
    console.print(Text("From the chats of part 1:", style="bold"))
    for one in memory.episodes.list_what_you_remember(scope=SCOPE):
        if one.kind in (Kind.FACT, Kind.DECISION):
            console.print(Text(f"   {one.kind.value}, {one.status.value}: {' '.join(one.says.split())[:90]}"))
    person = Scope(SCOPE.tenant, "alex")
    console.print(Text("\nAnd from a person who talks about themselves:", style="bold"))
    for at, text in TOLD:
        receipt = memory.add(Message(role="user", content=text, at=at), scope=person)
        console.print(Text(f"   {at[:10]} {text}"))
        for learned in receipt.learned:
            console.print(Text(f"        {_in_words(learned)}", style="dim"))
        if not receipt.learned:
            console.print(Text("        nothing is learned from it", style="dim"))
    memory.drain()
    _changed(memory, person)
    _decide(memory, person)


def _in_words(learned: Learned) -> str:
    one = learned.candidate
    where = f" ({one.applies_to})" if one.applies_to else ""
    status = learned.status.value if learned.status else learned.effect.value
    who = "" if one.subject == PERSON else f"{one.subject}, "
    return f"{status}: {who}{one.attribute.replace('_', ' ')} = {one.value}{where}, because {learned.reason}"


def _changed(memory: Memory, person: Scope) -> None:
    console.print(Text("\nWhat changed, and why:", style="bold"))
    for belief in memory.facts.history(scope=person):
        if belief.changes:
            for line in history_in_words(belief):
                console.print(Text(f"   {line}"))
    then = memory.facts.profile(scope=person, as_of="2026-02-01").values()["home"]
    now = memory.facts.profile(scope=person).values()["home"]
    console.print(f"Where did Alex live on 1 February? {then[0]}. And now? {now[0]}.")


def _decide(memory: Memory, person: Scope) -> None:
    """Ask for one confirmation: of the person at the terminal, or, where nobody is there, answer it visibly."""
    console.print(Text("\nThe inbox, which no prompt and no agent sees:", style="bold"))
    for proposal in memory.facts.inbox(scope=person):
        for line in proposal_in_words(proposal):
            console.print(Text(f"   {line}"))
        question = f"Is it so: {proposal.belief.claim.attribute} is {proposal.belief.value}?"
        if sys.stdin.isatty():
            is_so = click.confirm(question, default=True)
        else:
            is_so = True
            console.print(f"{question} [Y/n]: y   (nobody is at the terminal, so the demonstration says yes)")
        if is_so:
            memory.facts.confirm(proposal.id, scope=person)
        else:
            memory.facts.reject(proposal.id, scope=person)
    for belief in memory.facts.profile(scope=person):
        console.print(Text(f"   {belief.claim.attribute.replace('_', ' ')}: {belief.value} ({standing(belief)})"))
    for item in memory.episodes.list_open_items(scope=person):
        due = f", due {item.due.iso()[:10]}" if item.due else ""
        console.print(Text(f"   to do: {item.what} ({item.status.value}{due})"))


def _is_right(question: dict[str, object], answer: Recall, depth: int) -> bool:
    expected = question["expects"]
    assert isinstance(expected, list)
    if not expected:
        return len(answer) == 0
    return any(_name(hit.record) in expected for hit in answer[:depth])


def _name(record: object) -> str:
    match record:
        case MessageRecord():
            return record.key
        case DocumentRecord():
            return Path(record.uri).stem
    return ""


def _source(record: object) -> str:
    match record:
        case MessageRecord():
            when = record.occurred.iso()[:10] if record.occurred else ""
            return f"{record.speaker or record.role}, {when}, {record.session} ({record.key})"
        case DocumentRecord():
            return f"document {record.title!r}"
    return ""


if __name__ == "__main__":
    main()
