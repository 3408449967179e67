"""What dispatch asks of the playground: history, posts, edits, messages, links and whispers."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bot.platforms.web.people import (
    BOT,
    BOT_NAME,
    CHANNELS,
    PLATFORM,
    PLAYERS,
    Player,
    mentions_bot,
    mentions_others,
    without_mention,
)
from bot.platforms.web.post import MESSAGE, Post
from bot.platforms.web.state import Posts
from bot.ports.chat import ACCEPT, Message, Person, Reaction, Reply, Responder, Stray
from bot.ports.standing import Standing, Unreadable
from core.domain import MessageRef, Turn
from core.errors import MessageGone, PlatformRejected
from core.settings import Settings

if TYPE_CHECKING:
    from bot.platforms.web.http.server import Server

EDIT_SECONDS = 0.04
"""Time between two shown states of a growing answer; faster than the eye needs, slower than tokens."""


def person_of(player: Player, settings: Settings) -> Person:
    """Return a player as dispatch knows them; settings may name further admins and helpers."""
    known = player.person
    return Person(
        known.id,
        known.name,
        admin=known.admin or known.id in settings.admins,
        helper=known.helper or known.id in settings.helpers,
    )


def message_of(post: Post, settings: Settings) -> Message:
    """Return a post, of a player or of the bot, as dispatch knows it."""
    channel = CHANNELS[post.channel]
    bot = post.author == BOT
    author = Person(f"{PLATFORM}:{BOT}", BOT_NAME, bot=True)
    return Message(
        post.ref,
        author if bot else person_of(PLAYERS[post.author], settings),
        post.text if bot else without_mention(post.text),
        channel.scope,
        mentions_bot=not bot and (mentions_bot(post.text) or (channel.listens and not post.thread)),
        mentions_others=not bot and mentions_others(post.text),
    )


class WebChat:
    """The playground as dispatch sees it; a message has no length limit, so a reply is one message.

    `server` says where the page is. Links in messages hold no address: it is another one for each reader.
    """

    name = PLATFORM
    read_seconds = 0.0
    reads_here = None

    def __init__(self, posts: Posts, settings: Settings, server: Server) -> None:
        self._posts = posts
        self._settings = settings
        self._server = server
        self._edited: dict[str, float] = {}

    async def history(self, before: MessageRef, limit: int) -> Sequence[Turn]:
        """Return up to `limit` messages of the conversation before that message, oldest first."""
        earlier = [
            post
            for post in self._posts.conversation(before)
            if (len(post.id), post.id) < (len(before.message), before.message)
        ]
        return [post.turn for post in earlier[-limit:]] if limit > 0 else []

    async def post(self, where: MessageRef, reply: Reply) -> tuple[MessageRef, ...]:
        """Post a reply; raises PlatformRejected where the conversation is gone."""
        channel = CHANNELS.get(where.channel)
        if channel is None:
            raise PlatformRejected(
                f"The playground has no channel {where.channel!r}; name one that it shows."
            )
        thread = "" if channel.kind == "direct" else where.thread
        if thread and self._posts.get(thread) is None:
            raise MessageGone("The thread was deleted in the playground; ask again in a new message.")
        post = self._posts.add(channel.id, BOT, self.shown(reply), thread=thread, **fields_of(reply))
        return (post.ref,)

    async def send(self, to: str, reply: Reply) -> tuple[MessageRef, ...]:
        """Post in a channel, or to a player in their direct channel; the page itself makes no sound."""
        channel = CHANNELS.get(f"dm-{to}" if to in PLAYERS else to)
        if channel is None:
            raise PlatformRejected(f"The playground has no channel or person {to!r}; name one that it shows.")
        called = " ".join(f"@{call}" for call in reply.calls)
        said = f"{called}\n\n{self.shown(reply)}" if called else self.shown(reply)
        return (self._posts.add(channel.id, BOT, said, **fields_of(reply)).ref,)

    async def name_of(self, to: str) -> str:
        """Return a player's name, or a channel's; empty where there is none of that id."""
        if to in PLAYERS:
            return PLAYERS[to].name
        return f"#{CHANNELS[to].name}" if to in CHANNELS else ""

    async def edit(self, parts: tuple[MessageRef, ...], reply: Reply) -> tuple[MessageRef, ...]:
        """Replace a reply; raises MessageGone where it was deleted."""
        first = parts[0].message if parts else ""
        post = self._posts.get(first)
        if post is None:
            raise MessageGone("The reply was deleted in the playground; post a new one.")
        now = time.monotonic()
        if reply.final:
            self._edited.pop(first, None)
        elif now - self._edited.get(first, 0.0) < EDIT_SECONDS:
            return parts
        else:
            self._edited[first] = now
        await self.delete(parts[1:])
        return (self._posts.change(post, text=self.shown(reply), **fields_of(reply)).ref,)

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

    async def solve(self, ref: MessageRef) -> None:
        """Show the bot's ✅ under the message that opened a thread."""
        root = self._posts.get(ref.thread) if ref.thread else None
        if root and ACCEPT not in root.marks.get(BOT, ()):
            self._posts.change(root, marks={**root.marks, BOT: [*root.marks.get(BOT, ()), ACCEPT]})

    async def take_back(self, reaction: Reaction) -> bool:
        """Show a player's emoji under a message no more."""
        post, player = self._posts.get(reaction.ref.message), reaction.person.id.removeprefix(f"{PLATFORM}:")
        if post is None:
            return False
        votes = {who: own for who, own in post.votes.items() if (who, own) != (player, reaction.emoji)}
        left = [emoji for emoji in post.marks.get(player, ()) if emoji != reaction.emoji]
        marks = {who: theirs for who, theirs in {**post.marks, player: left}.items() if theirs}
        self._posts.change(post, votes=votes, marks=marks)
        return True

    async def message(self, ref: MessageRef) -> Message | None:
        """Return a message as it stands now; None where it was deleted or is for one person's eyes."""
        post = self._posts.get(ref.message)
        if post is None or post.gone or post.only or post.channel != ref.channel:
            return None
        return message_of(post, self._settings)

    async def standing(self, ref: MessageRef) -> Standing | Unreadable:
        """Return whose emoji stand under a message."""
        post = self._posts.get(ref.message)
        if post is None or post.gone:
            return Unreadable("message", "it is not kept any more")
        put = {emoji: frozenset(f"{PLATFORM}:{who}" for who in own) for emoji, own in post.reactions.items()}
        return Standing(put)

    async def somebody(self, account: str, ref: MessageRef) -> Person:
        """Return the player of an account."""
        return person_of(PLAYERS[account.partition(":")[2]], self._settings)

    async def own_after(self, ref: MessageRef) -> Sequence[Stray]:
        """Return the bot's messages in the conversation of a message after it, oldest first."""
        after = (len(ref.message), ref.message)
        posts = self._posts.conversation(ref, growing=True)
        later = [post for post in posts if post.author == BOT and (len(post.id), post.id) > after]
        return [Stray(post.ref, post.text) for post in later]

    async def question_of(self, ref: MessageRef) -> Message | None:
        """Return the message that opened the thread of a reply; direct messages have no threads."""
        post = self._posts.get(ref.message)
        root = self._posts.get(post.thread) if post and post.thread else None
        return await self.message(root.ref) if root else None

    async def permalink(self, ref: MessageRef) -> str:
        """Return a link that opens the page at a message, whoever is played there."""
        post, address = self._posts.get(ref.message), self._server.public
        return f"{address}{MESSAGE}{post.id}" if post and address else ""

    def shown(self, reply: Reply) -> str:
        """Return the text of a reply as it stands in the playground."""
        return self._server.within(reply.markdown)

    async def linked(self, link: str) -> MessageRef | None:
        """Return the message that a link to the page opens; None for any other link."""
        address, _, post_id = link.rpartition(MESSAGE)
        post = self._posts.get(post_id) if self._server.is_own(address) else None
        return post.ref if post else None

    def responder(self, address: Mapping[str, Any]) -> Responder | None:
        """Return how to answer a player whom an earlier process left without an answer, in a new message."""
        channel, player = CHANNELS.get(address.get("channel", "")), address.get("only", "")
        if channel is None or player not in PLAYERS or not channel.seen_by(player):
            return None
        thread = address.get("thread", "") if self._posts.get(address.get("thread", "")) else ""
        told = {"only": player, "command": address.get("command", ""), "about": address.get("about", "")}
        return WebResponder(
            self._posts, self, self._posts.add(channel.id, BOT, "", thread=thread, final=False, **told)
        )

    async def whisper(self, where: MessageRef, person: Person, reply: Reply) -> bool:
        """Say something in a conversation that only that player sees; False where they are not in it."""
        channel, player = CHANNELS.get(where.channel), person.id.removeprefix(f"{PLATFORM}:")
        if channel is None or player not in PLAYERS or not channel.seen_by(player):
            return False
        thread = "" if channel.kind == "direct" else where.thread
        if thread and self._posts.get(thread) is None:
            return False
        about = where.message if self._posts.get(where.message) else ""
        self._posts.whisper(
            channel.id, player, self.shown(reply), thread=thread, about=about, **fields_of(reply)
        )
        return True


class WebResponder:
    """Answers one slash command in the message that only its caller sees."""

    def __init__(self, posts: Posts, chat: WebChat, ephemeral: Post) -> None:
        self._posts = posts
        self._chat = chat
        self._id = ephemeral.id
        self._where = MessageRef(PLATFORM, ephemeral.channel, ephemeral.id, ephemeral.thread)
        self.address = address_of(ephemeral)
        self._shown: tuple[MessageRef, ...] = ()

    async def reply(self, reply: Reply) -> None:
        """Replace the ephemeral text."""
        post = self._posts.get(self._id)
        if post:
            self._posts.files[post.id] = reply.attachments
            links = (file_link(post, file.name) for file in reply.attachments)
            text = "\n\n".join([self._chat.shown(reply), *links])
            self._posts.change(post, text=text, **fields_of(reply))

    async def ask(self, form: object) -> None:
        """Refuse: a line that was typed opens no form; a control does."""
        raise PlatformRejected("A slash command opens no form in the playground; reply instead.")

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


def address_of(post: Post) -> dict[str, str]:
    """Return what `WebChat.responder` needs to say again what one player alone was to see."""
    kept = ("channel", "thread", "only", "command", "about")
    return {name: str(getattr(post, name)) for name in kept}


def file_link(post: Post, name: str) -> str:
    """Return a link to a file that goes with a message for one player, as Markdown."""
    return f"[{name}](/api/files/{post.id}/{name}?person={post.only})"


def fields_of(reply: Reply) -> dict[str, Any]:
    """Return the fields of a post that a reply sets beside its text."""
    return {
        "final": reply.final,
        "release": reply.release,
        "answer": reply.answer_id,
        "concerns": reply.concerns,
        "controls": reply.controls,
        "remembered": reply.remembered,
        "asker": reply.asker.removeprefix(f"{PLATFORM}:"),
    }
