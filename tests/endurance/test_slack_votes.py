"""Votes on Slack: what was acknowledged to Slack is counted, and what was not comes again after a kill."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from typing import Any

from bot.home.home import SOCKET
from tests.journeys.child import on_slack, serving
from tests.journeys.house import Kettle
from tests.journeys.slack_stage import SlackStage
from tests.journeys.stage import answer, until
from tests.platforms.slack_server import SlackServer

QUESTIONS = ("Which port does the dashboard listen on?", "How do I run a job every night?")
PATIENCE = 60.0
"""Seconds; a start takes five on a machine that does nothing else."""
VALUES = {"+1": 1, "-1": 0}


def counted(kettle: Kettle) -> Counter[tuple[str, int]]:
    """Return how many answers each person has voted so on."""
    with sqlite3.connect(f"file:{kettle.home / 'threadlore.sqlite3'}?mode=ro", uri=True) as database:
        rows = database.execute("SELECT voter, value, count(DISTINCT answer_id) FROM votes GROUP BY 1, 2")
        return Counter({(voter, value): count for voter, value, count in rows})


def reactions(envelopes: list[dict[str, Any]]) -> Counter[tuple[str, int]]:
    """Return how many messages each person has reacted so on, in these envelopes."""
    events = [e["payload"].get("event", {}) for e in envelopes]
    votes = {
        (f"slack:{e['user']}", VALUES[e["reaction"]], e["item"]["ts"])
        for e in events
        if e.get("type") == "reaction_added" and e["user"] != "UBOT"
    }
    return Counter((user, value) for user, value, _ in votes)


async def test_no_vote_that_slack_was_told_of_is_lost(kettle: Kettle) -> None:
    async with SlackServer() as slack:
        stage = SlackStage.watching(slack)
        async with serving(kettle, **on_slack(slack)) as child:
            await until(lambda: slack.connected, child.log)
            seen = [await answer(stage, await stage.say("ann", text, to="bot")) for text in QUESTIONS]
            await slack.settled()
            before = len(slack.acknowledged)
            for user in ("U1", "U2", "U3"):
                for one in seen:
                    for name in VALUES:
                        slack.react(user, "C1", one.id, name)
            wanted = reactions(slack.envelopes)
            await until(lambda: len(slack.acknowledged) >= before + random.randint(1, 8))
            await child.kill()
            told = reactions([e for e in slack.envelopes if e["envelope_id"] in slack.acknowledged])
            assert told <= counted(kettle), "acknowledged, not counted"
        (kettle.home / SOCKET).unlink(missing_ok=True)
        async with serving(kettle, **on_slack(slack)):
            await slack.until(lambda: slack.connections > 1, PATIENCE)
            await slack.until(lambda: len(slack.acknowledged) == len(slack.envelopes), PATIENCE)
            assert counted(kettle) == wanted
            assert wanted.total() == len(QUESTIONS) * 3 * len(VALUES)


async def test_a_press_that_was_acknowledged_is_counted_once_though_nobody_looked_at_it(
    kettle: Kettle,
) -> None:
    async with SlackServer() as slack:
        stage, given = SlackStage.watching(slack), on_slack(slack) | {"SLACK_VOTES": "both"}
        async with serving(kettle, **given) as child:
            await until(lambda: slack.connected, child.log)
            seen = await answer(stage, await stage.say("ann", QUESTIONS[0], to="bot"))
            await slack.settled()
            slack.held.add("users.info")  # the press waits for it after it is acknowledged
            slack.press("U2", slack.messages["C1"][seen.id], "up")
            await until(lambda: slack.envelopes[-1]["envelope_id"] in slack.acknowledged)
            await child.kill()
        assert not counted(kettle) and to_do(kettle) == 1
        slack.held.clear()
        for _ in range(2):
            (kettle.home / SOCKET).unlink(missing_ok=True)
            async with serving(kettle, **given) as child:
                await until(lambda: counted(kettle) == {("slack:U2", 1): 1}, child.log)
                await until(lambda: not to_do(kettle), child.log)  # killed before, it is done again
                await child.kill()
        assert rows(kettle) == 1


async def test_reactions_that_nobody_was_told_of_are_counted_after_the_start(kettle: Kettle) -> None:
    async with SlackServer() as slack:
        stage = SlackStage.watching(slack)
        async with serving(kettle, **on_slack(slack)) as child:
            await until(lambda: slack.connected, child.log)
            seen = [await answer(stage, await stage.say("ann", text, to="bot")) for text in QUESTIONS]
            slack.react("U2", "C1", seen[0].id, "+1")
            await until(lambda: counted(kettle) == {("slack:U2", 1): 1}, child.log)
            await slack.settled()
            await child.kill()
        untold, slack.emit = slack.emit, lambda event: None  # type: ignore[method-assign]
        slack.unreact("U2", "C1", seen[0].id, "+1")
        slack.react("U3", "C1", seen[1].id, "-1")
        slack.emit = untold  # type: ignore[method-assign]
        for _ in range(2):
            (kettle.home / SOCKET).unlink(missing_ok=True)
            slack.calls.clear()
            async with serving(kettle, **on_slack(slack)) as child:
                await until(lambda: len(slack.called("reactions.get")) >= len(QUESTIONS), child.log)
                await until(lambda: rows(kettle) == 3, child.log)
                await slack.settled()
                await child.kill()
        assert rows(kettle) == 3 and counted(kettle)[("slack:U3", 0)] == 1


def to_do(kettle: Kettle) -> int:
    """Return how many presses are noted and not done with."""
    with sqlite3.connect(f"file:{kettle.home / 'threadlore.sqlite3'}?mode=ro", uri=True) as database:
        left = "SELECT count(*) FROM claims WHERE kind = 'press' AND answer_id IS NULL"
        return int(database.execute(left).fetchone()[0])


def rows(kettle: Kettle) -> int:
    """Return how many events of votes are written down."""
    with sqlite3.connect(f"file:{kettle.home / 'threadlore.sqlite3'}?mode=ro", uri=True) as database:
        return int(database.execute("SELECT count(*) FROM votes").fetchone()[0])
