"""Reads what discord.py hands over into the values of `bot.ports.chat` and `core.domain`."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, replace
from typing import Any

import discord

from bot.platforms.discord.places import TROUBLE
from bot.ports.chat import Message, Person
from core.domain import MessageRef, Scope
from core.text.words import one_line

log = logging.getLogger(__name__)

NAME = "discord"
THREAD_NAME = 100
"""Characters that Discord takes as the name of a thread."""

ATTACHED = 20_000
"""Bytes of attached text that are read as part of a message; longer ones are logs."""

_WRITTEN = frozenset({discord.MessageType.default, discord.MessageType.reply})
_MENTION = re.compile(r"<@!?(?P<user>\d+)>|<@&(?P<role>\d+)>|<#(?P<channel>\d+)>")
_EMOJI = re.compile(r"<a?:(\w+):\d+>")
_COMMAND = re.compile(r"</([^:>]{1,100}):\d+>")
"""A command's name, with those of two groups above it: 32 characters each."""
_CODE = re.compile(r"(```.*?```|`[^`\n]+`)", re.DOTALL)

_OBFUSCATED, _HIDDEN = 1 << 17, "___hidden___"
"""The flag and the name of what Discord sends in place of a channel that the bot may not view."""


@dataclass(slots=True)
class Standing:
    """Who is an admin or a helper beside those whom the server names, as `discord:2` or `discord:role:5`."""

    admins: frozenset[str] = frozenset()
    helpers: frozenset[str] = frozenset()

    @property
    def by_role(self) -> bool:
        """Return True if a role makes somebody an admin or a helper."""
        return any(key.startswith(f"{NAME}:role:") for key in self.admins | self.helpers)

    def person(
        self,
        user: discord.abc.User | discord.Member | None,
        permissions: discord.Permissions | None = None,
        user_id: int = 0,
    ) -> Person:
        """Read a user; of one whom nothing but the id is known, only the configured rank is."""
        key = f"{NAME}:{user.id if user else user_id}"
        ranks = {key}
        if isinstance(user, discord.Member):
            ranks |= {f"{NAME}:role:{role.id}" for role in user.roles}
            permissions = permissions or user.guild_permissions
        manages = permissions is not None and (permissions.manage_guild or permissions.administrator)
        return Person(
            id=key,
            name=user.display_name if user else "",
            bot=bool(user and (user.bot or user.system)),
            admin=manages or bool(ranks & self.admins),
            helper=bool(ranks & self.helpers),
        )


def locale(interaction: discord.Interaction) -> str:
    """Return the language that Discord shows to the person who acts, as `pt-BR`."""
    return str(getattr(interaction.locale, "value", interaction.locale) or "")


def is_complete(interaction: discord.Interaction[Any]) -> bool:
    """Return True if an interaction says who acts, and can be answered."""
    user = getattr(interaction, "user", None)
    return isinstance(user, discord.abc.User) and isinstance(interaction.token, str)


def may_write(interaction: discord.Interaction[Any], channel: Any) -> bool:
    """Return False if who acts may not write where they do: commands and buttons work there as well."""
    allowed = interaction.permissions
    if not allowed.value or allowed.administrator:  # none at all in direct messages
        return True
    return allowed.send_messages_in_threads if isinstance(channel, discord.Thread) else allowed.send_messages


def ref(channel: Any, message_id: int | str) -> MessageRef:
    """Say where a message stands; a thread's message belongs to the channel above the thread."""
    message = str(message_id)
    if isinstance(channel, discord.Thread):
        return MessageRef(NAME, str(channel.parent_id), message, str(channel.id))
    here = str(channel.id if channel else 0)
    direct = isinstance(channel, discord.DMChannel | discord.GroupChannel) or (
        isinstance(channel, discord.PartialMessageable) and channel.guild_id is None
    )
    return MessageRef(NAME, here, message, "" if direct else message)


def place(channel: Any, message_id: int | str) -> MessageRef:
    """Say where something is done that is no message of the conversation: in a thread, or beside them."""
    here = ref(channel, message_id)
    return here if isinstance(channel, discord.Thread) else replace(here, thread="")


def scope(channel: Any) -> Scope:
    """Tell who may hear what is said in a channel; private where that is not certain."""
    if isinstance(channel, discord.Thread):
        if channel.is_private():
            return Scope("private", f"{NAME}:{channel.id}")
        return scope(channel.parent) if channel.parent else Scope("private", f"{NAME}:{channel.parent_id}")
    if isinstance(channel, discord.abc.GuildChannel):
        return Scope() if _is_open(channel) else Scope("private", f"{NAME}:{channel.id}")
    if isinstance(channel, discord.PartialMessageable) and channel.guild_id is not None:
        return Scope("private", f"{NAME}:{channel.id}")
    return Scope("direct", f"{NAME}:{channel.id}")


def _is_open(channel: discord.abc.GuildChannel) -> bool:
    """Return True if everyone may read a channel: where there is voice, nobody reads who may not connect."""
    everyone = channel.guild.get_role(channel.guild.id)  # not there where the server just went away
    if everyone is None or is_hidden(channel):
        return False
    allowed = channel.permissions_for(everyone)
    has_voice = isinstance(channel, discord.VoiceChannel | discord.StageChannel)
    return allowed.view_channel and (allowed.connect or not has_voice)


def is_hidden(channel: Any) -> bool:
    """Return True for what stands in for a channel that the bot may not view: it says nothing of the channel.

    A real channel may have that name, but hardly that one overwrite, by which the bot would not see it.
    """
    flags = getattr(channel, "flags", None)
    if flags is not None:  # discord.py 2.7 keeps those of forums and threads alone
        return bool(flags.value & _OBFUSCATED)
    overwrites = [(target.id, overwrite.view_channel) for target, overwrite in channel.overwrites.items()]
    return channel.name == _HIDDEN and overwrites == [(channel.guild.id, False)]


def written_by_person(message: discord.Message) -> bool:
    """Tell a person's message from those of bots, webhooks and Discord itself."""
    author = message.author
    return message.type in _WRITTEN and not author.bot and not author.system and message.webhook_id is None


def content(message: discord.Message) -> str:
    """Return what a message says, and below it what it forwards: Discord does not tell who wrote that."""
    said = (message.content, *(forwarded.content for forwarded in message.message_snapshots))
    return "\n\n".join(words for words in said if words)


def text(message: discord.Message, me: int) -> str:
    """Return the words of a message: without a mention of the bot, everybody else by name.

    A channel is named where all who read the message may see it; from others Discord keeps its name.
    """
    names = {user.id: user.display_name for user in message.mentions}
    own = _own_roles(message, me)

    def named(match: re.Match[str]) -> str:
        guild = message.guild
        if match["user"]:
            user = int(match["user"])
            return "" if user == me else f"@{names.get(user, 'someone')}"
        if match["role"]:
            role = guild.get_role(int(match["role"])) if guild else None
            return "" if role and role.id in own else f"@{role.name if role else 'role'}"
        channel = guild.get_channel_or_thread(int(match["channel"])) if guild else None
        is_told = channel and scope(channel) in (Scope(), scope(message.channel))
        return f"#{channel.name}" if channel and is_told and not is_hidden(channel) else "#channel"

    parts = _CODE.split(content(message))
    for index in range(0, len(parts), 2):  # what stands in code is no mention
        plain = _MENTION.sub(named, parts[index])
        if plain != parts[index]:
            plain = re.sub(r"(?<=\S)[ \t]{2,}(?=\S)", " ", plain)
        parts[index] = _COMMAND.sub(r"/\1", _EMOJI.sub(r":\1:", plain))
    return re.sub(r"\A\s*[,:;](?=\s)", "", "".join(parts)).strip()


def message(standing: Standing, message: discord.Message, me: int, attached: str = "") -> Message:
    """Read a message, with text it has attached; the first of a forum's post comes with the post's title.

    A reply addresses whom it replies to, pinged or not.
    """
    own = _own_roles(message, me)
    reached = {user.id for user in message.mentions}
    if message.type is discord.MessageType.reply and message.reference:
        above = message.reference.resolved or message.reference.cached_message
        if isinstance(above, discord.Message):
            reached.add(above.author.id)
    roles = {role.id for role in message.role_mentions}
    return Message(
        ref=ref(message.channel, message.id),
        author=standing.person(message.author),
        text="\n\n".join(p for p in (_title(message), text(message, me), attached.strip()) if p),
        scope=scope(message.channel),
        mentions_bot=me in reached or bool(roles & own),
        mentions_others=bool(reached - {me, message.author.id}) or bool(roles - own),
        event=str(message.id),
    )


async def whole(standing: Standing, read: discord.Message, me: int) -> Message:
    """Read a message with its attached text: Discord's clients make a file of what is pasted and too long."""
    forwarded = (attachment for snapshot in read.message_snapshots for attachment in snapshot.attachments)
    for attachment in (*read.attachments, *forwarded):
        kind = attachment.content_type or ""
        if kind.startswith("text/plain") and attachment.size <= ATTACHED:
            try:
                return message(standing, read, me, (await attachment.read()).decode("utf-8", "replace"))
            except TROUBLE as error:
                log.info("Discord: attachment %s cannot be read: %s", attachment.id, error)
    return message(standing, read, me)


def _title(message: discord.Message) -> str:
    """Return the title of the post that a message opens; threads opened from a message repeat its words.

    Tags with a number in them go with it: where a forum has tags for releases, people name theirs so.
    """
    channel = message.channel
    if not isinstance(channel, discord.Thread) or channel.id != message.id:
        return ""
    numbered = [tag.name for tag in channel.applied_tags if re.search(r"\d", tag.name)]
    return f"{channel.name} ({', '.join(numbered)})" if numbered else channel.name


def tags_of(release: str, forum: discord.ForumChannel) -> frozenset[str]:
    """Return the names of a forum's tags that stand for a release: `2.3`, `v2.3`, `Flask 2.3`, `2.3.x`."""
    return frozenset(tag.name.casefold() for tag in forum.available_tags if _names(tag.name, release))


def _names(tag: str, release: str) -> bool:
    """Return True if the one word of a tag that has a number is a release."""
    numbered = [word for word in tag.casefold().split() if re.search(r"\d", word)]
    return [word.removeprefix("v").removesuffix(".x") for word in numbered] == [release.casefold()]


def thread_name(question: str) -> str:
    """Make a thread's name of the first words of a question, at most 100 characters."""
    plain = re.sub(r"```.*?(```|\Z)", " ", question, flags=re.DOTALL)
    plain = one_line(re.sub(r"[*`~|#>\[\]]+", " ", plain))
    if len(plain) > THREAD_NAME:
        plain = plain[: THREAD_NAME - 1].rsplit(" ", 1)[0].rstrip(" ,.;:") + "…"
    return plain or "Answer"


def _own_roles(message: discord.Message, me: int) -> set[int]:
    """Return the role that Discord made for the bot, which people take for the bot itself."""
    mine = message.guild.me.roles if message.guild and message.guild.me else []
    return {
        role.id
        for role in message.role_mentions
        if (role.tags and role.tags.bot_id == me) or (role.managed and role in mine)
    }
