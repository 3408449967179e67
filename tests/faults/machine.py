"""Faults of the machine: a kill, the disk, the clock, damaged files, a start that is cut short."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shutil
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from sqlalchemy import create_engine

from tests.databases import as_of
from tests.faults.row import Row, fault, served
from tests.faults.world import CannotBeInjected, World, command, lived_in, world
from tests.journeys.house import Kettle

GARBAGE = random.Random(7).randbytes(5000)
LIBRARIES = (
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
)


@fault("kill", "The process is killed (`kill -9`) while it answers")
async def kill(kettle: Kettle) -> Row:
    async with world(kettle) as lived:
        await lived_in(lived)
        await lived.say()
        await lived.kill()
        since = time.monotonic()
        await lived.start()
        return await served("kill", lived, since, "a whole start included")


async def unmounted(folder: Path, within: float = 10.0) -> None:
    """Take a disk away, once the helpers of a process that was killed have seen that it is gone."""
    until = time.monotonic() + within
    while True:
        try:
            command("umount", str(folder))
            return
        except CannotBeInjected:
            if time.monotonic() > until:
                raise
            await asyncio.sleep(0.1)


@asynccontextmanager
async def own_disk(kettle: Kettle, *mount: str) -> AsyncIterator[None]:
    """Put the home on a disk of its own."""
    aside = kettle.folder / "aside"
    shutil.copytree(kettle.home, aside, symlinks=True)
    command("mount", *mount, str(kettle.home))
    try:
        shutil.copytree(aside, kettle.home, symlinks=True, dirs_exist_ok=True)
        os.sync()  # nobody copies a home to a disk that fails within the half minute until it is written
        yield
    finally:
        with contextlib.suppress(CannotBeInjected):
            await unmounted(kettle.home)


@fault("full disk", "The disk is full (a tmpfs without a free byte), then has room again")
async def full_disk(kettle: Kettle) -> Row:
    async with own_disk(kettle, "-t", "tmpfs", "-o", "size=200m", "tmpfs"), world(kettle) as lived:
        await lived_in(lived)
        ballast = kettle.home / "ballast"
        with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 12))
        root = await lived.say()
        await asyncio.sleep(5)
        told = await lived.reads(root)
        ballast.unlink()
        row = await served("full disk", lived, time.monotonic(), f"meanwhile people read {told}")
        await lived.kill()
        return row


@fault("read-only disk", "The file system fails and is read-only (ext4, aborted), then is repaired")
async def read_only(kettle: Kettle) -> Row:
    image = kettle.folder / "disk.img"
    with image.open("wb") as file:
        file.truncate(400 << 20)
    command("mkfs.ext4", "-q", "-F", str(image))
    async with own_disk(kettle, "-o", "loop", str(image)), world(kettle) as lived:
        await lived_in(lived)
        command("mount", "-o", "remount,abort", str(kettle.home))
        root = await lived.say()
        await asyncio.sleep(5)
        told = await lived.reads(root)
        lived.asked.pop(root, None)  # nobody was promised an answer to it
        await lived.kill()
        await unmounted(kettle.home)
        os.system(f"e2fsck -fy {image} >/dev/null 2>&1")
        command("mount", "-o", "loop", str(image), str(kettle.home))
        since = time.monotonic()
        await lived.start()
        row = await served("read-only disk", lived, since, f"meanwhile people read {told}; a start included")
        await lived.kill()
        return row


@fault("clock", "The clock jumps 400 days ahead, and back (libfaketime)")
async def clock(kettle: Kettle) -> Row:
    library = next((path for path in LIBRARIES if Path(path).exists()), "")
    if not library:
        raise CannotBeInjected("libfaketime is not there: apt-get install faketime")
    file = kettle.folder / "clock"
    file.write_text("+0")
    faked = {
        "LD_PRELOAD": library,
        "FAKETIME_TIMESTAMP_FILE": str(file),
        "FAKETIME_CACHE_DURATION": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    async with world(kettle) as lived:
        await lived_in(lived, **faked)
        file.write_text("+400d")
        await asyncio.sleep(3)  # the library looks once a second
        since = time.monotonic()
        told = await lived.ask()
        if int(told["id"]) < (time.time() + 399 * 86400) * 1e6:  # microseconds
            raise CannotBeInjected("libfaketime does not move the clock")
        ahead = time.monotonic() - since
        file.write_text("+0")
        await asyncio.sleep(3)
        return await served("clock", lived, time.monotonic(), f"ahead: {ahead:.1f} s; back: as told")


async def harmed(what: str, kettle: Kettle, harm: Callable[[Path], None], note: str = "") -> Row:
    """Kill it, harm a file of its home, and start it again."""
    async with world(kettle) as lived:
        await lived_in(lived)
        await lived.kill()
        harm(kettle.home)
        since = time.monotonic()
        await lived.start()
        return await served(what, lived, since, note or "a whole start included; rebuilt from the database")


def _gone(name: str) -> Callable[[Path], None]:
    return lambda home: shutil.rmtree(home / name)


def _torn(name: str) -> Callable[[Path], None]:
    def harm(home: Path) -> None:
        for file in (path for path in (home / name).rglob("*") if path.is_file()):
            file.write_bytes(GARBAGE)

    return harm


@fault("vectors gone", "The vector index (Chroma) is gone")
async def vectors_gone(kettle: Kettle) -> Row:
    return await harmed("vectors gone", kettle, _gone("vectors"))


@fault("vectors damaged", "Every file of the vector index holds other bytes")
async def vectors_damaged(kettle: Kettle) -> Row:
    return await harmed("vectors damaged", kettle, _torn("vectors"))


@fault("words gone", "The word index (tantivy) is gone")
async def words_gone(kettle: Kettle) -> Row:
    return await harmed("words gone", kettle, _gone("words"))


@fault("words damaged", "Every file of the word index holds other bytes")
async def words_damaged(kettle: Kettle) -> Row:
    return await harmed("words damaged", kettle, _torn("words"))


@fault("weights", "The embedder's weights are torn, as by a download that was cut")
async def weights(kettle: Kettle) -> Row:
    def harm(home: Path) -> None:
        cache = (home / "models").resolve()
        (home / "models").unlink()
        shutil.copytree(cache, home / "models")
        for file in (home / "models").rglob("*.onnx"):
            file.write_bytes(file.read_bytes()[: 1 << 16])

    return await harmed("weights", kettle, harm, "a whole start included; exported from the package again")


@fault("migration", "A start is killed five times while it brings an old database to the new form")
async def migration(kettle: Kettle) -> Row:
    async with world(kettle) as lived:
        await lived_in(lived)
        await lived.kill()
        engine = create_engine(f"sqlite:///{kettle.home / 'threadlore.sqlite3'}")
        with engine.begin() as connection:
            as_of(connection, "0020")
        engine.dispose()
        for tenths in (12, 14, 16, 18, 20):
            await lived.start(wait=False)
            await asyncio.sleep(tenths / 10)
            await lived.kill()
        since = time.monotonic()
        await lived.start()
        return await served("migration", lived, since, "a whole start included")


@fault("database damaged", "The database is cut off in the middle; the backup is restored")
async def database_damaged(kettle: Kettle) -> Row:
    async with world(kettle) as lived:
        await lived_in(lived)
        backup = kettle.folder / "backup.tlb"
        await threadlore(lived, "backup", str(backup))
        await lived.kill()
        file = kettle.home / "threadlore.sqlite3"
        for ahead in kettle.home.glob("threadlore.sqlite3-*"):
            ahead.unlink()
        os.truncate(file, file.stat().st_size // 2)
        refused = await threadlore(lived, "ask", "anything", code=1)
        assert "is damaged" in refused, refused
        since = time.monotonic()
        models, playground = kettle.home / "models", (kettle.home / "playground.jsonl").read_bytes()
        target = models.resolve()
        kettle.home.rename(kettle.folder / "damaged")
        await threadlore(lived, "restore", str(backup))
        (kettle.home / "models").symlink_to(target)
        (kettle.home / "playground.jsonl").write_bytes(playground)
        await lived.start()
        return await served("database damaged", lived, since, "restore and start; refused until then")


async def threadlore(lived: World, *words: str, code: int = 0) -> str:
    """Give a command at the terminal and return what it says."""
    import subprocess
    import sys

    from tests.faults.world import ROOT

    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "bot", *words),
        cwd=lived.kettle.folder,
        env={**lived.kettle.variables(**lived.variables), "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    told, _ = await process.communicate()
    assert process.returncode == code, told.decode()
    return told.decode()
