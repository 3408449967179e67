"""`threadlore` as a process of its own, as whoever runs the bot meets it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.home.home import SOCKET
from tests import forked
from tests.journeys.house import Kettle
from tests.journeys.stage import PATIENCE, until
from tests.ollama_server import OllamaServer
from tests.platforms.slack_server import SlackServer


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


async def run(kettle: Kettle, *arguments: str, given: bytes = b"", **variables: str) -> Ended:
    """Run a command to its end."""
    running = forked.ended(arguments, kettle.variables(**variables), kettle.folder, given)
    process, out, err = await asyncio.wait_for(running, 2 * PATIENCE)
    assert process.returncode is not None
    ended = Ended(process.returncode, out.decode(), err.decode())
    assert "Traceback" not in ended.err, ended.err
    return ended


@dataclass
class Served:
    """A process that serves; `log` is what it wrote to stderr."""

    process: forked.Forked
    log_file: Path

    @property
    def log(self) -> str:
        return self.log_file.read_text()

    async def kill(self) -> None:
        """End it as a power cut does."""
        self.process.kill()
        await self.process.wait()

    async def stop(self) -> int:
        """Ask it to end, and return its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return await asyncio.wait_for(self.process.wait(), PATIENCE)


@asynccontextmanager
async def serving(kettle: Kettle, **variables: str) -> AsyncIterator[Served]:
    """Serve a home in a child process, which is killed at the end if it still runs."""
    log_file = kettle.folder / "serve.log"
    with log_file.open("ab") as log, open(os.devnull, "rb") as nothing:
        files = (nothing.fileno(), 1, log.fileno())
        process = forked.fork(["serve"], kettle.variables(**variables), kettle.folder, files)
    served = Served(process, log_file)
    try:
        await until(lambda: (kettle.home / SOCKET).exists() or process.returncode is not None, "the socket")
        yield served
    finally:
        if process.returncode is None:
            await served.kill()


def on_slack(slack: SlackServer, ollama: OllamaServer | None = None) -> dict[str, str]:
    """Return the environment that connects a child to the loopback Slack, and to a model."""
    found = {
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_APP_TOKEN": slack.app_token,
        "SLACK_API_URL": slack.url,
    }
    return found | ({"OLLAMA_HOST": ollama.url} if ollama else {})
