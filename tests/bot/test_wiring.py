"""What is opened is closed, in the opposite order, whatever fails; who keeps something of people is asked."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from bot.app.bootstrap import build
from bot.privacy.exports import Holders
from core.ports import Alone, Workers
from core.settings import Settings, load_settings
from core.workers.pool import Processes
from tests.fake_workers import FakeWorkers
from tests.fakes import FakeEncoder
from tests.shared_processes import SHARED

CONFIG = """\
[product]
name = "Kettle"
[[release]]
name = "1.0"
"""


class Closing(FakeEncoder):
    """An encoder that writes down when it is closed."""

    def __init__(self, closed: list[str]) -> None:
        super().__init__()
        self._closed = closed

    def close(self) -> None:
        self._closed.append("encoder")


class Failing(FakeWorkers):
    """Workers that cannot be ended."""

    def __init__(self, closed: list[str]) -> None:
        super().__init__()
        self._order = closed

    def close(self) -> None:
        self._order.append("workers")
        raise OSError("the workers cannot be ended")


class Broken(Processes):
    """Processes of which reading documents fails at its end."""

    def __init__(self, closed: list[str]) -> None:
        self._order = closed

    def pool(self, settings: Settings) -> Workers:
        return Failing(self._order)

    def alone(self) -> Alone:
        return SHARED.alone()


async def test_what_fails_to_close_leaves_nothing_else_open(tmp_path: Path) -> None:
    (tmp_path / "corpora.toml").write_text(CONFIG)
    settings = load_settings(
        None, home=tmp_path / "home", config=tmp_path / "corpora.toml", ollama_host="off"
    )
    closed: list[str] = []
    with pytest.raises(OSError, match="cannot be ended"):
        async with build(settings, "test", lambda *_: Closing(closed), Broken(closed)):
            assert closed == []
    assert closed == ["workers", "encoder"]
    async with build(settings, "test", lambda *_: FakeEncoder(), SHARED) as app:
        assert await app.health.check() == ""


class Kept:
    """What a platform keeps in a file of the home."""

    def __init__(self, name: str) -> None:
        self.FILES = (f"{name}.txt",)
        self.WHAT = f"letters of {name}"
        self.forgotten: list[str] = []

    def held(self, home: Path, accounts: Collection[str]) -> list[dict[str, Any]]:
        return []

    def accounts(self, home: Path) -> frozenset[str]:
        return frozenset()

    def forget(self, home: Path, accounts: Collection[str], ids: Collection[str]) -> None:
        self.forgotten += accounts

    def tidy(self, home: Path) -> None:
        (home / f"{self.FILES[0]}.half").unlink(missing_ok=True)

    def expire(self, home: Path, before: float, dry_run: bool) -> int:
        return 3


async def test_a_platform_that_runs_keeps_no_other_ones_files_from_being_cleaned(tmp_path: Path) -> None:
    pigeons, owls = Kept("pigeons"), Kept("owls")
    holders = Holders(tmp_path, {"pigeons": pigeons, "owls": owls})
    told: list[str] = []

    async def forget(accounts: Collection[str], ids: Collection[str]) -> None:
        told.extend(accounts)

    async def expire(before: float, dry_run: bool) -> int:
        return 1

    with holders.running("pigeons", forget=forget, expire=expire):
        (tmp_path / "pigeons.txt.half").touch()
        await holders.forget({"pigeons:ann"}, ())
        assert (told, pigeons.forgotten, owls.forgotten) == (["pigeons:ann"], [], ["pigeons:ann"])
        assert not (tmp_path / "pigeons.txt.half").exists()
        assert await holders.expire(9.0, True) == {"letters of pigeons": 1, "letters of owls": 3}
    await holders.forget({"pigeons:ben"}, ())
    assert pigeons.forgotten == ["pigeons:ben"] and told == ["pigeons:ann"]


async def test_a_platform_that_begins_while_its_files_are_cleaned_forgets_what_it_has_read(
    tmp_path: Path,
) -> None:
    told: list[str] = []

    async def forget(accounts: Collection[str], ids: Collection[str]) -> None:
        told.extend(accounts)

    async def expire(before: float, dry_run: bool) -> int:
        return 0

    class Late(Kept):
        def forget(self, home: Path, accounts: Collection[str], ids: Collection[str]) -> None:
            super().forget(home, accounts, ids)
            begun.enter_context(holders.running("pigeons", forget=forget, expire=expire))

    pigeons = Late("pigeons")
    holders = Holders(tmp_path, {"pigeons": pigeons})
    with ExitStack() as begun:
        await holders.forget({"pigeons:ann"}, ())
    assert pigeons.forgotten == told == ["pigeons:ann"]
