"""When the bot is noise in a channel, and what follows."""

from __future__ import annotations

import pytest

from core.catalogue import ChannelSettings
from core.community.overrides import ChannelModes
from core.community.unsolicited import (
    LEAST,
    PATIENCE,
    WINDOW,
    Heard,
    UnsolicitedReplyPolicy,
    at_least,
    counted,
)
from core.domain import MessageRef
from tests.fake_channels import FakeChannels
from tests.fake_noise import FakeNoise

CHANNEL = "slack:C1"


def heard(bad: int = 0, noticed: int = 0, ignored: int = 0, people: int = 3, at: float = 0.0) -> list[Heard]:
    against = [Heard(at, True, frozenset({f"u{n % people}"})) for n in range(bad)]
    return against + [Heard(at, True)] * noticed + [Heard(at)] * ignored


def test_wilsons_lower_end_is_what_it_is_in_tables() -> None:
    assert at_least(0, 0) == at_least(0, 10) == 0.0
    assert at_least(10, 10) == pytest.approx(10 / (10 + 1.645**2), abs=1e-3)
    assert at_least(5, 10) == pytest.approx(0.269, abs=1e-3)


@pytest.mark.parametrize(
    ("answers", "is_noise"),
    [
        (heard(bad=9), False),  # too few to decide
        (heard(bad=5, noticed=5), True),
        (heard(bad=3, noticed=7), False),
        (heard(bad=10, people=1), False),  # one person alone does not silence the bot
        (heard(bad=5, noticed=45), False),
        (heard(bad=16, noticed=34), True),
        (heard(ignored=24), False),
        (heard(ignored=25), True),
        (heard(ignored=48, noticed=2), False),
        (heard(ignored=50), True),
    ],
)
def test_a_few_answers_do_not_decide(answers: list[Heard], is_noise: bool) -> None:
    assert counted(answers, PATIENCE).is_noise is is_noise


def test_an_answer_is_not_ignored_before_a_day_has_passed() -> None:
    young = counted(heard(ignored=50), PATIENCE - 1)
    assert not young.is_noise and young.old == 0 and young.answers == 50
    mixed = counted(heard(bad=5) + heard(noticed=5, at=9.0), PATIENCE)
    assert (mixed.bad, mixed.answers, mixed.old) == (5, 10, 5), "young ones count among the good ones"


class Town:
    """A noise with a clock of its own, and what admins were told."""

    def __init__(self, mode: str = "questions") -> None:
        self.told: list[str] = []
        self.now = 0.0
        self.store = FakeNoise()
        self.modes = ChannelModes(FakeChannels(), {CHANNEL: ChannelSettings(mode=mode)})  # type: ignore[arg-type]
        self.noise = UnsolicitedReplyPolicy(self.store, self.modes, self._tell, lambda: self.now)

    async def _tell(self, text: str) -> None:
        self.told.append(text)

    async def answered(self, count: int) -> list[str]:
        keys = [f"a{self.now + n}" for n in range(count)]
        for key in keys:
            self.now += 1
            await self.noise.answered(key, MessageRef("slack", "C1", key, key))
        return keys

    async def down(self, keys: list[str]) -> None:
        for place, key in enumerate(keys):
            self.store.opinions[key] = {f"u{place % 3}": 0}
            await self.noise.noticed(key)


async def test_a_channel_that_votes_the_bot_down_falls_back_to_mentions_and_admins_hear_why() -> None:
    town = Town()
    keys = await town.answered(LEAST)
    await town.down(keys[:3])
    assert await town.modes.mode(CHANNEL) == "questions" and not town.told
    await town.down(keys[:5])
    assert await town.modes.mode(CHANNEL) == "mentions"
    (given,) = await town.modes.given()
    assert given.by == "bot" and "5 were voted down or deleted" in given.why
    assert len(town.told) == 1 and CHANNEL in town.told[0] and "/threadlore mode questions" in town.told[0]


async def test_a_fresh_count_begins_when_an_admin_sets_the_mode_back() -> None:
    town = Town("forum")
    await town.down(await town.answered(LEAST))
    assert await town.modes.mode(CHANNEL) == "mentions"
    await town.modes.set_mode(CHANNEL, "forum", "slack:U1")
    assert (await town.noise.of(CHANNEL)).answers == 0
    await town.down(await town.answered(LEAST - 1))
    assert await town.modes.mode(CHANNEL) == "forum", "what was counted before is forgotten"


async def test_an_ignored_channel_falls_back_with_the_next_answer() -> None:
    town = Town()
    await town.answered(25)
    town.now += PATIENCE
    assert await town.modes.mode(CHANNEL) == "questions"
    await town.answered(1)
    assert await town.modes.mode(CHANNEL) == "mentions"


async def test_who_is_answered_goes_on_or_deletes_or_takes_the_question_back() -> None:
    town = Town()
    first, second, third = await town.answered(3)
    await town.noise.went_on(f"slack:C1:{first}")
    await town.noise.deleted(second)
    await town.noise.withdrawn(third)
    town.now += PATIENCE
    found = await town.noise.of(CHANNEL)
    assert (found.answers, found.bad, found.old, found.ignored) == (2, 1, 2, 0)


async def test_channels_of_other_modes_are_left_alone() -> None:
    town = Town("mentions")
    await town.down(await town.answered(WINDOW))
    assert not town.told and not await town.modes.given()
