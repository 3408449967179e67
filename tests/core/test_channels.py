"""Modes of channels and pauses, over restarts and with time."""

from __future__ import annotations

import pytest

from core.catalogue import ChannelSettings
from core.community.overrides import DEFAULT, EVERYWHERE, ChannelModes, Pauses
from core.errors import UsageError
from core.ports.about import BOT, Act
from tests.fake_channels import FakeAudit, FakeChannels

CONFIGURED = {"slack:C1": ChannelSettings(mode="forum"), "slack:C2": ChannelSettings(release="1.0")}


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


async def test_what_is_set_counts_before_the_file_until_it_is_taken_back() -> None:
    store = FakeChannels()
    modes = ChannelModes(store, CONFIGURED)
    assert [await modes.mode(f"slack:C{n}") for n in (1, 2, 3)] == ["forum", "mentions", "mentions"]
    await modes.set_mode("slack:C1", "off", "slack:U1", "too loud")
    await modes.set_mode("slack:C3", "questions", "bot")
    assert [await modes.mode(f"slack:C{n}") for n in (1, 2, 3)] == ["off", "mentions", "questions"]
    assert await modes.all() == {"slack:C1": "off", "slack:C2": "mentions", "slack:C3": "questions"}
    later = ChannelModes(store, CONFIGURED)
    assert await later.mode("slack:C1") == "off", "it is kept"
    [first, _] = await later.given()
    assert (first.by, first.why) == ("slack:U1", "too loud")
    await later.set_mode("slack:C1", DEFAULT, "slack:U1")
    assert await later.mode("slack:C1") == "forum" and len(await later.given()) == 1


async def test_what_the_bot_sets_itself_is_written_down() -> None:
    audit = FakeAudit()
    modes = ChannelModes(FakeChannels(), {}, Clock(), audit)
    await modes.set_mode("slack:C1", "questions", "slack:U1")
    await modes.set_mode("slack:C1", "mentions", BOT, "Nobody reads it.")
    assert await audit.acts() == (Act(1000.0, BOT, "slack:C1", "mode mentions", "done: Nobody reads it."),)


async def test_a_mode_that_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match="mentions, off, questions, forum, default"):
        await ChannelModes(FakeChannels(), {}).set_mode("slack:C1", "loud", "slack:U1")


async def test_a_pause_ends_by_itself_and_holds_over_a_restart() -> None:
    store, clock = FakeChannels(), Clock()
    pauses = Pauses(store, clock)
    assert await pauses.of("slack:C1") is None
    begun = await pauses.begin(EVERYWHERE, 30, "slack:U1", "moving")
    assert begun.until == 1000 + 30 * 60
    later = Pauses(store, clock)
    clock.now = begun.until - 1
    assert await later.of("slack:C1") == begun == await later.of("discord:9")
    clock.now = begun.until
    assert await later.of("slack:C1") is None and await later.running() == ()
    assert not await later.end(EVERYWHERE), "it was over"


async def test_a_channel_is_paused_alone() -> None:
    pauses = Pauses(FakeChannels(), Clock())
    here = await pauses.begin("slack:C1", 0, "slack:U1")
    assert await pauses.of("slack:C1") == here and await pauses.of("slack:C2") is None
    everywhere = await pauses.begin(EVERYWHERE, 0, "slack:U1")
    assert await pauses.of("slack:C1") == everywhere
    assert await pauses.running() == (everywhere, here)
    assert await pauses.end(EVERYWHERE)
    assert await pauses.of("slack:C1") == here and await pauses.of("slack:C2") is None
    assert await pauses.end("slack:C1") and not await pauses.end("slack:C1")
