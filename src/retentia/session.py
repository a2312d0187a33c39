"""Session: one conversation, for code that stays with it; every call goes to the memory it was made with."""

from collections.abc import Collection, Sequence

from retentia.acting import ActingMemory
from retentia.diagnose.symptom import Symptom
from retentia.memory import Memory
from retentia.model.message import ToolCall
from retentia.model.record import MessageRecord
from retentia.model.scope import Scope
from retentia.model.session_record import SessionRecord
from retentia.working.context import Context
from retentia.working.opening import Opening
from retentia.working.strategy import Strategy
from retentia.write.admission import MessageLike
from retentia.write.receipt import Receipt


class Session:
    """A conversation by its name in a scope. It begins with the first thing appended; making one writes nothing."""

    def __init__(self, memory: Memory | ActingMemory, name: str, *, scope: Scope) -> None:
        self._memory = memory
        self.name = name
        self.scope = scope

    def append(self, messages: MessageLike | Sequence[MessageLike], *, context: Context | None = None) -> Receipt:
        """Keep what was said next; see `Memory.add`."""
        return self._memory.add(messages, scope=self.scope, session=self.name, context=context)

    def log_tool_call(self, call: ToolCall) -> Receipt:
        """Keep one call of a tool; see `Memory.log_tool_call`."""
        return self._memory.log_tool_call(call, scope=self.scope, session=self.name)

    def context(
        self,
        request: str,
        *,
        budget: int = 1500,
        role: str = "",
        opening: Opening | None = None,
        strategy: Strategy | None = None,
        consequential: bool = False,
    ) -> Context:
        """Assemble the next prompt; see `Memory.context`."""
        return self._memory.context(
            request,
            scope=self.scope,
            session=self.name,
            budget=budget,
            role=role,
            opening=opening,
            strategy=strategy,
            consequential=consequential,
        )

    def messages(self) -> list[MessageRecord]:
        """Return what was said, in order."""
        return self._memory.messages(scope=self.scope, session=self.name)

    def checkpoint(self, *, timeout: float = 60.0) -> SessionRecord | None:
        """Summarise the session as it is now and return its record; see `Memory.checkpoint`."""
        return self._memory.checkpoint(scope=self.scope, session=self.name, timeout=timeout)

    def end(self, *, timeout: float = 60.0) -> SessionRecord | None:
        """End the session and return its record; see `Memory.checkpoint`."""
        return self._memory.checkpoint(scope=self.scope, session=self.name, end=True, timeout=timeout)

    def record(self) -> SessionRecord | None:
        """Return the record that a checkpoint wrote; see `Memory.session_record`."""
        return self._memory.session_record(scope=self.scope, session=self.name)

    def guard(
        self, reply: str, *, calls: Sequence[ToolCall] = (), context: Context | Collection[str] | None = None
    ) -> list[Symptom]:
        """Look at a reply and at tool calls before they are made; see `Diagnosis.guard`."""
        return self._memory.diagnosis.guard(reply, scope=self.scope, session=self.name, calls=calls, context=context)
