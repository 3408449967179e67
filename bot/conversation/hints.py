"""The reply to greetings and empty mentions: what the bot can be asked, with examples."""

from __future__ import annotations

from bot.conversation.small_talk import is_greeting, is_pleasantry
from bot.ports.chat import Message, Reply
from core.domain import MessageRef, Scope
from core.insights.examples import Examples
from core.languages import _


class Hint:
    """Tells people what they can ask, with examples for the channel's release."""

    def __init__(self, product: str, examples: Examples) -> None:
        self._product = product
        self._examples = examples

    async def to(self, message: Message) -> Reply | None:
        """Return the reply to an empty message, a greeting or thanks; None for a question."""
        if message.text.strip() and not is_greeting(message.text):
            if not is_pleasantry(message.text):
                return None
            said = _("Any time. Ask me whatever else you want to know about {product}.")
            return Reply(said.format(product=self._product))
        said = _(
            "Ask me anything about {product}: write your question after my name, name a release if it is not "
            "the latest, and go on in the thread."
        ).format(product=self._product)
        return await self.with_examples(said, message.ref, message.scope)

    async def with_examples(self, said: str, where: MessageRef, scope: Scope) -> Reply:
        """Return the text with example questions below it, if any are known yet."""
        found = await self._examples.of(where.channel_key, scope)
        if not found:
            return Reply(said)
        listed = "\n".join([_("For example:"), *(f"- {example.text}" for example in found)])
        pairs = " ".join(example.pair for example in found if example.pair)
        return Reply(f"{said}\n\n{listed}", concerns=pairs)
