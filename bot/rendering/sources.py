"""The sources of each release: where they are, when they are read, what failed; what a reindex changes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.privacy.visibility import heard
from core.catalogue.tables import Schedule
from core.corpora.manager import CorpusManager
from core.ingestion.reading import Reading
from core.ingestion.staying import STAYS
from core.memory.community import CommunityMemory
from core.ports import CorpusStore, Remembered, SourceRun
from core.text.plurals import counted
from core.text.times import iso, minute_of, since_epoch
from core.workers.process import is_too_costly

LISTED = 12
"""Sources that `status` lists."""
REASONS = 3
"""Reasons for passing a page over that are told, the most frequent first."""
NAMED = 5
"""Documents of one reason that are told by name."""
_UNITS = ((604_800, "w"), (86_400, "d"), (3_600, "h"), (60, "m"))


async def sources_of(
    corpora: CorpusStore, schedules: Mapping[tuple[str, str], Schedule], now: float | None = None
) -> list[dict[str, Any]]:
    """Return what is known of every source, in the order of `corpora.toml`.

    `schedules` tells how often each is read, by (release, source name). Times are in seconds since
    the epoch; `next_at` is None for a source that is due.
    """
    now = time.time() if now is None else now
    runs = {(run.release, run.source): run for run in await corpora.runs()}
    pages: dict[str, Counter[str]] = {}
    for release in dict.fromkeys(release for release, _ in schedules):
        pages[release] = Counter(document.source for document in await corpora.manifest(release))
    return [
        _entry(release, source, schedule, runs.get((release, source)), pages[release][source], now)
        for (release, source), schedule in schedules.items()
    ]


def _entry(
    release: str, source: str, schedule: Schedule, run: SourceRun | None, pages: int, now: float
) -> dict[str, Any]:
    kind, _, place = source.partition(":")
    next_at = run.at + schedule.wait(run.level, run.failures) if run else now
    return {
        "release": release,
        "source": source,
        "kind": kind,
        "place": place,
        "interval": schedule.every(run.level if run else 0),
        "adapts": [schedule.least, schedule.most] if schedule.adapts else None,
        "read_at": run.at if run else None,
        "succeeded_at": (run.succeeded_at or None) if run else None,
        "next_at": next_at if next_at > now else None,
        "pages": pages,
        "skipped": [list(entry) for entry in run.skipped] if run else [],
        "failures": run.failures if run else 0,
        "error": run.error if run else "",
    }


def with_next(
    sources: Sequence[Mapping[str, Any]], schedules: Mapping[tuple[str, str], Schedule]
) -> list[dict[str, Any]]:
    """Add to each source of a status when it is read next (`next_at`, ISO 8601; None where it is due)."""
    found, now = [], time.time()
    for source in sources:
        schedule = schedules.get((source["release"], source["source"]))
        if schedule is not None:
            at = since_epoch(source["read_at"])
            next_at = at + schedule.wait(source["level"], source["failures"])
            told = iso(next_at) if next_at > now else None
            found.append({**source, "next_at": told})
    return found


def status_lines(sources: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say for `status` in a line each how sources are, those that fail and then the newest release first."""
    lines = []
    newest_first = list(reversed(sources))
    for source in sorted(newest_first, key=lambda source: not source["failures"]):
        failed = f", ⚠ failed {counted(source['failures'], 'time')}" if source["failures"] else ""
        passed = f", {len(source['skipped'])} passed over" if source["skipped"] else ""
        said = f" ({_reasons(source['skipped'])})" if source["skipped"] else ""
        at = source.get("next_at")
        next_at = f"next {at[:16].replace('T', ' ')}" if at else "due now"
        lines.append(
            f"- {source['release']} `{source['source']}`: read {source['read_at'][:16].replace('T', ' ')}, "
            f"{next_at}{failed}{passed}{said}"
        )
    more = len(lines) - LISTED
    return [*lines[:LISTED], *([f"- … and {more} more: `sources`"] if more > 0 else [])]


def sources_text(entries: Sequence[Mapping[str, Any]]) -> str:
    """Say it in Markdown, a release after the other, the newest first."""
    lines: list[str] = []
    for release in reversed(list(dict.fromkeys(entry["release"] for entry in entries))):
        lines.append(f"**{release}**")
        for entry in entries:
            if entry["release"] == release:
                lines += _lines(entry)
    return "\n".join(lines) or "There are no sources; describe them in `corpora.toml`."


def kept_lines(kept: Mapping[str, int]) -> list[str]:
    """Say which releases `corpora.toml` has no more, and how many pages of each are kept, a line each."""
    return [
        f"{release} is not in `corpora.toml` any more, so its pages ({pages}) do not answer. "
        f"If it is called otherwise now, name it {release} there again, with the new name in `aliases`: what "
        f"is remembered of it answers under no other. "
        f"`sources remove {release}` deletes the pages; votes and remembered answers stay."
        for release, pages in kept.items()
    ]


def _lines(entry: Mapping[str, Any]) -> list[str]:
    read = f"read {minute_of(entry['read_at'])} UTC" if entry["read_at"] else "not read yet"
    due = f"next {minute_of(entry['next_at'])} UTC" if entry["next_at"] else "due now"
    told = f"- {entry['kind']} `{entry['place']}`: {counted(entry['pages'], 'page')}, {read}, {due}, every "
    adapts = " (as often as it changes)" if entry["adapts"] else ""
    lines = [told + length(entry["interval"]) + adapts]
    if entry["skipped"]:
        lines.append(f"  {len(entry['skipped'])} passed over: {_reasons(entry['skipped'])}")
    if entry["error"]:
        times = f"{entry['failures']} times in a row" if entry["failures"] > 1 else "the last time"
        lines.append(f"  ⚠ failed {times}: {entry['error']}")
    return lines


def _reasons(skipped: Sequence[Sequence[str]]) -> str:
    """Say why documents were passed over, by name where they take too much or stay; the others counted."""
    costly: dict[str, list[str]] = {}
    for path, reason in skipped:
        if is_too_costly(reason) or reason.endswith(STAYS):
            costly.setdefault(reason, []).append(path)
    told = []
    for reason, paths in costly.items():
        more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
        told.append(f"{', '.join(f'`{path}`' for path in paths[:NAMED])}{more}: {reason}")
    others = Counter(reason for _, reason in skipped if reason not in costly).most_common(REASONS)
    return "; ".join([*told, *(f"{count}× {reason}" for reason, count in others)])


def length(seconds: float) -> str:
    """Write a length of time in its largest whole unit, as `corpora.toml` takes it: `6h`."""
    for size, unit in _UNITS:
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:.0f}{unit}"
    return f"{seconds:.0f}s"


SHOWN = 10
"""Pages and answers of one kind that a chat message lists."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a reindex of one release would do; `touched` cite pages that it would change or remove."""

    release: str
    reading: Reading
    touched: tuple[Remembered, ...]


async def plans(corpus_manager: CorpusManager, memory: CommunityMemory, release: str = "") -> list[Plan]:
    """Read the sources of a release, or of all, and tell what would change; nothing is written."""
    found = await corpus_manager.plan(release)
    pairs = await memory.everything()
    return [Plan(name, reading, _touched(pairs, name, reading)) for name, reading in found.items()]


def _touched(pairs: tuple[Remembered, ...], release: str, reading: Reading) -> tuple[Remembered, ...]:
    paths = {entry.partition(": ")[2] for entry in (*reading.changed, *reading.removed)}
    return tuple(
        pair
        for pair in pairs
        if not pair.aside and any(c.release == release and c.path in paths for c in pair.citations)
    )


def plan_lines(plan: Plan, request: Mapping[str, Any] | None = None, shown: int = 0) -> list[str]:
    """Say it in lines, at most `shown` of each kind (0 for all)."""
    reading = plan.reading
    lines = [
        f"{plan.release}: {len(reading.added)} to add, {len(reading.changed)} changed, "
        f"{len(reading.removed)} to remove, {reading.unchanged} unchanged{kept_text(reading)}"
    ]
    for word in ("added", "changed", "removed", "kept"):
        lines += _cut([f"  {word}: {entry}" for entry in getattr(reading, word)], shown)
    lines += [f"  failed: {source}: {error}" for source, error in reading.failed]
    touched = [
        f"  remembered answer to look at again: {pair.id} {heard(request or {}, pair.scope, pair.question)}"
        for pair in plan.touched
    ]
    return lines + _cut(touched, shown)


def plan_text(found: list[Plan], request: Mapping[str, Any]) -> str:
    """Say it as a message of a chat."""
    lines = []
    for plan in found:
        first, *rest = plan_lines(plan, request, SHOWN)
        lines += [f"**{first}**", *(f"- {line.strip()}" for line in rest)]
    return "\n".join([*lines, "Nothing has been changed."])


def kept_text(reading: Reading) -> str:
    """Say how many pages stay because they could not be read this time; empty where none do."""
    return f" ({len(reading.kept)} could not be read and stay as they were)" if reading.kept else ""


def _cut(lines: list[str], shown: int) -> list[str]:
    more = len(lines) - shown if shown else 0
    return [*lines[:shown], f"  … and {more} more"] if more > 0 else lines
