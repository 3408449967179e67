"""How long a serving bot keeps others waiting while it is sent what is made to be slow to read.

    python -m tests.bench.stalls [--messages 1000] [--documents 100]

A real `threadlore serve` on a fresh home is asked for `/healthz` every 20 ms from another process. Meanwhile
hostile messages are posted to its playground, ten a second, and hostile documents are indexed. A server that
does nothing is asked in turn: what it takes is the machine's. The aim: nobody waits longer than 250 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import itertools
import json
import multiprocessing
import os
import re
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from aiohttp import web

from bot.platforms.web.http.requests import MAX_CHARACTERS
from bot.platforms.web.people import BOT_NAME
from core.models.embedding.encoder import PACKAGED, load_encoder
from tests.endurance.process import Process
from tests.journeys.house import Kettle, new_folder

EVERY_SECONDS = 0.02
A_SECOND = 10.0
"""Messages that are posted a second; at most one in ten of them asks something that pages answer."""
AIM_MS = 250.0
PATIENCE = 900.0
QUIET_SECONDS = 15.0
"""Without a new answer after which no more are waited for: some messages ask nothing."""
PLACES = ("help", "help", "dm-ada")
SIZES = (20_000, 100_000, 300_000, 600_000)
"""Characters of the documents of each kind."""
PARSE_SECONDS = "5"


class Hostile(Kettle):
    """A home whose bot takes any number of questions, and gives a document five seconds."""

    def variables(self, **more: str) -> dict[str, str]:
        given = {"QUESTIONS_PER_MINUTE": "100000", "PARSE_SECONDS": PARSE_SECONDS}
        return super().variables(**given, **more)


# --- what is hostile ------------------------------------------------------------------------------

UNITS = {
    "spaces": " ",
    "tabs": "\t",
    "blank lines": "\n",
    "blank lines with spaces": " \n",
    "one letter": "a",
    "letters without spaces": "如何配置会话",
    "brackets": "[",
    "closed brackets": "[]",
    "nested parentheses": "(",
    "braces": "{",
    "angles": "<",
    "tags": "<div>",
    "backticks": "`",
    "fences": "```\n",
    "code blocks": "```python\napp.run()\n```\n",
    "stars": "*",
    "underscores": "_",
    "dashes": "-",
    "dots": ".",
    "quotes": "> ",
    "lists": "- a\n  ",
    "tables": "| a | b |\n",
    "numbers": "1.",
    "versions": "flask 2.3.1 and 3.0 ",
    "names": "flask.config_from_object() ",
    "words": "how do I set the retry limit of a job and ",
    "questions": "How do I run it? ",
    "links": "[a](https://x.example/a) ",
    "emoji": "🫖",
}


def messages(count: int) -> Iterator[tuple[str, str]]:
    """Yield names and texts of messages, each as long as a message may be or a tenth of that."""
    for number, (name, unit) in enumerate(itertools.islice(itertools.cycle(UNITS.items()), count)):
        length = MAX_CHARACTERS if number % 3 else MAX_CHARACTERS // 10
        asked = f"@{BOT_NAME} {number} "
        end = " How do I open the dashboard?" if number % 10 == 0 else "x"
        yield name, asked + (unit * length)[: length - len(asked) - len(end)] + end


def documents(count: int) -> Iterator[tuple[str, str]]:
    """Yield names of files and their texts."""
    endings = itertools.cycle((".md", ".rst", ".html", ".txt", ".md"))
    units = itertools.cycle(UNITS.items())
    for number, ending in enumerate(itertools.islice(endings, count)):
        name, unit = next(units)
        size = SIZES[number % len(SIZES)]
        text = (unit * size)[:size]
        if number % 7 == 3:
            text = "".join(f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 9)}]\n" for at in range(1, 12))
            name, text = "yaml", f"---\na0: &a0 [x]\n{text}---\n\n# A page\n"
        elif number % 11 == 5:
            name, ending, text = "nested", ".html", "<ul><li>" * (size // 8)
        elif number % 13 == 6:
            cells = [{"cell_type": "markdown", "metadata": {}, "source": text}]
            told = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
            name, ending, text = "cells", ".ipynb", json.dumps(told)
        yield f"{number:03}-{name.replace(' ', '-')}{ending}", f"# A page\n\n{text}"


# --- who looks on -----------------------------------------------------------------------------------


@dataclass
class Waits:
    """Seconds that answers took, and where requests failed."""

    bot: list[float] = field(default_factory=list)
    idle: list[float] = field(default_factory=list)
    failed: int = 0


def look(address: str, idle: str, line: Connection) -> None:
    """Ask both in turn until told to stop; then say how long each answer took."""
    found = Waits()
    asked = [(http.client.HTTPConnection(urlsplit(url).netloc, timeout=120), took) for url, took in
             ((address, found.bot), (idle, found.idle))]  # fmt: skip
    line.send("ready")
    while not line.poll():
        began = time.monotonic()
        for connection, took in asked:
            start = time.monotonic()
            try:
                connection.request("GET", "/healthz")
                connection.getresponse().read()
                took.append(time.monotonic() - start)
            except OSError:
                found.failed += 1
                connection.close()
        time.sleep(max(0.0, EVERY_SECONDS - (time.monotonic() - began)))
    line.send(found)


def serve_nothing(line: Connection) -> None:
    """Serve `/healthz` and nothing else."""

    async def serve() -> None:
        app = web.Application()

        async def well(request: web.Request) -> web.Response:
            return web.json_response({"ok": True})

        app.router.add_get("/healthz", well)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        line.send(f"http://127.0.0.1:{runner.addresses[0][1]}")
        await asyncio.Event().wait()

    asyncio.run(serve())


# --- the run ------------------------------------------------------------------------------------------


async def main() -> None:
    """Do it all and print what came of it."""
    options = argparse.ArgumentParser(prog="python -m tests.bench.stalls", description=__doc__)
    options.add_argument("--messages", type=int, default=1000)
    options.add_argument("--documents", type=int, default=100)
    options.add_argument("--models", type=Path, default=Path(".threadlore/models"), help="kept encoders")
    given = options.parse_args()
    await asyncio.to_thread(lambda: load_encoder(PACKAGED, given.models.absolute()).close())
    with tempfile.TemporaryDirectory() as made:
        kettle = new_folder(Path(made) / "kettle", given.models.absolute())
        with kettle.config.open("a", encoding="utf-8") as config:
            config.write('\n[[unversioned.source]]\nkind = "folder"\npath = "hostile"\n')
        (kettle.folder / "hostile").mkdir()
        (kettle.folder / "hostile" / "good.md").write_text(
            "# Zeppelins\n\nA zeppelin job flies to the moon.\n"
        )
        process = Process(Hostile(kettle.folder, kettle.encoder_cache))
        print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
        await process.start()
        try:
            await run(process, given.messages, given.documents)
        finally:
            await process.kill()
        print(f"load of the machine {os.getloadavg()[0]:.1f}")


async def run(process: Process, count: int, pages: int) -> None:
    """Post and index while it is looked on."""
    address = await playground(process)
    await indexed(process)
    folder = process.kettle.folder / "hostile"
    for name, text in documents(pages):
        (folder / name).write_text(text, encoding="utf-8")
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    still = context.Process(target=serve_nothing, args=(theirs,), daemon=True)
    still.start()
    idle = await asyncio.to_thread(ours.recv)
    ours, theirs = context.Pipe()
    looker = context.Process(target=look, args=(address, idle, theirs), daemon=True)
    looker.start()
    assert await asyncio.to_thread(ours.recv) == "ready"
    began = time.monotonic()
    refused, told = await asyncio.gather(post(address, count), index(process))
    await answered(address)
    ours.send("stop")
    waits: Waits = await asyncio.to_thread(ours.recv)
    still.kill()
    sources = "\n".join((await process.ask(command="sources")).lines)
    tell(waits, count, pages, time.monotonic() - began)
    print(f"answers by route: {dict(await routes(address))}; not taken: {refused or 'none'}")
    print(told)
    print("\n".join(line for line in sources.splitlines() if "passed over" in line))


async def playground(process: Process) -> str:
    """Return the address of the playground, as the log says it."""
    while not (found := re.search(r"the playground is on (http://\S+)", process.log())):
        await asyncio.sleep(0.1)
    return found[1]


async def indexed(process: Process) -> None:
    """Wait until every release answers."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        said = "\n".join((await process.ask(command="status")).lines)
        if "not ready" not in said and "reading" not in said and "embedding" not in said:
            return
        await asyncio.sleep(0.5)
    raise TimeoutError("the first index is not done")


async def index(process: Process) -> str:
    """Index the hostile documents; return what was said."""
    return "\n".join((await process.ask(command="index", release="2.0")).lines)


async def post(address: str, count: int) -> dict[int, int]:
    """Post the messages at their pace; return how many were refused, by status."""
    refused: Counter[int] = Counter()
    began = time.monotonic()
    async with aiohttp.ClientSession() as session:
        for number, (_, text) in enumerate(messages(count)):
            await asyncio.sleep(max(0.0, began + number / A_SECOND - time.monotonic()))
            body: dict[str, Any] = {"person": "ada", "channel": PLACES[number % len(PLACES)], "text": text}
            async with session.post(f"{address}/api/messages", json=body) as response:
                if response.status != 201:
                    refused[response.status] += 1
    return dict(refused)


async def answered(address: str) -> None:
    """Wait until no more answers come."""
    end, last, at = time.monotonic() + PATIENCE, -1, time.monotonic()
    while time.monotonic() < end:
        total = sum((await routes(address)).values())
        if total != last:
            last, at = total, time.monotonic()
        elif time.monotonic() - at > QUIET_SECONDS:
            return
        await asyncio.sleep(2)


async def routes(address: str) -> Counter[str]:
    """Return how many answers there are by their route."""
    async with aiohttp.ClientSession() as session, session.get(f"{address}/metrics") as response:
        text = await response.text()
    found = re.findall(r'^threadlore_answers_total\{route="(\w+)"\} ([\d.]+)', text, re.MULTILINE)
    return Counter({route: int(float(number)) for route, number in found})


def tell(waits: Waits, count: int, pages: int, seconds: float) -> None:
    """Print how long others waited."""
    print(f"{count} hostile messages, {pages} hostile documents, {seconds:.0f} s; /healthz, ms:")
    for name, took in (("the bot", waits.bot), ("a server without work", waits.idle)):
        ms = sorted(1000 * value for value in took)
        marks = statistics.quantiles(ms, n=1000, method="inclusive")
        print(
            f"  {name:<22} {len(ms)} times   p50 {marks[499]:7.2f}   p99 {marks[989]:7.2f}   "
            f"p99.9 {marks[998]:7.2f}   longest {ms[-1]:8.2f}"
        )
    longest = 1000 * max(waits.bot)
    told = "reached" if longest <= AIM_MS else "missed"
    print(f"  failed: {waits.failed}; aim of at most {AIM_MS:.0f} ms: {told}")


if __name__ == "__main__":
    asyncio.run(main())
