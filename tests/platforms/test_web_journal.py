"""The playground's journal on a disk that is full for a while, and over what is no journal."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.platforms.web import state
from bot.platforms.web.http.feed import Feed
from bot.platforms.web.journal import Journal, expire, read
from bot.platforms.web.people import BOT
from bot.platforms.web.personal_data import held
from bot.platforms.web.state import Posts
from bot.ports.chat import ACCEPT, UP
from tests.platforms.web_client import serving, settings, until
from tests.platforms.web_dispatch import FakeDispatch

ROOM = 64 * 1024
Full = Callable[[], object]


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Have a disk of 64 KiB in a folder; skipped where that takes rights that the tests do not have."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond a size, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def fill(folder: Path) -> Path:
    """Leave no room on the disk of a folder; return the file to be removed for it."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="space"):
        while True:
            file.write(bytes(512))
    return filler


async def texts(home: Path) -> list[str]:
    """Return what a playground that is started anew knows."""
    async with serving(settings(home), FakeDispatch()) as web:
        return [m["text"] for m in await web.messages() if m["author"] != "threadlore"]


async def test_after_a_full_disk_everything_is_written_that_was_said_meanwhile(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    home = tmp_path / "home"
    home.mkdir()
    with small_disk(home):
        async with serving(settings(home), FakeDispatch()) as web:
            await web.say("before", channel="general")
            await web.playground._journal.settled()
            filler = fill(home)
            said = [f"while it is full, {number} {'x' * 2000}" for number in range(9)]
            for text in said:
                await web.say(text, channel="general")
            await web.playground._journal.settled()
            torn = (home / "playground.jsonl").read_bytes()
            assert torn.endswith(b"\n") and torn.count(b"\n") < 10, "no line is half written"
            filler.unlink()
            await web.say("after", channel="general")
        assert caplog.text.count("will not survive a restart") == 1 and "again" in caplog.text
        assert await texts(home) == ["before", *said, "after"]


async def test_what_was_not_written_is_written_though_nothing_more_is_said(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "playground.jsonl", again=0.02)
    journal.start([{"id": "1"}])
    await journal.settled()
    with files_of_at_most(journal.path.stat().st_size + 4):
        journal.append({"id": "2", "text": "long enough"})
        await journal.settled()
        assert journal.path.read_text() == '{"id": "1"}\n'
    await until(lambda: '"2"' in journal.path.read_text())
    await journal.close()
    assert await Journal(journal.path).read() == [{"id": "1"}, {"id": "2", "text": "long enough"}]


async def test_the_end_writes_what_waits(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "playground.jsonl")
    with files_of_at_most(4):
        journal.start([{"id": "1"}])
        journal.append({"id": "2"})
        await journal.settled()
        assert not journal.path.exists() and not journal.path.with_suffix(".new").exists()
    await journal.close()
    assert journal.path.read_text() == '{"id": "1"}\n{"id": "2"}\n'


async def test_somebody_is_forgotten_though_there_is_no_room_for_a_second_file(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with small_disk(home):
        async with serving(settings(home), FakeDispatch()) as web:
            await web.say("a secret of ada's", "ada", "general")
            await web.say("what ben said", "ben", "general")
            await web.playground._journal.settled()
            fill(home)
            await web.dispatch.holders.forget({"web:ada"}, ())
            held = (home / "playground.jsonl").read_text()
        assert "secret" not in held and "what ben said" in held
        assert await texts(home) == ["what ben said"]


async def test_what_cannot_be_read_is_set_aside_and_not_written_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "playground.jsonl").mkdir()
    (tmp_path / "playground.jsonl" / "mine").touch()
    async with serving(settings(tmp_path), FakeDispatch()) as web:
        await web.say("hello", channel="general")
    assert "set aside" in caplog.text and (tmp_path / "playground.broken.jsonl" / "mine").exists()
    assert await texts(tmp_path) == ["hello"]
    assert os.stat(tmp_path / "playground.jsonl").st_mode & 0o077 == 0


def test_what_was_deleted_stays_so_when_old_conversations_go(tmp_path: Path) -> None:
    journal = tmp_path / "playground.jsonl"
    old, young = {"id": "1", "at": 1.0}, {"id": "2", "at": 99.0}
    secret = {"id": "3", "thread": "2", "text": "not for you", "at": 98.0}
    lines = [old, young, secret, {**young, "text": "edited"}, {"gone_id": "3"}]
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert expire(journal, 50.0, dry_run=True) == 1 and read(journal)[0] == old
    assert expire(journal, 50.0, dry_run=False) == 1, "one message was old"
    assert read(journal) == [{**young, "text": "edited"}]
    assert expire(journal, 50.0, dry_run=False) == 0 and read(journal) == [{**young, "text": "edited"}]


async def test_what_is_said_after_the_end_is_kept(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "playground.jsonl")
    journal.start([{"id": "1"}])
    await journal.close()
    journal.append({"id": "2", "text": "Reindexing was interrupted."})
    assert read(journal.path) == [{"id": "1"}, {"id": "2", "text": "Reindexing was interrupted."}]


# --- whose words are kept ---------------------------------------------------------------------


async def test_nothing_of_somebody_who_opted_out_is_written_down(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "playground.jsonl")
    out: set[str] = set()
    posts = Posts(Feed(), journal, is_out=out.__contains__)
    adas = posts.add("general", "ada", "of ada")
    posts.add("general", BOT, "for ada", thread=adas.id, asker="ada")
    told_before = posts.add("general", BOT, "for noor, before", thread=adas.id, asker="noor")
    posts.change(adas, votes={"noor": UP, "ben": UP}, marks={"noor": [ACCEPT], BOT: [ACCEPT]})
    out.add("web:noor")
    root = posts.add("help", "noor", "of noor")
    posts.add("help", BOT, "for noor", thread=root.id)
    posts.add("dm-noor", BOT, "to noor")
    posts.add("general", "noor", "of noor, in ada's thread", thread=adas.id)
    posts.add("general", BOT, "for noor, in ada's thread", thread=adas.id)
    posts.add("general", BOT, "for ada again", thread=adas.id, asker="ada")
    posts.change(told_before, votes={"noor": UP})
    await posts.settled()
    written = journal.path.read_text().splitlines()
    assert [json.loads(line)["text"] for line in written[4:]] == ["for ada again"]
    posts._rewrite()
    await posts.settled()
    standing = read(journal.path)
    assert [record["text"] for record in standing] == ["of ada", "for ada", "for ada again"]
    assert standing[0]["votes"] == {"ben": UP} and standing[0]["marks"] == {BOT: [ACCEPT]}
    assert len(posts.seen_by("noor")) == 9, "the page shows it all"
    await journal.close()


async def test_what_somebody_deleted_or_changed_leaves_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "TIDY_SECONDS", 0.02)
    file = tmp_path / "playground.jsonl"
    async with serving(settings(tmp_path), FakeDispatch()) as web:
        slip = await web.say("my password is hunter2", "ben", "general")
        await web.call("PATCH", f"/api/messages/{slip}", json={"person": "ben", "text": "never mind"})
        await web.post("/api/reactions", person="ada", message=slip, emoji=UP, added=True)
        assert [one["text"] for one in held(tmp_path, {"web:ben"})] == ["never mind"]
        await until(lambda: "hunter2" not in file.read_text())
        assert "never mind" in file.read_text()
        await web.say("this stays", "ben", "general")
        await web.call("DELETE", f"/api/messages/{slip}", json={"person": "ben"})
        await until(lambda: [one["text"] for one in held(tmp_path, {"web:ben"})] == ["this stays"])
        await until(lambda: "never mind" not in file.read_text())
    assert await texts(tmp_path) == ["this stays"]


async def test_what_was_deleted_last_has_left_the_disk_at_the_end(tmp_path: Path) -> None:
    async with serving(settings(tmp_path), FakeDispatch()) as web:
        slip = await web.say("my password is hunter2", "ben", "general")
        await web.call("DELETE", f"/api/messages/{slip}", json={"person": "ben"})
    assert (tmp_path / "playground.jsonl").read_text() == ""
