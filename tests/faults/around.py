"""Faults of what the bot talks to: the database's server, the network, the model, Slack, Discord."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import socket
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.faults.row import Row, fault, served
from tests.faults.world import CannotBeInjected, command, lived_in, world
from tests.journeys.discord_stage import DiscordStage
from tests.journeys.house import Kettle, house
from tests.journeys.slack_stage import SlackStage
from tests.journeys.stage import answer, open_stage
from tests.ollama_server import OllamaServer

AWAY_SECONDS, SPLIT_SECONDS = 60.0, 20.0
PORT = "Which port does the dashboard listen on?"


class Postgres:
    """A PostgreSQL of one's own, which may go and come back."""

    def __init__(self, folder: Path) -> None:
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
        if not found:
            raise CannotBeInjected("PostgreSQL is not there: apt-get install postgresql")
        self._bin, self._folder = found[-1], folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = self.at(self.port)
        self._as = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        if self._as:
            shutil.chown(folder, "postgres")
        command(
            *self._as, str(self._bin / "initdb"), "-D", str(folder / "db"), "-U", "threadlore", "-A", "trust"
        )
        self.start()
        where = ("-h", "127.0.0.1", "-p", str(self.port), "-U", "threadlore")
        command(*self._as, str(self._bin / "createdb"), *where, "threadlore")

    def at(self, port: int) -> str:
        """Return the database's address at a port."""
        return f"postgresql://threadlore@127.0.0.1:{port}/threadlore"

    def start(self) -> None:
        """Start it and wait until it takes connections."""
        given = f"-c listen_addresses=127.0.0.1 -c port={self.port} -c unix_socket_directories={self._folder}"
        log = ("-l", str(self._folder / "log"), "-o", given)
        command(*self._as, str(self._bin / "pg_ctl"), "-D", str(self._folder / "db"), "-w", *log, "start")

    def stop(self) -> None:
        """End it at once, as a crash does."""
        command(
            *self._as, str(self._bin / "pg_ctl"), "-D", str(self._folder / "db"), "-m", "immediate", "stop"
        )


@asynccontextmanager
async def postgres() -> AsyncIterator[Postgres]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        server = Postgres(Path(folder))
        try:
            yield server
        finally:
            with contextlib.suppress(CannotBeInjected):
                server.stop()


async def indexed(kettle: Kettle, url: str) -> None:
    """Have a home's database in PostgreSQL, with what the documentation says."""
    for file in kettle.home.glob("threadlore.sqlite3*"):
        file.unlink()
    (kettle.home / "privacy.key").unlink(missing_ok=True)
    async with house(kettle, database_url=url) as bot:
        await bot.app.corpus_manager.reindex()


@fault("postgres away", "PostgreSQL crashes and is away for a minute")
async def postgres_away(kettle: Kettle) -> Row:
    async with postgres() as server:
        await indexed(kettle, server.url)
        async with world(kettle, server.url) as lived:
            await lived_in(lived)
            server.stop()
            await asyncio.sleep(AWAY_SECONDS / 2)
            root = await lived.say()
            await asyncio.sleep(AWAY_SECONDS / 2)
            told = await lived.reads(root)
            server.start()
            since = time.monotonic()
            return await served("postgres away", lived, since, f"meanwhile people read {told}")


class Wire:
    """Passes bytes on between two sides, until it is cut: then nothing comes through, and nobody is told."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._whole = asyncio.Event()
        self._whole.set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Wire:
        self._server = await asyncio.start_server(self._meet, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()

    def cut(self) -> None:
        """Let nothing through."""
        self._whole.clear()

    def mend(self) -> None:
        """Let everything through again, what waited included."""
        self._whole.set()

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._whole.wait()
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", self._to)
        for side in ((reader, to_writer), (to_reader, writer)):
            task = asyncio.create_task(self._pass(*side))
            self._tasks.add(task)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                await self._whole.wait()
                writer.write(data)
                await writer.drain()
        writer.close()


@fault("split", "The network between the bot and PostgreSQL lets nothing through for 20 s")
async def split(kettle: Kettle) -> Row:
    async with postgres() as server, Wire(server.port) as wire:
        await indexed(kettle, server.url)
        async with world(kettle, server.at(wire.port)) as lived:
            lived.url = server.url
            await lived_in(lived)
            wire.cut()
            asking = asyncio.create_task(lived.say())
            await asyncio.sleep(SPLIT_SECONDS)
            wire.mend()
            since = time.monotonic()
            await asking
            return await served("split", lived, since, "a proxy that drops; connections stay open")


@fault("model dies", "The model dies in mid-word")
async def model_dies(kettle: Kettle) -> Row:
    async with OllamaServer() as ollama, world(kettle, OLLAMA_HOST=ollama.url) as lived:
        await lived_in(lived)
        ollama.script("cut")
        return await served("model dies", lived, time.monotonic(), "the pages are quoted")


@fault("model silent", "The model falls silent in the middle of an answer (`OLLAMA_TIMEOUT=5`)")
async def model_silent(kettle: Kettle) -> Row:
    async with OllamaServer() as ollama, world(kettle, OLLAMA_HOST=ollama.url, OLLAMA_TIMEOUT="5") as lived:
        await lived_in(lived)
        ollama.script("stall")
        return await served("model silent", lived, time.monotonic(), "the pages are quoted")


@fault("model slow", "The model writes half a word a second (`ANSWER_TIMEOUT=5`)")
async def model_slow(kettle: Kettle) -> Row:
    async with OllamaServer() as ollama, world(kettle, OLLAMA_HOST=ollama.url, ANSWER_TIMEOUT="5") as lived:
        await lived_in(lived)
        ollama.tokens_per_second = 0.5
        return await served("model slow", lived, time.monotonic(), "the pages are quoted")


@fault("slack connection", "Slack drops the connection while an answer is written")
async def slack_connection(kettle: Kettle) -> Row:
    return await _on("slack", "connection lost", kettle)


@fault("slack limits", "Slack limits every call that changes a message, for a second")
async def slack_limits(kettle: Kettle) -> Row:
    return await _on("slack", "too many calls", kettle)


@fault("discord connection", "Discord's gateway drops the connection while an answer is written")
async def discord_connection(kettle: Kettle) -> Row:
    return await _on("discord", "connection lost", kettle)


async def _on(platform: str, trouble: str, kettle: Kettle) -> Row:
    """Ask on a platform, let something go wrong in the middle of the answer, and wait for the whole of it."""
    async with OllamaServer() as ollama, house(kettle, ollama_host=ollama.url) as bot:
        ollama.tokens_per_second, ollama.first_token_delay = 30.0, 0.3
        async with open_stage(platform, bot) as stage:
            assert isinstance(stage, SlackStage | DiscordStage)
            asking = asyncio.create_task(stage.say("ann", PORT, to="bot"))
            while not stage.texts():
                await asyncio.sleep(0.01)
            since = time.monotonic()
            await stage.disturb(trouble)
            said = await asking
            await answer(stage, said)
            seconds = time.monotonic() - since
            await stage.quiet()
            lost = () if len(stage.replies(said)) == 1 else ("an answer in one piece",)
            return Row(f"{platform} {trouble}", lost, seconds, "until the whole answer stood there")
