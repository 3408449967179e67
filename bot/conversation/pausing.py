"""While the bot is paused, refuse new questions and say so once to each person who asks."""

from __future__ import annotations

import time

from bot.ports.chat import Chat, Message, Reply
from core.community.channels import EVERYWHERE, ModeSet, Pause, Pauses
from core.domain import MessageRef
from core.languages import _


class Pausing:
    """Turns questions away while a pause holds."""

    def __init__(self, pauses: Pauses) -> None:
        self._pauses = pauses
        self._told: set[tuple[str, str, float]] = set()

    async def of(self, channel: str) -> Pause | None:
        """Return the pause that holds for a channel now."""
        return await self._pauses.of(channel)

    async def tell(self, chat: Chat, message: Message, pause: Pause) -> tuple[MessageRef, ...]:
        """Tell a person about a pause, once per pause; privately where the platform can.

        Returns the messages it posted, if everybody sees them.
        """
        once = (message.author.id, pause.place, pause.at)
        if once in self._told or not (message.mentions_bot or message.scope.kind == "direct"):
            return ()
        running = {(running.place, running.at) for running in await self._pauses.running()}
        self._told = {told for told in self._told if told[1:] in running} | {once}
        reply = Reply(paused_text(pause))
        if await chat.whisper(message.ref, message.author, reply):
            return ()
        return await chat.post(message.ref, reply)


def paused_text(pause: Pause) -> str:
    """Say to somebody who asks that there is a pause, until when and why."""
    until = at_time(pause.until) if pause.until else ""
    if pause.place == EVERYWHERE:
        said = _("I am paused and answer no new questions. Votes still count.")
        if until:
            said = _("I am paused until {time} and answer no new questions. Votes still count.")
    else:
        said = _("I am paused in this channel and answer no new questions. Votes still count.")
        if until:
            said = _(
                "I am paused in this channel until {time} and answer no new questions. Votes still count."
            )
    return said.format(time=until) + (f" ({pause.why})" if pause.why else "")


def at_time(seconds: float) -> str:
    """Write a time of today as `14:05 UTC`, another one with its date."""
    moment, now = time.gmtime(seconds), time.gmtime()
    is_today = moment[:3] == now[:3]
    return time.strftime("%H:%M UTC" if is_today else "%Y-%m-%d %H:%M UTC", moment)


def pause_line(pause: Pause) -> str:
    """Say where, until when, by whom and why questions are not answered."""
    where = f"questions in `{pause.place}`" if pause.place else "all questions"
    until = f"until {at_time(pause.until)}" if pause.until else "until further notice"
    return f"{where}, {until}, by `{pause.by}`" + (f": {pause.why}" if pause.why else "")


def mode_line(channel: str, given: ModeSet | None, configured: str = "") -> str:
    """Say the mode of a channel and where it comes from."""
    if given is None:
        return f"`{channel}`: {configured} (as in `corpora.toml`, or without an entry there)"
    why = f": {given.why}" if given.why else ""
    return f"`{channel}`: {given.mode} (set by `{given.by}`{why}; `default` takes it back)"
