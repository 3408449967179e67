"""`threadlore chat`: a channel in the terminal, with a thread, votes and releases."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from core.settings import Settings

HELP = (
    "Write a question, then follow-ups.  /up /down vote · /why explains · /release 2.3 asks for a release · "
    "/new starts a new thread · /quit"
)


async def chat(settings: Settings) -> int:
    """Talk until the input ends."""
    from bot.cli import carry_out

    print(HELP)
    history: list[dict[str, str]] = []
    release = ""
    last: dict[str, Any] = {}
    while True:
        try:
            text = (await asyncio.to_thread(input, f"\n{release or 'you'}> ")).strip()
        except EOFError:
            return 0
        word, _, rest = text.partition(" ")
        if not text:
            continue
        if word == "/quit":
            return 0
        if word == "/new":
            history, last = [], {}
        elif word == "/release":
            release = rest.strip()
        elif word in ("/up", "/down", "/why") and not last:
            print("Ask something first.")
        elif word in ("/up", "/down"):
            request = {
                "command": "vote",
                "answer_id": last["answer_id"],
                "vote": word[1:],
                "user": "terminal",
            }
            await carry_out(settings, request, sys.stdout)
        elif word == "/why":
            await carry_out(settings, {"command": "why", "answer_id": last["answer_id"]}, sys.stdout)
        elif word.startswith("/"):
            print(HELP)
        else:
            heard: list[dict[str, Any]] = []
            await _ask(settings, {"question": text, "release": release, "history": history}, heard)
            if heard:
                last = heard[-1]
                history += [{"role": "user", "text": text}]
                history += [{"role": "assistant", "text": last["text"], "release": last["release"]}]


async def _ask(settings: Settings, entry: dict[str, Any], heard: list[dict[str, Any]]) -> None:
    from bot.control import call

    request = {"command": "ask", "user": "terminal", **entry}

    def show(message: dict[str, Any]) -> None:
        if "line" in message:
            heard.append(message)
            print(f"\n{message['line']}")
        elif "error" in message:
            print(message["error"], file=sys.stderr)

    try:
        async for message in call(settings.home, request):
            show(message)
    except ConnectionError:
        from bot.bootstrap import build
        from bot.commands import handle
        from core.errors import ThreadloreError

        async def send(message: dict[str, Any]) -> None:
            show(message)

        try:
            async with build(settings, "chat") as app:
                await handle(app, request, send)
        except ThreadloreError as error:
            print(error, file=sys.stderr)
