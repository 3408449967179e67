"""Whichever command makes a home, nobody else on the machine reads a file of it."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot.cli.main import main
from bot.home.home import Home
from tests.effort import thorough
from tests.journeys.child import run, serving
from tests.journeys.house import Kettle
from tests.journeys.kettle import write_kettle
from tests.journeys.stage import until
from tests.other_user import loose, open_folder, seen_by_nobody

PORT = "Which port does the dashboard listen on?"
Inside = Callable[..., int]
CHEAP = "llama_index.core.embeddings.mock_embed_model.MockEmbedding(embed_dim=8)"
"""An embedder of which nothing is made: to export the usual one into a home takes three seconds."""


@pytest.fixture
def fresh(encoder_cache: Path) -> Iterator[Kettle]:
    """Kettle in a folder that everybody may enter, where there is no home yet."""
    with open_folder() as folder:
        write_kettle(folder / "kettle")
        (folder / "kettle").chmod(0o755)
        yield Kettle(folder / "kettle", encoder_cache)


@pytest.fixture
def inside(fresh: Kettle, monkeypatch: pytest.MonkeyPatch) -> Iterator[Inside]:
    """Give commands in this process, under an umask."""
    before = os.umask(0o022)

    def command(umask: int, *arguments: str, **variables: str) -> int:
        os.umask(umask)
        monkeypatch.chdir(fresh.folder)
        with monkeypatch.context() as patch, pytest.raises(SystemExit) as ended:
            for name, value in fresh.variables(**variables).items():
                patch.setenv(name, value)
            main(list(arguments))
        return int(ended.value.code or 0)

    yield command
    os.umask(before)


def closed(folder: Path) -> bool:
    """Return True if nothing below a folder is for others, by its modes and by trying as another user."""
    assert (loose(folder), seen_by_nobody(folder)) == ([], [])
    return any(folder.iterdir())


def test_what_is_open_is_found(tmp_path: Path) -> None:
    with open_folder() as folder:
        (folder / "home").mkdir(mode=0o755)
        (folder / "home").chmod(0o755)
        (folder / "home" / "key").touch()
        (folder / "home" / "key").chmod(0o644)
        assert loose(folder / "home") == ["home", "home/key"]
        assert seen_by_nobody(folder / "home") == (["home", "home/key"] if os.getuid() == 0 else [])


@pytest.mark.parametrize(
    ("umask", "model", "command"),
    [
        pytest.param(
            *(0o000, "", ("index", "--release", "2.0")),
            marks=thorough("test_a_home_first_made_by_a_command_is_for_its_user_alone"),
        ),
        (0o022, "", ("doctor",)),
        (0o000, CHEAP, ("memory", "import", "pairs.jsonl")),
    ],
)
def test_a_home_first_made_by_a_command_is_for_its_user_alone(
    fresh: Kettle, inside: Inside, umask: int, model: str, command: tuple[str, ...]
) -> None:
    pair = {"question": PORT, "answer": "On port 7070.", "release": "2.0"}
    (fresh.folder / "pairs.jsonl").write_text(json.dumps(pair))
    inside(umask, *command, **({"EMBEDDING_MODEL": model} if model else {}))
    assert closed(fresh.home) and (model or (fresh.home / "models").is_dir())


@pytest.mark.parametrize(
    "command",
    [("memory", "export", "out.jsonl"), ("ask", "--batch", "in.jsonl", "--out", "out.jsonl")],
    ids=["export", "batch"],
)
def test_a_file_that_a_command_writes_is_for_its_user_alone(
    fresh: Kettle, inside: Inside, command: tuple[str, ...]
) -> None:
    (fresh.folder / "in.jsonl").write_text(json.dumps({"question": PORT}))
    (fresh.folder / "out.jsonl").touch(0o644)  # one that was there, open to others, is closed as well
    (fresh.folder / "out.jsonl").chmod(0o644)
    fresh.home.mkdir(mode=0o700)
    inside(0o000, *command, EMBEDDING_MODEL=CHEAP)
    assert closed(fresh.home) and loose(fresh.folder / "out.jsonl") == []


@pytest.mark.parametrize("umask", [0o022, 0o000])
def test_a_folder_that_init_writes_is_for_its_user_alone(fresh: Kettle, inside: Inside, umask: int) -> None:
    docs = f"2.0={fresh.folder / 'docs' / '2.0'}"
    given = ("init", "my-bot", "--product", "Kettle", "--docs", docs, "--slack")
    assert inside(umask, *given, SLACK_BOT_TOKEN="xoxb-1", SLACK_APP_TOKEN="xapp-1") == 0
    assert closed(fresh.folder / "my-bot")


async def test_a_home_first_made_by_serve_is_for_its_user_alone(fresh: Kettle) -> None:
    before = os.umask(0)  # any other leaves less open
    try:
        given = {"THREADLORE_PLAYGROUND": "true", "THREADLORE_PORT": "0", "EMBEDDING_MODEL": CHEAP}
        async with serving(fresh, **given) as child:
            told = await run(fresh, "ask", PORT)
            assert told.code == 0
            assert closed(fresh.home)
            await until(lambda: (fresh.home / "playground.jsonl").exists(), "the journal")
            assert closed(fresh.home) and (fresh.home / "threadlore.sock").exists()
            assert await child.stop() == 0
            assert closed(fresh.home) and (fresh.home / "logs" / "threadlore.log").stat().st_size
    finally:
        os.umask(before)


def test_a_home_that_was_open_is_closed_at_the_start_and_that_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    home = tmp_path / "home"
    for name in ("vectors/one/data.bin", "privacy.key", "threadlore.sqlite3", "mine/notes.txt"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).touch()
    for place in (home, *home.rglob("*")):
        place.chmod(0o755 if place.is_dir() else 0o644)
    with Home(home, "serve"):
        assert loose(home) == ["home/mine", "home/mine/notes.txt"], "what is not ours stays as it is"
    with Home(home, "serve"):
        pass
    [told] = [record.getMessage() for record in caplog.records]
    assert "open to others" in told and str(home) in told


def test_a_folder_of_everybodys_is_not_taken_from_them(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shared = tmp_path / "tmp"
    shared.mkdir()
    shared.chmod(0o1777)
    with Home(shared, "serve"):
        assert stat.S_IMODE(shared.stat().st_mode) == 0o1777
        assert loose(shared / "threadlore.lock") == []
    assert "cannot be closed" in caplog.text
    shutil.rmtree(shared)
