"""`doctor --fix` has Ollama pull what is set and not there, if somebody agrees."""

from __future__ import annotations

import signal
from argparse import Namespace
from io import StringIO
from pathlib import Path

import pytest

from bot.cli.doctor import models as doctor_models
from bot.cli.doctor.examination import doctor
from bot.cli.doctor.pulling import _agrees, line_of, pull_missing
from core.errors import UsageError
from core.models.ollama.pulling import Pulled
from core.settings import Settings, load_settings
from tests.ollama_server import OllamaServer

MODEL, EMBEDDER = "new:1b", "nomic-embed-text"


class Person:
    """Somebody at a terminal who always answers the same; None ends the input."""

    def __init__(self, answer: str | None) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def __call__(self, question: str) -> str:
        self.asked.append(question)
        if self.answer is None:
            raise EOFError
        return self.answer


def settings(tmp_path: Path, server: OllamaServer, **given: object) -> Settings:
    given = {
        "ollama_host": server.url,
        "ollama_model": MODEL,
        "embedding_model": f"ollama:{EMBEDDER}",
        **given,
    }
    return load_settings(None, home=tmp_path / "home", **given)


def pulls(server: OllamaServer) -> list[str]:
    return [request.body["model"] for request in server.requests if request.path == "/api/pull"]


async def test_on_yes_both_models_are_pulled_and_are_well_afterwards(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with OllamaServer() as server:
        given = settings(tmp_path, server)
        (before,) = await doctor_models.model(given)
        person = Person("y")
        await pull_missing(given, person, agreed=False)
        said = capsys.readouterr()
        assert pulls(server) == [EMBEDDER, MODEL] and len(person.asked) == 2
        assert person.asked[1] == (
            f"{MODEL} is not on the model server. Pull it now (it may be several GB)? [y/N] "
        )
        model, *_ = await doctor_models.model(given)
        embedder, *_ = await doctor_models.embedder(given)
        await pull_missing(given, person, agreed=False)
        assert len(person.asked) == 2, "what is there is not offered"
    assert before.state == "bad" and "`threadlore doctor --fix` pulls it" in before.advice
    assert (model.state, embedder.state) == ("good", "good")
    assert f"Fixed: {MODEL} is on the model server at {server.url}." in said.out
    assert f"Pulling {MODEL}: success" in said.err


@pytest.mark.parametrize("answer", ["n", "", None])
async def test_on_no_nothing_is_pulled(tmp_path: Path, answer: str | None) -> None:
    async with OllamaServer() as server:
        person = Person(answer)
        await pull_missing(settings(tmp_path, server), person, agreed=False)
        assert len(person.asked) == 2 and not pulls(server)


async def test_with_nobody_to_ask_it_is_pulled_only_where_that_was_said_before(tmp_path: Path) -> None:
    async with OllamaServer() as server:
        given = settings(tmp_path, server)
        await pull_missing(given, None, agreed=False)
        assert not pulls(server)
        person = Person("n")
        await pull_missing(given, person, agreed=True)
        assert pulls(server) == [EMBEDDER, MODEL] and not person.asked


async def test_the_whole_doctor_pulls_first_and_then_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    async with OllamaServer() as server:
        given = settings(tmp_path, server, port=0)
        await doctor(given, Namespace(fix=False, yes=False), Person("y"))
        assert not pulls(server) and f"ollama pull {MODEL}" in capsys.readouterr().out
        await doctor(given, Namespace(fix=True, yes=False))
        assert not pulls(server), "there is no terminal to ask at"
        await doctor(given, Namespace(fix=True, yes=False), Person("y"))
    said = capsys.readouterr().out
    assert f"✓ Model: {MODEL} by Ollama" in said and f"✓ Embedder: ollama:{EMBEDDER}@" in said
    with pytest.raises(UsageError, match="--yes goes with --fix"):
        await doctor(given, Namespace(fix=False, yes=True))


async def test_an_error_is_told_and_the_other_model_is_pulled_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with OllamaServer() as server:
        server.pulls.library = {MODEL}
        await pull_missing(settings(tmp_path, server), None, agreed=True)
    said = capsys.readouterr()
    assert (
        f"has no model {EMBEDDER} (pull model manifest: file does not exist). Correct EMBEDDING" in said.err
    )
    assert said.out == f"Fixed: {MODEL} is on the model server at {server.url}.\n"


async def test_each_server_gets_the_model_that_writes_and_the_first_the_one_that_embeds(
    tmp_path: Path,
) -> None:
    async with OllamaServer() as first, OllamaServer(models=[MODEL]) as second, OllamaServer() as third:
        hosts = f"{first.url},{second.url},{third.url}"
        person = Person("y")
        await pull_missing(settings(tmp_path, first, ollama_host=hosts), person, agreed=False)
        assert [pulls(server) for server in (first, second, third)] == [[EMBEDDER, MODEL], [], [MODEL]]
        assert f"is not on the model server at {third.url}. Pull" in person.asked[-1]


async def test_nothing_is_pulled_for_what_another_server_does(tmp_path: Path) -> None:
    async with OllamaServer() as server:
        given = settings(
            tmp_path, server, model_server="http://127.0.0.1:9", embedding_model="all-MiniLM-L6-v2"
        )
        await pull_missing(given, None, agreed=True)
        off = settings(tmp_path, server, ollama_host="off")
        await pull_missing(off, None, agreed=True)
        assert not server.requests


def test_ctrl_c_at_the_question_ends_the_command_at_once() -> None:
    caught: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: caught.append(number))  # asyncio's waits for it
    try:
        with pytest.raises(KeyboardInterrupt):
            _agrees(lambda _: str(signal.raise_signal(signal.SIGINT)), "Pull it now?")
        signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert caught == [signal.SIGINT], "what was there before takes the next one"


async def test_at_a_terminal_one_line_is_rewritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = StringIO()
    monkeypatch.setattr(seen, "isatty", lambda: True)
    monkeypatch.setattr("sys.stderr", seen)
    async with OllamaServer() as server:
        await pull_missing(settings(tmp_path, server, embedding_model="all-MiniLM-L6-v2"), None, agreed=True)
    shown = seen.getvalue()
    assert shown.count("\n") == 1 and shown.endswith("\n")
    lines = [line.removeprefix("\x1b[2K").strip() for line in shown.split("\r")[1:]]
    assert lines[1:4] == [f"Pulling {MODEL}: {percent}% of 5.2 GB" for percent in (0, 50, 100)]


def test_how_far_it_is_is_told_in_percent_of_the_size() -> None:
    assert (
        line_of("a:1b", Pulled("pulling 0a1b", 2_184_000_000, 5_200_000_000)) == "Pulling a:1b: 42% of 5.2 GB"
    )
    assert line_of("a:1b", Pulled("pulling 0a1b", 0, 274_000_000)) == "Pulling a:1b: 0% of 274 MB"
    assert line_of("a:1b", Pulled("verifying sha256 digest", 5, 5)) == "Pulling a:1b: verifying sha256 digest"
