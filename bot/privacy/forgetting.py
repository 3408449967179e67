"""Forget a person: their questions and votes, anything learned from them, and the answers to them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.app.logs import drop_open_files
from bot.platforms.web.journal_records import JOURNAL, players_of, read, without, write
from bot.privacy.exports import clean
from core.languages import _
from core.memory.community import CommunityMemory
from core.models.embedding.encoders import Encoders
from core.ports import Forgotten, PersonStore
from core.privacy.names import Privacy

EXPORTS = (".jsonl", ".csv", ".json", ".txt", ".log", ".md")
"""Endings of files that people may have written into the home."""
TELLING = 12
"""Least characters of a text that is looked for in files; shorter ones stand everywhere."""
Listener = Callable[[frozenset[str], frozenset[str]], Awaitable[None]]
"""Forgets accounts, and answers and pairs by their ids, wherever something of them is held in memory."""


@dataclass(frozen=True, slots=True)
class Done:
    """What was removed, and files in the home that still hold what the person asked."""

    forgotten: Forgotten
    left: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Say it in a sentence or two."""
        gone = self.forgotten
        said = _(
            "Forgotten: {questions} questions with their answers, {pairs} remembered pairs, {votes} votes, "
            "{messages} messages."
        ).format(questions=gone.questions, pairs=gone.pairs, votes=gone.votes, messages=gone.messages)
        return said + (f" Delete these files yourself: {', '.join(self.left)}." if self.left else "")


class Forgetting:
    """Takes a person out of the home, with all accounts that `corpora.toml` links.

    `overwrite` takes texts out of the files of the vector index, `reload` has searches know no pages that
    are gone.
    """

    def __init__(
        self,
        privacy: Privacy,
        store: PersonStore,
        memory: CommunityMemory,
        encoders: Encoders,
        home: Path,
        overwrite: Callable[[Sequence[bytes]], object],
        reload: Callable[[], Awaitable[None]],
    ) -> None:
        self._reload = reload
        self._privacy = privacy
        self._store = store
        self._memory = memory
        self._encoders = encoders
        self._home = home
        self._overwrite = overwrite
        self.listeners: list[Listener] = []
        self.before: list[Callable[[Collection[str]], Awaitable[None]]] = []
        """Told the accounts while everything is there still: to take back what others were told of them."""
        self.after: list[Callable[[Collection[str]], Awaitable[None]]] = []
        """Told the accounts when the rest is done: to take their words out of what sources have read."""

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
        for take_back in self.before:
            await take_back(accounts)

        async def remove() -> None:
            found.append(await self._store.forget(accounts, accounts))

        await self._memory.rebuild(remove)
        await self._store.scrub()
        (await self._encoders.current()).forget()
        gone = found[0]
        if gone.pages:
            await self._reload()
        for listener in self.listeners:
            await listener(frozenset(accounts), gone.answers | gone.pair_ids)
        if not self.listeners:  # a playground that runs has done it, and goes on writing there
            ids = gone.answers | gone.pair_ids
            await asyncio.to_thread(_clean, self._home / JOURNAL, players_of(accounts), ids)
        await asyncio.to_thread(self._overwrite, _forms(gone.texts))
        await asyncio.to_thread(drop_open_files, self._home)
        await asyncio.to_thread(_drop_halves, self._home / JOURNAL)
        ids = gone.answers | gone.pair_ids | gone.pages
        exported = await asyncio.to_thread(clean, self._home, ids, _forms(gone.texts))
        still = await asyncio.to_thread(_still, self._home, gone.texts)
        for take_out in self.after:
            await take_out(accounts)
        return Done(gone, (*still, *(path for path in exported if Path(path).parent != self._home)))

    async def settle(self) -> None:
        """Do what had to wait while somebody was writing."""
        await self._store.scrub()


def _clean(journal: Path, players: set[str], answers: frozenset[str]) -> None:
    """Take out of the playground's journal what a player wrote and voted, and what they were answered."""
    if journal.exists():
        write(journal, without(read(journal), players, answers))


def _drop_halves(journal: Path) -> None:
    """Remove what stands beside the journal: what a process that died left, and what nobody could read."""
    for ending in (".fresh", ".new"):
        journal.with_suffix(ending).unlink(missing_ok=True)
    aside = journal.with_suffix(f".broken{journal.suffix}")
    if not aside.is_dir():  # a folder is nothing that Threadlore wrote
        aside.unlink(missing_ok=True)


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
