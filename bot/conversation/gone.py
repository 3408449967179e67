"""What goes: answers to what was deleted, and what was said in a thread or channel that is gone."""

from __future__ import annotations

import logging
from dataclasses import replace

from bot.conversation.desk import Desk
from bot.conversation.undelivered import tell
from bot.escalation.resolving import Resolving
from bot.ports.chat import Chat, ref_of
from core.domain import MessageRef
from core.errors import PlatformError
from core.languages import N_, _, speaking
from core.ports import Claim

log = logging.getLogger(__name__)

DELETED = N_("The answer is deleted.")


async def removed(chat: Chat, claim: Claim) -> tuple[MessageRef, ...]:
    """Delete the messages of an answer; return those that the platform keeps: they say that it is deleted."""
    kept = []
    for part in claim.parts:
        try:
            await chat.delete((part,))
        except PlatformError as error:
            log.warning("the answer to a deleted question cannot be deleted: %s", error)
            with speaking(claim.language):
                await tell(chat, (part,), _(DELETED))
            kept.append(part)
    return tuple(kept)


async def said_in(
    desk: Desk, resolving: Resolving, chat: Chat, place: MessageRef, links: str
) -> list[MessageRef]:
    """Return the messages there that wait for an answer, were put to people or are a person's answer.

    `links` begins the links to messages of that place. What was answered needs nothing more: its reply is
    gone as well.
    """
    waiting = await desk.conversations.unanswered(0.0)
    said = {claim.message: claim.conversation for claim in waiting if claim.kind == "message"}
    said |= await resolving.asked()
    whole = "" if place.thread else place.conversation  # a channel's name begins those of its threads
    found = {
        key: ref_of(key, conversation)
        for key, conversation in said.items()
        if conversation == place.conversation or (whole and conversation.startswith(whole))
    }
    for link in await desk.engine.accepted.linked(links, place.channel_key if whole else ""):
        one = await chat.linked(link)
        if one is None or one.channel != place.channel:
            # Discord cannot tell any more what a thread belonged to; its links end with the message's id
            one = replace(place, message=link.rpartition("/")[2])
        found[one.key] = one
    return [ref for ref in found.values() if ref.message]
