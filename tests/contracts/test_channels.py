"""What every `ChannelStore` and every `AuditStore` does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.ports.about import Act, AuditStore
from core.ports.channels import ChannelStore, ModeSet, Pause
from storage.database.database import Database
from storage.serving.about import SqlAudit
from storage.serving.channels import SqlChannels
from tests.contracts.samples import AWKWARD
from tests.fake_channels import FakeAudit, FakeChannels

GIVEN = ModeSet("slack:C1", "questions", "slack:U1", AWKWARD, 10.5)
PAUSE = Pause("slack:C1", 99.5, "slack:U1", AWKWARD, 10.5)
ACT = Act(10.5, "slack:U1", "slack:C1", f"pause 30 {AWKWARD}", "done")


@pytest.fixture
async def both(place: str | None, tmp_path: Path) -> AsyncIterator[tuple[ChannelStore, AuditStore]]:
    if place is None:
        yield FakeChannels(), FakeAudit()
        return
    database = await Database.open(tmp_path, place)
    yield SqlChannels(database), SqlAudit(database)
    await database.close()


Both = tuple[ChannelStore, AuditStore]


async def test_nothing_is_there_at_first(both: Both) -> None:
    channels, audit = both
    assert await channels.modes() == () == await channels.pauses() == await audit.acts()
    assert not await channels.unset_mode("slack:C1") and not await channels.resume("")
    assert await audit.delete_before(1e12) == 0


async def test_the_last_mode_of_a_channel_counts_until_it_is_taken_back(both: Both) -> None:
    channels, _ = both
    other = replace(GIVEN, channel="discord:1", mode="off")
    for given in (GIVEN, replace(GIVEN, mode="forum", at=20.0), other):
        await channels.set_mode(given)
    assert await channels.modes() == (other, replace(GIVEN, mode="forum", at=20.0))
    assert await channels.unset_mode("slack:C1") and not await channels.unset_mode("slack:C1")
    assert await channels.modes() == (other,)


async def test_the_last_pause_of_a_place_counts_until_it_is_ended(both: Both) -> None:
    channels, _ = both
    everywhere = replace(PAUSE, place="", until=0.0)
    for pause in (PAUSE, everywhere, replace(PAUSE, until=120.0)):
        await channels.pause(pause)
    assert await channels.pauses() == (everywhere, replace(PAUSE, until=120.0))
    assert await channels.resume("") and not await channels.resume("")
    assert await channels.pauses() == (replace(PAUSE, until=120.0),)


async def test_acts_come_latest_first_and_old_ones_are_deleted(both: Both) -> None:
    _, audit = both
    for at, outcome in ((10.5, "first"), (30.0, "third"), (20.0, "second"), (20.0, "of the same time")):
        await audit.note(replace(ACT, at=at, outcome=outcome))
    assert [act.outcome for act in await audit.acts()] == ["third", "of the same time", "second", "first"]
    assert await audit.acts(1) == (replace(ACT, at=30.0, outcome="third"),)
    assert (await audit.acts())[-1] == replace(ACT, outcome="first")
    assert await audit.older(20.0) == await audit.delete_before(20.0) == 1
    assert len(await audit.acts()) == 3
