"""`doctor` and `init` say in plain words who can reach what."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from bot.cli.doctor import examination as doctor
from bot.cli.doctor.examination import _database
from bot.cli.setup.wizard import Given, init
from bot.home.exposure import exposed
from core.settings import Settings, load_settings

WIDGET = {
    "widget_origins": "https://docs.example.org",
    "allowed_hosts": "bot.example.org",
    "widget_proxies": "127.0.0.1",
}
SLACK = {"slack_bot_token": "xoxb-1", "slack_app_token": "xapp-1"}


def settings(tmp_path: Path, **given: object) -> Settings:
    return load_settings(None, home=tmp_path / "home", **given)


@pytest.mark.parametrize(
    ("given", "what", "state", "words"),
    [
        ({}, "Reach", "good", ["127.0.0.1:8080", "everybody on this machine", "THREADLORE_HOST"]),
        ({}, "Playground", "good", ["everybody on this machine", "without a token", "admins included"]),
        ({}, "Dashboard", "good", ["everybody on this machine", "without a token", "/healthz"]),
        ({}, "Database", "good", ["a file in", "alone"]),
        (SLACK, "Playground", "good", ["off beside Slack", "THREADLORE_PLAYGROUND=true"]),
        (SLACK | {"playground": True}, "Playground", "good", ["the link that", "on this machine", "admins"]),
        ({"playground_token": "x"}, "Playground", "good", ["has PLAYGROUND_TOKEN"]),
        ({"dashboard_token": "x"}, "Dashboard", "good", ["has DASHBOARD_TOKEN"]),
        ({"host": "0.0.0.0"}, "Reach", "unsure", ["0.0.0.0:8080", "over the network"]),
        ({"host": "0.0.0.0"}, "Playground", "good", ["over the network", "the link that"]),
        ({"host": "0.0.0.0"}, "Dashboard", "good", ["nobody, until DASHBOARD_TOKEN"]),
        ({"host": "::"}, "Reach", "unsure", ["[::]:8080"]),
        ({"allowed_hosts": "bot.example.org"}, "Reach", "good", ["reaches bot.example.org"]),
        ({"allowed_hosts": "bot.example.org"}, "Playground", "good", ["the link that"]),
        ({"allowed_hosts": "bot.example.org"}, "Dashboard", "good", ["nobody, until DASHBOARD_TOKEN"]),
        ({"playground": False}, "Pages", "good", ["neither playground nor dashboard"]),
        (
            WIDGET,
            "Widget",
            "good",
            ["readers of https://docs.example.org", "without a name", "WIDGET_ORIGINS"],
        ),
        (WIDGET | {"playground": False}, "Widget", "good", ["https://docs.example.org"]),
        (WIDGET | {"playground": False}, "Reach", "good", ["reaches bot.example.org"]),
        (WIDGET | {"allowed_hosts": ""}, "Widget", "unsure", ["https://docs.example.org"]),
        (WIDGET | {"widget_proxies": ""}, "Widget", "unsure", ["https://docs.example.org"]),
        (WIDGET | {"widget_origins": "http://docs.example.org"}, "Widget", "unsure", ["http://docs"]),
        ({"widget_origins": "http://localhost:8000"}, "Widget", "good", ["http://localhost:8000"]),
        (
            {"database_url": "postgresql://u:hunter2@db.example/bot"},
            "Database",
            "unsure",
            ["db.example:5432/bot"],
        ),
        ({"database_url": "postgresql://u:hunter2@127.0.0.1:5/b"}, "Database", "good", ["127.0.0.1:5/b"]),
        ({"database_url": "postgresql://u@db/b?sslmode=require"}, "Database", "good", ["db:5432/b"]),
        ({"database_url": "sqlite:////srv/bot.sqlite3"}, "Database", "good", ["/srv/bot.sqlite3"]),
    ],
)
def test_who_reaches_what_is_said(
    tmp_path: Path, given: dict[str, object], what: str, state: str, words: list[str]
) -> None:
    found = {finding.what: finding for finding in exposed(settings(tmp_path, **given))}
    assert found[what].state == state and all(word in found[what].said for word in words), found[what]
    assert bool(found[what].advice) == (state == "unsure")
    assert "hunter2" not in str(found)


def test_the_doctor_says_it() -> None:
    assert {"Reach", "Database", "Files"} <= {name for name, _ in doctor.examinations()}


async def test_the_doctor_reads_the_database(tmp_path: Path) -> None:
    given = settings(tmp_path)
    assert await _database(given) == []
    given.home.mkdir()
    file = given.home / "threadlore.sqlite3"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE said (words)")
    connection.close()
    assert [finding.state for finding in await _database(given)] == ["good"]
    file.write_bytes(b"nonsense" * 1000)
    [finding] = await _database(given)
    assert finding.state == "bad" and "docs/running.md, Backups" in finding.said


@pytest.mark.parametrize(("slack", "word"), [(False, "without a token"), (True, "off beside Slack; ")])
def test_init_says_who_will_reach_what(tmp_path: Path, slack: bool, word: str) -> None:
    (tmp_path / "docs").mkdir()
    given = Given("Kettle", [f"1.0={tmp_path / 'docs'}"], platforms={"slack": "yes"} if slack else {})
    told = init(tmp_path / "my-bot", given=given)
    reach = told[told.index("Who can reach what") :]
    assert word in reach and "Dashboard: for everybody on this machine" in reach
    assert str(tmp_path / "my-bot" / "home") in reach


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ({"widget_origins": "http://docs.example.org"}, ["over https", "http://docs.example.org"]),
        ({"allowed_hosts": ""}, ["THREADLORE_ALLOWED_HOSTS", "/widget.js and /widget/"]),
        ({"widget_proxies": ""}, ["WIDGET_PROXIES", "6 questions a minute"]),
    ],
)
def test_what_keeps_readers_from_the_widget_is_said(
    tmp_path: Path, given: dict[str, str], advice: list[str]
) -> None:
    found = {finding.what: finding for finding in exposed(settings(tmp_path, **{**WIDGET, **given}))}
    assert all(words in found["Widget"].advice for words in advice)
    assert "Widget" not in {finding.what for finding in exposed(settings(tmp_path))}
