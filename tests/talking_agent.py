"""An agent as a developer writes one: a context, a model, a look at its reply, and the reply kept with what it saw."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from retentia import Memory, Message, Session, ToolCall
from retentia.diagnose.symptom import Symptom
from retentia.model.message import JSON
from retentia.providers.chat.base import ChatMessage, ChatModel
from retentia.tools.freshness import Reuse
from retentia.working.context import Context

ROLE = "You help with the work of a small team."


@dataclass
class TalkingAgent:
    """Answers in one session. `symptoms` are those that kept a reply from being given."""

    memory: Memory
    session: Session
    model: ChatModel
    tools: Mapping[str, Callable[..., JSON]] = field(default_factory=dict)
    budget: int = 1500
    symptoms: list[Symptom] = field(default_factory=list)

    def answer(self, said: str) -> str:
        """Answer a person; a reply that claims what nobody said is asked for once more."""
        context = self.session.context(said, budget=self.budget, role=ROLE)
        reply = self._asked(context)
        if found := self.session.guard(reply, context=context):
            self.symptoms += found
            reply = self._asked(context, f"Say it again without this: {found[0].quotes[-1]}")
        self.session.append(Message(role="user", content=said))
        self.session.append(Message(role="assistant", content=reply), context=context)
        return reply

    def call(self, name: str, **arguments: Any) -> str:
        """Use a tool, unless what it answered the last time still holds; tell the model's line about it."""
        seen = self.memory.tools.seen(name, arguments, scope=self.session.scope)
        if isinstance(seen.decision, Reuse):
            return seen.text()
        result = self.tools[name](**arguments)
        self.session.log_tool_call(ToolCall(name=name, arguments=arguments, result=result))
        return f"{name} answered: {result}"

    def _asked(self, context: Context, note: str = "") -> str:
        roles: dict[str, Any] = {"system": "system", "assistant": "assistant"}
        asked = [
            ChatMessage(roles.get(str(one["role"]), "user"), str(one["content"])) for one in context.openai_messages()
        ]
        return self.model.complete([*asked, *([ChatMessage("user", note)] if note else [])]).text
