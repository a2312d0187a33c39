"""A conversation with a model: what is said is kept first, then the model is asked under the budget, then its reply.

So a terminal that is killed loses no message, and a reply is kept with what the model saw for it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from retentia import Memory, Message, Session
from retentia.cli.chat.interrupt import shielded
from retentia.diagnose.check import ClaimCheck, Verdict
from retentia.errors import InvalidInput, ModelReplyInvalid
from retentia.metering.meter import Meter
from retentia.model.ids import RecordId
from retentia.model.message import JSON
from retentia.model.record import MessageRecord
from retentia.model.spending import Spending
from retentia.providers.chat import ChatMessage
from retentia.providers.chat.parse import without_thinking
from retentia.working.context import Context
from retentia.working.opening import Opening, OpeningPolicy
from retentia.working.strategy import Strategy

PURPOSE = "chat"
"""What the usage of models calls it."""

INTERRUPTED = "interrupted"
CUT = " […]"
"""Ends what was kept of a reply that was stopped, so that the model sees later that it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a conversation is led. `opening` is what every prompt has of earlier sessions, None for nothing of it."""

    strategy: Strategy = field(default_factory=Strategy)
    budget: int = 4000
    role: str = ""
    opening: OpeningPolicy | None = None
    max_tokens: int = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the model answered, or the part of it that came before it was stopped.

    `finish` is "stop", "length", "filtered", "other" or "interrupted". `id` is that of the stored reply, "" where
    nothing came that could be stored. `nowhere` are its claims about the past that nothing bears out.
    """

    id: RecordId
    text: str
    finish: str
    context: Context
    spent: Spending
    nowhere: tuple[ClaimCheck, ...] = ()


class Conversation:
    """One session of a memory, and the model that answers in it; `last` is the last reply of this process."""

    def __init__(self, memory: Memory, session: Session, model: Meter, manner: Manner) -> None:
        self._memory = memory
        self._model = model
        self.session = session
        self.manner = manner
        self.last: Reply | None = None

    def say(self, text: str) -> tuple[str, ...]:
        """Keep what the user said, durably; return what was changed on the way, such as a secret that was masked."""
        with shielded():
            return self.session.append(text).notes

    def unanswered(self) -> MessageRecord | None:
        """Return the last message where it is the user's: nobody has answered it yet."""
        said = self._memory.history(scope=self.session.scope, session=self.session.name).messages
        return said[-1] if said and said[-1].role == "user" else None

    def answer(self, hear: Callable[[str], None]) -> Reply:
        """Ask the model for a reply to the last message, and keep it; `hear` gets it piece by piece.

        Ctrl-C stops it, and what came is kept. Raises ModelError, BudgetTooSmall, and InvalidInput where there is
        nothing to reply to; the message stays either way.
        """
        request = self.unanswered()
        if request is None:
            raise InvalidInput("every message has its reply; write another one")
        context = self.context(request.text)
        before = self._model.spent
        text, finish = self._listen(context, hear)
        spent = self._model.spent - before
        if not text.strip() and finish != INTERRUPTED:
            raise ModelReplyInvalid("the chat model answered with nothing; ask again with /retry")
        with shielded():
            self.last = self._kept(Reply(id=RecordId(""), text=text, finish=finish, context=context, spent=spent))
        return self.last

    def context(self, request: str) -> Context:
        """Assemble the prompt for a request, as the manner says."""
        return self.session.context(
            request,
            budget=self.manner.budget,
            role=self.manner.role,
            opening=self.opening(request),
            strategy=self.manner.strategy,
        )

    def opening(self, request: str = "") -> Opening | None:
        """Return what the conversation begins with, read anew so that nothing forgotten is in it; None without one."""
        if self.manner.opening is None:
            return None
        found = self._memory.opening(scope=self.session.scope, policy=self.manner.opening, request=request)
        # What was said in this session comes as its messages and summaries.
        return replace(found, sessions=tuple(one for one in found.sessions if one.session != self.session.name))

    def _listen(self, context: Context, hear: Callable[[str], None]) -> tuple[str, str]:
        said: list[str] = []
        stream = self._model.stream(chat_messages(context), max_tokens=self.manner.max_tokens)
        try:
            for piece in stream:
                said.append(piece)
                hear(piece)
        except KeyboardInterrupt:
            return without_thinking("".join(said)), INTERRUPTED
        finally:
            stream.close()
        return stream.completion.text, stream.completion.finish

    def _kept(self, reply: Reply) -> Reply:
        """Check a reply and store it; it is checked first, so that it does not bear itself out."""
        if not reply.text.strip():
            return reply
        scope = self.session.scope
        checked = self._memory.diagnosis.check_claims(reply.text, scope=scope, context=reply.context)
        nowhere = tuple(one for one in checked if one.verdict is Verdict.NOWHERE)
        text = reply.text + (CUT if reply.finish == INTERRUPTED else "")
        message = Message(role="assistant", content=text, metadata=_account(reply, self._model.identity))
        stored = self.session.append(message, context=reply.context)
        return replace(reply, id=stored.id, nowhere=nowhere)


def chat_messages(context: Context) -> list[ChatMessage]:
    """Write a context as messages in alternation, which every server takes; with tool calls in it, as one text."""
    prompt = context.anthropic_prompt()
    said = [("assistant" if one["role"] == "assistant" else "user", _texts(one["content"])) for one in prompt.messages]
    system = [ChatMessage("system", prompt.system)] if isinstance(prompt.system, str) and prompt.system else []
    if any(text is None for _, text in said):
        return [ChatMessage("user", context.text())]
    return [*system, *(ChatMessage(role, text or "") for role, text in said)]  # type: ignore[arg-type]  # one of two


def _texts(blocks: JSON) -> str | None:
    """Return the text of blocks; None where one is a call of a tool or its result."""
    if not isinstance(blocks, list):
        return None
    texts = [block["text"] if isinstance(block, Mapping) and block.get("type") == "text" else None for block in blocks]
    return None if None in texts else "\n\n".join(map(str, texts))


def _account(reply: Reply, model: str) -> dict[str, JSON]:
    """Return what is kept with a reply so that its cost can be told later."""
    return {
        "model": model,
        "finish": reply.finish,
        "tokens_in": reply.spent.tokens_in,
        "tokens_out": reply.spent.tokens_out,
        "full_history_tokens": reply.context.full_history_tokens,
    }
