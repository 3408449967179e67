"""How `/threadlore status` and its like are put into words, here and on the command line."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from bot.rendering.sources import kept_lines, kept_text, status_lines
from core.errors import ThreadloreError
from core.ingestion.indexer import Indexed
from core.ingestion.reading import Progress
from core.ports.channels import ModeSet, Pause
from core.text.plurals import counted
from core.text.times import minute_of

GROWTH_DAYS = 5
"""Days of growth that `status` tells."""


def status_text(status: dict[str, Any]) -> str:
    """Say how everything is, problems last."""
    memory = status["memory"]
    model = status.get("model") or {}
    lines = [
        f"**{status['product']}**",
        releases_text(status["releases"]),
        "",
        *(["Sources (UTC):", *status_lines(status["sources"]), ""] if status["sources"] else []),
        *kept_lines(status.get("kept", {})),
        f"Memory: {memory['high']} good and {memory['low']} bad answers remembered, "
        f"{counted(memory['votes'], 'vote')} on {counted(memory['answers'], 'answer')}{_bounds(memory)}",
        *_stored(memory),
        "",
        f"Embedder: {status['embedder']}",
        *([f"Ranking: {status['ranking']}"] if "ranking" in status else []),
    ]
    if model:
        lines.append(f"Model: {model['name']}{_model(model)}")
        lines += [server_line(server) for server in model.get("servers", ())]
    lines += [
        f"{entry['release']}: {entry['doing']}, {entry['done']} of {entry['total']} {entry['unit']}"
        for entry in status["indexing"]
    ]
    lines += [f"Paused: {pause_line(Pause(**pause))}" for pause in status.get("pauses", ())]
    lines += [mode_line(given["channel"], ModeSet(**given)) for given in status.get("modes", ())]
    lines += [f"⚠ {problem}" for problem in status["problems"]]
    return "\n".join(lines)


def server_line(server: dict[str, Any]) -> str:
    """Say how one of the model's servers is."""
    calls = f", {server['running']} under way" if server["running"] else ""
    if server["state"] == "draining":
        return f"- {server['address']}: gets no more calls{calls}"
    if server["state"] == "resting":
        when = f"next try in {server['retry_in']:.0f} s" if server["retry_in"] >= 1 else "tried again now"
        return f"- {server['address']}: paused after an error; {when}{calls}: {server['problem']}"
    return f"- {server['address']}: serves{calls}"


def _model(model: dict[str, Any]) -> str:
    """Say what is not as it should be with the model."""
    if not model["ready"]:
        return " (not reachable: answers quote)"
    ignores = model.get("keeps_schema") is False
    return " (its server ignores JSON schemas: asked for JSON in words)" if ignores else ""


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


def releases_text(releases: list[dict[str, Any]]) -> str:
    """List the releases, newest first, in the language of the moment."""
    from core.languages import _, ngettext

    lines = []
    for entry in reversed(releases):
        name, pages, passages = f"**{entry['name']}**", entry["documents"], entry["chunks"]
        size = ", ".join(
            (
                ngettext("{count} page", "{count} pages", pages).format(count=pages),
                ngettext("{count} passage", "{count} passages", passages).format(count=passages),
            )
        )
        state = size if entry["ready"] else _("not ready yet")
        told = _("{release} (latest)").format(release=name) if entry["latest"] else name
        lines.append(f"- {told}: {state}")
    return "\n".join(lines)


def progress_text(progress: Progress) -> str:
    """Say in one line how far a reindex is."""
    if progress.error:
        return f"{progress.release}: failed: {progress.error}"
    if progress.stage in ("waiting", "done"):
        return f"{progress.release}: {progress.stage}"
    if progress.stage == "reading":
        return f"{progress.release}: reading {progress.source} ({counted(progress.done, 'page')})"
    rate = f", {progress.rate:.0f}/s" if progress.rate >= 1 else ""
    left = f", {progress.eta_s:.0f} s left" if progress.eta_s is not None else ""
    told = f"{progress.done} of {progress.total} {progress.unit}"
    return f"{progress.release}: {progress.doing}, {told}{rate}{left}"


def failed_text(failed: Sequence[tuple[str, ThreadloreError]]) -> str:
    """Say which releases failed and why, a line each; what they had answers on."""
    return "\n".join(f"{release} failed: {error}" for release, error in failed)


def done_text(done: list[Indexed]) -> str:
    """Say what a reindex did, a line a release."""
    lines = []
    for item in done:
        reading = item.reading
        passed = f", {len(reading.skipped)} passed over" if reading.skipped else ""
        failed = "".join(f"\n  {source} failed: {error}" for source, error in reading.failed)
        kept = kept_text(reading)
        changes = (
            f"{len(reading.added)} added, {len(reading.changed)} changed, {len(reading.removed)} removed, "
            f"{reading.unchanged} unchanged{kept}{passed}"
        )
        lines.append(
            f"{item.corpus.release}: {counted(item.corpus.documents, 'page')}, "
            f"{counted(item.corpus.chunks, 'passage')} ({changes}), "
            f"{item.embedded} embedded in {item.seconds:.1f} s{failed}"
        )
    return "\n".join(lines)


def at_time(seconds: float) -> str:
    """Write a time of today as `14:05 UTC`, another one with its date."""
    moment, now = time.gmtime(seconds), time.gmtime()
    is_today = moment[:3] == now[:3]
    return time.strftime("%H:%M UTC" if is_today else "%Y-%m-%d %H:%M UTC", moment)


def pause_line(pause: Pause) -> str:
    """Say where, until when, by whom and why questions are not answered."""
    where = f"questions in `{pause.place}`" if pause.place else "all questions"
    until = f"until {minute_of(pause.until)} UTC" if pause.until else "until further notice"
    return f"{where}, {until}, by `{pause.by}`" + (f": {pause.why}" if pause.why else "")


def mode_line(channel: str, given: ModeSet | None, configured: str = "") -> str:
    """Say the mode of a channel and where it comes from."""
    if given is None:
        return f"`{channel}`: {configured} (as in `corpora.toml`, or without an entry there)"
    why = f": {given.why}" if given.why else ""
    return f"`{channel}`: {given.mode} (set by `{given.by}`{why}; `default` takes it back)"
