"""One of two bots that are compared, in a process of its own: commands and answers are lines of JSON."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import psutil

Do = Callable[[Mapping[str, Any]], Awaitable[Any]]
Ask = Callable[[str, str], Awaitable[object]]
LINE_BYTES = 1 << 26


def memory_mb() -> float:
    """Return the memory that this process and its workers hold, in MB."""
    me = psutil.Process()
    held: int = sum(one.memory_info().rss for one in (me, *me.children(recursive=True)))
    return held / 2**20


async def asked(questions: Sequence[tuple[str, str]], people: int, ask: Ask) -> dict[str, Any]:
    """Let so many people ask, each one question after the other; return ms of each, and seconds of all."""
    left, ms = iter(questions), []

    async def person() -> None:
        for release, text in left:
            began = time.perf_counter()
            await ask(release, text)
            ms.append((time.perf_counter() - began) * 1000)

    began = time.perf_counter()
    await asyncio.gather(*(person() for _ in range(people)))
    return {"ms": ms, "seconds": time.perf_counter() - began}


async def serve(commands: Mapping[str, Do]) -> None:
    """Carry out the commands of standard input until it ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries that print do not print into the answers
    while line := await asyncio.to_thread(sys.stdin.readline):
        given = json.loads(line)
        print(json.dumps(await commands[given["do"]](given)), file=answers, flush=True)


class Side:
    """The process as the comparison sees it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def do(self, what: str, **given: Any) -> Any:
        """Have something done; raises RuntimeError where the process ended."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps({"do": what, **given}).encode() + b"\n")
        await self._process.stdin.drain()
        line = await self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"The process ended while it did '{what}'.")
        return json.loads(line)

    async def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            async with asyncio.timeout(60):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()


async def started(module: str, *arguments: str, environment: Mapping[str, str] | None = None) -> Side:
    """Start a module as a side."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module, *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=LINE_BYTES,
        env=environment,
    )
    return Side(process)
