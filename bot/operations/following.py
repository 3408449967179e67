"""Follow what other processes of a cluster do: read again what they changed, answer what they left.

What a channel's new id changes is read again likewise.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from typing import Any

from bot.operations.application import Application
from core.errors import ThreadloreError
from core.ports import Claim
from core.ports.channels import Moved
from core.ports.cluster import APART, CLAIMS, CORPORA, GONE, INSIDE, MEMORY, Cluster

log = logging.getLogger(__name__)

Handler = Callable[[Collection[str]], Awaitable[object]]
"""Reads again what was changed; its keys are those of a topic, empty at the start."""
AGAIN_SECONDS = 1.0
GATHER_SECONDS = 0.2
"""How long it waits after the bell for further changes: votes come in crowds."""


class Following:
    """Hears of changes and hands them to those who hold what was changed, each in a task of its own.

    `take_up` answers what dead processes left open.
    """

    def __init__(
        self, cluster: Cluster, handlers: Mapping[str, Handler], take_up: Callable[[], Awaitable[object]]
    ) -> None:
        self._cluster = cluster
        self._handlers = handlers
        self._take_up = take_up
        self._seen: int | None = None
        self._left = False
        self._waiting: defaultdict[str, set[str]] = defaultdict(set)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._taking_up: set[asyncio.Task[object]] = set()

    async def start(self) -> None:
        """Begin to listen, and read everything once: what was loaded before may be older."""
        if not self._cluster.is_shared:
            return
        self._seen = (await self._cluster.news(None)).number
        for topic in self._handlers:
            self._begin(topic)
        self._cluster.listen(self._heard)

    def stop(self) -> None:
        """Follow no longer."""
        self._cluster.listen(lambda _: None)
        for task in (*self._tasks.values(), *self._taking_up):
            task.cancel()

    def _heard(self, left: bool) -> None:
        self._left = self._left or left
        if "" not in self._tasks or self._tasks[""].done():
            self._tasks[""] = asyncio.create_task(self._look())

    async def _look(self) -> None:
        if self._left:
            self._left = False
            task = asyncio.ensure_future(self._take_up())
            self._taking_up.add(task)
            task.add_done_callback(self._taken_up)
        await asyncio.sleep(GATHER_SECONDS)
        try:
            news = await self._cluster.news(self._seen)
        except ThreadloreError as error:  # the next sound of the bell is soon
            log.info("what others changed cannot be read: %s", error)
            return
        self._seen = news.number
        for topic, keys in news.keys.items():
            if topic in self._handlers:
                self._waiting[topic] |= keys
                self._begin(topic)

    def _begin(self, topic: str) -> None:
        if topic not in self._tasks or self._tasks[topic].done():
            self._tasks[topic] = asyncio.create_task(self._follow(topic))

    async def _follow(self, topic: str) -> None:
        """Hand over what is known of a topic until nothing is left of it; what fails is tried again."""
        first = True
        while first or self._waiting[topic]:
            first, keys = False, set(self._waiting[topic])
            self._waiting[topic].clear()
            try:
                await self._handlers[topic](keys)
            except (ThreadloreError, OSError) as error:
                log.warning("what others changed (%s) is not taken in yet: %s", topic, error)
                self._waiting[topic] |= keys or {""}
                await asyncio.sleep(AGAIN_SECONDS)

    def _taken_up(self, task: asyncio.Task[Any]) -> None:
        self._taking_up.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("what a dead process left could not be answered", exc_info=error)


def following(app: Application, take_up: Callable[[], Awaitable[object]], let_go: Handler) -> Following:
    """Return what keeps a process up to date; `let_go` stops answering what another process took over."""

    async def memory(_: Collection[str]) -> None:
        await app.memory.follow()

    async def modes(_: Collection[str]) -> None:
        app.modes.reread()

    async def releases(_: Collection[str]) -> None:
        app.releases.reread()

    async def privacy(_: Collection[str]) -> None:
        await app.privacy.load()

    async def gone(keys: Collection[str]) -> None:
        await app.privacy.load()
        await app.history.gone_elsewhere()
        await app.people.forgotten_elsewhere(set(keys) - {""})
        if keys:
            await app.corpus_manager.follow(rewrite=True)

    async def corpora(keys: Collection[str]) -> None:
        await app.corpus_manager.follow(changed=bool(keys))

    async def inside(keys: Collection[str]) -> None:
        for channel in keys:
            await app.engine.became_private_elsewhere(channel)
            await app.history.closed_elsewhere(channel)

    handlers: dict[str, Handler] = {
        MEMORY: memory,
        APART: app.memory.follow,
        CORPORA: corpora,
        CLAIMS: let_go,
        INSIDE: inside,
        GONE: gone,
        "pauses": app.pauses.reread,
        "channel_modes": modes,
        "own_releases": releases,
        "channel_releases": releases,
        "opt_outs": privacy,
        "forgotten": privacy,
    }
    return Following(app.cluster, handlers, take_up)


async def carry_over(app: Application, moved: Moved, let_go: Callable[[], Awaitable[object]]) -> None:
    """Let what is kept of a channel stand under its new id, and say once what only people can change.

    `let_go` stops what is being answered there.
    """
    pairs = 0
    for _ in range(2):  # the second time for what began meanwhile
        await let_go()
        pairs += await app.memory.moved(partial(app.moves.move, moved))
    app.modes.reread()
    app.releases.reread()
    await app.pauses.reread(())
    if not await app.conversations.claim(Claim("", "", "", 0.0), f"moved {moved.old} {moved.new}"):
        return
    log.info("%s is %s from now on, with %d remembered answers", moved.old, moved.new, pairs)
    asked = [channel for targets in app.catalogue.asked for channel in targets.channels]
    if moved.old in (*app.catalogue.channels, *asked, *app.settings.admin_channels):
        log.warning(
            "%s is named in corpora.toml or in THREADLORE_ADMIN_CHANNEL, and its id is %s from now on: write "
            "that there, and start me again",
            moved.old,
            moved.new,
        )
