"""What happens in Slack, as messages, reactions, presses and commands for dispatch."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from bot.platforms.slack.api.client import SlackApi
from bot.platforms.slack.api.errors import SlackRefused
from bot.platforms.slack.chat import SlackChat
from bot.platforms.slack.components import Link, Pressed, active_thread
from bot.platforms.slack.directory import Directory
from bot.platforms.slack.home import HomeTabs
from bot.platforms.slack.responder import SlackResponder
from bot.platforms.slack.text.mrkdwn import unescaped
from bot.platforms.slack.text.reading import is_person, timestamp, written
from bot.ports.chat import Command, Message, Person, Press, Reaction, Reply, unheard, vote_of
from bot.ports.standing import Standing
from core.domain import MessageRef, Scope
from core.errors import StorageUnavailable
from core.languages import _
from core.ports.channels import Moved

if TYPE_CHECKING:
    from bot.dispatch.dispatch import Dispatch

log = logging.getLogger(__name__)

Work = Coroutine[Any, Any, None]
NOTED_SECONDS = 60.0
"""Age up to which a message of the bot may not be noted yet: until another process took over, at most."""


class Events:
    """Reads what people did in one workspace."""

    def __init__(
        self,
        api: SlackApi,
        directory: Directory,
        chat: SlackChat,
        dispatch: Dispatch,
        tabs: HomeTabs,
        start: Callable[[Work], object],
    ) -> None:
        """`start` begins work that nothing waits for."""
        self._api, self._directory, self._chat, self._dispatch = api, directory, chat, dispatch
        self._tabs, self._start = tabs, start

    async def receive(
        self,
        event: dict[str, Any],
        channel: str,
        event_id: str,
        shared: bool | None = None,
        taken: Callable[[], None] = unheard,
    ) -> Work | None:
        """Return what hands an event over, None for one that means nothing; reading it may take a look-up.

        `shared` says whether another organization hears its channel, where Slack says so beside the event.
        `taken` is called as soon as the event need not come again, if that is before it is dealt with.
        """
        ours = (self._api.team, self._api.enterprise)
        if event.get("type") == "channel_shared" and event.get("connected_team_id") not in ours:
            shared = True
        elif event.get("type") == "channel_unshared":
            shared = bool(event.get("is_ext_shared"))
        closed = shared is not None and self._directory.share(channel, shared)
        work = await self._received(event, channel, event_id, taken)
        return self._kept_inside(channel, work) if closed else work

    async def _kept_inside(self, channel: str, work: Work | None) -> None:
        await self._dispatch.channel_became_private(f"slack:{channel}")
        if work is not None:
            await work

    async def _received(
        self, event: dict[str, Any], channel: str, event_id: str, taken: Callable[[], None]
    ) -> Work | None:
        match event.get("type"), event.get("subtype"):
            case "app_home_opened", _:
                taken()  # it comes again whenever the tab is opened
                return self._tabs.open(event) if event.get("tab") == "home" else None
            case ("reaction_added" | "reaction_removed") as kind, _:
                return await self._reaction(event, kind == "reaction_added", event_id)
            case "message", "message_deleted":
                before = event.get("previous_message") or {}
                return (
                    None
                    if self._chat.reader.own(before)
                    else self._deleted(channel, event.get("deleted_ts"), before)
                )
            case "message", "message_changed":
                return await self._changed(event, channel, event_id, taken)
            case (("channel_deleted" | "group_deleted"), _):
                self._chat.gone.add(channel)
                links = f"{self._api.url}archives/{channel}/"
                return self._dispatch.deleted(self._chat, MessageRef("slack", channel, ""), links)
            case (("channel_archive" | "group_archive"), _):
                return self._dispatch.archived(self._chat, f"slack:{channel}")
            case "channel_id_changed", _:
                return await self._moved(str(event.get("old_channel_id") or ""), channel, taken)
            case "message", "channel_convert_to_private":
                await self._directory.scope(channel, "group")
                return self._dispatch.channel_became_private(f"slack:{channel}")
            case "message", "channel_convert_to_public":
                await self._directory.scope(channel, "channel")
            case (("message" | "app_mention"), _):
                message = await self._message(event, channel, str(event.get("channel_type") or ""), event_id)
                if message is None:
                    return None
                work = self._dispatch.message(self._chat, message, taken)
                return self._then_at_home(work, str(event.get("user") or ""))
        return None

    async def _then_at_home(self, work: Work, user: str) -> None:
        """Do something and bring the tab of who caused it up to date."""
        await work
        self._tabs.changed(user)

    async def _changed(
        self, event: dict[str, Any], channel: str, event_id: str, taken: Callable[[], None]
    ) -> Work | None:
        now, before = event.get("message") or {}, event.get("previous_message") or {}
        if now.get("subtype") == "tombstone":
            return (
                None
                if self._chat.reader.own(before)
                else self._deleted(channel, now.get("ts"), before or now)
            )
        # links that unfold and languages that are detected change a message as well, but not its words
        reworded = written(now) != written(before) if before else "edited" in now or "attachments" not in now
        if not reworded:
            return None
        message = await self._message(now, channel, str(event.get("channel_type") or ""), event_id)
        return self._dispatch.edited(self._chat, message, taken) if message else None

    async def _moved(self, before: str, now: str, taken: Callable[[], None]) -> Work | None:
        """Have a channel's new id known before anything else is read of it: its events wait for this."""
        if not before or not now:
            return None
        links = (f"{self._api.url}archives/{before}/", f"{self._api.url}archives/{now}/")
        moved = Moved(f"slack:{before}", f"slack:{now}", links)
        work = await self._dispatch.channel_moved(self._chat, moved)
        taken()
        return work

    def _deleted(self, channel: str, ts: object, before: dict[str, Any]) -> Work:
        thread = str(before.get("thread_ts") or ("" if channel.startswith("D") else ts))
        return self._dispatch.deleted(self._chat, MessageRef("slack", channel, str(ts), thread))

    async def _message(self, event: dict[str, Any], channel: str, kind: str, event_id: str) -> Message | None:
        reader = self._chat.reader
        if reader.own(event) or not is_person(event):
            return None
        if kind == "mpim" and not reader.read(written(event))[1]:
            # people who talk among themselves; only a channel of two is a talk with the bot
            return None
        message = await reader.message_from(event, channel, kind, event_id)
        team = str(event.get("user_team") or event.get("team") or "")
        self._chat.heard(message.ref, str(event["user"]), team)
        return message

    async def _reaction(self, event: dict[str, Any], added: bool, event_id: str) -> Work | None:
        item, user = event.get("item") or {}, str(event.get("user") or "")
        if item.get("type") != "message" or not user or user == self._chat.user:
            return None
        person = await self._directory.person(user)
        ref = MessageRef("slack", str(item["channel"]), str(item["ts"]))
        author = f"slack:{event['item_user']}" if event.get("item_user") else ""
        emoji, at = str(event.get("reaction") or ""), float(event.get("event_ts") or 0.0)
        ours = author == f"slack:{self._chat.user}" and ref.key not in self._chat.sent
        just_posted = ours and at - timestamp(ref.message)[0] < NOTED_SECONDS
        reaction = Reaction(ref, person, emoji, added, event_id, author, at, just_posted=just_posted)
        return self._then_at_home(self._reacted(reaction), user)

    async def _reacted(self, reaction: Reaction) -> None:
        """Hand a reaction over; a vote that was taken off with what its person has left there."""
        is_ours = reaction.author in ("", f"slack:{self._chat.user}")
        if is_ours and not reaction.added and vote_of(reaction.emoji) is not None:
            with suppress(SlackRefused):
                found = await self._chat.reader.standing(reaction.ref)
                people = found.people if isinstance(found, Standing) else {}
                still = tuple(name for name, accounts in people.items() if reaction.person.id in accounts)
                reaction = replace(reaction, still=still)
        await self._dispatch.reaction(self._chat, reaction)

    # --- commands and presses -----------------------------------------------------------------

    async def note_press(self, found: Pressed) -> bool:
        """Note a press before it is acknowledged; return False if there is nothing to do about it."""
        # Slack waits for the acknowledgement, so nobody is looked up
        person, scope = self._directory.known(found.user), Scope("private", found.ref.channel_key)
        press = Press(found.name, found.value, found.ref, person, scope, found.fields, found.trigger)
        return await self._note("press", found.trigger, self._pressed_by(found, found.ref), press)

    async def press(self, found: Pressed) -> None:
        """Hand over a press of a control, or a form that was sent."""
        if found.is_at_home:
            await self._then_at_home(self._tabs.press(found), found.user)
            return
        # a form has to be opened within three seconds, so both are looked up at once
        scope, person = await asyncio.gather(
            self._directory.scope(found.ref.channel), self._directory.person(found.user)
        )
        thread = found.ref.thread or ("" if scope.kind == "direct" else found.ref.message)
        ref = replace(found.ref, thread=thread)
        press = Press(found.name, found.value, ref, person, scope, found.fields, found.trigger)
        work = self._dispatch.press(self._chat, press, self._pressed_by(found, ref))
        await self._then_at_home(work, found.user)

    async def note_answer_this(self, body: Mapping[str, Any]) -> bool:
        """Note "Answer this" before it is acknowledged; return False if there is nothing to do about it."""
        channel, message = str(body["channel"]["id"]), body["message"]
        ref = MessageRef("slack", channel, str(message.get("ts") or ""), str(message.get("thread_ts") or ""))
        return await self._note("command", str(body.get("trigger_id") or ""), self._chosen(body, ref))

    async def answer_this(self, body: Mapping[str, Any]) -> None:
        """Ask with the words of a message that somebody chose "Answer this" under, for them alone."""
        message = await self._chat.reader.message_from(body["message"], str(body["channel"]["id"]))
        person = await self._directory.person(str(body["user"]["id"]))
        event, author = str(body.get("trigger_id") or ""), message.author.id
        command = Command("ask", message.text, person, message.ref, message.scope, event, author)
        command = replace(command, authors=message.authors)
        work = self._dispatch.command(self._chat, command, self._chosen(body, message.ref))
        await self._then_at_home(work, str(body["user"]["id"]))

    async def note_command(self, body: Mapping[str, Any]) -> bool:
        """Note a slash command before it is acknowledged; return False if there is nothing to do about it."""
        return await self._note("command", str(body.get("trigger_id") or ""), self._typed(body))

    async def command(self, body: Mapping[str, Any]) -> None:
        """Hand over a slash command."""
        channel, user = str(body.get("channel_id") or ""), str(body.get("user_id") or "")
        where = MessageRef("slack", channel, "", "")
        scope = await self._directory.scope(channel)
        person: Person = await self._directory.person(user)
        # a workspace may have given the commands other names: /flask-ask is /ask
        name = "ask" if str(body.get("command") or "").casefold().endswith("ask") else "threadlore"
        written = str(body.get("text") or "")
        # in a command for admins a mention is an account, not a name
        text = self._chat.reader.read(written)[0] if name == "ask" else unescaped(written)
        command = Command(name, text, person, where, scope, str(body.get("trigger_id") or ""))
        work = self._dispatch.command(self._chat, command, self._typed(body))
        await self._then_at_home(work, user)

    async def _note(
        self,
        kind: Literal["command", "press"],
        event: str,
        responder: SlackResponder,
        press: Press | None = None,
    ) -> bool:
        account, address = f"slack:{responder.user}", responder.address
        try:
            return await self._dispatch.take("slack", kind, event, account, address, press)
        except StorageUnavailable as error:
            log.error("A %s on Slack cannot be noted: %s", kind, error)
            # who is told, and whether Slack takes it, must not hold the acknowledgement up
            self._start(responder.reply(Reply(_(error.told))))
            return False

    def _pressed_by(self, found: Pressed, ref: MessageRef) -> SlackResponder:
        if found.is_at_home:
            return self._tabs.responder(found)
        return SlackResponder(
            self._api, self._chat, ref, found.user, found.link, thread=found.thread, trigger=found.trigger
        )

    def _chosen(self, body: Mapping[str, Any], ref: MessageRef) -> SlackResponder:
        user, link = str(body["user"]["id"]), Link.new(body.get("response_url"))
        thread = active_thread(body["message"])
        return SlackResponder(self._api, self._chat, ref, user, link, thread=thread, waits=True)

    def _typed(self, body: Mapping[str, Any]) -> SlackResponder:
        where = MessageRef("slack", str(body.get("channel_id") or ""), "", "")
        user, link = str(body.get("user_id") or ""), Link.new(body.get("response_url"))
        return SlackResponder(self._api, self._chat, where, user, link, waits=True)
