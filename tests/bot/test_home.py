"""One process owns the home; commands wait for each other, but not for one that serves."""

from __future__ import annotations

import errno
import os
import threading
import time
from pathlib import Path
from typing import TextIO

import pytest

from bot.home import home
from bot.home.home import SERVE, Home, owner_of
from core.errors import HomeBusy, HomeError
from tests.patience import SOON


def test_a_serving_process_is_named_at_once(tmp_path: Path) -> None:
    with Home(tmp_path, SERVE):
        began = time.monotonic()
        with (
            pytest.raises(HomeBusy, match=r"belongs to process \d+ \(`threadlore serve`"),
            Home(tmp_path, "ask"),
        ):
            pass
        assert time.monotonic() - began < SOON
        assert owner_of(tmp_path)["what"] == SERVE
    assert owner_of(tmp_path) == {}


def test_a_command_waits_for_another_command(tmp_path: Path) -> None:
    first = Home(tmp_path, "ask")
    first.__enter__()
    timer = threading.Timer(0.2, first.__exit__)
    timer.start()
    with Home(tmp_path, SERVE):
        assert owner_of(tmp_path)["what"] == SERVE
    timer.join()


def test_patience_ends(tmp_path: Path) -> None:
    with (
        Home(tmp_path, "index"),
        pytest.raises(HomeBusy, match="threadlore index"),
        Home(tmp_path, "ask", 0.1),
    ):
        pass


def test_a_home_that_cannot_be_written_says_how_to_choose_another(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HomeError, match="THREADLORE_HOME"), Home(tmp_path / "file" / "home", "ask"):
        pass


def test_a_full_disk_is_told_with_the_folder_and_leaves_nothing_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: TextIO, what: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(home, "sign", full)
        with pytest.raises(HomeError, match=r"No space left on device.*free some space") as told:
            Home(tmp_path, "ask").__enter__()
    assert str(tmp_path) in str(told.value)
    with Home(tmp_path, "ask", 0.1):
        assert owner_of(tmp_path)["what"] == "ask"


def test_a_lock_left_by_a_killed_process_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "threadlore.lock").write_text('{"pid": 1, "what": "serve", "since": "2020"}')
    with Home(tmp_path, "ask"):
        assert owner_of(tmp_path)["what"] == "ask"


def test_what_was_open_to_others_is_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(0o755)
    with Home(home, "ask"):
        assert f"1 file or folder of the home {home} was open to others; only you have access" in caplog.text
