"""Discord channels and forums as sources, over REST: simcord's people behind a server on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import discord
import pytest
from simcord.backend.models.channel import Overwrite
from simcord.enums import OverwriteType

from bot.ports.platforms import readers
from core.catalogue import SourceSpec
from core.errors import SourceClosed, SourceError
from core.ingestion.live import reading
from core.ingestion.live.channels import LiveChannels
from core.ingestion.sources.history.source import HistorySource, Options
from core.settings import load_settings
from tests.fake_workers import FakeWorkers
from tests.platforms.discord_rest import DiscordRest, discord_rest
from tests.platforms.discord_server import TOKEN
from tests.platforms.discord_world import World

pytest_plugins = ["tests.platforms.discord_world"]

LATER = 30 * 86_400.0
"""Seconds after the messages at which they are read: nothing is fresh any more."""


class House:
    """One home with a source of a Discord channel."""

    def __init__(
        self, rest: DiscordRest, home: Path, channel: int, after: float = LATER, **options: Any
    ) -> None:
        self.rest, self.home = rest, home
        self.now = discord.utils.utcnow().timestamp() + after
        self.settings = load_settings(
            None,
            discord_token=options.pop("token", TOKEN),
            discord_api_url=rest.url,
            helpers=options.pop("helpers", ""),
            home=home,
        )
        self.source = HistorySource(
            SourceSpec("history", Options(channel=[f"discord:{channel}"], **options), where="line 4"),
            FakeWorkers(),
            lambda: self.now,
        )
        self.source.live = LiveChannels(home, readers(self.settings), lambda: self.now)

    async def read(self) -> dict[str, tuple[str, str]]:
        """Read as the bot does, in a thread; return link and text by path."""
        self.now += 60
        found = await asyncio.to_thread(lambda: list(self.source.documents()))
        return {d.path: (d.url, d.content.decode()) for d in found}

    def counted(self) -> int:
        """Return how many calls were made since the last time."""
        count = len(self.rest.calls)
        self.rest.calls.clear()
        return count

    def kept(self) -> str:
        """Return all that lies in the home."""
        return "".join(file.read_text() for file in self.home.rglob("*") if file.is_file())


@pytest.fixture
async def rest(world: World) -> AsyncIterator[DiscordRest]:
    async with discord_rest(world.env.backend) as server:
        yield server


def link(world: World, channel: int, message: int) -> str:
    return f"https://discord.com/channels/{world.guild.id}/{channel}/{message}"


async def in_thread(world: World, title: str, question: str, answer: str) -> tuple[Any, Any, Any]:
    """Let Alice ask in the channel, and Bob open a thread from it and answer there."""
    asked = await world.alice.send(world.help, question)
    backend = world.env.backend
    backend.create_thread(world.help.id, title, world.bob.id, message_id=asked.id)
    thread = next(t for t in world.help.threads if t.id == asked.id)
    return asked, thread, await world.bob.send(thread, answer)


async def test_channel_and_threads_are_read(world: World, rest: DiscordRest, tmp_path: Path) -> None:
    asked, _, answer = await in_thread(world, "Descaling", "How do I descale it?", "Boil vinegar in it.")
    await world.alice.react(answer, "✅")
    flat = await world.alice.send(world.help, "Where is the lid?")
    reply = await world.bob.send(world.help, "In the drawer.", reply_to=flat)
    await world.alice.react(reply, "👍")
    robot = world.guild.add_member(world.env.create_user("robot", bot=True))
    await robot.send(world.help, "Beep?")
    house = House(rest, tmp_path, world.help.id)
    assert await house.read() == {
        f"help/{asked.id}": (
            link(world, world.help.id, asked.id),
            "# Descaling\n\nHow do I descale it?\n\nBoil vinegar in it.",
        ),
        f"help/{flat.id}": (
            link(world, world.help.id, flat.id),
            "# Where is the lid?\n\nIn the drawer.",
        ),
    }
    assert "Beep" not in house.kept() and "Beep" not in str(house.source.skipped)


async def test_an_unchanged_channel_costs_a_few_calls(
    world: World, rest: DiscordRest, tmp_path: Path
) -> None:
    for n in range(30):
        flat = await world.alice.send(world.help, f"Where is part {n}?")
        await world.alice.react(await world.bob.send(world.help, f"In box {n}.", reply_to=flat), "👍")
    for n in range(5):
        _, _, answer = await in_thread(world, f"Part {n}", "How do I mend it?", "With glue.")
        await world.alice.react(answer, "✅")
    house = House(rest, tmp_path, world.help.id)
    first = await house.read()
    assert len(first) == 35
    assert house.counted() == 18, "8 calls, and 5 times a thread and who put ✅ into it"
    assert await house.read() == first
    assert house.counted() == 18
    for n in range(5, 25):
        _, _, answer = await in_thread(world, f"Part {n}", "How do I mend it?", "With glue.")
        await world.alice.react(answer, "👍")
    assert len(await house.read()) == 55
    house.counted()
    assert len(await house.read()) == 55
    assert house.counted() <= 8 + 2 * reading.TURN_THREADS


async def test_edits_deletions_and_new_words_follow(world: World, rest: DiscordRest, tmp_path: Path) -> None:
    asked, thread, answer = await in_thread(world, "Descaling", "How do I descale it?", "Boil vinegar in it.")
    await world.alice.react(answer, "✅")
    flat = await world.alice.send(world.help, "Where is the lid?")
    await world.alice.react(await world.bob.send(world.help, "In the drawer.", reply_to=flat), "👍")
    house = House(rest, tmp_path, world.help.id)
    assert len(await house.read()) == 2
    await world.bob.edit(answer, "Boil lemon juice in it.")
    await world.alice.delete(flat)
    await world.bob.send(thread, "Rinse it after that.")
    found = str(await house.read())
    assert "lemon juice" in found and "Rinse it" in found
    for words in ("vinegar", "the lid"):
        assert words not in found and words not in house.kept()
    await world.alice.delete(asked)
    assert await house.read() == {} and "lemon" not in str(house.source.skipped)


async def test_a_forum_is_read_with_its_tags(world: World, rest: DiscordRest, tmp_path: Path) -> None:
    forum, post = await world.forum_post("The kettle trips the fuse", "It goes dark at once.")
    forum._channel.available_tags.append({"id": "77", "name": "✔ Solved", "moderated": False})
    await world.bob.send(post, "Use another socket.")
    house = House(rest, tmp_path, forum.id)
    assert await house.read() == {}, "nothing settles it yet"
    post._channel.applied_tags.append(77)
    assert await house.read() == {
        f"questions/{post.id}": (
            link(world, post.id, post.id),
            "# The kettle trips the fuse\n\nIt goes dark at once.\n\nUse another socket.",
        )
    }
    post._channel.thread_metadata.archived = True
    post._channel.thread_metadata.archive_timestamp = discord.utils.utcnow().isoformat()
    assert len(await house.read()) == 1, "from the archive, too"
    del world.env.backend.messages[post.id][post.id]
    assert await house.read() == {} and "goes dark" not in house.kept(), "its question was deleted"


async def test_archives_have_pages_and_threads_go(world: World, rest: DiscordRest, tmp_path: Path) -> None:
    threads = []
    for n in range(7):
        _, thread, answer = await in_thread(world, f"Part {n}", "How do I mend it?", f"With glue {n}.")
        await world.alice.react(answer, "👍")
        thread._channel.thread_metadata.archived = True
        thread._channel.thread_metadata.archive_timestamp = f"2026-01-0{n + 1}T00:00:00+00:00"
        threads.append(thread)
    rest.page_size = 3
    house = House(rest, tmp_path, world.help.id)
    assert len(await house.read()) == 7
    assert sum("archived" in call for call in rest.calls) == 3
    rest.calls.clear()
    await house.read()
    assert sum("archived" in call for call in rest.calls) == 1
    backend = world.env.backend
    del backend.channels[threads[3].id]
    house.source.live.changed(f"discord:{world.help.id}", str(threads[3].id))
    assert "glue 3" not in str(await house.read()) and "glue 3" not in house.kept()


async def test_private_threads_are_left_alone(world: World, rest: DiscordRest, tmp_path: Path) -> None:
    private = world.thread("Secret plans", private=True)
    await world.alice.send(private, "How do we hide it?")
    await world.alice.react(await world.bob.send(private, "Under the lid."), "✅")
    house = House(rest, tmp_path, world.help.id, answers="any")
    assert await house.read() == {} and "hide it" not in house.kept() and "Secret" not in house.kept()


async def test_who_marks_counts_by_account_and_role(world: World, rest: DiscordRest, tmp_path: Path) -> None:
    helpers = world.guild.create_role("Helpers")
    hal = world.guild.add_member(world.env.create_user("hal"), roles=[helpers])
    eve = world.guild.add_member(world.env.create_user("eve"))

    async def marked(who: Any) -> str:
        asked = await world.alice.send(world.help, "Which plug fits?")
        first = await world.bob.send(world.help, "The round one.", reply_to=asked)
        await world.alice.react(await eve.send(world.help, "Any plug.", reply_to=asked), "👍")
        await eve.react(await hal.send(world.help, "None at all.", reply_to=asked), "👍")
        await who.react(first, "✅")
        return f"help/{asked.id}"

    by_helper, by_asker, by_other = await marked(hal), await marked(world.alice), await marked(eve)
    found = await House(rest, tmp_path, world.help.id, helpers=f"discord:role:{helpers.id}").read()
    assert found[by_helper][1].split("\n\n")[1] == "The round one."
    assert found[by_asker][1].split("\n\n")[1] == "The round one."
    assert by_other in found
    others = await House(rest, tmp_path / "b", world.help.id, answers="settled").read()
    assert by_other in others


async def test_who_opted_out_is_nowhere_titles_included(
    world: World, rest: DiscordRest, tmp_path: Path
) -> None:
    forum, post = await world.forum_post("Alice's quizzaciously broken kettle", "It goes dark quizzaciously.")
    await world.alice.react(await world.bob.send(post, "Use another socket."), "✅")
    house = House(rest, tmp_path, forum.id)
    assert len(await house.read()) == 1
    house.source.is_out = lambda account: account == f"discord:{world.alice.id}"
    house.source.asks = False
    house.counted()
    assert await house.read() == {} and house.counted() == 0
    assert "quizzaciously" not in house.kept() and str(world.alice.id) not in house.kept()
    assert await house.read() == {} and "quizzaciously" not in house.kept(), "read again"


async def test_what_is_not_public_is_refused(world: World, rest: DiscordRest, tmp_path: Path) -> None:
    private = world.private("maintainers")
    await world.alice.send(private, "A secret?")
    for channel, said in (
        (private.id, "#maintainers is private, and private messages"),
        (404, "Discord says Unknown Channel of 404"),
    ):
        house = House(rest, tmp_path / str(channel), channel)
        with pytest.raises(SourceClosed, match=f"{said}.*line 4"):
            await house.read()
        assert house.kept() == ""


async def test_a_channel_that_became_private_is_told_of_no_more(world, rest, tmp_path: Path) -> None:
    flat = await world.alice.send(world.help, "Where is the lid?")
    await world.alice.react(await world.bob.send(world.help, "In the drawer.", reply_to=flat), "👍")
    house = House(rest, tmp_path, world.help.id)
    assert len(await house.read()) == 1
    sight = discord.Permissions(view_channel=True).value
    closed = [
        Overwrite(world.guild.id, OverwriteType.ROLE, deny=sight),
        Overwrite(world.env.bot.user.id, OverwriteType.MEMBER, allow=sight),
    ]
    world.env.backend.edit_channel(world.help.id, {}, overwrites=closed)
    with pytest.raises(SourceClosed, match="private"):
        await house.read()
    assert house.kept() == ""


async def test_a_missing_permission_is_named(world: World, rest: DiscordRest, tmp_path: Path) -> None:
    past = discord.Permissions(read_message_history=True).value
    denied = [Overwrite(world.env.bot.user.id, OverwriteType.MEMBER, deny=past)]
    world.env.backend.edit_channel(world.help.id, {}, overwrites=denied)
    with pytest.raises(SourceClosed, match="give its role Read Message History there"):
        await House(rest, tmp_path, world.help.id).read()


async def test_what_discord_refuses_is_told_and_what_was_read_stays(world, rest, tmp_path: Path) -> None:
    flat = await world.alice.send(world.help, "Where is the lid?")
    await world.alice.react(await world.bob.send(world.help, "In the drawer.", reply_to=flat), "👍")
    house = House(rest, tmp_path, world.help.id)
    first = await house.read()
    assert len(first) == 1
    rest.texts = False
    with pytest.raises(SourceError, match=r"switch on 'Message Content Intent'.*line 4"):
        await house.read()
    rest.texts, rest.token = True, "another"
    with pytest.raises(SourceError, match=r"DISCORD_TOKEN is not accepted.*line 4") as caught:
        await house.read()
    assert not isinstance(caught.value, SourceClosed)
    rest.token = TOKEN
    with pytest.raises(SourceError, match=r"DISCORD_TOKEN is missing.*line 4"):
        await House(rest, tmp_path, world.help.id, token="").read()
    rest.too_often = 2
    assert await house.read() == first, "waited out"
