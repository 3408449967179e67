"""How everything is, in figures: for the dashboard, for Prometheus, and for checks of readiness."""

from __future__ import annotations

import asyncio
import heapq
import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from bot.app.metrics import Counted, written
from bot.commands.command_line import status_of
from bot.operations.application import Application
from core.catalogue.tables import Schedule
from core.community.overrides import EVERYWHERE
from core.insights.gaps import DAYS, Gap
from core.insights.statistics import Cited, Day, Within
from core.memory.scoring import DAY_SECONDS
from core.models.breaker import Breaker
from core.ports.about import BOT

PUBLIC = "public"
LONGEST_DAYS = 90
"""Days of which figures are shown at most."""
WEEK = 7
"""Days of which figures are shown at least."""
PAGES, THREADS = 8, 5
"""Pages of a list, and threads that lie behind a gap or a page."""
GAPS = 12
TOPICS = 200
"""Gaps and topics that the dashboard shows at most."""
FRESH_SECONDS = 10.0
"""How long figures that cost something are given again."""


class Overview:
    """Collects figures from everything that runs; costly ones at most every ten seconds."""

    def __init__(self, app: Application, errors: ErrorsSeen | None = None) -> None:
        self._app = app
        self._errors = errors or ErrorsSeen()
        self._is_stopping = False
        self._kept: dict[tuple[int, Within], tuple[float, dict[str, Any]]] = {}
        self._counted = Counted()

    def stop(self) -> None:
        """Know that a signal asked the process to end."""
        self._is_stopping = True

    async def unready(self) -> str:
        """Return why nothing can be answered now, in one sentence; empty where it can."""
        if self._is_stopping:
            return "The bot is being stopped."
        if not self._app.research.corpora:
            return "No release is indexed yet."
        return await self._app.health.check() if self._app.health.problem() else ""

    async def figures(self, days: int = DAYS, release: str = "", channel: str = "") -> dict[str, Any]:
        """Return what the dashboard shows; nothing in it comes from a private channel or a direct message.

        What was asked is that of the last `days`, for one release or in one public channel where named.
        """
        now, within = time.monotonic(), Within(release, channel)
        key = (days, within)
        at, shown = self._kept.get(key, (-FRESH_SECONDS, {}))
        if now - at > FRESH_SECONDS:
            shown = await self._costly(days, within)
            self._kept = {key: (now, shown)} | {
                known: kept for known, kept in self._kept.items() if now - kept[0] <= FRESH_SECONDS
            }
        return {
            **shown,
            "indexing": self._app.corpus_manager.progress(),
            "indexed": self._app.corpus_manager.ended(),
            "errors": self._errors.shown(),
            "paused": await self._paused(),
            "quieter": sum(given.by == BOT for given in await self._app.modes.given()),
            "at": time.time(),
        }

    async def _costly(self, days: int, within: Within) -> dict[str, Any]:
        """Return the figures that take some milliseconds or more."""
        status = await status_of(self._app)
        statistics, schedules = self._app.statistics, self._app.schedules
        gaps = await statistics.gaps(days, within)
        cited = await statistics.cited(days, within)
        learnt = await self._app.learner.standing()
        return {
            "product": status["product"],
            "releases": status["releases"],
            "sources": [{**source, "every_s": _every(schedules, source)} for source in status["sources"]],
            "memory": status["memory"],
            "escalations": dict(zip(("open", "resolved"), await self._app.escalations.counts(), strict=True)),
            "model": status.get("model"),
            "breaker": self._breaker(),
            "embedder": status["embedder"],
            "problems": status["problems"],
            "days": [
                asdict(day) for day in every_day(await statistics.days(days, within), time.time(), days)
            ],
            "channels": list(await statistics.channels(LONGEST_DAYS)),
            "cited": [_page(page) for page in cited[:PAGES]],
            "worst": [_page(page) for page in worst(cited)],
            "gaps": [_gap(gap) for gap in gaps[:GAPS]],
            "topics": await self._topics(),
            "learnt": {"told": learnt.told, "votes": learnt.votes if learnt.weights else 0},
        }

    def progress(self) -> dict[str, Any]:
        """Return the index work that goes on, and how that of each release ended last."""
        return {"running": self._app.corpus_manager.progress(), "ended": self._app.corpus_manager.ended()}

    async def metrics(self) -> bytes:
        """Return everything that counts in Prometheus' text format."""
        await self._counted.read(self._app.statistics)
        return written(await self.figures(), self._counted, self._errors.kinds)

    async def _paused(self) -> dict[str, Any] | None:
        """Return True if everything is paused (`until` in epoch seconds, 0 for no end), or channels are."""
        running = await self._app.pauses.running()
        everywhere = next((pause for pause in running if pause.place == EVERYWHERE), None)
        if not running:
            return None
        until, why = (everywhere.until, everywhere.why) if everywhere else (0.0, "")
        channels = sum(pause.place != EVERYWHERE for pause in running)
        return {"everywhere": everywhere is not None, "until": until, "why": why, "channels": channels}

    def _breaker(self) -> dict[str, Any] | None:
        model = self._app.engine.model
        return asdict(model.status) if isinstance(model, Breaker) else None

    async def _topics(self) -> list[dict[str, Any]]:
        """Return the public clusters of good answers as points of a plane, near ones near each other."""
        clustered = [
            (release, members, partition)
            for (release, scope, store), partition in self._app.memory.partitions().items()
            if store == "high" and scope == PUBLIC
            for members in partition.clustered.values()
        ]
        largest = heapq.nsmallest(TOPICS, clustered, key=lambda entry: -len(entry[1]))
        alike = [entry for entry in largest if entry[2].dimensions == largest[0][2].dimensions]
        if not alike:
            return []
        centroids = [partition.mean(members) for _, members, partition in alike]
        places = await asyncio.to_thread(flattened, np.stack(centroids))
        pairs = await self._app.memory.pairs([members[0] for _, members, _ in alike])
        return [
            {
                "x": round(float(x), 4),
                "y": round(float(y), 4),
                "size": len(members),
                "release": release,
                "label": pairs[members[0]].question if members[0] in pairs else "",
            }
            for (release, members, _), (x, y) in zip(alike, places, strict=True)
        ]


def every_day(days: Sequence[Day], now: float, most: int = DAYS) -> list[Day]:
    """Return the days from the first on which anything happened up to `now` (seconds since the epoch, UTC).

    They are `most` at most and a week at least, with those without anything.
    """
    known = {day.day: day for day in days}
    names = [
        time.strftime("%Y-%m-%d", time.gmtime(now - back * DAY_SECONDS)) for back in range(most - 1, -1, -1)
    ]
    first = next((at for at, name in enumerate(names) if name in known), len(names) - 1)
    return [known.get(name, Day(name)) for name in names[min(first, max(len(names) - WEEK, 0)) :]]


def worst(cited: Sequence[Cited]) -> list[Cited]:
    """Return the pages whose answers more people think badly of than well, the worst first."""
    bad = [page for page in cited if page.down > page.up]
    return sorted(bad, key=lambda page: (page.up - page.down, -page.count))[:PAGES]


def _page(page: Cited) -> dict[str, Any]:
    return asdict(page) | {"answers": list(page.answers[:THREADS])}


def _gap(gap: Gap) -> dict[str, Any]:
    return {
        "count": len(gap.questions),
        "question": gap.example.question,
        "reasons": gap.reasons,
        "page": list(gap.page),
        "lacks": gap.lacks,
        "resolved": gap.is_resolved,
        "answers": [one.answer_id for one in gap.questions[:THREADS]],
    }


def flattened(vectors: np.ndarray[Any, np.dtype[np.float32]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Lay vectors out in the plane by their two principal components, within -1..1; shape (n, 2)."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    places = np.zeros((len(vectors), 2))
    flat = centred @ axes[:2].T
    places[:, : flat.shape[1]] = flat
    spread = float(np.abs(places).max())
    return places / spread if spread > 1e-9 else places


def _every(schedules: Mapping[tuple[str, str], Schedule], source: Mapping[str, Any]) -> float:
    """Return the seconds between two readings; 0 for a source that is no longer configured."""
    schedule = schedules.get((source["release"], source["source"]))
    return schedule.every(source["level"]) if schedule else 0.0


HOURS = 24
"""Hours that are counted."""
LAST = 8
"""Errors that are told one by one."""
_HOUR = 3600.0


class ErrorsSeen(logging.Handler):
    """Counts what is logged as an error; keeps no word of what was logged, which may be people's."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        super().__init__(logging.ERROR)
        self._clock = clock
        self._by_hour: Counter[int] = Counter()
        self._total = 0
        self.kinds: Counter[str] = Counter()
        self._last: deque[dict[str, Any]] = deque(maxlen=LAST)

    def emit(self, record: logging.LogRecord) -> None:
        """Count one error."""
        now = self._clock()
        hour = int(now // _HOUR)
        self._by_hour[hour] += 1
        for old in [known for known in self._by_hour if known <= hour - HOURS]:
            del self._by_hour[old]
        part = ".".join(record.name.split(".")[:3])
        self._total += 1
        kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else ""
        self.kinds[kind or "logged"] += 1
        self._last.appendleft({"at": now, "part": part, "kind": kind})

    def shown(self) -> dict[str, Any]:
        """Return errors of the last 24 hours by hour, oldest first, and the last ones."""
        hour = int(self._clock() // _HOUR)
        hours = [self._by_hour[hour - back] for back in range(HOURS - 1, -1, -1)]
        return {"hours": hours, "total": self._total, "last": list(self._last)}
