"""`threadlore chat`: a channel in the terminal, with a thread, votes, corrections and releases."""

from __future__ import annotations

import asyncio
import sys
from argparse import Namespace
from typing import Any

from bot.rendering.answers import WRONG
from bot.rendering.progress import say
from core.settings import Settings

HELP = (
    "Write a question, then follow-ups. About the last answer: /up and /down vote · /why explains · "
    "/in 2.3 asks the same for another release.\n"
    "/release 2.3 asks for a release from now on · /new starts a new thread · /quit"
)
USER = "terminal"
NOTHING_YET = "Ask something first."


async def chat(settings: Settings, options: Namespace) -> int:
    """Talk until the input ends; return the exit status."""
    print(HELP)
    conversation = Conversation(settings)
    while True:
        try:
            text = await read(f"\n{conversation.release or 'you'}> ")
            if text == "/quit":
                return 0
            if text:
                await conversation.take(text)
        except EOFError:
            return 0


async def read(prompt: str) -> str:
    """Read one line; raises EOFError at the end of the input."""
    return (await asyncio.to_thread(input, prompt)).strip()


class Conversation:
    """One thread in the terminal: what was said, and the last answer."""

    def __init__(self, settings: Settings) -> None:
        self.release = ""
        self._settings = settings
        self._history: list[dict[str, str]] = []
        self._last: dict[str, Any] = {}
        self._told: set[str] = set()

    async def take(self, text: str) -> None:
        """Answer a question, or carry out a line that begins with a slash."""
        word, _, rest = text.partition(" ")
        match word:
            case "/new":
                self._history, self._last = [], {}
            case "/release":
                self.release = rest.strip()
            case "/up" | "/down" | "/why" | "/in" if not self._last:
                print(NOTHING_YET)
            case "/up":
                await self._about({"command": "vote", "vote": "up"})
            case "/down":
                await self._about({"command": "vote", "vote": "down"})
                await self._ask_what_was_wrong()
            case "/why":
                await self._about({"command": "why"})
            case "/in" if not rest.strip():
                print("Name the release: /in 2.3")
            case "/in":
                again = {"command": "again", "answer_id": self._last["answer_id"], "release": rest.strip()}
                await self._ask(f"And in {rest.strip()}?", again)
            case _ if word.startswith("/"):
                print(HELP)
            case _:
                given = {"question": text, "release": self.release, "history": self._history}
                await self._ask(text, {"command": "ask", **given})

    async def _about(self, request: dict[str, Any]) -> None:
        """Do something with the last answer."""
        from bot.cli.request import carry_out

        request = {**request, "answer_id": self._last["answer_id"], "user": USER}
        await carry_out(self._settings, request, sys.stdout)

    async def _ask_what_was_wrong(self) -> None:
        """Ask as the form on other platforms does; an empty line leaves it at the vote."""
        kinds = list(WRONG)
        for number, label in enumerate(WRONG.values(), start=1):
            print(f"  {number}  {label}")
        chosen = await read("What was wrong? (a number, or nothing) ")
        if not chosen:
            return
        if not (chosen.isascii() and chosen.isdigit() and 1 <= int(chosen) <= len(kinds)):
            print(f"That is not a number from 1 to {len(kinds)}; the vote still counts.")
            return
        better = await read("A better answer, if you know one: ")
        await self._about({"command": "wrong", "what": kinds[int(chosen) - 1], "better": better})

    async def _ask(self, said: str, request: dict[str, Any]) -> None:
        """Send a question and remember question and answer for follow-ups."""
        heard: list[dict[str, Any]] = []

        async def show(message: dict[str, Any]) -> None:
            if "line" in message:
                heard.append(message)
                print()
                say(message["line"], sys.stdout)
            elif "error" in message:
                print(message["error"], file=sys.stderr)

        await self._send({"user": USER, **request}, show)
        if heard:
            self._last = heard[-1]
            problem = str(self._last.get("problem", ""))
            if problem and problem not in self._told:
                self._told.add(problem)
                print(f"threadlore: {problem}", file=sys.stderr)
            self._history += [{"role": "user", "text": said}]
            self._history += [
                {"role": "assistant", "text": self._last["text"], "release": self._last["release"]}
            ]

    async def _send(self, request: dict[str, Any], show: Any) -> None:
        """Have the serving process carry a request out, or do it here where nobody serves."""
        from bot.home.control_socket import call

        try:
            async for message in call(self._settings.home, request):
                await show(message)
        except ConnectionError:
            from bot.app.bootstrap import build
            from bot.commands.command_line import handle
            from core.errors import ThreadloreError

            try:
                async with build(self._settings, "chat") as app:
                    await handle(app, request, show)
            except ThreadloreError as error:
                print(error, file=sys.stderr)
