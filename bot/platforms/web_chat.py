"""What dispatch asks of the playground: history, posts, edits, and answers to slash commands."""

from __future__ import annotations

import time
from collections.abc import Sequence

from bot.chat import Reply
from bot.platforms.web_state import BOT, CHANNELS, PLATFORM, Post, Posts
from core.domain import MessageRef, Turn
from core.errors import PlatformRejected

EDIT_SECONDS = 0.04
"""Time between two shown states of a growing answer; faster than the eye needs, slower than tokens."""


class WebChat:
    """The playground as dispatch sees it; a message has no length limit, so a reply is one message."""

    name = PLATFORM

    def __init__(self, posts: Posts) -> None:
        self._posts = posts
        self._edited: dict[str, float] = {}

    async def history(self, before: MessageRef, limit: int) -> Sequence[Turn]:
        """Return up to `limit` messages of the conversation before that message, oldest first."""
        earlier = [
            post.turn
            for post in self._posts.conversation(before)
            if (len(post.id), post.id) < (len(before.message), before.message)
        ]
        return earlier[-limit:] if limit > 0 else []

    async def post(self, where: MessageRef, reply: Reply) -> tuple[MessageRef, ...]:
        """Post a reply; raises PlatformRejected where the conversation is gone."""
        channel = CHANNELS.get(where.channel)
        if channel is None:
            raise PlatformRejected(
                f"The playground has no channel {where.channel!r}; name one that it shows."
            )
        thread = "" if channel.kind == "direct" else where.thread
        if thread and self._posts.get(thread) is None:
            raise PlatformRejected("The thread was deleted in the playground; ask again in a new message.")
        post = self._posts.add(channel.id, BOT, reply.markdown, thread=thread, **_fields(reply))
        return (post.ref,)

    async def edit(self, parts: tuple[MessageRef, ...], reply: Reply) -> tuple[MessageRef, ...]:
        """Replace a reply; raises PlatformRejected where it was deleted."""
        first = parts[0].message if parts else ""
        post = self._posts.get(first)
        if post is None:
            raise PlatformRejected("The reply was deleted in the playground; post a new one.")
        now = time.monotonic()
        if reply.final:
            self._edited.pop(first, None)
        elif now - self._edited.get(first, 0.0) < EDIT_SECONDS:
            return parts
        else:
            self._edited[first] = now
        await self.delete(parts[1:])
        return (self._posts.change(post, text=reply.markdown, **_fields(reply)).ref,)

    async def delete(self, parts: tuple[MessageRef, ...]) -> None:
        """Delete a reply; what is gone already is no error."""
        for ref in parts:
            self._edited.pop(ref.message, None)
            post = self._posts.get(ref.message)
            if post and not post.gone:
                self._posts.remove(post)

    async def seed_votes(self, ref: MessageRef) -> None:
        """Offer 👍 and 👎 under a message; the bot's own are not counted, so none are kept."""
        post = self._posts.get(ref.message)
        if post:
            self._posts.change(post, votable=True)


class WebResponder:
    """Answers one slash command in the message that only its caller sees."""

    def __init__(self, posts: Posts, chat: WebChat, ephemeral: Post) -> None:
        self._posts = posts
        self._chat = chat
        self._id = ephemeral.id
        self._where = MessageRef(PLATFORM, ephemeral.channel, ephemeral.id, ephemeral.thread)
        self._shown: tuple[MessageRef, ...] = ()

    async def reply(self, reply: Reply) -> None:
        """Replace the ephemeral text."""
        post = self._posts.get(self._id)
        if post:
            self._posts.change(post, text=reply.markdown, **_fields(reply))

    async def progress(self, reply: Reply) -> None:
        """Show the state of long work in one message of the channel."""
        if self._shown and self._posts.get(self._shown[0].message):
            self._shown = await self._chat.edit(self._shown, reply)
        else:
            self._shown = await self._chat.post(self._where, reply)

    def finish(self, otherwise: str) -> None:
        """Leave no sign of work behind; `otherwise` is said where nothing was answered."""
        post = self._posts.get(self._id)
        if post and not post.final:
            self._posts.change(post, text=post.text or otherwise, final=True)


def _fields(reply: Reply) -> dict[str, str | bool]:
    return {"final": reply.final, "release": reply.release, "answer": reply.answer_id}
