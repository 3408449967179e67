"""Emoji, buttons, menus and forms of the playground: checked, shown, and told to dispatch."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakValueDictionary

from bot.platforms.web.chat import WebChat, fields_of, person_of
from bot.platforms.web.http.requests import ApiError, cleaned, player_of, visible
from bot.platforms.web.people import CHANNELS, PLATFORM, Player
from bot.platforms.web.post import EMOJI, Post
from bot.platforms.web.state import Posts
from bot.ports.chat import ACCEPT, DOWN, OBJECT, UP, Control, Form, Person, Press, Reaction, Reply, vote_of
from core.domain import MessageRef
from core.errors import PlatformRejected, StorageUnavailable, ThreadloreError
from core.languages import _
from core.settings import Settings

if TYPE_CHECKING:
    from bot.dispatch.dispatch import Dispatch

log = logging.getLogger(__name__)

FORM_SECONDS = 3.0
"""Time in which a press may open a form, as on the other platforms."""
VOTES = {"up": UP, "down": DOWN}
"""Controls that are a vote, and the emoji that is the same opinion."""
WITHIN = {"think": "why"}
"""Controls that the page shows in what another one opens."""
CONFIRM = "confirm"
"""The control that does what cannot be undone."""
_CHANGED = "This button is not there any more; look at the message again."
Soon = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]


class Presses:
    """What people do to messages; `soon` runs what is not waited for."""

    def __init__(
        self, posts: Posts, chat: WebChat, dispatch: Dispatch, settings: Settings, soon: Soon
    ) -> None:
        self._posts = posts
        self._chat = chat
        self._dispatch = dispatch
        self._settings = settings
        self._soon = soon
        self._forms: dict[tuple[str, str], Form] = {}
        self._order: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    # --- emoji --------------------------------------------------------------------------------

    async def react(self, body: Mapping[str, Any]) -> dict[str, list[str]]:
        """Put an emoji on a message or take it off; of 👍 and 👎 a person has one at a time."""
        player = player_of(body.get("person"))
        emoji, added = _emoji(body.get("emoji")), body.get("added")
        if not emoji or not isinstance(added, bool):
            raise ApiError(422, f"`emoji` must be one of {' '.join(EMOJI)}, and `added` true or false.")
        post = visible(self._posts, body.get("message"), player)
        is_shown = player.id in post.reactions[emoji]
        if not (is_shown or added):
            return post.reactions
        # what is shown already may not have been counted by a process that died
        before = "" if is_shown and added else self._show(post, player, emoji, added=added)
        async with self._in_order(post, player):
            if before:
                await self._tell(post, player, before, added=False)
            await self._tell(post, player, emoji, added=added)
        await self._posts.settled()  # the next process goes by what is shown
        return visible(self._posts, post.id, player).reactions

    def _show(self, post: Post, player: Player, emoji: str, *, added: bool) -> str:
        """Show an emoji of a player, or show it no more; return the vote that it replaces, if any."""
        self._posts.hush(player.id, post.id)
        if emoji in VOTES.values():
            votes = {who: own for who, own in post.votes.items() if who != player.id}
            self._posts.change(post, votes={**votes, player.id: emoji} if added else votes)
            before = post.votes.get(player.id, "")
            return before if added and before != emoji else ""
        own = [mark for mark in post.marks.get(player.id, ()) if mark != emoji] + [emoji] * added
        marks = {who: theirs for who, theirs in {**post.marks, player.id: own}.items() if theirs}
        self._posts.change(post, marks=marks)
        return ""

    def _in_order(self, post: Post, player: Player) -> asyncio.Lock:
        """Return the lock under which dispatch hears what one player does to one message."""
        return self._order.setdefault((player.id, post.id), asyncio.Lock())

    async def _tell(self, post: Post, player: Player, emoji: str, *, added: bool) -> None:
        event = f"reaction-{self._posts.new_id()}"
        reaction = Reaction(post.ref, person_of(player, self._settings), emoji, added, event)
        try:
            await self._dispatch.reaction(self._chat, reaction)
        except Exception:  # the click stands whatever becomes of it; never posted
            log.exception("a reaction in the playground was not taken")

    # --- controls -----------------------------------------------------------------------------

    async def press(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Use a control or send a form; returns the form that this opens, or None for none."""
        player = player_of(body.get("person"))
        post = visible(self._posts, body.get("message"), player, whispers=True)
        name, value, filled = body.get("name"), body.get("value", ""), body.get("fields") or {}
        if not (isinstance(name, str) and isinstance(value, str) and isinstance(filled, dict)):
            raise ApiError(422, "`name` and `value` must be texts, and `fields` an object.")
        if filled:
            fields = self._filled(post, player, name, value, filled)
        elif any(_is(one, name, value) or _is(one, WITHIN.get(name, ""), value) for one in post.controls):
            fields = {}
        else:
            raise ApiError(404, _CHANGED)
        event = f"press-{self._posts.new_id()}"
        responder = PressResponder(self._posts, self._chat, post, player)
        person = person_of(player, self._settings)
        vote = VOTES.get(name, "") if not fields else ""
        again = post.votes.get(player.id) == vote if vote else None
        scope = CHANNELS[post.channel].scope
        told = Press(name, value, post.ref, person, scope, fields, event, again)
        before = self._show(post, player, vote, added=not again) if vote else ""
        try:
            await noted(self._dispatch, "press", event, person, responder.address, told)
        except ApiError:
            if vote:
                shown = visible(self._posts, post.id, player, whispers=True)
                self._show(shown, player, before or vote, added=bool(before or again))
            raise
        if name == CONFIRM:  # what it does happens once
            left = tuple(control for control in post.controls if control.name != CONFIRM)
            self._posts.change(post, controls=left)
        if vote:
            work = self._soon(self._vote(post, player, before, told, responder))
        else:
            work = self._soon(self._carry_out(told, responder))
        await asyncio.wait({work, responder.settled}, timeout=FORM_SECONDS, return_when="FIRST_COMPLETED")
        responder.close()
        if responder.form is not None:
            self._forms[player.id, post.id] = responder.form
        elif fields:
            self._forms.pop((player.id, post.id), None)
        return {"form": asdict(responder.form) if responder.form else None}

    def _filled(
        self, post: Post, player: Player, name: str, value: str, filled: Mapping[Any, Any]
    ) -> dict[str, str]:
        """Return the fields of a sent form, checked against the form if this process opened it."""
        form = self._forms.get((player.id, post.id))
        if form is None or (form.name, form.value) != (name, value):
            values = {v for control in post.controls for v in (control.value, *_values(control))}
            if value not in values:
                raise ApiError(404, "This form is out of date; open it again.")
            return {str(key): cleaned(text) for key, text in filled.items()}
        found = {field.name: cleaned(filled.get(field.name)) for field in form.fields}
        for field in form.fields:
            allowed = {choice.value for choice in field.choices}
            if field.required and not found[field.name]:
                raise ApiError(422, f"Please fill in “{field.label}”.")
            if allowed and found[field.name] and found[field.name] not in allowed:
                raise ApiError(422, f"Please choose one of the lines of “{field.label}”.")
        return found

    async def _vote(
        self, post: Post, player: Player, before: str, press: Press, responder: PressResponder
    ) -> None:
        """Tell of a vote by button, after the emoji that it replaces."""
        async with self._in_order(post, player):
            if before:
                await self._tell(post, player, before, added=False)
            await self._carry_out(press, responder)

    async def _carry_out(self, press: Press, responder: PressResponder) -> None:
        try:
            await self._dispatch.press(self._chat, press, responder)
        except ThreadloreError as error:
            log.warning("the control %s failed: %s", press.name, error)
            await responder.reply(Reply(error.told))
        except Exception:  # the one who pressed must hear something
            log.exception("the control %s failed", press.name)
            await responder.reply(Reply(ThreadloreError.told))


async def noted(
    dispatch: Dispatch,
    kind: Literal["command", "press"],
    event: str,
    person: Person,
    to: Mapping[str, Any],
    press: Press | None = None,
) -> None:
    """Have a command or a press noted before it is acknowledged; raises ApiError where that cannot be.

    What was typed is noted later, where it may be.
    """
    typed = str(to.get("command", "")).split(maxsplit=1)
    bare = {**to, "command": "".join(typed[:1])}
    try:
        await dispatch.take(PLATFORM, kind, event, person.id, bare, press)
    except StorageUnavailable as error:
        log.error("a %s in the playground cannot be noted: %s", kind, error)
        raise ApiError(503, _(error.told)) from None


class PressResponder:
    """Answers one press: by a form, by words that only its person sees, or not at all."""

    def __init__(self, posts: Posts, chat: WebChat, post: Post, player: Player) -> None:
        self.form: Form | None = None
        self.settled: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._posts = posts
        self._chat = chat
        self._post = post
        self._player = player
        self._said = ""
        thread = post.thread if posts.get(post.thread) else ""
        about = post.about or post.id
        self.address = {"channel": post.channel, "thread": thread, "only": player.id, "about": about}
        self._progress: tuple[MessageRef, ...] = ()

    async def reply(self, reply: Reply) -> None:
        """Say something to that person alone, under the message."""
        said, more = self._posts.get(self._said), fields_of(reply)
        if said is not None:
            self._posts.change(said, text=self._chat.shown(reply), **more)
        else:
            to = self.address
            where = {"about": to["about"], "thread": to["thread"]}
            said = self._posts.whisper(to["channel"], to["only"], self._chat.shown(reply), **where, **more)
            self._said = said.id
        self.close()

    async def ask(self, form: Form) -> None:
        """Open a form; raises PlatformRejected where the page waits for one no more."""
        if self.settled.done():
            raise PlatformRejected("A form must be opened within three seconds of the press; open it first.")
        self.form = form
        self.close()

    async def progress(self, reply: Reply) -> None:
        """Show the state of long work in one message of the conversation."""
        self.close()
        if self._progress and self._posts.get(self._progress[0].message):
            self._progress = await self._chat.edit(self._progress, reply)
        else:
            self._progress = await self._chat.post(self._post.ref, reply)

    def close(self) -> None:
        """Let the page wait no longer."""
        if not self.settled.done():
            self.settled.set_result(None)


def _emoji(given: object) -> str:
    """Read an emoji in any spelling that the playground knows; empty for none."""
    if not isinstance(given, str):
        return ""
    vote = vote_of(given)
    if vote is not None:
        return UP if vote else DOWN
    plain = given.rstrip("\ufe0f")
    return plain if plain in (ACCEPT, OBJECT) else ""


def _values(control: Control) -> tuple[str, ...]:
    return tuple(choice.value for choice in control.choices)


def _is(control: Control, name: str, value: str) -> bool:
    """Return True if a press is one of that control."""
    return control.name == name and value in (_values(control) or (control.value,))
