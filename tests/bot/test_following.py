"""A process that follows what others of its cluster changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection

import pytest

from bot.operations import following
from core.errors import StorageError
from core.ports.cluster import GONE, News, OnlyProcess


class Others(OnlyProcess):
    """Another process that tells of one change."""

    is_shared = True

    def listen(self, heard: Callable[[bool], None]) -> None:
        heard(False)

    async def news(self, since: int | None, topic: str = "") -> News:
        return News() if since is None else News(1, {GONE: {"answer"}})


@pytest.mark.parametrize("error", [StorageError("It is locked."), PermissionError("It is read-only.")])
async def test_what_fails_is_tried_again_with_what_was_told(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "AGAIN_SECONDS", 0.01)
    monkeypatch.setattr(following, "GATHER_SECONDS", 0.0)
    failing, taken, done = [error, error], [], asyncio.Event()

    async def handle(keys: Collection[str]) -> None:
        if keys and failing:
            raise failing.pop()
        taken.append(set(keys))
        if keys:
            done.set()

    async def nothing() -> None:
        pass

    followed = following.Following(Others(), {GONE: handle}, nothing)
    await followed.start()
    await asyncio.wait_for(done.wait(), 5)
    assert not failing and taken[-1] == {"answer"}
