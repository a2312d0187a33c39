"""Chat models behind one small protocol: asked for text, or for JSON by a schema."""

from retentia.providers.chat.base import ChatMessage, ChatModel, Completion, ReplyStream, Usage
from retentia.providers.chat.options import ChatOptions
from retentia.providers.chat.resolve import resolve

__all__ = ["ChatMessage", "ChatModel", "ChatOptions", "Completion", "ReplyStream", "Usage", "resolve"]
