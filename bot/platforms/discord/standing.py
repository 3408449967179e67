"""Reads which emoji stand under the bot's messages on Discord, and who put them there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import discord

from bot.platforms.discord import reading
from bot.platforms.discord.places import (
    TROUBLE,
    UNKNOWN_MESSAGE,
    Places,
    code_of,
    failure,
    reacting,
    words_of,
)
from bot.ports.chat import ACCEPT, Person, vote_of
from bot.ports.standing import Standing, Unreadable
from core.domain import MessageRef

_HISTORY = "Read Message History"


class StandingReactions:
    """The `ReactionReader` port on a discord.py client, which keeps to Discord's limits by itself."""

    read_seconds = 1.0
    reads_here: Callable[[MessageRef], Awaitable[bool]] | None = None
    """Tells which messages this process reads, where each reads those of its own servers."""

    def __init__(self, places: Places, standing: reading.Standing) -> None:
        self._places, self._standing = places, standing
        self._users: dict[str, discord.User | discord.Member] = {}
        """Who reacts to the message that was read last."""

    async def standing(self, ref: MessageRef) -> Standing | Unreadable:
        """Return whose emoji that mean something stand under a message.

        Raises PlatformError where that may be read later.
        """
        self._users.clear()
        people: dict[str, frozenset[str]] = {}
        whole = True
        try:
            message = await (await self._places.of(ref)).fetch_message(int(ref.message))
            for one in message.reactions:
                emoji = str(one.emoji)
                only_mine = one.me and one.count == 1
                if not only_mine and (emoji == ACCEPT or vote_of(emoji) is not None):
                    people[emoji] = await self._people(one)
                    whole = whole and len(people[emoji]) + (one.me or one.me_burst) >= one.count
        except (discord.Forbidden, discord.InvalidData) as error:
            return Unreadable("channel", f"Discord does not let me read it ({_words(error)}): {_HISTORY}.")
        except discord.NotFound as error:
            return Unreadable("message" if code_of(error) == UNKNOWN_MESSAGE else "channel", _words(error))
        except TROUBLE as error:
            raise failure(error, "read who reacts to a message", _HISTORY) from error
        return Standing(people, whole)

    async def _people(self, reaction: discord.Reaction) -> frozenset[str]:
        """Return the accounts that put an emoji on a message, but not the bot's own; a page has a hundred."""
        found = [user for user in await reacting(reaction) if user.id != self._places.me]
        accounts = {f"{reading.NAME}:{user.id}": user for user in found}
        self._users |= accounts
        return frozenset(accounts)

    async def somebody(self, account: str, ref: MessageRef) -> Person:
        """Return the person of an account who reacted to a message, with roles where one makes a helper."""
        user = self._users.get(account)
        user_id = int(account.partition(":")[2])
        if self._standing.by_role and not isinstance(user, discord.Member):
            guild = getattr(await self._places.of(ref), "guild", None)
            user = await self._places.member(guild.id if guild else None, user_id) or user
        return self._standing.person(user, None, user_id)


def _words(error: Exception) -> str:
    return words_of(error) if isinstance(error, discord.HTTPException) else str(error)
