"""What the bot says to a mention without words: what it can be asked, with questions it can answer."""

from __future__ import annotations

from bot.chat import Message, Reply
from core.domain import MessageRef, Scope
from core.examples import Examples
from core.languages import _


class Hint:
    """Says what one can ask, with examples of the channel's release."""

    def __init__(self, product: str, examples: Examples) -> None:
        self._product = product
        self._examples = examples

    async def reply(self, message: Message) -> Reply:
        """Return what is said to a mention without words."""
        said = _(
            "Ask me anything about {product}: write your question after my name, name a release if it is not "
            "the latest, and go on in the thread."
        ).format(product=self._product)
        return Reply(f"{said}\n\n{await self.examples(message.ref, message.scope)}".rstrip())

    async def examples(self, where: MessageRef, scope: Scope) -> str:
        """Return example questions as Markdown; empty where nothing is known yet."""
        found = await self._examples.of(where.channel_key, scope)
        return "\n".join([_("For example:"), *(f"- {question}" for question in found)]) if found else ""
