"""Files of a home that hold wrong bytes, or are folders: set aside or made anew with a line in the log."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from core.domain import Question
from core.errors import ConfigurationError
from core.models.embedding import encoder as encoder_module
from core.models.embedding.encoder import PACKAGED, load_encoder
from storage.vectors.chroma import Beside, set_aside_if_broken
from tests.journeys.child import run, serving
from tests.journeys.house import Kettle, house
from tests.shared_processes import SHARED

PORT = "Which port does the dashboard listen on?"
GARBAGE = random.Random(5).randbytes(3000)
DEEP = b"[" * 200_000
FOLDER = "folder"


def put(place: Path, held: bytes | str) -> None:
    """Put something in the place of what is there."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    if isinstance(held, str):
        (place / "mine").mkdir(parents=True)
    else:
        place.write_bytes(held)


@pytest.mark.parametrize(
    ("held", "names"),
    [
        (GARBAGE, "vectors words sources ranking.json calibration.json"),
        (GARBAGE, "threadlore.lock playground.jsonl exports.txt"),
        (GARBAGE, "vectors.sealed"),
        (FOLDER, "vectors.sealed ranking.json learnt.json calibration.json threadlore.lock"),
        (FOLDER, "playground.jsonl exports.txt threadlore.sock"),
        (DEEP, "ranking.json learnt.json calibration.json threadlore.lock"),
        (b"null", "calibration.json"),
    ],
)
async def test_the_bot_answers_and_forgets_whatever_the_files_of_its_home_hold(
    kettle: Kettle, caplog: pytest.LogCaptureFixture, held: bytes | str, names: str
) -> None:
    for name in names.split():
        put(kettle.home / name, held)
    put(kettle.home / "vectors.broken", GARBAGE)  # one is there from earlier
    async with house(kettle) as bot:
        answer = await bot.app.engine.answer(Question(PORT, "web:ada", "web:help"))
        assert answer.route == "quote" and answer.citations
        assert await bot.app.my_data.of("web:ada")
        assert (await bot.app.people.forget("web:ada")).forgotten.questions == 1
        assert await bot.app.memory.verify() == []
    for name in names.split() if held == FOLDER else ():
        aside = f"{Path(name).stem}.broken{Path(name).suffix}"
        assert (kettle.home / aside / "mine").is_dir() and "set aside" in caplog.text
    async with house(kettle) as bot:
        assert (await bot.app.engine.answer(Question(PORT, "cli"))).route == "quote"


async def test_a_calibration_of_wrong_bytes_is_set_aside_and_the_defaults_hold(
    kettle: Kettle, caplog: pytest.LogCaptureFixture
) -> None:
    async with house(kettle) as bot:
        thresholds = bot.app.memory.thresholds
    (kettle.home / "calibration.json").write_bytes(GARBAGE)
    async with house(kettle) as bot:
        assert bot.app.memory.thresholds == thresholds and "threadlore calibrate" in bot.app.warning
    assert (kettle.home / "calibration.broken.json").read_bytes() == GARBAGE
    assert "calibration.broken.json" in caplog.text
    async with house(kettle) as bot:
        assert not bot.app.warning


async def test_a_home_of_wrong_files_is_served(kettle: Kettle) -> None:
    for name in ("threadlore.lock", "vectors.sealed", "exports.txt", "playground.jsonl"):
        put(kettle.home / name, GARBAGE)
    put(kettle.home / "words", GARBAGE)
    put(kettle.home / "logs", GARBAGE)
    async with serving(kettle, THREADLORE_PLAYGROUND="true", THREADLORE_PORT="0") as child:
        told = await run(kettle, "ask", PORT)
        assert told.code == 0 and not told.err
        assert await child.stop() == 0
    assert "Traceback" not in child.log and "set aside" in child.log and "unreadable lines" in child.log


@pytest.mark.parametrize("name", ["encoder.json", "model.onnx"])
def test_an_embedder_of_wrong_bytes_is_made_anew(
    encoder_cache: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    """What makes it takes fifteen seconds, and is shown by tests/contracts/test_encoders.py."""
    [known] = [path.parent for path in encoder_cache.glob("*/encoder.json")]
    cache = tmp_path / "models"

    def made(_model: str, folder: Path) -> None:
        assert not folder.exists() or not list(folder.iterdir()), "what was there is gone"
        shutil.copytree(known, folder, dirs_exist_ok=True)

    monkeypatch.setattr(encoder_module, "_prepare", made)
    shutil.copytree(known, cache / known.name)
    put(cache / known.name / name, GARBAGE)
    encoder = load_encoder(PACKAGED, cache)
    assert encoder.count_tokens("one two") == 4 and "is made again" in caplog.text
    encoder.close()


def test_a_seal_of_wrong_bytes_has_the_index_checked(kettle: Kettle) -> None:
    seal = kettle.home / "vectors.sealed"
    assert seal.is_file()
    seal.write_bytes(GARBAGE)
    folder = kettle.home / "vectors"
    assert set_aside_if_broken(folder, Beside(folder, SHARED.alone)) == "" and not seal.exists()
    assert (kettle.home / "vectors").is_dir()


async def test_a_key_of_another_home_is_refused_by_every_command(kettle: Kettle) -> None:
    async with house(kettle) as bot:
        await bot.app.people.opt_out("slack:U1")
    held = (kettle.home / "privacy.key").read_bytes()
    for key, word in ((None, "is lost"), (b"torn", "cannot be used"), (bytes(32), "not the key")):
        (kettle.home / "privacy.key").unlink(missing_ok=True)
        if key is not None:
            (kettle.home / "privacy.key").write_bytes(key)
        with pytest.raises(ConfigurationError, match=rf"{word}.*put it back from a backup"):
            async with house(kettle):
                pass
    told = await run(kettle, "ask", PORT)
    assert told.code == 1 and "privacy.key" in told.err and "docs/running.md" in told.err and not told.out
    (kettle.home / "privacy.key").write_bytes(held)
    async with house(kettle) as bot:
        assert bot.app.privacy.is_out("slack:U1")


async def test_a_database_of_wrong_bytes_is_one_sentence_on_the_command_line(kettle: Kettle) -> None:
    database = kettle.home / "threadlore.sqlite3"
    held = database.read_bytes()
    for harm in (held[:8192], None):
        put(database, harm) if harm is not None else database.unlink()
        told = await run(kettle, "ask", PORT)
        assert told.code == 1 and not told.out
        [sentence] = told.err.splitlines()
        assert sentence.startswith("threadlore: The database") and "docs/running.md, Backups" in sentence
        assert (database.read_bytes() if database.exists() else None) == harm
    database.write_bytes(held)
    async with house(kettle) as bot:
        assert (await bot.app.engine.answer(Question(PORT, "cli"))).route == "quote"
