"""Admin commands, in the same words on every platform and on the command line."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any

from bot.chat import Person, Reply, Responder
from bot.controls import WRONG
from bot.gaps_text import gaps_text
from core.errors import PlatformError, ThreadloreError
from core.gaps import DAYS, Gap
from core.ingestion.indexer import Indexed
from core.ingestion.reading import Progress
from core.library import Library
from core.opinions import Correction

log = logging.getLogger(__name__)

GROWTH_DAYS = 5
"""Days of growth that `status` tells."""
EDIT_SECONDS = 2.0
"""Least time between two edits of a progress message."""
HELP = (
    "`/threadlore status` how releases, memory and model are\n"
    "`/threadlore releases` which releases there are\n"
    "`/threadlore reindex [release]` read the sources anew; the old pages answer meanwhile\n"
    "`/threadlore gaps` what was asked in public and not answered, or not well\n"
    "`/threadlore memory corrections` what people found wrong with answers, and what they wrote instead\n"
    "`/threadlore forget me` (admins also: `forget slack:U123`) remove what a person asked and voted"
)
CONFIRM = "confirm"
_MENTION = re.compile(r"<@!?(\w+)(?:\|[^>]*)?>")
Forget = Callable[[str], Awaitable[Any]]
Corrections = Callable[[], Awaitable[Sequence[Correction]]]
Gaps = Callable[[int], Awaitable[Sequence[Gap]]]
Status = Callable[[], Awaitable[dict[str, Any]]]


class Admin:
    """Carries out `/threadlore …` for those who may."""

    def __init__(
        self,
        library: Library,
        admins: Collection[str],
        forget: Forget | None = None,
        corrections: Corrections | None = None,
        gaps: Gaps | None = None,
        status: Status | None = None,
    ) -> None:
        self.library = library
        self._corrections = corrections
        self._gaps = gaps
        self._status = status or library.status
        self._admins = frozenset(admins)
        self._forget = forget
        self._tasks: set[asyncio.Task[None]] = set()

    def is_admin(self, person: Person) -> bool:
        """Tell whether somebody may do what only admins may."""
        return person.admin or person.id in self._admins

    async def run(self, text: str, person: Person, responder: Responder) -> None:
        """Carry out one command line for a person, or say why not."""
        words = text.split()
        if words[:2] == ["forget", "me"] and self._forget is not None:
            await self._forget_person(person.id, words[2:], "me", responder)
            return
        if not (person.admin or person.id in self._admins):
            await responder.reply(
                Reply("Only admins may do that. An admin can add you with THREADLORE_ADMINS in `.env`.")
            )
            return
        match words:
            case ["status"]:
                await responder.reply(Reply(status_text(await self._status())))
            case ["releases"]:
                await responder.reply(Reply(releases_text(await self.library.releases())))
            case ["reindex"] | ["reindex", _]:
                await self._reindex(words[1] if len(words) > 1 else "", responder)
            case ["forget", who, *rest] if self._forget is not None:
                await self._forget_person(_account(who, person), rest, who, responder)
            case ["memory", "corrections"] if self._corrections is not None:
                await responder.reply(Reply(corrections_text(await self._corrections())))
            case ["gaps"] if self._gaps is not None:
                await responder.reply(Reply(gaps_text(await self._gaps(DAYS), DAYS)))
            case [] | ["help"]:
                await responder.reply(Reply(HELP))
            case _:
                await responder.reply(Reply(f"I don't know `{text.strip()}`. There is:\n{HELP}"))

    async def _forget_person(self, user: str, rest: list[str], said: str, responder: Responder) -> None:
        """Forget a person once it is confirmed: it cannot be taken back."""
        if not user:
            told = f"I can't tell who `{said}` is; write the account, such as `slack:U123` or `discord:456`."
        elif rest != [CONFIRM]:
            told = (
                f"This removes for good what {'you' if said == 'me' else user} asked and voted, with the "
                f"answers and what was remembered of them. To go on: `/threadlore forget {said} {CONFIRM}`"
            )
        else:
            assert self._forget is not None
            told = (await self._forget(user)).text
        await responder.reply(Reply(told))

    async def _reindex(self, release: str, responder: Responder) -> None:
        if release and not self.library.known(release):
            names = ", ".join(entry.name for entry in self.library.product.releases)
            await responder.reply(Reply(f"There is no release `{release}`. There is: {names}."))
            return
        what = f"{self.library.product.name} {release}" if release else "every release"
        await responder.reply(Reply(f"Reindexing {what}. The pages there are go on answering."))
        task = asyncio.create_task(self._work(release, what, responder))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _work(self, release: str, what: str, responder: Responder) -> None:
        shown = 0.0
        latest: list[Progress] = []
        changed = asyncio.Event()

        def hear(progress: Progress) -> None:
            latest[:] = [progress]
            changed.set()

        async def show() -> None:
            nonlocal shown
            while True:
                await changed.wait()
                changed.clear()
                await responder.progress(Reply(progress_text(latest[0]), final=False))
                shown = time.monotonic()
                await asyncio.sleep(EDIT_SECONDS)

        showing = asyncio.create_task(show())
        try:
            done = await self.library.reindex(release, hear)
            text = done_text(done) or f"{what} is up to date."
        except ThreadloreError as error:
            text = f"Reindexing {what} failed: {error}"
        except Exception:  # a progress message must not stand still for ever
            log.exception("reindexing %s failed", what)
            text = f"Reindexing {what} failed: {ThreadloreError.told}"
        finally:
            showing.cancel()
            await asyncio.gather(showing, return_exceptions=True)
        try:
            await responder.progress(Reply(text))
        except PlatformError as error:
            log.warning("what a reindex did could not be shown (%s): %s", error, text)


def _account(said: str, admin: Person) -> str:
    """Return the account that a mention or an id means, on the admin's platform; empty for a mere name."""
    platform = admin.id.partition(":")[0]
    if match := _MENTION.fullmatch(said):
        return f"{platform}:{match[1]}"
    return "" if said.startswith("@") else said if ":" in said else f"{platform}:{said}"


def progress_text(progress: Progress) -> str:
    """Say in one line how far a reindex is."""
    if progress.stage == "reading":
        return f"{progress.release}: reading {progress.source} ({progress.done} pages)"
    left = f", {progress.eta_s:.0f} s left" if progress.eta_s is not None else ""
    return (
        f"{progress.release}: {progress.stage} {progress.done} of {progress.total} passages, "
        f"{progress.rate:.0f}/s{left}"
    )


def done_text(done: list[Indexed]) -> str:
    """Say what a reindex did, a line a release."""
    lines = []
    for item in done:
        reading = item.reading
        passed = f", {len(reading.skipped)} passed over" if reading.skipped else ""
        failed = "".join(f"\n  {source} failed: {error}" for source, error in reading.failed)
        changes = (
            f"{len(reading.added)} added, {len(reading.changed)} changed, {len(reading.removed)} removed, "
            f"{reading.unchanged} unchanged{passed}"
        )
        lines.append(
            f"{item.corpus.release}: {item.corpus.documents} pages, {item.corpus.chunks} passages "
            f"({changes}), {item.embedded} embedded in {item.seconds:.1f} s{failed}"
        )
    return "\n".join(lines)


def corrections_text(corrections: Sequence[Correction]) -> str:
    """List what people found wrong with answers, the latest first."""
    if not corrections:
        return "Nobody has said yet what was wrong with an answer."
    lines = []
    for said in corrections:
        better = f" Better: {' '.join(said.better.split())}" if said.better else ""
        taken = " (remembered)" if said.pair_id else ""
        lines.append(f"- “{said.question}” ({said.release}), {said.name}: {WRONG[said.what]}.{better}{taken}")
    return "\n".join(lines)


def releases_text(releases: list[dict[str, Any]]) -> str:
    """List the releases, newest first."""
    lines = []
    for entry in reversed(releases):
        latest = " (latest)" if entry["latest"] else ""
        state = (
            f"{entry['documents']} pages, {entry['chunks']} passages" if entry["ready"] else "not ready yet"
        )
        lines.append(f"- **{entry['name']}**{latest}: {state}")
    return "\n".join(lines)


def _bounds(memory: dict[str, Any]) -> str:
    """Say what keeps memory small and safe, where it is set."""
    voters, limit = memory.get("min_voters", 1), memory.get("limit", 0)
    said = f"; reused in public from {voters} voters on" if voters > 1 else ""
    return said + (f"; at most {limit} of each a release" if limit else "")


def _stored(memory: dict[str, Any]) -> list[str]:
    """Say how many pairs each release has in each store, and how many came lately."""
    by_release: dict[str, list[str]] = {}
    for entry in memory.get("stores", ()):
        waits = f" (+{entry['waiting']} behind them)" if entry["waiting"] else ""
        kind = "good" if entry["store"] == "high" else "bad"
        by_release.setdefault(entry["release"], []).append(f"{entry['kept']} {kind}{waits}")
    lines = [f"- {release.replace('*', 'all')}: {', '.join(all_)}" for release, all_ in by_release.items()]
    days = [
        f"{entry['day']} +{entry['added']}" + (f" ({entry['growth']:.1%})" if entry["growth"] else "")
        for entry in memory.get("growth", ())[-GROWTH_DAYS:]
    ]
    return lines + ([f"Stored by day: {', '.join(days)}"] if days else [])


def status_text(status: dict[str, Any]) -> str:
    """Say how everything is, problems last."""
    memory = status["memory"]
    model = status.get("model") or {}
    lines = [
        f"**{status['product']}**",
        releases_text(status["releases"]),
        "",
        f"Memory: {memory['high']} good and {memory['low']} bad answers remembered, "
        f"{memory['votes']} votes on {memory['answers']} answers{_bounds(memory)}",
        *_stored(memory),
        "",
        f"Embedder: {status['embedder']}",
        *([f"Ranking: {status['ranking']}"] if "ranking" in status else []),
    ]
    if model:
        lines.append(
            f"Model: {model['name']}" + ("" if model["ready"] else " (not reachable: answers quote)")
        )
    lines += [
        f"Indexing {entry['release']}: {entry['stage']} {entry['done']} of {entry['total']}"
        for entry in status["indexing"]
    ]
    lines += [f"⚠ {problem}" for problem in status["problems"]]
    return "\n".join(lines)
