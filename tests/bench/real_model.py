"""`make real-model`: ask a very small real model about an indexed home; print what readers saw of it.

The model (SmolLM2-135M-Instruct) is no recommendation: it writes much nonsense, and is here to see that none
is shown. What is shown is compared with what the model was given, apart from the checks of the bot itself.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import re
import shutil
import socket
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from bot.app.bootstrap import build
from bot.commands.answers import question_of
from bot.operations.application import Application
from bot.rendering.answers import compose
from core.domain import Answer, Evidence, Trace, Vote
from core.generation.checked.statements import statements
from core.generation.citations import uncited
from core.settings import load_settings
from core.text.words import identifiers, one_line
from tests.bench.model_tap import Call, Tap

QUESTIONS = Path(__file__).with_name("real_model.jsonl")
SERVER = Path(__file__).with_name("llama_server.py")
CONTEXT = 4096
"""Tokens: a processor reads a prompt of that length in half a minute."""
PATIENCE = 60.0
_NUMBER = re.compile(r"(?<![\w.])\d[\d_]*(?:\.\d+)?(?![\w.]*\w)")


@dataclass
class Row:
    """What one question led to."""

    question: str
    how: str = ""
    shown: str = ""
    first: float = 0.0
    whole: float = 0.0
    calls: int = 0
    repairs: int = 0
    dropped: int = 0
    """Statements of the model's drafts that nobody saw."""
    unsupported: list[str] = field(default_factory=list)
    """Names and numbers that the reader saw, which neither a page nor a person said."""
    vanished: list[str] = field(default_factory=list)
    """Statements that streamed and are not in the answer."""
    why: str = ""
    raw: list[str] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)
    prompts: list[int] = field(default_factory=list)


class Listener:
    """Hears an answer grow."""

    def __init__(self) -> None:
        self.at = 0.0
        self.texts: list[str] = []

    async def sources(self, release: str, evidence: Sequence[Evidence]) -> None:
        """Hear nothing: pages are there at once."""

    async def text(self, markdown: str) -> None:
        """Keep the text, and the time of the first."""
        self.at = self.at or time.perf_counter()
        self.texts.append(markdown)


async def asked(app: Application, tap: Tap, entry: dict[str, Any]) -> Row:
    """Ask one question, and again after a vote against the answer where `voted_down` says so."""
    question = await question_of(app, {"user": "bench", **entry})
    if entry.get("voted_down"):
        before = await app.engine.answer(question)
        for voter in ("bench", "other", "third"):
            await app.engine.feedback(Vote(before.id, voter, 0))
    heard, already, began = Listener(), len(tap.calls), time.perf_counter()
    answer = await app.engine.answer(question, heard)
    ended = time.perf_counter()
    given = " ".join(turn.text for turn in question.history)
    row = Row(question.text, whole=ended - began, first=(heard.at or ended) - began)
    return _filled(row, answer, tap.calls[already:], heard, f"{question.text} {given}", app)


def _filled(
    row: Row, answer: Answer, calls: Sequence[Call], heard: Listener, said: str, app: Application
) -> Row:
    """Note what was seen of an answer, and what of it nobody said before."""
    drafts = [call for call in calls if call.writes]
    row.how = {"quote": "quoted", "abstain": "refused", "reuse": "remembered"}.get(answer.route, "written")
    row.shown = compose(answer, app.engine.product.name).markdown
    row.calls, row.repairs = len(calls), sum(call.repairs for call in drafts)
    row.raw, row.ends = [call.text for call in calls], [call.finish or str(call.status) for call in calls]
    row.prompts = [call.tokens.get("prompt_tokens", 0) for call in calls]
    row.why = Trace.of(answer.trace).model_error or ""
    told = _told(answer.text) if row.how == "written" else set()
    row.dropped = sum(len(_told(call.text) - told) for call in drafts)
    streamed = [one for text in heard.texts for one in _told(text)]
    row.vanished = list(dict.fromkeys(one for one in streamed if one not in _told(answer.text)))
    pages = [item.chunk.text for item in answer.evidence] + [call.asked for call in drafts[:1]]
    known = one_line(" ".join((said, app.engine.product.name, *pages))).lower().replace("`", "")
    seen = " ".join([answer.text, *heard.texts]) if row.how == "written" else " ".join(heard.texts)
    named = [name.removesuffix("()").lower() for name in identifiers(uncited(seen))]
    figures = _NUMBER.findall(re.sub(r"(?m)^\s*\d+[.)]\s", "", uncited(seen)))
    row.unsupported = [name for name in dict.fromkeys([*named, *figures]) if name not in known]
    return row


def _told(text: str) -> set[str]:
    return {one_line(uncited(one.text)).strip(" .:") for one in statements(text)}


@asynccontextmanager
async def served(python: Path, model: Path, threads: int) -> AsyncIterator[str]:
    """Start llama.cpp's server on a free port of 127.0.0.1; end it afterwards."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = (str(SERVER), str(model), str(port), str(CONTEXT), str(threads))
    with tempfile.TemporaryFile() as log:
        process = await asyncio.create_subprocess_exec(str(python), *command, stdout=log, stderr=log)
        try:
            await _ready(f"http://127.0.0.1:{port}")
            yield f"http://127.0.0.1:{port}"
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()


async def _ready(url: str) -> None:
    """Wait for a server; raises TimeoutError where it does not come up."""
    async with asyncio.timeout(PATIENCE), aiohttp.ClientSession() as session:
        while True:
            try:
                async with session.get(f"{url}/health") as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.2)


def table(rows: Sequence[Row]) -> str:
    """Write a line for each question, and the shares and times of all."""
    head = ("repairs", "dropped", "made up")
    lines = [f"{'first s':>8}{'all s':>7}  {'how':<11}{''.join(f'{name:>9}' for name in head)}  question"]
    for row in rows:
        figures = f"{row.first:8.1f}{row.whole:7.1f}  {row.how:<11}{row.repairs:9}{row.dropped:9}"
        lines.append(f"{figures}{len(row.unsupported):9}  {row.question[:60]}")
    how = ", ".join(f"{name} {count}" for name, count in Counter(row.how for row in rows).most_common())
    first, whole = (statistics.median(getattr(row, lap) for row in rows) for lap in ("first", "whole"))
    repaired, dropped = sum(bool(row.repairs) for row in rows), sum(row.dropped for row in rows)
    unsupported = [name for row in rows for name in row.unsupported]
    return "\n".join(
        [
            *lines,
            f"{len(rows)} questions: {how}; median {first:.1f} s to the first word, {whole:.1f} s in all",
            f"{repaired} written once more, {dropped} statements dropped,"
            f" {sum(len(row.vanished) for row in rows)} streamed and gone, unsupported names and numbers:"
            f" {', '.join(unsupported) or 'none'} (aim: none)",
        ]
    )


async def main() -> int:
    """Ask, print the table; 1 where readers saw a name or a number that nobody had said."""
    options = argparse.ArgumentParser(prog="python -m tests.bench.real_model", description=__doc__)
    options.add_argument("home", type=Path, help="an indexed home; a copy of it is asked")
    options.add_argument("--python", type=Path, default=Path(sys.executable), help="one that has xllamacpp")
    options.add_argument("--model", type=Path, help="the GGUF file to serve")
    options.add_argument("--url", default="", help="a server that runs already, instead")
    options.add_argument("--threads", type=int, default=1, help="more wait for each other on a busy machine")
    options.add_argument("--questions", type=Path, default=QUESTIONS)
    options.add_argument("--details", type=Path, help="where everything that was said goes, one JSON a line")
    given = options.parse_args()
    logging.disable(logging.WARNING)
    entries = [json.loads(line) for line in given.questions.read_text(encoding="utf-8").splitlines() if line]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        shutil.copytree(given.home, home)  # an earlier run's answers and votes would be remembered
        if given.url:
            rows = await _all(home, given.url, entries, given.details)
        else:
            async with served(given.python, given.model, given.threads) as url:
                rows = await _all(home, url, entries, given.details)
    print(table(rows))
    return int(any(row.unsupported for row in rows))


async def _all(home: Path, url: str, entries: Sequence[dict[str, Any]], details: Path | None) -> list[Row]:
    rows: list[Row] = []
    async with Tap(url) as tap:
        settings = load_settings(None, home=home, model_server=tap.url, ollama_num_ctx=CONTEXT)
        async with build(settings, "bench") as app:
            for entry in entries:
                rows.append(await asked(app, tap, entry))
                print(f"{len(rows)} of {len(entries)}", end="\r", file=sys.stderr)
                if details:
                    with details.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(asdict(rows[-1]), ensure_ascii=False) + "\n")
    return rows


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
