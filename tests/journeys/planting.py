"""Every way that a person's words take into a home: planted as markers, and searched for byte by byte.

Ann is the person. Each way has a marker of its own, a word that nobody else says.
"""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import time
import zipfile
import zlib
from collections.abc import Awaitable, Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, inspect, text

from bot.commands.command_line import handle
from bot.home.control_socket import Control, call
from bot.operations.digest import Digest
from bot.ports.chat import Command
from bot.privacy.exports import note
from core.catalogue import ChannelSettings
from core.catalogue.sources import Targets
from core.domain import MessageRef, Scope
from core.ports import Claim
from core.ports.about import Notice
from tests.journeys.fake_stage import NAMES, FakeResponder, person
from tests.journeys.house import Bot
from tests.journeys.stage import Said, Seen, answer, told, until
from tests.ollama_answers import Recorded, cited_answer, filled
from tests.ollama_server import OllamaServer
from tests.patience import PATIENCE

NOWHERE = Seen("", "")
"""No message: what is pressed hangs under what a person alone was told."""
CODES = ("utf-8", "utf-16-le", "utf-16-be")
AWAY = b"\xff" * 4
"""Between places of a file, so that no word is read over the gap: nothing that is looked for has it."""
SYLLABLES = ("bra", "kel", "dim", "for", "gus", "hal", "jot", "lum", "nep", "pix")
WAYS: dict[str, Callable[[Garden], Awaitable[None]]] = {}
KEPT_NOWHERE = {
    "a command that there is not",
    "a deleted question",
    "a refused command with a question behind it",
    "a command that explains answers",
    "a refused wish to forget somebody else",
}
"""Ways by which nothing was ever kept, or not for longer than it stood there."""


def way(name: str) -> Callable[[Callable[[Garden, str], Awaitable[None]]], None]:
    """Register how one marker is planted."""

    def register(plant: Callable[[Garden, str], Awaitable[None]]) -> None:
        async def planted(garden: Garden) -> None:
            await plant(garden, garden.mark(name))

        WAYS[name] = planted

    return register


class Garden:
    """A stage with a bot whose model can be told what to write, and the markers planted so far."""

    def __init__(self, stage: Any, bot: Bot, ollama: OllamaServer) -> None:
        self.stage, self.bot, self.ollama = stage, bot, ollama
        self.marks: dict[str, str] = {}
        self.says: dict[str, str] = {}
        """What the model answers to a question with that word."""
        self.rewrites: dict[str, str] = {}
        """What the model takes a message with that word for."""
        ollama.answer, ollama.structured = self._answer, self._structured

    def mark(self, name: str) -> str:
        """Return a marker that nobody said yet."""
        count = len(self.marks)
        word = f"zy{SYLLABLES[count // 10]}{SYLLABLES[count % 10]}ax"
        self.marks[name] = word
        return word

    async def all(self) -> None:
        """Plant by every way, under a name that is one of the markers where people choose theirs."""
        name = self.mark("the name that people see")
        if self.stage.name == "fake":
            NAMES["ann"] = name
        elif self.stage.name == "slack":
            self.stage.server.users["U1"]["profile"]["display_name"] = name
        for plant in WAYS.values():
            await plant(self)
            await self.stage.quiet()

    async def asked(self, text: str, who: str = "ann", place: str = "public") -> tuple[Said, Seen]:
        """Let somebody mention the bot in a new message, and wait for the answer."""
        said = await self.stage.say(who, text, place, to="bot")
        return said, await answer(self.stage, said)

    async def follow(self, who: str, text: str, under: Said, count: int = 2) -> Seen:
        """Let somebody mention the bot in a thread, and wait for the answer."""
        await self.stage.say(who, text, under=under, to="bot")
        return await answer(self.stage, under, count)

    async def answer_this(self, who: str, said: Said) -> None:
        """Let somebody have a message of another person answered for themselves alone."""
        if hasattr(self.stage, "answer_this"):
            await self.stage.answer_this(who, said)
        else:
            ref = MessageRef("fake", said.place, said.id, said.root)
            given = Command("ask", said.text, person(who), ref, Scope(), f"menu-{said.id}", "fake:ann")
            await self.bot.dispatch.command(self.stage.chat, given, FakeResponder(self.stage, who))
        await self.stage.quiet()

    async def command(self, **request: Any) -> list[str]:
        """Give a command as the command line does; return its lines."""
        lines: list[str] = []

        async def send(message: dict[str, Any]) -> None:
            lines.extend([str(message["line"])] if "line" in message else [])

        await handle(self.bot.app, request, send)
        return lines

    def _answer(self, recorded: Recorded) -> str:
        asked = recorded.messages[-1]["content"]
        # the newest first: what was found good before stands in the prompt, too
        told = reversed(self.says.items())
        return next((said for word, said in told if word in asked), cited_answer(recorded))

    def _structured(self, recorded: Recorded, schema: Any) -> Any:
        found = filled(recorded, schema)
        asked = recorded.messages[-1]["content"]
        if isinstance(found, dict) and "base" in found:
            found["base"] = next((b for word, b in self.rewrites.items() if word in asked), found["base"])
        return found


# --- what is searched -------------------------------------------------------------------------


def found_in(url: str, words: Iterable[str]) -> dict[str, list[str]]:
    """Return by word `table.column` of every value that holds it, in any spelling of JSON, text or bytes."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    words = list(words)
    sought = _Sought(words)
    found: dict[str, set[str]] = {word: set() for word in words}
    with engine.connect() as connection:
        for table in inspect(engine).get_table_names():
            for row in connection.execute(text(f'SELECT * FROM "{table}"')).mappings():
                for name, value in row.items():
                    for word in sought.within(_bytes(value)):
                        found[word].add(f"{table}.{name}")
    engine.dispose()
    return {word: sorted(places) for word, places in found.items()}


def files_that_hold(home: Path, words: Iterable[str]) -> dict[str, list[str]]:
    """Return by word the files of a home, members of archives among them, in which it stands."""
    words = list(words)
    sought = _Sought(words)
    found: dict[str, set[str]] = {word: set() for word in words}
    for path in home.rglob("*"):
        if path.is_file() and "models" not in path.parts:
            for member, held in _members(path):
                for word in sought.within(held):
                    found[word].add(f"{path.relative_to(home)}{member}")
    return {word: sorted(places) for word, places in found.items()}


def rows_with(url: str, word: str) -> list[str]:
    """Return `table.column` of every value that holds a word."""
    return found_in(url, [word])[word]


def files_with(home: Path, word: str) -> list[str]:
    """Return the files of a home in which a word stands."""
    return files_that_hold(home, [word])[word]


class _Sought:
    """Words that are looked for in bytes, in any case, as UTF-8 and UTF-16."""

    def __init__(self, words: list[str]) -> None:
        written = [[word.lower().encode(code) for word in words] for code in CODES]
        self._forms = dict(zip(words, zip(*written, strict=True), strict=True))
        self._begin = {os.path.commonprefix(forms) for forms in written}  # noqa: RUF071 - bytes, no path
        self._longest = max(len(form) for forms in written for form in forms)

    def within(self, held: bytes) -> list[str]:
        """Return the words that bytes hold."""
        small = held.lower()
        # where one may begin: a home has megabytes, and there are a hundred and eighty forms
        places = (at for begin in self._begin for at in _places(small, begin))
        near = AWAY.join(small[at : at + self._longest] for at in places)
        if not near:
            return []
        return [word for word, forms in self._forms.items() if any(form in near for form in forms)]


def _places(held: bytes, begin: bytes) -> Iterator[int]:
    at = held.find(begin)
    while at >= 0:
        yield at
        at = held.find(begin, at + 1)


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes | memoryview):
        return bytes(value)
    if isinstance(value, int | float | None):
        return str(value).encode()
    whole = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    try:  # JSON in a column of text
        return (whole + json.dumps(json.loads(whole), ensure_ascii=False)).encode("utf-8", "replace")
    except ValueError:
        return whole.encode("utf-8", "replace")


def _members(path: Path) -> Iterator[tuple[str, bytes]]:
    held = path.read_bytes()
    yield "", held
    if held[:2] == b"\x1f\x8b":
        yield ":gzip", gzip.decompress(held)
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                yield f":{name}", archive.read(name)
    head, _, body = held.partition(b"\n")
    if head.startswith(b"{") and body[:1] == b"\x78":
        yield ":zlib", zlib.decompress(body)
    if held.startswith(b"SQLite format 3"):
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
            yield ":dump", "\n".join(database.iterdump()).encode("utf-8", "replace")


# --- questions --------------------------------------------------------------------------------


@way("a question in a channel")
async def _(g: Garden, mark: str) -> None:
    await g.asked(f"Which port does the {mark} dashboard listen on?")


@way("a question in a private channel")
async def _(g: Garden, mark: str) -> None:
    await g.asked(f"How often is a failed {mark} job tried again?", place="private")


@way("a question in direct messages")
async def _(g: Garden, mark: str) -> None:
    await answer(g.stage, await g.stage.say("ann", f"Which {mark} file does Kettle read?", "direct"))


@way("a question in somebody else's thread")
async def _(g: Garden, mark: str) -> None:
    said, _ = await g.asked("How do I set the number of worker processes?", "bob")
    await g.follow("ann", f"Which licence does {mark} Kettle have?", said)


@way("a follow-up of theirs")
async def _(g: Garden, mark: str) -> None:
    said, _ = await g.asked("How often is a failed job tried again by default?")
    await g.stage.say("ann", f"and for {mark} jobs in 1.5?", under=said)
    await answer(g.stage, said, 2)


@way("a question before its edit")
async def _(g: Garden, mark: str) -> None:
    said, _ = await g.asked(f"How do I open the {mark} dashboard?")
    g.marks["a question after its edit"] = f"{mark}b"
    await g.stage.edit(said, f"How do I open the {mark}b page of the dashboard?")
    await g.stage.quiet()
    await until(lambda: [seen for seen in g.stage.replies(said) if seen.finished])


@way("a deleted question")
async def _(g: Garden, mark: str) -> None:
    said, _ = await g.asked(f"How do I protect the {mark} dashboard with a password?")
    await g.stage.delete(said)
    await g.stage.quiet()


@way("a question in German")
async def _(g: Garden, mark: str) -> None:
    await g.asked(f"Auf welchem Port lauscht das {mark} Dashboard, wenn ich nichts einstelle?")


@way("a question that no page answers")
async def _(g: Garden, mark: str) -> None:
    await g.asked(f"How do I bake {mark} bread with zebras?")


@way("a release that there is not")
async def _(g: Garden, mark: str) -> None:
    await g.asked(f"How do I start the {mark} dashboard in Kettle 7.4?")


@way("a question that nobody answered")
async def _(g: Garden, mark: str) -> None:
    ann = g.stage.account("ann")
    payload = {"text": f"Is there a {mark} limit?"}
    claim = Claim(f"{g.stage.key()}:90001", f"{g.stage.key()}:90001", ann, time.time(), payload)
    await g.bot.app.conversations.claim(claim)


@way("a question that came too fast")
async def _(g: Garden, mark: str) -> None:
    ann = g.stage.account("ann")
    payload = {"text": f"Is there a {mark} queue?"}
    claim = Claim(f"{g.stage.key()}:90002", f"{g.stage.key()}:90002", ann, time.time(), payload)
    await g.bot.app.conversations.claim(claim)
    await g.bot.app.conversations.answered(claim.message, "")


# --- questions that are asked otherwise -------------------------------------------------------


@way("a slash command that asks")
async def _(g: Garden, mark: str) -> None:
    await g.stage.slash("ann", "ask", f"Which port does the {mark} dashboard of ours listen on?")
    await told(g.stage, "ann", "Kettle 2.0")


@way("an answer that was shared")
async def _(g: Garden, mark: str) -> None:
    await g.stage.slash("ann", "ask", f"How do I write a {mark} job with the decorator?")
    await told(g.stage, "ann", "decorator")
    await g.stage.quiet()
    await g.stage.press("ann", NOWHERE, "share")
    await told(g.stage, "ann", "Shared")


@way("a message that somebody else has answered for themselves")
async def _(g: Garden, mark: str) -> None:
    said = await g.stage.say("ann", f"Which port does our {mark} dashboard listen on, folks?")
    await g.answer_this("bob", said)
    await until(lambda: [t for t in g.stage.heard("bob") if "9090" in t], f"{g.stage.heard('bob')}")


@way("a message that somebody else has answered and shares")
async def _(g: Garden, mark: str) -> None:
    said = await g.stage.say("ann", f"How do I set {mark} workers for each processor core?")
    before = len(g.stage.heard("hal"))
    await g.answer_this("hal", said)
    await until(lambda: [t for t in g.stage.heard("hal")[before:] if "Kettle 2.0" in t])
    await g.stage.quiet()
    await g.stage.press("hal", NOWHERE, "share")
    await told(g.stage, "hal", "Shared")


@way("a question that somebody else asks for another release")
async def _(g: Garden, mark: str) -> None:
    said, seen = await g.asked(f"How can the {mark} dashboard get a password, please?")
    await g.stage.press("bob", seen, "release", "1.5")
    again = await answer(g.stage, said, 2)
    await g.stage.quiet()
    g.marks["and once more for a third release"] = mark
    await g.stage.press("hal", again, "release", "1.0")
    await answer(g.stage, said, 3)


@way("the control socket")
async def _(g: Garden, mark: str) -> None:
    async def carry_out(request: dict[str, Any], send: Any) -> None:
        await handle(g.bot.app, request, send)

    control = Control(g.bot.kettle.home, carry_out)
    await control.start()
    ann = g.stage.account("ann")
    request = {"command": "ask", "question": f"Where does {mark} Kettle log?", "user": ann}
    assert [m async for m in call(g.bot.kettle.home, request)][-1]["code"] == 0
    await control.stop()


# --- words that others carry ------------------------------------------------------------------


@way("somebody else's follow-up, completed by rules")
async def _(g: Garden, mark: str) -> None:
    said, _ = await g.asked(f"How often is a broken {mark} job tried again by default?")
    await g.follow("bob", "and in 1.5?", said)


@way("somebody else's follow-up, completed by the model")
async def _(g: Garden, mark: str) -> None:
    said, _ = await g.asked(f"Where do {mark} workers write their log?")
    g.rewrites["deeper oracle"] = f"Is the log of {mark} workers deeper oracle in 1.5?"
    await g.follow("bob", "is it deeper oracle in 1.5?", said)


@way("somebody else's answer, in which the model repeats the thread")
async def _(g: Garden, mark: str) -> None:
    said, _ = await g.asked("What does the dashboard show in the browser?", "bob")
    await g.stage.say("ann", f"Ours is called {mark} by everybody.", under=said)
    g.says["failed jobs of mine"] = f"The {mark} dashboard shows failed jobs in the browser [1]."
    seen = await g.follow("bob", "Does the dashboard show queues, workers and failed jobs of mine?", said)
    assert mark in seen.text


@way("somebody else's answer, in which the model repeats a remembered question")
async def _(g: Garden, mark: str) -> None:
    _, seen = await g.asked(f"How do I choose another port for the {mark} dashboard?")
    await g.stage.react("ann", seen, "👍")
    await g.stage.quiet()
    g.says["port than 9999"] = f"The {mark} one listens on port 9090 [1]; choose another with `--port` [1]."
    _, near = await g.asked("How do I choose another port than 9999 for the dashboard?", "bob")
    assert mark in near.text, near.text


@way("a remembered answer that they had written, told to somebody else")
async def _(g: Garden, mark: str) -> None:
    said, _ = await g.asked("How do I bake sourdough bread with the kettle?", "bob")
    advice = await g.stage.say("ann", f"Put the {mark} dough into the lid for an hour.", under=said)
    await g.stage.quiet()
    await g.stage.react("hal", advice, "✅")
    await _people(g, mark)
    _, again = await g.asked("How can I bake sourdough bread with the kettle?", "boss")
    assert mark in again.text, again.text


@way("a batch of questions, in a file in the home")
async def _(g: Garden, mark: str) -> None:
    g.marks["a batch of questions, in a file in the home"] = g.marks[
        "a remembered answer that they had written, told to somebody else"
    ]
    file = g.bot.kettle.home / "answers.txt"
    note(g.bot.kettle.home, file)
    line = json.dumps({"id": "q1", "question": "How can I bake sourdough bread with the kettle?"})
    lines = await g.command(command="batch", lines=[line])
    file.write_text("\n".join(lines), encoding="utf-8")
    assert "dough" in lines[0], lines


@way("an answer of theirs that they took back after it was told")
async def _(g: Garden, mark: str) -> None:
    said, _ = await g.asked("How do I wash a woollen hat in the kettle?", "bob")
    advice = await g.stage.say("ann", f"Use {mark} soap and cold water.", under=said)
    await g.stage.quiet()
    await g.stage.react("hal", advice, "✅")
    await _people(g, mark)
    _, again = await g.asked("How can I wash a woollen hat in the kettle?", "boss")
    assert mark in again.text, again.text
    await g.stage.react("ann", advice, "❌")
    await g.stage.quiet()


async def _people(g: Garden, mark: str) -> None:
    """Wait until an answer of a person with that marker is remembered."""
    end = time.monotonic() + PATIENCE
    while not [p for p in await g.bot.app.memory.everything() if mark in p.answer]:
        assert time.monotonic() < end
        await g.stage.quiet()


@way("somebody else's answer that says a remembered one again")
async def _(g: Garden, mark: str) -> None:
    g.says[mark] = g.says["when workers start"] = "Kettle reads `kettle.toml` from the folder [1]."
    _, seen = await g.asked(f"Which file does Kettle read when a worker is started, {mark}?")
    await g.stage.react("ann", seen, "👍")
    await g.stage.quiet()
    before = await g.bot.counts()
    await g.asked("Which file is read when workers start?", "bob")
    after = await g.bot.counts()
    assert (after["pairs"], after["answers"]) == (before["pairs"], before["answers"] + 1)


@way("a post that nobody asked the bot to answer")
async def _(g: Garden, mark: str) -> None:
    await g.bot.app.modes.set_mode(g.stage.key(), "questions", "bot")
    said = await g.stage.say("ann", f"Which port does the {mark} dashboard listen on by default?")
    await answer(g.stage, said)
    await g.bot.app.modes.set_mode(g.stage.key(), "default", "bot")


@way("their wording of somebody else's question")
async def _(g: Garden, mark: str) -> None:
    _, seen = await g.asked("Why is Kettle called Kettle?", "bob")
    await g.stage.react("bob", seen, "👍")
    await g.stage.quiet()
    _, again = await g.asked(f"Why is Kettle called Kettle, {mark}?")
    await g.stage.react("ann", again, "👍")
    await g.stage.quiet()


@way("their remembered question, shown under an answer to somebody else")
async def _(g: Garden, mark: str) -> None:
    _, seen = await g.asked(f"Where do workers write their log, {mark}?")
    await g.stage.react("ann", seen, "👍")
    await g.stage.quiet()
    _, told = await g.asked("To which place do the workers write the log?", "bob")
    assert mark in told.text, "it says which question it answered"


@way("their question, which they told apart from a remembered one")
async def _(g: Garden, mark: str) -> None:
    _, seen = await g.asked("How many worker processes run at once by default?", "bob")
    await g.stage.react("bob", seen, "👍")
    await g.stage.quiet()
    said, again = await g.asked(f"What number of {mark} worker processes runs at the same time by default?")
    await g.stage.press("ann", again, "apart")
    await answer(g.stage, said, 2)


# --- what people are asked --------------------------------------------------------------------


@way("a question that was put to a person")
async def _(g: Garden, mark: str) -> None:
    _, seen = await g.asked(f"How do I paint the {mark} lid of the kettle?")
    await g.stage.press("ann", seen, "person")
    await told(g.stage, "ann", "I have asked")


@way("a question that somebody else put to a person")
async def _(g: Garden, mark: str) -> None:
    _, seen = await g.asked(f"How do I polish the {mark} handle of the kettle?")
    await g.stage.press("boss", seen, "person")
    await told(g.stage, "boss", "I have asked")


@way("somebody else's ticket that carries their words")
async def _(g: Garden, mark: str) -> None:
    said, _ = await g.asked(f"How do I cook {mark} soup with the kettle?")
    seen = await g.follow("bob", "and in 1.5?", said)
    await g.stage.press("bob", seen, "person")
    await told(g.stage, "bob", "I have asked")


@way("somebody else's ticket that they answered")
async def _(g: Garden, mark: str) -> None:
    said, seen = await g.asked("How do I carve a spoon with the kettle?", "bob")
    before = len(g.stage.heard("bob"))
    await g.stage.press("bob", seen, "person")
    await until(lambda: [t for t in g.stage.heard("bob")[before:] if "I have asked" in t])
    advice = await g.stage.say("ann", f"Take {mark} wood and a sharp knife.", under=said)
    await g.stage.quiet()
    await g.stage.react("hal", advice, "✅")
    await _people(g, mark)


# --- what people say of answers ---------------------------------------------------------------


@way("what they found wrong, and the better answer")
async def _(g: Garden, mark: str) -> None:
    _, seen = await g.asked("How do I send a report every night?", "bob")
    await g.stage.press("ann", seen, "down")
    await until(lambda: g.stage.form("ann") or "wrong" in str(g.stage.heard("ann")[-1:]))
    if g.stage.form("ann") is None:
        await g.stage.press("ann", NOWHERE, "wrong")
        await until(lambda: g.stage.form("ann"))
    await g.stage.fill("ann", what="wrong", better=f"Write {mark} at midnight.")
    await told(g.stage, "ann", "Thank you")


@way("a remembered question whose pages changed since")
async def _(g: Garden, mark: str) -> None:
    _, seen = await g.asked(f"In which {mark} file is Kettle configured by default?")
    await g.stage.react("ann", seen, "👍")
    await g.stage.quiet()
    page = g.bot.kettle.folder / "docs" / "2.0" / "configuration.md"
    page.write_text(page.read_text().replace("in which a worker is started", "that is named kitchen"))
    await g.bot.app.corpus_manager.reindex("2.0")
    await g.bot.app.stale_review.slice()


# --- commands ---------------------------------------------------------------------------------


@way("a command that there is not")
async def _(g: Garden, mark: str) -> None:
    await g.stage.slash("ann", "threadlore", f"How do I start {mark}?")
    await told(g.stage, "ann", "I don't know")


@way("a refused command with words of theirs")
async def _(g: Garden, mark: str) -> None:
    await g.stage.slash("ann", "threadlore", f"pause 30 the {mark} is being moved")
    await told(g.stage, "ann", "Only admins")


@way("a refused command with a question behind it")
async def _(g: Garden, mark: str) -> None:
    await g.stage.slash("ann", "threadlore", f"memory list how do I list {mark} jobs")
    await g.stage.quiet()


@way("a command that explains answers")
async def _(g: Garden, mark: str) -> None:
    await g.stage.slash("ann", "threadlore", f"why {mark}")
    await told(g.stage, "ann", "neither an answer")


@way("a refused wish to forget somebody else")
async def _(g: Garden, mark: str) -> None:
    await g.stage.slash("ann", "threadlore", f"forget {mark}")
    await g.stage.quiet()


@way("why they paused the bot while they were an admin")
async def _(g: Garden, mark: str) -> None:
    await g.bot.app.pauses.begin(g.stage.key("private"), 0.0, g.stage.account("ann"), f"the {mark} moves")


@way("a command of somebody else that quotes them")
async def _(g: Garden, mark: str) -> None:
    question = f"How do I sharpen {mark} pencils with the kettle?"
    await g.asked(question)
    await g.stage.slash("boss", "threadlore", f"pause here 1 {question}", place="desk")
    await told(g.stage, "boss", "Paused")


# --- what admins and the house write ----------------------------------------------------------


@way("the weekly digest, and a page of gaps in the home")
async def _(g: Garden, mark: str) -> None:
    await g.asked(f"How do I fly the {mark} kettle to the moon and back?")
    g.bot.dispatch.notices.channels = (g.stage.key("desk"),)
    await Digest(
        "mon 09:00",
        g.bot.app.statistics.gaps,
        g.bot.app.statistics.wrong_reuse,
        g.bot.dispatch.notices,
        "Kettle",
        lambda: datetime(2026, 11, 30, 9),
    ).tick()
    await g.command(command="gaps", markdown=str(g.bot.kettle.home / "gaps.md"))


@way("a notice that admins could not be told yet")
async def _(g: Garden, mark: str) -> None:
    question = f"How do I moor the {mark} boat to the kettle?"
    await g.asked(question)
    await g.bot.app.notices.keep(Notice("slack:C404", "x", f"Somebody asked: {question}", time.time()))


@way("an example for who asks what one may ask")
async def _(g: Garden, mark: str) -> None:
    _, seen = await g.asked(f"Which {mark} licence is Kettle published under?")
    for who in ("ann", "hal"):
        await g.stage.react(who, seen, "👍")
    await g.stage.quiet()
    said = await g.stage.say("bob", "hello", to="bot")
    await until(lambda: g.stage.replies(said))


@way("an export in the home, and what was imported from it again")
async def _(g: Garden, mark: str) -> None:
    _, seen = await g.asked(f"Is a {mark} job a plain function that runs outside of the web request?")
    await g.stage.react("ann", seen, "👍")
    await g.stage.quiet()
    file = g.bot.kettle.home / "pairs.jsonl"
    note(g.bot.kettle.home, file)
    lines = await g.command(command="memory", action="export")
    file.write_text("\n".join(lines), encoding="utf-8")
    [row] = [row for row in map(json.loads, lines) if mark in row["question"]] or [seen.text]
    again = json.dumps(row | {"answer": "Set it to two."})
    await g.command(command="memory", action="import", text=again, name="pairs.jsonl")


@way("the log of a version that wrote everything down")
async def _(g: Garden, mark: str) -> None:
    logs = g.bot.kettle.home / "logs"
    logs.mkdir(exist_ok=True)
    line = f"2025-01-01 00:00:00 DEBUG slack_sdk.web: Sending a request: How do I {mark}?\n"
    (logs / "threadlore.log.2025-01-01").write_text(line)


@way("a file of the vector index")
async def _(g: Garden, mark: str) -> None:
    question = f"How do I weigh the {mark} kettle?"
    await g.asked(question)
    index = g.bot.kettle.home / "vectors" / "unused" / "data_level0.bin"
    index.parent.mkdir()
    index.write_bytes(b"\x01\x02" + question.encode() + b"\x03")


# --- what people said before ------------------------------------------------------------------


@way("an answer that quotes what they asked in an imported channel")
async def _(g: Garden, mark: str) -> None:
    g.marks["their answer in somebody else's conversation"] = f"{mark}c"
    path = g.bot.kettle.folder / "export.zip"
    talk = [
        _message("100.000100", "U1", f"How do I descale the {mark} kettle with vinegar?", "100.000100"),
        _message("101.000100", "U9", "Pour vinegar into the kettle and boil it twice.", "100.000100"),
        _message("102.000100", "U1", "Thanks, that worked!", "100.000100"),
        _message("200.000100", "U9", "How do I store marmalade in the kettle?", "200.000100"),
        _message("201.000100", "U1", f"Put the marmalade below the {mark}c sieve.", "200.000100"),
        _message("202.000100", "U9", "Thanks, that worked!", "200.000100"),
    ]
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("channels.json", json.dumps([{"id": "C9", "name": "help"}]))
        out.writestr("users.json", json.dumps([{"id": "U1"}, {"id": "U9"}]))
        out.writestr("help/2024-05-01.json", json.dumps(talk))
    await g.bot.app.corpus_manager.reindex()
    _, seen = await g.asked("How do I descale a kettle with vinegar?", "bob")
    assert mark in seen.text, seen.text
    _, other = await g.asked("How do I store marmalade in the kettle?", "bob")
    assert f"{mark}c" in other.text, other.text
    await g.stage.react("bob", other, "👍")
    await g.stage.quiet()
    await g.command(command="pregenerate", by="rules", sample=str(g.bot.kettle.home / "sample.jsonl"))


def _message(ts: str, user: str, said: str, thread: str) -> dict[str, Any]:
    return {"type": "message", "ts": ts, "user": user, "text": said, "thread_ts": thread}


def appoint(stage: Any, bot: Bot) -> None:
    """Let hal be asked in the public channel."""
    targets = Targets((stage.account("hal"),), ())
    bot.app.catalogue.channels[stage.key()] = ChannelSettings(ask=targets)
