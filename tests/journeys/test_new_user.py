"""Somebody new follows README: init, doctor until nothing is to be mended, serve, and a cited answer."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.home.home import SOCKET
from bot.platforms.slack.doctor import SCOPES
from tests import forked
from tests.journeys.house import PASSED
from tests.journeys.slack_stage import SlackStage
from tests.journeys.stage import PATIENCE, answer, until
from tests.ollama_server import OllamaServer
from tests.platforms.slack_server import SlackServer

DASHBOARD = """\
# Dashboard

The dashboard shows queues, workers and failed jobs in the browser.

## Opening the dashboard

Start it with `kettle dashboard`. The dashboard listens on port 9090 by default; choose another one with
`--port`.
"""
PORT = "Which port does the dashboard listen on?"


@dataclass
class Newcomer:
    """A person at a terminal, in a folder with documentation and nothing else."""

    folder: Path
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def bot(self) -> Path:
        return self.folder / "my-bot"

    async def types(
        self, *arguments: str, answers: Sequence[str] = (), inside: bool = True
    ) -> tuple[int, str]:
        """Run a command, answer what it asks, and return its status with all it printed.

        The first ones are typed outside of the bot's folder, and start as they do for everybody.
        """
        given = "".join(f"{line}\n" for line in answers).encode()
        if inside:
            ended = forked.ended(arguments, self._environment(), self.bot, given)
            child, out, err = await asyncio.wait_for(ended, 2 * PATIENCE)
            assert child.returncode is not None
            return self._printed(child.returncode, out + err)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot", *arguments),
            cwd=self.folder,
            env=self._environment(),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        out, _ = await asyncio.wait_for(process.communicate(given), 2 * PATIENCE)
        assert process.returncode is not None
        return self._printed(process.returncode, out)

    @staticmethod
    def _printed(code: int, out: bytes) -> tuple[int, str]:
        assert "Traceback" not in out.decode(), out.decode()
        return code, out.decode()

    async def doctor(self) -> tuple[int, dict[str, str]]:
        """Return the status of `doctor`, and the lines under the marks ✗ and ? by what they are about."""
        code, said = await self.types("doctor")
        lines = said.splitlines()
        wrong = {}
        for number, line in enumerate(lines):
            if line.startswith(("✗", "?")):
                what, _, text = line[2:].partition(": ")
                wrong[line[0] + what] = f"{text} {lines[number + 1].strip()}"
        return code, wrong

    def edits(self, variable: str, value: str) -> None:
        """Change a line of .env."""
        lines = (self.bot / ".env").read_text(encoding="utf-8").splitlines()
        kept = [line for line in lines if not line.startswith(f"{variable}=")]
        (self.bot / ".env").write_text("\n".join([*kept, f"{variable}={value}", ""]), encoding="utf-8")

    def _environment(self) -> dict[str, str]:
        passed = {k: v for k, v in os.environ.items() if k in PASSED}
        return passed | {"HF_HUB_OFFLINE": "1", **self.variables}

    async def serves(self) -> forked.Forked:
        """Start to serve; the log goes into a file."""
        with (self.folder / "serve.log").open("ab") as log, open(os.devnull, "rb") as nothing:
            files = (nothing.fileno(), 1, log.fileno())
            process = forked.fork(["serve"], self._environment(), self.bot, files)
        socket = self.bot / "home" / SOCKET
        await until(lambda: socket.exists() or process.returncode is not None, "the socket")
        return process


@pytest.fixture
def newcomer(tmp_path: Path, encoder_cache: Path) -> Newcomer:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "dashboard.md").write_text(DASHBOARD)
    home = tmp_path / "my-bot" / "home"
    home.mkdir(mode=0o700, parents=True)  # with the embedding model, so that it is not made once more
    (home / "models").symlink_to(encoder_cache)
    return Newcomer(tmp_path)


def interviewed(slack: SlackServer, model: OllamaServer) -> list[str]:
    """Return what somebody answers who has mixed up nothing yet but a token."""
    return [
        *("Kettle", "2.0", "docs", "https://kettle.example/2.0/{page}"),
        *(model.url, model.model),
        *("y", "xoxb-of-another-app", slack.app_token),
        *("n", ""),
    ]


async def test_from_the_readme_alone_to_a_cited_answer(newcomer: Newcomer) -> None:
    """Each thing that can be wrong is found by doctor, in its words, and mended in turn."""
    async with SlackServer() as slack, OllamaServer() as model:
        slack.channels["C1"]["members"].discard(slack.bot_user)
        slack.channels.pop("G1")
        slack.scopes = ",".join(SCOPES - {"reactions:read"})
        has, model.models = model.models, []
        newcomer.variables = {"SLACK_API_URL": slack.url, "THREADLORE_PORT": "0", "EMBEDDING_DEVICE": "cpu"}
        code, said = await newcomer.types("init", "my-bot", answers=interviewed(slack, model), inside=False)
        assert code == 0 and "threadlore doctor" in said, said

        code, wrong = await newcomer.doctor()
        assert code == 1 and "invalid_auth" in wrong["✗Slack bot token"], wrong
        assert "Bot User OAuth Token" in wrong["✗Slack bot token"]
        newcomer.edits("SLACK_BOT_TOKEN", slack.bot_token)

        code, wrong = await newcomer.doctor()
        assert code == 1 and "missing: reactions:read" in wrong["✗Slack scopes"], wrong
        assert "slack-manifest.yaml" in wrong["✗Slack scopes"]
        slack.scopes = ",".join(SCOPES)

        code, wrong = await newcomer.doctor()
        assert code == 1 and f"ollama pull {model.model}" in wrong["✗Model"], wrong
        model.models = has

        code, wrong = await newcomer.doctor()
        assert code == 0 and "/invite @Threadlore" in wrong["?Slack channels"], wrong
        slack.channels["C1"]["members"].add(slack.bot_user)

        code, wrong = await newcomer.doctor()
        assert code == 0 and set(wrong) <= {"?Bot", "?Slack app settings"}, wrong
        assert "threadlore serve" in wrong["?Bot"]

        process = await newcomer.serves()
        try:
            await until(lambda: slack.connected, "a connection")
            stage = SlackStage.watching(slack)
            await until(lambda: ready(newcomer), "the index")
            seen = await answer(stage, await stage.say("ann", PORT, to="bot"))
            assert "9090" in seen.text and "https://kettle.example/2.0/dashboard" in seen.text
            code, wrong = await newcomer.doctor()
            # Slack takes few openings of a connection a minute, and this is the seventh
            assert code == 0 and set(wrong) <= {"?Slack app settings", "?Slack app token"}, wrong
        finally:
            process.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(process.wait(), PATIENCE) == 0


def ready(newcomer: Newcomer) -> bool:
    return "2.0 is ready" in (newcomer.folder / "serve.log").read_text(encoding="utf-8")


async def test_without_a_terminal_by_flags(newcomer: Newcomer) -> None:
    """For machines that are set up by a script: tokens from the environment, nothing asked, no Ollama."""
    async with SlackServer() as slack:
        slack.scopes = ",".join(SCOPES)
        newcomer.variables = {"SLACK_BOT_TOKEN": slack.bot_token, "SLACK_APP_TOKEN": slack.app_token}
        flags = ["--product", "Kettle", "--docs", "2.0=docs", "--ollama", "http://127.0.0.1:9"]
        code, said = await newcomer.types("init", "my-bot", *flags, inside=False)
        assert code == 0 and "Still missing" not in said, said
        again, said = await newcomer.types("init", "my-bot", *flags, inside=False)
        assert again == 2 and "--force" in said
        newcomer.variables = {"SLACK_API_URL": slack.url, "THREADLORE_PORT": "0", "EMBEDDING_DEVICE": "cpu"}
        code, wrong = await newcomer.doctor()
        assert code == 1 and "ollama serve" in wrong["✗Model"], "no Ollama"
        newcomer.edits("OLLAMA_HOST", "off")
        code, wrong = await newcomer.doctor()
        assert code == 0 and "✗Model" not in wrong and "?Model" not in wrong, "none is wanted"
    code, said = await newcomer.types("ask", "--json", PORT)
    assert code == 0, said
    told = json.loads(said[said.index("{") :])
    assert told["route"] == "abstain", "nothing is indexed yet, and it says so"
