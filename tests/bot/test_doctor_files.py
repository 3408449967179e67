"""The doctor names what others on this machine may read."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from bot.cli.doctor import examination as doctor
from bot.cli.doctor.examination import files
from bot.home.findings import Finding
from core.settings import Settings, load_settings
from storage.database.database import Database
from storage.database.sqlite_file import FILE
from tests.databases import postgres_schema

CORPORA = '[product]\nname = "Kettle"\n[[release]]\nname = "1.0"\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpora.toml").write_text(CORPORA)
    home = tmp_path / "home"
    (home / "vectors").mkdir(parents=True)
    (home / "vectors" / "data.bin").touch()
    (home / "notes.txt").touch()
    for place in (home, *home.rglob("*")):
        place.chmod(0o700 if place.is_dir() else 0o600)
    (home / "notes.txt").chmod(0o644)  # not Threadlore's
    return tmp_path


def settings(folder: Path) -> Settings:
    return load_settings(None, home=folder / "home")


async def found(folder: Path) -> list[Finding]:
    return await files(settings(folder))


async def test_files_for_oneself_alone_are_good(folder: Path) -> None:
    assert [finding.state for finding in await found(folder)] == ["good"]


async def test_an_open_home_is_named_with_what_to_do(folder: Path) -> None:
    (folder / "home").chmod(0o755)
    [finding] = await found(folder)
    assert finding.state == "bad" and finding.advice == f"chmod -R go-rwx {folder / 'home'}"


async def test_open_files_of_a_closed_home_are_named(folder: Path) -> None:
    (folder / "home" / "vectors" / "data.bin").chmod(0o640)
    [finding] = await found(folder)
    assert finding.state == "bad" and "vectors/data.bin" in finding.said


@pytest.mark.parametrize(
    ("held", "named"),
    [
        ("SLACK_BOT_TOKEN=xoxb-1\nOLLAMA_MODEL=qwen\n", "SLACK_BOT_TOKEN"),
        ("DATABASE_URL=postgresql://u:p@h/db\n", "DATABASE_URL"),
        ("OLLAMA_MODEL=qwen\nSLACK_BOT_TOKEN=\n", ""),
    ],
)
async def test_an_open_env_file_is_named_where_it_holds_a_secret(folder: Path, held: str, named: str) -> None:
    (folder / ".env").write_text(held)
    (folder / ".env").chmod(0o644)
    [finding] = await found(folder)
    assert (finding.state, named in finding.said) == ("bad" if named else "good", True)
    assert finding.advice == (f"chmod 600 {folder / '.env'}" if named else "")
    (folder / ".env").chmod(0o600)
    assert [finding.state for finding in await found(folder)] == ["good"]


@pytest.mark.parametrize(
    ("line", "bad"),
    [
        ('repository = "https://bot:hunter2@git.example.org/kettle.git"', True),
        ('with = {api_token = "abc123"}', True),
        ('with = {api_token = "${WIKI_TOKEN}"}', False),
        ('repository = "https://git.example.org/kettle.git"', False),
        ('url = "https://docs.example.org/{page}@2.0:x"', False),
    ],
)
async def test_an_open_corpora_file_is_named_where_it_holds_a_secret(
    folder: Path, line: str, bad: bool
) -> None:
    (folder / "corpora.toml").write_text(f"{CORPORA}# {line}\n")
    (folder / "corpora.toml").chmod(0o644)
    [finding] = await found(folder)
    assert (finding.state == "bad") == bad and ("corpora.toml" in finding.advice) == bad


def test_the_doctor_looks_at_files() -> None:
    assert ("Files", files) in doctor.examinations()


async def test_a_database_on_a_server_is_asked_whether_it_answers(folder: Path) -> None:
    away = "postgresql://user:hunter2@127.0.0.1:9/none"
    [finding] = await doctor._database(load_settings(None, home=folder / "home", database_url=away))
    assert finding.state == "bad" and "check DATABASE_URL" in finding.said and "hunter2" not in finding.said
    with postgres_schema() as url:
        [finding] = await doctor._database(load_settings(None, home=folder / "home", database_url=url))
    assert finding.state == "good" and "UTF-8" in finding.said


async def test_a_home_that_a_newer_version_wrote_is_no_good_home(folder: Path) -> None:
    home = folder / "home"
    shutil.rmtree(home / "vectors")  # of a home that was used: it would lack its database
    database = await Database.open(home)
    await database.close()
    [finding] = await doctor._database(settings(folder))
    assert finding.state == "good"
    connection = sqlite3.connect(home / FILE)
    with connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    before = (home / FILE).read_bytes()
    [finding] = await doctor._database(settings(folder))
    assert finding.state == "bad" and "newer version of Threadlore" in finding.said
    assert (home / FILE).read_bytes() == before


async def test_a_file_that_may_not_be_written_is_no_bug(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(settings: Settings) -> list[Finding]:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(settings.home / "models"))

    monkeypatch.setattr(doctor, "examinations", lambda: [("Embedder", refused)])
    [finding] = await doctor.examine(settings(folder))
    assert finding.said == f"{folder / 'home' / 'models'}: Read-only file system"
    assert "bug" not in finding.advice and "user that runs the bot" in finding.advice


async def test_a_slip_in_the_name_of_a_setting_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpora.toml").write_text('# arguments = { key = "${MODEL_KEY1}" }\n')
    (tmp_path / ".env").write_text(
        "THREADLORE_PROT=81\nRETENTION_QUESTION_DAYS=3\nTHREADLORE_COLOUR_OF_LIDS=1\nOLLAMA_MODEL=small\n"
        "BACKUP_PASSPHRASE=twelve letters\nHF_HOME=/x\nMODEL_KEY1=a\nMODEL_KEY2=b\n"
        "LLM=some.Class(key=MODEL_KEY2)\n"
    )
    found = await doctor._unknown(load_settings(None))
    assert [(it.state, it.said.split()[2], it.advice) for it in found] == [
        ("unsure", "THREADLORE_PROT,", "did you mean THREADLORE_PORT?"),
        ("unsure", "RETENTION_QUESTION_DAYS,", "did you mean RETENTION_QUESTIONS_DAYS?"),
        ("unsure", "THREADLORE_COLOUR_OF_LIDS,", ".env.example in Threadlore's folder has them"),
    ]
    assert ("Settings", doctor._unknown) in doctor.examinations()
