"""`make bench`: time from a message to the first sign of work, the sources, the words and the end.

Eight people ask at once on the loopback Slack, the loopback Discord and the playground; the model is
simulated at 30 tokens/s. The same messages to a bot that posts a sign and edits it twice, and does nothing
else, are the baseline in the same run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bot.app.bootstrap import build
from bot.dispatch.dispatch import dispatch_of
from bot.ports.chat import Chat, Message, Reply, unheard
from bot.rendering.answers import WORKING
from core.settings import load_settings
from core.text.words import sentences
from tests.bench.laps import NAMES
from tests.bench.stands import STANDS, Stand
from tests.ollama_answers import Recorded, evidence_of
from tests.ollama_server import OllamaServer

PEOPLE = 8
ROUNDS = 4
WRITTEN = 30.0
"""Tokens that the model writes a second."""
FIRST_TOKEN = 0.5
"""Seconds that it reads a prompt before the first one."""
SENTENCES = 2
AIMS_MS = {"sign": 300, "sources": 1000}
PATIENCE = 120.0
GOLD = Path(__file__).parents[1] / "golden" / "flask.jsonl"


class Fresh:
    """A dispatch that takes up nothing of an earlier run on the same home."""

    def __init__(self, dispatch: Any) -> None:
        self._dispatch = dispatch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dispatch, name)

    @property
    def recount(self) -> Any:
        return self

    def begin(self, chat: Chat, reader: Any) -> None:
        """Count nothing."""

    async def resume(self, chat: Chat) -> None:
        """Leave what is unanswered as it is."""


class Bare(Fresh):
    """A dispatch that does nothing with a message but show a sign and edit it twice."""

    def __init__(self, dispatch: Any) -> None:
        super().__init__(dispatch)
        self._seen: set[str] = set()

    async def message(self, chat: Chat, message: Message, taken: Callable[[], None] = unheard) -> None:
        """Post, and edit at once."""
        taken()
        if message.ref.key not in self._seen and not message.author.bot:
            self._seen.add(message.ref.key)
            parts = await chat.post(message.ref, Reply(WORKING, final=False))
            pages = "Reading the documentation …\nhttps://example.org"
            parts = await chat.edit(parts, Reply(pages, final=False))
            await chat.edit(parts, Reply("Done."))


async def main() -> None:
    """Ask the golden questions, eight at a time, on every platform; print one table."""
    options = argparse.ArgumentParser(prog="python -m tests.bench.first_sign", description=__doc__)
    options.add_argument("home", type=Path, nargs="?", default=Path(".threadlore/bench"))
    options.add_argument("--only", nargs="+", choices=list(STANDS), default=list(STANDS))
    given = options.parse_args()
    logging.disable(logging.WARNING)
    lines = [json.loads(line) for line in GOLD.read_text(encoding="utf-8").splitlines()]
    texts = [line["question"] for line in lines if line.get("gold_file") and not line.get("history")]
    simulated = OllamaServer(answer=_answer, tokens_per_second=WRITTEN, first_token_delay=FIRST_TOKEN)
    rows: list[tuple[str, list[dict[str, float]], list[dict[str, float]]]] = []
    async with simulated as model:
        several = {"questions_per_minute": 1e6, "ollama_parallel": PEOPLE}
        settings = load_settings(None, home=given.home, ollama_host=model.url, **several)
        async with build(settings, "bench") as app:
            for name in given.only:
                found = []
                for bare in (True, False):
                    dispatch: Any = dispatch_of(app)
                    async with STANDS[name](
                        Bare(dispatch) if bare else dispatch, PEOPLE, given.home
                    ) as stand:
                        found.append(await rounds(stand, texts))
                        await dispatch.stop()
                rows.append((name, found[1], found[0]))
    total = len(rows) * PEOPLE * (ROUNDS + 1)
    print(
        f"{len(rows[0][1])} questions on each platform, {PEOPLE} at once, "
        f"model at {WRITTEN:.0f} tokens/s each, {model.calls / total:.1f} calls a question.\n"
    )
    print(table(rows))


def table(rows: list[tuple[str, list[dict[str, float]], list[dict[str, float]]]]) -> str:
    """Write p50 and p95 in ms of each lap on each platform, beside those of a bot that only posts."""
    head = f"{'ms':<11}" + "".join(f"{name:>18}" for name in NAMES) + f"{'only posts: sign':>20}{'end':>10}"
    lines = [head, f"{'':<11}" + f"{'p50 / p95':>18}" * len(NAMES) + f"{'p95':>20}{'p95':>10}"]
    for name, own, bare in rows:
        cells = (f"{_p50(own, lap):8.0f} / {_p95(own, lap):6.0f}" for lap in NAMES)
        line = f"{name:<11}" + "".join(f"{cell:>18}" for cell in cells)
        lines.append(line + f"{_p95(bare, 'sign'):>20.0f}{_p95(bare, 'end'):>10.0f}")
    for lap, aim in AIMS_MS.items():
        late = [f"{name} {_p95(own, lap):.0f}" for name, own, _ in rows if _p95(own, lap) > aim]
        lines.append(f"{lap}: p95 at most {aim} ms: {'missed: ' + ', '.join(late) if late else 'met'}")
    return "\n".join(lines)


async def rounds(stand: Stand, texts: list[str]) -> list[dict[str, float]]:
    """Let everybody ask at once, some rounds; the first one warms up and is not told."""
    found: list[dict[str, float]] = []
    for number in range(ROUNDS + 1):
        asking = (
            stand.ask(person, texts[(number * PEOPLE + person) % len(texts)]) for person in range(PEOPLE)
        )
        threads = list(await asyncio.gather(*asking))
        async with asyncio.timeout(PATIENCE):
            while not stand.laps.done(threads):
                await asyncio.sleep(0.01)
        found += [stand.laps.of(thread) for thread in threads] if number else []
    return found


def _answer(recorded: Recorded) -> str:
    told = [
        f"{sentence} [{number}]"
        for number, text in evidence_of(recorded).items()
        for sentence in sentences(" ".join(text.split()))[:1]
        if "```" not in sentence
    ]
    return " ".join(told[:SENTENCES]) or "I don't know."


def _p50(laps: list[dict[str, float]], name: str) -> float:
    return statistics.median(lap[name] for lap in laps)


def _p95(laps: list[dict[str, float]], name: str) -> float:
    return statistics.quantiles([lap[name] for lap in laps], n=100, method="inclusive")[94]


if __name__ == "__main__":
    asyncio.run(main())
