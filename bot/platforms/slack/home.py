"""The Home tab: one page for each person, published when they open it and when what stands there changes.

Limits are those of docs.slack.dev: 100 blocks of a view, 3,000 characters of a text, 250 kB of a view; and
`views.publish` about a hundred times a minute.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from bot.platforms.slack import personal_data as kept
from bot.platforms.slack.api.client import SlackApi
from bot.platforms.slack.api.errors import SlackRefused
from bot.platforms.slack.chat import SlackChat
from bot.platforms.slack.components import Link, Pressed, actions, beside, header
from bot.platforms.slack.directory import Directory
from bot.platforms.slack.responder import SlackResponder
from bot.platforms.slack.text.format import SECTION, sections
from bot.ports.chat import Person, Press, Reply
from bot.ports.page import Page, Part
from bot.rendering.harmless import harmless
from core.domain import MessageRef, Scope
from core.errors import StorageUnavailable

if TYPE_CHECKING:
    from bot.dispatch.dispatch import Dispatch

log = logging.getLogger(__name__)

BLOCKS = 100
LARGEST = 250_000
"""Bytes of a view."""
PAUSE = 3.0
"""Seconds between two pages that one person gets unasked."""
OPENED = 2_000
"""People whose tab is kept up to date, those who opened it last."""
SPREAD = 1.5
"""Seconds between the tabs of two people where all are published: Slack tells 50 times a minute in which
channels somebody is, and people who open their tab need room beside it."""
AGAIN_SECONDS = 30.0
"""Time after which a tab is published again that Slack refused, where it names no time."""
_HEADER = 150


def blocks(page: Page) -> list[dict[str, Any]]:
    """Return a page as blocks, as many as a view takes."""
    laid = [block for part in page for block in _laid(part)][:BLOCKS]
    while len(json.dumps(laid).encode()) > LARGEST - 1_000:
        laid.pop()
    return laid


def _laid(part: Part) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if part.title:
        found += [{"type": "divider"}, header(part.title, _HEADER)]
    for text in _texts(part.markdown):
        found.append({"type": "section", "text": {"type": "mrkdwn", "text": text}})
    if part.beside is not None and found:
        found[-1]["accessory"] = beside(part.beside)
    found += [
        {"type": "context", "elements": [{"type": "mrkdwn", "text": text[:SECTION]}]}
        for text in _texts(part.small)
    ]
    return found + actions(part.controls)


def _texts(markdown: str) -> list[str]:
    said = harmless(markdown).strip()
    return [text for text in sections(said, has_times=True) if text.strip()] if said else []


@dataclass(slots=True)
class _Tab:
    """What one person's tab shows: the hash of its view, the blocks, and what came of the last press."""

    hash: str = ""
    shown: list[dict[str, Any]] = field(default_factory=list)
    note: str = ""
    at: float = -PAUSE
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    due: asyncio.Task[None] | None = None
    when: float = 0.0
    """When it is published again, if that is due."""


class HomeTabs:
    """Publishes people's tabs, and hands over what they do there."""

    def __init__(
        self,
        api: SlackApi,
        directory: Directory,
        chat: SlackChat,
        dispatch: Dispatch,
        home: Path | None = None,
    ) -> None:
        """`home` keeps who opened a tab; without one nobody is known after a restart."""
        self._api, self._directory, self._chat, self._dispatch = api, directory, chat, dispatch
        self._home = home
        self._noted: dict[str, None] = {}
        self._writing = asyncio.Lock()
        self._tabs: OrderedDict[str, _Tab] = OrderedDict()
        self._turn = -math.inf
        """When the latest of the tabs that are published in turn is due."""
        self._off = False

    async def restore(self) -> None:
        """Publish the tabs of those who had opened one when the bot last ran, one after the other."""
        users = await asyncio.to_thread(kept.read, self._home) if self._home else []
        self._noted = dict.fromkeys(users[-OPENED:])
        self._tabs = OrderedDict((user, _Tab()) for user in self._noted)
        self._in_turn(reversed(self._tabs))

    async def open(self, event: Mapping[str, Any]) -> None:
        """Publish the tab of somebody who opened it."""
        user = str(event.get("user") or "")
        if not user or self._off:
            return
        tab = self._tabs.setdefault(user, _Tab())
        self._tabs.move_to_end(user)
        while len(self._tabs) > OPENED:
            gone = self._tabs.popitem(last=False)[1]
            if gone.due is not None:
                gone.due.cancel()
        tab.hash, tab.note = str((event.get("view") or {}).get("hash") or ""), ""
        await self._publish(user, tab)
        if user not in self._noted and not self._off and not self._dispatch.is_out(f"slack:{user}"):
            self._noted[user] = None
            await self._write()

    def changed(self, user: str) -> None:
        """Publish somebody's tab again before long, if they opened it."""
        if tab := self._tabs.get(user):
            self._due(user, tab, max(tab.at + PAUSE, monotonic()))

    def _in_turn(self, users: Iterable[str], after: float = 0.0) -> None:
        """Publish tabs again one after the other, so that Slack takes all of them."""
        for user in users:
            tab = self._tabs.get(user)
            if tab is not None and tab.due is None:
                self._turn = max(self._turn + SPREAD, monotonic() + after)
                self._due(user, tab, max(self._turn, tab.at + PAUSE))

    def _due(self, user: str, tab: _Tab, when: float) -> None:
        if self._off or (tab.due is not None and tab.when <= when):
            return
        if tab.due is not None:
            tab.due.cancel()
        tab.when, tab.due = when, asyncio.create_task(self._later(user, tab))

    async def forget(self, accounts: Collection[str], ids: Collection[str]) -> None:
        """Publish every tab again in turn: what somebody said is gone, and may stand on any of them.

        A person who is forgotten is noted as somebody with a tab only once they open it again; their own tab
        comes first, then those of who opened theirs last.
        """
        users = kept.users_of(accounts)
        if gone := users.intersection(self._noted):
            self._noted = {user: None for user in self._noted if user not in gone}
            await self._write()
        for user in users:
            self.changed(user)
        self._in_turn(reversed(self._tabs))

    async def _write(self) -> None:
        """Write down who opened a tab; a disk that is full costs no more than the list."""
        if self._home is None:
            return
        async with self._writing:
            try:
                await asyncio.to_thread(kept.write, self._home, list(self._noted)[-OPENED:])
            except OSError as error:
                log.warning("who opened a Home tab could not be written down: %s", error.strerror)

    async def tell(self, user: str, note: str) -> None:
        """Show somebody on their tab what came of what they did there."""
        tab = self._tabs.setdefault(user, _Tab())
        tab.note = note
        await self._publish(user, tab)

    def stop(self) -> None:
        """Publish nothing any more."""
        self._off = True
        for tab in self._tabs.values():
            if tab.due is not None:
                tab.due.cancel()

    async def _later(self, user: str, tab: _Tab) -> None:
        await asyncio.sleep(tab.when - monotonic())
        tab.due = None
        try:
            await self._publish(user, tab)
        except StorageUnavailable as error:
            log.warning("a Home tab could not be brought up to date: %s", error)
            self._in_turn((user,), AGAIN_SECONDS)
        except Exception:  # a tab that is not up to date must not stop anything else
            log.exception("a Home tab could not be brought up to date")

    async def _publish(self, user: str, tab: _Tab) -> None:
        """Publish a tab that shows something new; another process's page in between is replaced once."""
        async with tab.lock:
            for is_last in (False, True):
                person = await self._directory.person(user)
                channels = await self._directory.read_by(user)
                laid = blocks(await self._dispatch.own_page(self._chat, person, channels, tab.note))
                tab.at = monotonic()
                if laid == tab.shown and tab.hash:
                    return
                given: dict[str, Any] = {"user_id": user, "view": {"type": "home", "blocks": laid}}
                given |= {"hash": tab.hash} if tab.hash else {}
                try:
                    answer = await self._api.call("views.publish", **given)
                except SlackRefused as error:
                    tab.hash, tab.shown = "", []
                    if error.code == "hash_conflict" and not is_last:
                        continue
                    self._refused(user, error)
                    return
                tab.hash, tab.shown = str((answer.get("view") or {}).get("hash") or ""), laid
                return

    def _refused(self, user: str, error: SlackRefused) -> None:
        if error.code == "not_enabled":
            self._off = True
            log.warning("The app has no Home tab: switch it on under App Home (docs/slack-manifest.yaml).")
        else:
            log.warning("Slack does not publish a Home tab: %s", error)
            if error.retryable or error.code == "hash_conflict":
                self._in_turn((user,), error.retry_after or AGAIN_SECONDS)

    # --- what people do there -----------------------------------------------------------------

    def responder(self, found: Pressed) -> HomeResponder:
        """Return how somebody is answered who used a control of their tab, or sent a form from there."""
        return HomeResponder(self._api, self._chat, self, found)

    async def press(self, found: Pressed) -> None:
        """Hand over a control that was used there, or a form that was sent."""
        person: Person = await self._directory.person(found.user)
        ref, scope = MessageRef("slack", found.user, "", ""), Scope("direct", f"slack:{found.user}")
        press = Press(found.name, found.value, ref, person, scope, found.fields, found.trigger)
        await self._dispatch.press(self._chat, press, self.responder(found))


class HomeResponder(SlackResponder):
    """Answers on the tab itself, above which a form opens."""

    def __init__(self, api: SlackApi, chat: SlackChat, tabs: HomeTabs, found: Pressed) -> None:
        super().__init__(api, chat, found.ref, found.user, Link(), trigger=found.trigger)
        self._tabs = tabs

    async def reply(self, reply: Reply) -> None:
        """Show what came of it; a text that is not final is left out."""
        if reply.final:
            await self._tabs.tell(self.user, reply.markdown)
