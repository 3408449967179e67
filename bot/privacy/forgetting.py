"""Forget a person: their questions and votes, anything learned from them, and the answers to them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.home.logs import drop_open_files
from bot.privacy.exports import Holders, clean
from core.languages import _
from core.memory.community import CommunityMemory
from core.models.embedding.encoder import Encoders
from core.ports import Forgotten, PersonStore
from core.ports.cluster import GONE, Cluster, OnlyProcess
from core.privacy.names import Privacy

EXPORTS = (".jsonl", ".csv", ".json", ".txt", ".log", ".md")
"""Endings of files that people may have written into the home."""
TELLING = 12
"""Least characters of a text that is looked for in files; shorter ones stand everywhere."""
CLOCKS_SECONDS = 60.0
"""How far the clocks of a cluster's machines may be apart."""
Told = Callable[[Collection[str]], Awaitable[None]]
"""Is told a person's accounts."""


@dataclass(frozen=True, slots=True)
class Done:
    """What was removed, and files in the home that still hold what the person asked."""

    forgotten: Forgotten
    left: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """Return what was removed in numbers, and the files that are left, as JSON holds it."""
        gone = self.forgotten
        counted = {name: getattr(gone, name) for name in ("questions", "pairs", "votes", "messages")}
        return counted | {"left": [str(file) for file in self.left]}

    @property
    def text(self) -> str:
        """Say it in a sentence or two."""
        gone = self.forgotten
        said = _(
            "Forgotten. Questions with their answers: {questions}; remembered answers: {pairs}; "
            "votes: {votes}; messages: {messages}."
        ).format(questions=gone.questions, pairs=gone.pairs, votes=gone.votes, messages=gone.messages)
        left = _("An admin has to delete these files in the home: {files}.").format(
            files=", ".join(self.left)
        )
        return f"{said} {left}" if self.left else said


class Forgetting:
    """Takes a person out of the home, with all accounts that `corpora.toml` links.

    `overwrite` takes texts out of the files of the vector index, `reload` has searches know no pages that
    are gone. `before` are told the accounts while everything is there still, `after` when the rest is done;
    `holders` are the platforms that keep something themselves.
    """

    def __init__(
        self,
        *,
        privacy: Privacy,
        store: PersonStore,
        memory: CommunityMemory,
        encoders: Encoders,
        home: Path,
        overwrite: Callable[[Sequence[bytes]], object],
        reload: Callable[[], Awaitable[None]],
        before: Sequence[Told] = (),
        after: Sequence[Told] = (),
        holders: Holders,
        cluster: Cluster | None = None,
    ) -> None:
        self._cluster = cluster or OnlyProcess()
        self._followed = 0.0
        self._reload = reload
        self._privacy = privacy
        self._store = store
        self._memory = memory
        self._encoders = encoders
        self._home = home
        self._overwrite = overwrite
        self._holders = holders
        self._before, self._after = list(before), tuple(after)

    def take_back_by(self, take_back: Told) -> None:
        """Have somebody told who takes back what others were told of a person, before it is forgotten.

        Who says things is made with everything that runs, this one included, so it comes by itself.
        """
        self._before.append(take_back)

    async def opt_out(self, user: str) -> Done:
        """Store nothing about a person from now on, and forget them, so that nothing goes on being told."""
        await self._privacy.opt_out(user)
        return await self.forget(user)

    async def forget(self, user: str) -> Done:
        """Forget a person by one of their accounts, or by their name in `corpora.toml`.

        Accounts that belong together are forgotten together: their votes were one voter's.
        """
        accounts = self._privacy.names.everyone(user)
        await self._privacy.forget(user)
        found: list[Forgotten] = []
        for take_back in self._before:
            await take_back(accounts)

        async def remove() -> None:
            found.append(await self._store.forget(accounts, accounts))

        await self._memory.rebuild(remove)
        await self._store.scrub()
        (await self._encoders.current()).forget()
        gone = found[0]
        if gone.pages:
            await self._reload()
        await self._holders.forget(frozenset(accounts), gone.answers | gone.pair_ids)
        await asyncio.to_thread(self._overwrite, _forms(gone.texts))
        await asyncio.to_thread(drop_open_files, self._home)
        ids = gone.answers | gone.pair_ids | gone.pages
        exported = await asyncio.to_thread(clean, self._home, ids, _forms(gone.texts))
        still = await asyncio.to_thread(_still, self._home, gone.texts)
        for take_out in self._after:
            await take_out(accounts)
        return Done(gone, (*still, *(path for path in exported if Path(path).parent != self._home)))

    async def forgotten_elsewhere(self, ids: Collection[str]) -> None:
        """Keep nothing in this home and process of people whom another process of a cluster has forgotten.

        `ids` are answers and pairs that are gone, and one-way names of pages. Without any, as at the start of
        a process, they are all that were ever told.
        """
        ids = ids or (await self._cluster.news(0, GONE)).keys.get(GONE, set()) - {""}
        (await self._encoders.current()).forget()
        since, now = self._followed, time.time()
        accounts = {
            account
            for account, written_at in (await self._holders.known()).items()
            if (at := self._privacy.forgotten(account)) and at > (since or written_at) - CLOCKS_SECONDS
        }
        if accounts or ids:
            await self._holders.forget(accounts, ids)
        await asyncio.to_thread(self._overwrite, ())
        await asyncio.to_thread(drop_open_files, self._home)
        await asyncio.to_thread(clean, self._home, ids, (), self._privacy.names.of_gone)
        self._followed = now  # not before: what fails is tried again

    async def settle(self) -> None:
        """Do what had to wait while somebody was writing."""
        await self._store.scrub()


def _forms(texts: Iterable[str]) -> list[bytes]:
    """Return how texts may stand in files: as they are, and as JSON writes them; the longest first."""
    found = {
        form.encode("utf-8", "replace")
        for text in texts
        for form in (text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1])
        if len(text) >= TELLING
    }
    return sorted(found, key=len, reverse=True)


def _still(home: Path, texts: Iterable[str]) -> tuple[str, ...]:
    """Return the files that people wrote into the home and that hold one of the texts."""
    forms = _forms(texts)
    return tuple(
        path.name
        for path in sorted(home.iterdir())
        if path.suffix in EXPORTS and path.is_file() and any(form in path.read_bytes() for form in forms)
    )
