"""Notices to admins: said once, tried again, never lost silently."""

from __future__ import annotations

import pytest

from bot.operations.notices import AGAIN_SECONDS, GIVE_UP_SECONDS, Notices
from bot.ports.chat import Reply
from core.domain import MessageRef
from core.errors import PlatformError
from tests.fake_noise import FakeNotices


class Wall:
    """A chat of which only `send` is needed; it fails while it is `down`."""

    def __init__(self, name: str) -> None:
        self.name, self.down = name, False
        self.said: list[tuple[str, str]] = []

    async def send(self, to: str, reply: Reply) -> tuple[MessageRef, ...]:
        if self.down:
            raise PlatformError("the platform is away")
        self.said.append((to, reply.markdown))
        return ()


class Office:
    """Notices to two channels, with a clock of their own."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.walls = {"slack": Wall("slack"), "discord": Wall("discord")}
        self.store = FakeNotices()
        self.notices = self.open()

    def open(self) -> Notices:
        return Notices(self.store, ("slack:C1", "discord:7"), self.walls.get, lambda: self.now)  # type: ignore[arg-type]

    @property
    def said(self) -> list[tuple[str, str]]:
        return [said for wall in self.walls.values() for said in wall.said]


@pytest.fixture
def office() -> Office:
    return Office()


async def test_a_notice_goes_to_every_channel_once_a_day(office: Office) -> None:
    await office.notices.tell_admins("The disk is nearly full.")
    await office.open().tell_admins("The disk is nearly full.")
    assert office.said == [("C1", "The disk is nearly full."), ("7", "The disk is nearly full.")]
    office.now += AGAIN_SECONDS
    await office.notices.tell_admins("The disk is nearly full.")
    assert len(office.said) == 4


async def test_notices_of_one_key_are_the_same(office: Office) -> None:
    await office.notices.tell_admins("away for 10 minutes", "model away")
    await office.notices.tell_admins("away for 11 minutes", "model away")
    assert [text for _, text in office.said] == ["away for 10 minutes"] * 2


async def test_what_fails_is_tried_again_where_it_failed(office: Office) -> None:
    office.walls["discord"].down = True
    await office.notices.tell_admins("Something.")
    assert office.said == [("C1", "Something.")]
    await office.notices.tell_admins("Something.")
    assert office.said == [("C1", "Something.")], "the retry is the clock's"
    office.walls["discord"].down = False
    await office.open().retry()
    await office.notices.retry()
    assert office.said == [("C1", "Something."), ("7", "Something.")]


async def test_what_cannot_be_said_for_a_day_is_logged_and_given_up(
    office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    office.walls["slack"].down = True
    await office.notices.tell_admins("Something.")
    office.now += GIVE_UP_SECONDS
    await office.notices.retry()
    assert "a message to slack:C1 could not be sent for a day: Something." in caplog.text
    assert await office.store.untold() == ()


async def test_a_platform_that_is_not_connected_is_tried_later(office: Office) -> None:
    wall = office.walls.pop("slack")
    await office.notices.tell_admins("Something.")
    office.walls["slack"] = wall
    await office.notices.retry()
    assert wall.said == [("C1", "Something.")]


async def test_without_a_channel_a_notice_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    notices = Notices(FakeNotices(), (), {}.get)
    await notices.tell_admins("The disk is nearly full.")
    assert "The disk is nearly full." in caplog.text and not notices.has_channels


async def test_what_was_said_while_the_clock_was_ahead_is_said_again(office: Office) -> None:
    office.now += 400 * AGAIN_SECONDS
    await office.notices.tell_admins("The disk is nearly full.")
    await office.notices.tell_admins("docs fails", "docs", since=office.now)
    office.now -= 400 * AGAIN_SECONDS
    for _ in range(2):
        await office.notices.tell_admins("The disk is nearly full.")
        await office.notices.tell_admins("docs fails", "docs", since=office.now)
    assert len(office.said) == 8, "each of two, before and after, in two channels"
    office.now += 10
    for _ in range(2):
        await office.notices.tell_over("docs works again", "docs")
    assert len(office.said) == 10
