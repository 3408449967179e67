"""`make bench`: time from a message on Slack to the first sign of work, the sources, the words, the end.

Eight people ask at once on the loopback Slack; the model is simulated at 30 tokens/s. The same messages
to a bot that posts a sign and edits it, and does nothing else, are the baseline in the same run.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.bootstrap import build
from bot.chat import Chat, Message, Reply
from bot.dispatch import Dispatch
from bot.limits import Limits
from bot.platforms.slack import connect
from bot.render import WORKING
from bot.slash_table import slash_commands
from core.settings import load_settings
from core.text import sentences
from tests.ollama_answers import Recorded, evidence_of
from tests.ollama_server import OllamaServer
from tests.platforms.slack_bot import Recorder, settings_for
from tests.platforms.slack_server import SlackServer

PEOPLE = 8
ROUNDS = 4
WRITTEN = 30.0
"""Tokens that the model writes a second."""
FIRST_TOKEN = 0.5
"""Seconds that it reads a prompt before the first one."""
SENTENCES = 2
AIMS_MS = {"sign": 300, "sources": 1000}
GOLD = Path(__file__).parents[1] / "golden" / "flask.jsonl"
LAPS = ("sign", "sources", "words", "end")


class Watched(SlackServer):
    """A loopback Slack that notes when a thread shows what; times in ms from its first message."""

    def __init__(self) -> None:
        super().__init__()
        self.began: dict[str, float] = {}
        self.laps: dict[str, dict[str, float]] = {}

    def tick(self) -> str:
        """Return a timestamp that no earlier run on the same home has given."""
        return f"{int(time.time())}.{next(self._numbers):06d}"

    def asked(self, person: int, text: str) -> str:
        """Let somebody mention the bot; return the message's ts."""
        began = time.perf_counter()
        ts = self.say(f"P{person}", "C1", f"<@{self.bot_user}> {text}")
        self.began[ts], self.laps[ts] = began, {}
        return ts

    def store(self, channel: str, user: str, text: str, thread: str | None, **more: Any) -> dict[str, Any]:
        """Keep a message; one of the bot in a thread is its sign of work."""
        kept = super().store(channel, user, text, thread, **more)
        if more.get("bot_id") == self.bot_id and thread in self.laps:
            self._note(thread, text, "sign")
        return kept

    def changed(self, channel: str, message: dict[str, Any], before: dict[str, Any]) -> None:
        """Tell of an edit: pages that are read, words, or the end."""
        thread = str(message.get("thread_ts"))
        if message.get("bot_id") == self.bot_id and thread in self.laps:
            text = str(message["text"])
            self._note(thread, text)
        super().changed(channel, message, before)

    def _note(self, thread: str, text: str, *names: str) -> None:
        found = set(names)
        growing = text.rstrip().endswith("…") or text.startswith("Reading the")
        if "https://" in text or not (text.startswith(WORKING) or growing):
            found.add("sources")
        if not text.startswith((WORKING, "Reading the")):
            found |= {"sources", "words"} | (set() if growing else {"end"})
        for name in found:
            self.laps[thread].setdefault(name, (time.perf_counter() - self.began[thread]) * 1000)


@dataclass
class Echo(Recorder):
    """A dispatch that does nothing but show a sign and edit it twice."""

    async def message(self, chat: Chat, message: Message) -> None:
        """Post, and edit at once."""
        if message.event and message.ref.key not in [m.ref.key for m in self.messages]:
            self.messages.append(message)
            parts = await chat.post(message.ref, Reply(WORKING, final=False))
            parts = await chat.edit(
                parts, Reply("Reading the documentation …\nhttps://example.org", final=False)
            )
            await chat.edit(parts, Reply("Done."))


async def main(home: Path) -> None:
    """Ask the golden questions, eight at a time, on both bots; print p50, p95 and ratios."""
    lines = [json.loads(line) for line in GOLD.read_text(encoding="utf-8").splitlines()]
    texts = [line["question"] for line in lines if line.get("gold_file") and not line.get("history")]
    async with on_slack(Echo()) as slack:
        baseline = await rounds(slack, texts)
    simulated = OllamaServer(answer=_answer, tokens_per_second=WRITTEN, first_token_delay=FIRST_TOKEN)
    async with simulated as model:
        settings = load_settings(None, home=home, ollama_host=model.url, questions_per_minute=1e6)
        async with build(settings, "bench") as app:
            dispatch = Dispatch(app.engine, app.conversations, app.library, slash_commands(app), Limits(1e6))
            async with on_slack(dispatch) as slack:
                measured = await rounds(slack, texts)
                await dispatch.stop()
    calls = model.calls / len(measured) * ROUNDS / (ROUNDS + 1)
    print(
        f"{len(measured)} questions on Slack, {PEOPLE} at once, model at {WRITTEN:.0f} tokens/s each, "
        f"{calls:.1f} calls a question, ms:"
    )
    for name in LAPS:
        own = [laps[name] for laps in measured]
        bare = [laps[name] for laps in baseline]
        aim = f"   aim: p95 at most {AIMS_MS[name]}" if name in AIMS_MS else ""
        ratio = statistics.median(own) / statistics.median(bare)
        print(
            f"  {name:<8} p50 {statistics.median(own):7.0f}   p95 {_p95(own):7.0f}   "
            f"a bot that only posts: p50 {statistics.median(bare):5.0f}, p95 {_p95(bare):5.0f}; "
            f"ratio {ratio:5.1f}{aim}"
        )


@asynccontextmanager
async def on_slack(dispatch: Any) -> AsyncIterator[Watched]:
    """Connect a dispatch to a loopback Slack of its own, with eight people in it."""
    async with Watched() as slack:
        for person in range(PEOPLE):
            slack.add_user(f"P{person}")
            slack.channels["C1"]["members"].add(f"P{person}")
        platform = connect(settings_for(slack), dispatch)
        assert platform is not None
        running = asyncio.create_task(platform.run())
        await slack.until(lambda: slack.connected or running.done(), 30)
        try:
            yield slack
        finally:
            await platform.stop()
            await running


async def rounds(slack: Watched, texts: list[str]) -> list[dict[str, float]]:
    """Let everybody ask at once, some rounds; the first one warms up and is not told."""
    found: list[dict[str, float]] = []
    for number in range(ROUNDS + 1):
        asked = [
            slack.asked(person, f"{texts[(number * PEOPLE + person) % len(texts)]}")
            for person in range(PEOPLE)
        ]
        await slack.until(lambda asked=asked: all("end" in slack.laps[ts] for ts in asked), 120)
        found += [slack.laps[ts] for ts in asked] if number else []
    return found


def _answer(recorded: Recorded) -> str:
    told = [
        f"{sentence} [{number}]"
        for number, text in evidence_of(recorded).items()
        for sentence in sentences(" ".join(text.split()))[:1]
        if "```" not in sentence
    ]
    return " ".join(told[:SENTENCES]) or "I don't know."


def _p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[94]


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".threadlore/bench")))
