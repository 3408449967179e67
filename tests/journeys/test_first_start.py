"""The first start of the bot, as somebody at a terminal sees it."""

from __future__ import annotations

import asyncio
import os
import pty
import re
import signal
from pathlib import Path

from tests import forked
from tests.journeys.house import new_folder
from tests.journeys.stage import PATIENCE, until

STAGES = {"reading": r"[45] pages", "indexing": r"\d+ of \d+ passages"}


async def test_there_is_a_line_a_stage_the_address_and_nothing_else(
    tmp_path: Path, encoder_cache: Path
) -> None:
    kettle = new_folder(tmp_path / "kettle", encoder_cache)
    kettle.home.chmod(0o700)  # as `serve` makes one
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)
    variables = kettle.variables(THREADLORE_PLAYGROUND="true", THREADLORE_PORT="0", COLUMNS="100")
    process = forked.fork(["serve"], variables, kettle.folder, (theirs, theirs, theirs))
    os.close(theirs)
    written = b""

    def is_ready() -> bool:
        nonlocal written
        try:
            written += os.read(ours, 65536)
        except OSError:  # nothing yet
            return False
        return b"Ctrl+C stops the bot." in written

    try:
        await until(is_ready, "the last line")
        process.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
    finally:
        if process.returncode is None:
            process.kill()
        os.close(ours)
    shown = re.sub(r"[^\n]*\r\x1b\[2K", "", written.decode().replace("\r\n", "\n"))
    lines = [line for line in shown.split("\n") if line.strip()]
    assert lines[0] == f"Threadlore is starting; its log is in {kettle.home / 'logs'}."
    address = lines[1].removeprefix("Open the playground: ")
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+", address)
    expected = []
    for release in ("2.0", "1.5", "1.0"):
        expected += [rf"Kettle {release}: {stage}, {counted}" for stage, counted in STAGES.items()]
        expected.append(re.escape(f"Kettle {release} is ready: ask at {address}"))
    expected.append(re.escape("Ready: Kettle 1.0, 1.5, 2.0. Ctrl+C stops the bot."))
    assert len(lines) == len(expected) + 2, shown
    assert all(re.fullmatch(*pair) for pair in zip(expected, lines[2:], strict=True)), shown
