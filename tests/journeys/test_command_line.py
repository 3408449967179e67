"""The command line as scripts meet it: with a process that serves, and without."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot.cli.main import main
from core.workers.pool import PROCESSES
from tests.journeys.child import Ended, on_slack, run, serving
from tests.journeys.house import Kettle
from tests.journeys.kettle import PORTS
from tests.journeys.stage import until
from tests.ollama_server import OllamaServer
from tests.platforms.slack_server import SlackServer
from tests.shared_processes import SHARED

PORT = "Which port does the dashboard listen on?"
FIELDS = {"id", "answer", "route", "release", "citations", "retrieved", "queries", "confidence", "timings_ms"}


Inside = Callable[..., Ended]


@pytest.fixture
def inside(
    kettle: Kettle, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Inside]:
    """Run commands in this process, and their vectors in one: that saves three seconds of imports each."""
    write_batch(kettle)
    settings = ("THREADLORE_", "SLACK_", "DISCORD_", "OLLAMA_", "DATABASE_", "MEMORY_", "EMBEDDING_")
    for name in [name for name in os.environ if name.startswith(settings)]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(kettle.folder)

    def command(*arguments: str, **variables: str) -> Ended:
        with monkeypatch.context() as patch, pytest.raises(SystemExit) as ended:
            for name, value in kettle.variables(**variables).items():
                patch.setenv(name, value)
            main(list(arguments))
        out, err = capsys.readouterr()
        assert "Traceback" not in err, err
        return Ended(int(ended.value.code or 0), out, err)

    with SHARED.lent_to(PROCESSES):
        yield command


async def asked(kettle: Kettle, *arguments: str) -> dict[str, object]:
    ended = await run(kettle, "ask", *arguments, "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert isinstance(found, dict)
    return found


async def walk(kettle: Kettle) -> None:
    """Go through the commands as a script does."""
    ended = await run(kettle, "ask", PORT)
    assert ended.code == 0 and not ended.err
    assert PORTS["2.0"] in ended.out and "https://kettle.example/2.0/dashboard" in ended.out
    reasoned = await run(kettle, "ask", PORT, "--why")
    assert "There is no language model to reason now" in reasoned.out and PORTS["2.0"] in reasoned.out
    first = await asked(kettle, PORT, "--user", "slack:U1")
    fixed = await asked(kettle, PORT, "--release", "1.5")
    direct = await asked(kettle, "What does the dashboard show?", "--channel", "fake:old")
    assert first["route"] == "quote" and first["release"] == "2.0"
    assert fixed["release"] == "1.5" and PORTS["1.5"] in str(fixed["answer"])
    assert direct["release"] == "1.0"
    answer_id = str(first["answer_id"])
    voted = await run(kettle, "vote", answer_id, "up", "--user", "slack:U1")
    assert voted.code == 0 and answer_id in voted.out
    again = await asked(kettle, "On which port is the dashboard listening?")
    assert again["route"] == "reuse"
    why = await run(kettle, "why", str(again["answer_id"]))
    assert why.code == 0 and "no model was called" in why.out and PORT in why.out
    none = await run(kettle, "vote", answer_id, "none", "--user", "slack:U1")
    assert none.code == 0
    status = json.loads((await run(kettle, "status", "--json")).out)
    assert [entry["name"] for entry in status["releases"]] == ["1.0", "1.5", "2.0"]
    assert all(entry["ready"] and entry["documents"] for entry in status["releases"])
    assert status["memory"]["votes"] == 2 and status["memory"]["high"] == 0
    plain = await run(kettle, "status")
    assert plain.code == 0 and "Kettle" in plain.out and "Memory" in plain.out


WRONG: tuple[tuple[tuple[str, ...], int, str], ...] = (
    (("vote", "a0", "up"), 2, "answer_id"),
    (("why", "a0"), 2, "a0"),
    (("index", "--release", "9.9"), 2, "1.0, 1.5, 2.0"),
    (("ask", "  "), 2, "question"),
    (("ask",), 2, "--help"),
    (("ask", "--batch", "in.jsonl"), 2, "--out"),
    (("ask", "--batch", "nowhere.jsonl", "--out", "out.jsonl"), 1, "nowhere.jsonl"),
    (("tune",), 2, "GOLD.jsonl"),
    (("tune", "few.jsonl"), 2, "needs 20"),
    (("explode",), 2, "explode"),
)
"""What is called wrongly, its exit status, and a word that the one sentence about it has."""


def write_batch(kettle: Kettle) -> None:
    """Write questions of which some cannot be answered."""
    lines = [
        {"id": "a", "question": PORT},
        "{not json",
        {"id": "c", "question": "and in 1.5?", "history": [{"role": "user", "text": PORT}]},
        {"id": "d"},
        {"id": "e", "question": PORT, "release": "1.0"},
        "",
        {"id": "f", "question": PORT, "release": 7},
        [1],
        {"id": "g", "question": f"{PORT[:-1]} in 3.7?"},
        {"id": "h", "question": PORT, "history": "no"},
        {"id": "i", "question": "How do I bake sourdough bread?"},
        {"id": "j", "question": "ünïcödé 🫖 \u2028 kettle?"},
        '{"id": "k\\ud800", "question": "the \\u0000 port \\ud800?"}',
        "[" * 100_000,
    ]
    written = "\n".join(
        line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines
    )
    (kettle.folder / "in.jsonl").write_text(written, encoding="utf-8")
    few = {"id": "a", "type": "fact", "split": "tune", "question": PORT, "release": "2.0"}
    few |= {"gold_file": "dashboard.rst", "evidence": [PORTS["2.0"]]}
    (kettle.folder / "few.jsonl").write_text(json.dumps(few), encoding="utf-8")


def check_batch(kettle: Kettle, ended: Ended) -> None:
    """See that every line has its answer or its error, in order."""
    assert ended.code == 1 and "6 of 13" in ended.err and not ended.out, ended
    out = kettle.folder / "out.jsonl"
    found = [json.loads(line) for line in out.read_text(encoding="utf-8").rstrip("\n").split("\n")]
    assert [entry["id"] for entry in found] == [
        "a",
        2,
        "c",
        "d",
        "e",
        "f",
        8,
        "g",
        "h",
        "i",
        "j",
        "k\ud800",
        14,
    ]
    answers = {entry["id"]: entry for entry in found if "error" not in entry}
    assert set(answers) == {*"acgeij", "k\ud800"} and all(set(e) >= FIELDS for e in answers.values())
    assert all(set(e) == {"id", "error"} for e in found if "error" in e)
    for key, release in (("a", "2.0"), ("c", "1.5"), ("e", "1.0")):
        entry = answers[key]
        assert entry["release"] == release and PORTS[release] in entry["answer"]
        assert set(entry["citations"][0]) >= {"number", "title", "url", "release", "path"}
        assert entry["citations"][0]["path"] == "dashboard.rst"
        assert [r["rank"] for r in entry["retrieved"]] == list(range(1, len(entry["retrieved"]) + 1))
        assert len(entry["retrieved"]) >= 8 and {r["release"] for r in entry["retrieved"]} == {release}
    assert answers["g"]["route"] == answers["i"]["route"] == "abstain"
    assert answers["g"]["release"] == ""


def test_commands_without_a_serving_process(kettle: Kettle, inside: Inside) -> None:
    check_batch(kettle, inside("ask", "--batch", "in.jsonl", "--out", "out.jsonl"))
    asked = json.loads(inside("ask", PORT, "--user", "slack:U1", "--json").out)
    assert asked["route"] == "quote" and asked["release"] == "2.0"
    assert inside("vote", asked["answer_id"], "up", "--user", "slack:U1").code == 0
    again = json.loads(inside("ask", "On which port is the dashboard listening?", "--json").out)
    assert again["route"] == "reuse"
    for arguments, code, word in WRONG:
        ended = inside(*arguments)
        assert (ended.code, ended.out) == (code, "") and word in ended.err, (arguments, ended)


def test_a_tuned_ranking_that_cannot_be_used_is_told_until_it_is_reset(
    kettle: Kettle, inside: Inside
) -> None:
    assert "Ranking: as shipped" in inside("status").out
    (kettle.home / "ranking.json").write_text("{torn")
    told = inside("status").out
    assert "Ranking: as shipped" in told and "⚠" in told and "threadlore tune --reset" in told
    ended = inside("tune", "--reset")
    assert ended.code == 0 and not (kettle.home / "ranking.json").exists()
    assert "ranking.json" not in inside("status").out


async def test_commands_are_carried_out_by_the_serving_process(kettle: Kettle) -> None:
    async with serving(kettle, THREADLORE_PLAYGROUND="true", THREADLORE_PORT="0") as child:
        await walk(kettle)
        for arguments, code, word in WRONG[:4]:
            ended = await run(kettle, *arguments)
            assert (ended.code, ended.out) == (code, "") and word in ended.err, (arguments, ended)
        write_batch(kettle)
        check_batch(kettle, await run(kettle, "ask", "--batch", "in.jsonl", "--out", "out.jsonl"))
        (kettle.folder / "docs" / "2.0" / "new.md").write_text("# New\n\nA new page.\n")
        planned = await run(kettle, "index", "--release", "2.0", "--dry-run")
        assert planned.code == 0 and "1 to add" in planned.out
        indexed = await run(kettle, "index", "--release", "2.0")
        assert indexed.code == 0 and "1 added" in indexed.out
        second = await run(kettle, "serve")
        assert second.code == 1 and str(child.process.pid) in second.err
        rebuilt = await run(kettle, "memory", "rebuild")
        assert rebuilt.code == 0 and "with the same result" in rebuilt.out
        typed = await run(kettle, "chat", given=f"{PORT}\n/up\n/why\nand in 1.5?\n/quit\n".encode())
        assert typed.code == 0 and PORTS["2.0"] in typed.out and PORTS["1.5"] in typed.out
        assert "Counted: up" in typed.out and not typed.err
        assert await child.stop() == 0
        assert "Traceback" not in child.log


async def test_a_caller_whose_serving_process_ends_is_told(kettle: Kettle, ollama: OllamaServer) -> None:
    ollama.always = None
    ollama.script("hang", "hang")
    async with SlackServer() as slack, serving(kettle, **on_slack(slack, ollama)) as child:
        await until(lambda: slack.connected)
        calling = asyncio.create_task(run(kettle, "ask", PORT))
        await until(lambda: ollama.running)
        assert await child.stop() == 0
        ended = await calling
    assert ended.code == 1 and "again" in ended.err and not ended.out


async def test_a_serving_process_that_was_killed_leaves_nothing_in_the_way(kettle: Kettle) -> None:
    async with serving(kettle, THREADLORE_PLAYGROUND="true", THREADLORE_PORT="0") as child:
        await child.kill()
    assert (await run(kettle, "ask", PORT)).code == 0


async def test_a_home_deep_in_the_file_system_has_a_socket_all_the_same(
    indexed: Kettle, tmp_path: Path
) -> None:
    deep = tmp_path.joinpath(*["a-folder-with-a-long-name"] * 6)
    deep.mkdir(parents=True)
    kettle = indexed.copy(deep / "kettle")
    async with serving(kettle, THREADLORE_PLAYGROUND="true", THREADLORE_PORT="0") as child:
        ended = await run(kettle, "status", "--json")
        assert ended.code == 0
        assert await child.stop() == 0


async def test_help_is_quick_and_wrong_use_is_told(kettle: Kettle) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = await run(kettle, "--help")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert ended.code == 0 and "serve" in ended.out
    assert took < 1.0, f"--help took {took:.2f} s"


@pytest.mark.parametrize(
    ("variables", "word"),
    [
        ({"QUESTIONS_PER_MINUTE": "many"}, "QUESTIONS_PER_MINUTE"),
        ({"THREADLORE_CONFIG": "/nowhere/corpora.toml"}, "/nowhere/corpora.toml"),
        ({"THREADLORE_HOME": "/dev/null/home"}, "--home"),
        ({"SLACK_BOT_TOKEN": "xoxb-1", "THREADLORE_PLAYGROUND": "false"}, "SLACK_APP_TOKEN"),
        ({"THREADLORE_PLAYGROUND": "false"}, "THREADLORE_PLAYGROUND"),
    ],
)
def test_what_is_set_up_wrongly_is_one_sentence(variables: dict[str, str], word: str, inside: Inside) -> None:
    ended = inside("serve", **variables)
    assert ended.code == 1 and word in ended.err
    assert len([line for line in ended.err.splitlines() if line.startswith("threadlore:")]) == 1


def test_a_busy_port_is_told_and_how_to_choose_another(inside: Inside) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = inside("serve", "--port", str(port), THREADLORE_PLAYGROUND="true")
    assert ended.code == 1 and f"Port {port}" in ended.err and "--port" in ended.err


async def test_a_token_that_slack_rejects_is_named(kettle: Kettle) -> None:
    async with SlackServer() as slack:
        variables = on_slack(slack) | {"SLACK_BOT_TOKEN": "xoxb-wrong"}
        ended: Ended = await run(kettle, "serve", **variables)
    assert ended.code == 1 and "SLACK_BOT_TOKEN" in ended.err


async def test_a_closed_pipe_is_no_traceback(kettle: Kettle) -> None:
    read, write = os.pipe()
    os.close(read)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "status"),
        env=kettle.variables(),
        cwd=kettle.folder,
        stdout=write,
        stderr=asyncio.subprocess.PIPE,
    )
    os.close(write)
    _, err = await process.communicate()
    assert b"Traceback" not in err and process.returncode == 1


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("memory export nowhere/pairs.jsonl", "There is no folder {}/nowhere; make it, or name a file"),
        (
            "memory import nowhere.jsonl",
            "nowhere.jsonl cannot be read (No such file or directory); name a JSONL",
        ),
        ("evaluate gold.jsonl", "name a folder for the report, which is made: --report DIR"),
        (
            "tune nowhere.jsonl",
            "nowhere.jsonl cannot be read (No such file or directory); name a file of JSON",
        ),
    ],
)
def test_a_file_or_folder_that_is_missing_is_told_once_with_what_to_name(
    inside: Inside, kettle: Kettle, typed: str, said: str
) -> None:
    ended = inside(*typed.split())
    assert ended.code == 2 and said.format(kettle.folder) in ended.err, ended
    assert ".part" not in ended.err and "Errno" not in ended.err
