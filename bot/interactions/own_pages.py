"""Pages of one's own, such as Slack's Home tab: what stands on them, and what their controls do."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection
from typing import Any

from bot.commands.look.me import around, pages_of
from bot.commands.slash.table import SlashCommands
from bot.operations.application import Application
from bot.ports.chat import Chat, Command, Message, Person, Press, Reply, Responder
from bot.ports.page import Page
from bot.rendering.own_page import ABOUT, ASK, CHANNEL, MODE, QUESTION, RELEASE, Managed, ask_form, home
from bot.rendering.sources import status_lines, with_next
from core.domain import Scope
from core.languages import N_, _, speaking
from core.text.markup import inert
from core.text.words import one_line

KEPT = 2_000
"""Links, and channels that admins chose, that are remembered."""
ASKED = N_("Your question stands in our direct messages; the answer comes there.")
OPENED = 1_000
"""Characters of a question that are quoted in the direct messages."""


class OwnPagesHandler:
    """Lays out people's pages and carries out their controls; `ask` answers a message of a person."""

    def __init__(
        self,
        app: Application,
        slash: SlashCommands,
        language_of: Callable[[Person], str],
        ask: Callable[[Chat, Message], Awaitable[None]],
    ) -> None:
        self._app = app
        self._slash = slash
        self._language_of = language_of
        self._ask = ask
        self._pages = pages_of(app)
        self._links: OrderedDict[str, str] = OrderedDict()
        self._chosen: OrderedDict[str, str] = OrderedDict()

    async def page(self, chat: Chat, person: Person, channels: Collection[str], note: str = "") -> Page:
        """Return somebody's page, with answers of the public channels (`slack:C1`) that they read."""
        with speaking(self._language_of(person)):
            page = await self._pages.of(person.id, channels)
            told = await around(self._app, page, chat, self._links)
            for one in page.all:
                if link := told.links.get(one.id):
                    _remember(self._links, one.id, link)
            return home(page, told, await self._managed(person), note)

    async def pressed(self, chat: Chat, press: Press, responder: Responder) -> None:
        """Carry out a control of a page; settings go the way of the commands, with their permissions."""
        if press.name == ASK and press.fields.get(QUESTION, "").strip():
            await self._asked(chat, press, responder)
        elif press.name == ASK:
            await responder.ask(ask_form())
        elif press.name == CHANNEL:
            _remember(self._chosen, press.person.id, f"{chat.name}:{press.value}")
            await responder.reply(Reply(""))
        elif press.name in _COMMANDS:
            line = f"{_COMMANDS[press.name]} {press.value}"
            command = Command("threadlore", line, press.person, press.ref, press.scope)
            await self._slash.run(command, responder, chat)

    async def _asked(self, chat: Chat, press: Press, responder: Responder) -> None:
        """Write a question down in the direct messages of who asks, and answer it there."""
        question = press.fields[QUESTION].strip()
        quoted = f"> {inert(one_line(question)[:OPENED])}"
        ref = (await chat.send(press.person.id.partition(":")[2], Reply(quoted)))[0]
        await responder.reply(Reply(_(ASKED)))
        scope = Scope("direct", ref.channel_key)
        await self._ask(chat, Message(ref, press.person, question, scope))

    async def _managed(self, person: Person) -> Managed | None:
        """Return what somebody looks after; None for those who may set no modes."""
        may = {subcommand.name for subcommand in self._slash.allowed(person)}
        if "mode" not in may:
            return None
        channel, app = self._chosen.get(person.id, ""), self._app
        status: dict[str, Any] = await app.corpus_manager.status() if "sources" in may else {}
        given = (await app.releases.given()).get(channel)
        return Managed(
            channel=channel,
            mode=await app.modes.mode(channel) if channel else "",
            configured_mode=app.modes.configured(channel) if channel else "",
            release=given.release if given else app.releases.configured(channel),
            configured_release=app.releases.configured(channel),
            sources=status_lines(with_next(status["sources"], app.schedules)) if status else (),
            problems=status.get("problems", ()),
        )


_COMMANDS = {RELEASE: "me", MODE: "mode", ABOUT: "default-release"}
"""The command that each control gives."""


def _remember(kept: OrderedDict[str, str], key: str, value: str) -> None:
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > KEPT:
        kept.popitem(last=False)
