"""What admins do by slash commands, the same on every platform."""

from __future__ import annotations

from typing import Any

from bot.commands.command_line import handle
from bot.commands.slash.texts import ELSEWHERE, NOT_YOURS
from tests.journeys.house import Bot, Kettle, house
from tests.journeys.kettle import PORTS
from tests.journeys.stage import EVERYWHERE, ON_EACH_WIRE, ask, open_stage, squeezed, told, until

PORT = "Which port does the dashboard listen on?"
PASSWORD = "How do I protect the dashboard with a password?"


def allow(kettle: Kettle, line: str) -> None:
    """Add a line to `[permissions]` of a home's `corpora.toml`."""
    with kettle.config.open("a", encoding="utf-8") as config:
        config.write(f"\n[permissions]\n{line}\n")


async def on_command_line(bot: Bot, **request: Any) -> list[str]:
    """Carry out what the command line sends; return its lines."""
    lines: list[str] = []

    async def keep(message: dict[str, Any]) -> None:
        lines.extend([str(message["line"])] if "line" in message else [])

    await handle(bot.app, {"caller": "cli:root", **request}, keep)
    return lines


@EVERYWHERE
async def test_sources_are_listed_with_what_failed(platform: str, bot: Bot) -> None:
    pages = bot.kettle.folder / "docs" / "2.0"
    async with open_stage(platform, bot) as stage:
        await stage.slash("boss", "threadlore", "sources")
        first = squeezed(await told(stage, "boss", "folder docs/2.0: 4 pages, read"))
        assert "folder docs/all: 1 page," in first and "every 1d" in first and "failed" not in first
        assert first.index("2.0") < first.index("1.5") < first.index("1.0")
        pages.rename(pages.with_name("elsewhere"))
        await stage.slash("boss", "threadlore", "reindex 2.0")
        await until(lambda: any("2.0" in text and "failed" in text for text in stage.public()))
        await stage.slash("boss", "threadlore", "sources")
        await told(stage, "boss", "failed the last time:")


@EVERYWHERE
async def test_a_dry_run_tells_what_would_change_and_whose_words_only_where_they_were_said(
    platform: str, kettle: Kettle
) -> None:
    pages = kettle.folder / "docs" / "2.0"
    async with house(kettle) as bot, open_stage(platform, bot) as stage:
        for text, place in ((PORT, "public"), (PASSWORD, "private")):
            await stage.react("ann", await ask(stage, text, place), "👍")
        await stage.quiet()
        (pages / "new.md").write_text("# Zeppelins\n\nA zeppelin job flies.\n")
        (pages / "scheduling.md").unlink()
        (pages / "dashboard.rst").write_text((pages / "dashboard.rst").read_text().replace("9090", "9191"))
        await stage.slash("boss", "threadlore", "reindex 2.0 --dry-run")
        said = squeezed(await told(stage, "boss", "2.0: 1 to add, 1 changed, 1 to remove, 3 unchanged"))
        assert "added: folder:docs/2.0: new.md" in said and "Nothing has been changed" in said
        assert said.count("remembered answer to look at again") == 2
        assert PORT in said and PASSWORD not in said and "(from a private channel)" in said
        assert PORTS["2.0"] in (await ask(stage, PORT, who="bob")).text and not stage.public()
        [line] = [x for x in await on_command_line(bot, command="index", dry_run=True) if PASSWORD in x]
        assert "remembered answer" in line, "the command line has it all"


@EVERYWHERE
async def test_memory_is_looked_into_but_nothing_private_is_shown_elsewhere(
    platform: str, kettle: Kettle
) -> None:
    allow(kettle, 'memory = ["admins", "helpers"]')
    async with house(kettle) as bot, open_stage(platform, bot) as stage:
        for text, place in ((PORT, "public"), (PASSWORD, "private")):
            await stage.react("ann", await ask(stage, text, place), "👍")
        await stage.quiet()
        pairs = {pair.question: pair for pair in await bot.app.memory.everything()}
        public, private = pairs[PORT], pairs[PASSWORD]
        await stage.slash("boss", "threadlore", "memory list 2.0 --store high")
        said = squeezed(await told(stage, "boss", public.id))
        assert PORT in said and private.id in said and PASSWORD not in said
        await stage.slash("boss", "threadlore", f"memory show {public.id}")
        assert PORTS["2.0"] in await told(stage, "boss", "Compared as")
        await stage.slash("boss", "threadlore", f"memory show {private.id}")
        assert PASSWORD not in await told(stage, "boss", "a private channel: its text is shown only there")
        await stage.slash("hal", "threadlore", f"memory show {private.id}", place="private")
        assert PASSWORD in await told(stage, "hal", "Compared as")
        await stage.slash("ann", "threadlore", "memory list")
        await told(stage, "ann", "Only admins")


@EVERYWHERE
async def test_what_a_private_channel_taught_is_published_from_there_alone(
    platform: str, kettle: Kettle
) -> None:
    allow(kettle, '"memory public" = ["helpers"]')
    async with house(kettle) as bot, open_stage(platform, bot) as stage:
        seen = await ask(stage, PASSWORD, "private")
        await stage.react("ann", seen, "👍")
        await stage.quiet()
        if platform != "discord":  # there people choose a channel that they see
            key = f"fake:{'private'}" if platform == "fake" else stage.key("private")
            await stage.slash("hal", "threadlore", f"memory public {key}")
            await told(stage, "hal", "can only be shared from there")
        await stage.slash("hal", "threadlore", "memory public here", place="private")
        await told(stage, "hal", "This shares what was learned")
        assert [pair.scope == "public" for pair in await bot.app.memory.everything()] == [False]
        await stage.press("hal", seen, "confirm")
        await told(stage, "hal", "1 answer learned in")
        assert [pair.scope for pair in await bot.app.memory.everything()] == ["public"]


@EVERYWHERE
async def test_retiring_waits_for_the_button(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        seen = await ask(stage, PORT)
        await stage.react("ann", seen, "👍")
        await stage.quiet()
        [pair] = await bot.app.memory.everything()
        await stage.slash("boss", "threadlore", f"memory retire {pair.id}")
        await told(stage, "boss", "Press the button within ten minutes")
        assert not (await bot.app.memory.everything())[0].aside
        await stage.press("boss", seen, "confirm")
        await told(stage, "boss", f"Retired {pair.id}")
        assert (await bot.app.memory.everything())[0].aside == "retired"
        if platform != "web":  # there the button goes after use
            await stage.press("boss", seen, "confirm")
            await told(stage, "boss", "This was done already")
        await stage.slash("ann", "threadlore", f"memory restore {pair.id}")
        await told(stage, "ann", "Only admins")
        await stage.slash("boss", "threadlore", f"memory restore {pair.id}")
        await told(stage, "boss", f"Restored {pair.id}: it counts as good")
        assert not (await bot.app.memory.everything())[0].aside
        assert "from community memory" in (await ask(stage, PORT, who="bob")).text
        assert [(act.what, act.outcome) for act in await bot.app.audit.acts()] == [
            (f"memory restore {pair.id}", "done"),
            (f"memory restore {pair.id}", "refused"),
            (f"memory retire {pair.id}", "done"),
            (f"memory retire {pair.id}", "asked"),
        ]


@ON_EACH_WIRE
async def test_why_tells_admins_more_and_others_only_of_their_own(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        await stage.slash("boss", "threadlore", "why")
        await told(stage, "boss", "There is no answer here yet")
        await ask(stage, "How is a job scheduled every night?")
        seen = await ask(stage, PORT)
        await stage.quiet()
        await stage.slash("boss", "threadlore", "why")
        said = squeezed(await told(stage, "boss", "for admins:"))
        assert PORT in said and "Searched with: base" in said and "Milliseconds: understand" in said
        await stage.slash("ann", "threadlore", "why")
        said = await told(stage, "ann", "Release 2.0")
        assert PORT in said and "for admins" not in said
        await stage.slash("bob", "threadlore", "why")
        await told(stage, "bob", squeezed(NOT_YOURS))

        claim = await bot.app.conversations.last_in(_key(stage))
        chat = bot.dispatch.chat_of(platform)
        assert claim and chat
        link = await chat.permalink(claim.parts[-1])
        await ask(stage, "Why is it called Kettle?", who="bob")
        await stage.quiet()
        for said in (link, claim.answer_id):
            heard = len(stage.heard("boss"))
            await stage.slash("boss", "threadlore", f"why {said}")
            await until(lambda heard=heard: len(stage.heard("boss")) > heard and stage.heard("boss")[-1])
            assert PORT in await told(stage, "boss", f"Answer {claim.answer_id}, for admins")
        await stage.slash("boss", "threadlore", "why https://example.org/some/page")
        await told(stage, "boss", "neither an answer's id nor a link")
        assert seen.text


@EVERYWHERE
async def test_why_keeps_what_was_asked_in_private(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        await ask(stage, PASSWORD, "private")
        await stage.quiet()
        claim = await bot.app.conversations.last_in(_key(stage, "private"))
        assert claim
        await stage.slash("boss", "threadlore", f"why {claim.answer_id}")
        assert PASSWORD not in await told(stage, "boss", squeezed(ELSEWHERE))
        await stage.slash("ann", "threadlore", f"why {claim.answer_id}", place="private")
        assert PASSWORD in await told(stage, "ann", "Release 2.0")


@ON_EACH_WIRE
async def test_a_helper_may_what_the_file_allows_and_it_is_written_down(
    platform: str, kettle: Kettle
) -> None:
    allow(kettle, 'reindex = ["admins", "helpers"]')
    async with house(kettle) as bot, open_stage(platform, bot) as stage:
        await stage.slash("ann", "threadlore", "reindex 1.0")
        await told(stage, "ann", "Only admins")
        await stage.slash("hal", "threadlore", "help")
        said = squeezed(await told(stage, "hal", "/threadlore reindex [release]"))
        assert "/threadlore sources" not in said and "/threadlore why" in said
        await stage.slash("hal", "threadlore", "reindex 1.0")
        await until(lambda: any("1.0: 4 pages" in text for text in stage.public()))
        await on_command_line(bot, command="index", release="1.5")
        await stage.quiet()
        await stage.slash("boss", "threadlore", "audit 10")
        said = squeezed(await told(stage, "boss", "reindex 1.0, begun"))
        assert "reindex 1.0, refused" in said and "reindex 1.0, done" in said
        assert "cli:root: index 1.5, done" in said
        assert " in #" in said and _key(stage) not in said, "people and channels go by their names"
        lines = await on_command_line(bot, command="audit", json=True, number=5)
        assert '"what": "reindex 1.0"' in lines[0]
        await stage.slash("bob", "threadlore", "audit")
        await told(stage, "bob", "Only admins")


def _key(stage: Any, place: str = "public") -> str:
    return f"fake:{place}" if stage.name == "fake" else str(stage.key(place))
