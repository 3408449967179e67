"""The scenarios that are no journey tests already, each on one platform; `make scenarios` plays all."""

from __future__ import annotations

import pytest

from tests.journeys.house import Bot, Kettle
from tests.scenarios.__main__ import table
from tests.scenarios.asking import answer_this
from tests.scenarios.scenario import PLATFORMS, Outcome, Scenario, outcome, play
from tests.scenarios.script import SCENARIOS

OWN = [scenario for scenario in SCENARIOS if not scenario.of_journeys]


@pytest.mark.parametrize(
    ("scenario", "platform"),
    [
        pytest.param(scenario, PLATFORMS[number % len(PLATFORMS)], id=scenario.name.replace(" ", "-"))
        for number, scenario in enumerate(OWN)
    ],
)
async def test_a_scenario_goes_as_expected(scenario: Scenario, platform: str, kettle: Kettle) -> None:
    await play(scenario, platform, kettle)


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_answer_this_is_there_on_every_platform(platform: str, bot: Bot) -> None:
    await answer_this(platform, bot)


def test_there_are_scenarios_enough_and_each_has_a_name_of_its_own() -> None:
    assert len(SCENARIOS) >= 40
    assert len({scenario.name for scenario in SCENARIOS}) == len(SCENARIOS)


async def test_the_table_tells_what_failed_and_where(kettle: Kettle) -> None:
    async def fails(platform: str) -> None:
        assert platform != "web", "not there"

    scenario = Scenario(SCENARIOS[0].name, "", fails)
    outcomes = [
        await outcome(scenario, platform, kettle, kettle.folder.with_name(platform)) for platform in PLATFORMS
    ]
    assert [done.problem == "" for done in outcomes] == [True, True, False]
    shown = table([SCENARIOS[0]], PLATFORMS, outcomes)
    assert shown.count("✓") == 2 and shown.endswith("2 passed, 1 failed")
    assert "web: mention" in shown and "not there" in shown and "test_scenarios.py" in shown
    lost = [Outcome(SCENARIOS[0].name, "slack", 1.0)]
    assert table([SCENARIOS[0]], ["slack"], lost).endswith("1 passed, 0 failed")
