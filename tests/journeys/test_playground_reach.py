"""What can be done over the playground beside Slack: nothing without its token, nothing to Slack's people."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from bot.commands.slash.derived import subcommands_of
from core.domain import Question, Scope, Vote
from tests.journeys.house import Bot, Kettle, house
from tests.platforms.web_client import Client, serving, until

PORT = "Which port does the dashboard listen on?"
PASSWORD = "How do I protect the dashboard with a password?"
SLACK = "slack:U1"
ROOM = Scope("private", "slack:C1")
BEYOND = "nobody can act on people and channels elsewhere"


@asynccontextmanager
async def beside_slack(kettle: Kettle) -> AsyncIterator[tuple[Bot, Client, list[str]]]:
    """Serve the playground of a bot to which somebody on Slack has spoken; yields the ids of its answers."""
    async with house(kettle) as bot:
        answers = []
        for text, channel, scope in ((PORT, "slack:C9", Scope()), (PASSWORD, "slack:C1", ROOM)):
            answer = await bot.app.engine.answer(Question(text, SLACK, channel, scope))
            assert await bot.app.engine.feedback(Vote(answer.id, SLACK, 1))
            answers.append(answer.id)
        settings = kettle.settings(playground=True, slack_bot_token="xoxb-1", slack_app_token="xapp-1")
        given: Any = bot.dispatch
        async with serving(settings, given) as client:
            yield bot, client, answers


async def told(client: Client, person: str, line: str, channel: str = "help") -> str:
    """Give a command and return the answer."""
    status, made = await client.post("/api/commands", person=person, channel=channel, text=line)
    assert status == 202, made
    found: list[str] = []

    async def there() -> bool:
        found[:] = [m["text"] for m in await client.messages(person) if m["id"] == made["id"] and m["final"]]
        return bool(found)

    await until(there)
    return found[0]


async def state_of(bot: Bot) -> dict[str, Any]:
    """Return what is kept of somebody on Slack, and what is set for Slack's channels."""
    held = await bot.app.my_data.of(SLACK)
    held.pop("commands", None)  # that one was refused is written down
    modes = sorted(mode.channel for mode in await bot.app.modes.given())
    scopes = {pair.question: pair.scope for pair in await bot.app.memory.everything()}
    assert {PORT, PASSWORD} <= set(scopes)
    of_slack = {question: scopes[question] for question in (PORT, PASSWORD)}
    return {"held": held, "modes": modes, "scopes": of_slack, "out": bot.app.privacy.is_out(SLACK)}


async def test_without_the_token_no_command_of_an_admin_is_taken(kettle: Kettle) -> None:
    async with beside_slack(kettle) as (bot, client, answers):
        before = await state_of(bot)
        names = [one.name for one in subcommands_of(bot.app)]
        assert {"forget", "pause", "memory retire", "audit", "opt-out"} <= set(names)
        lines = [f"/threadlore {name} {SLACK} confirm" for name in names]
        lines += [f"/threadlore why {answers[0]}", "/ask " + PORT]
        jar = aiohttp.DummyCookieJar()
        async with aiohttp.ClientSession(cookie_jar=jar) as stranger:
            for line in lines:
                body = {"person": "chloe", "channel": "help", "text": line}
                async with stranger.post(f"{client.playground.url}/api/commands", json=body) as response:
                    assert response.status == 401, line
        assert await state_of(bot) == before and await bot.app.audit.acts() == ()


@pytest.mark.parametrize(
    "line",
    [
        f"forget {SLACK}",
        f"forget {SLACK} confirm",
        f"forget --account {SLACK} confirm",
        f"forget --account={SLACK} confirm",
        f"forget --person {SLACK} confirm",
        "forget discord:5 confirm",
        "memory private slack:C1",
        "memory private slack:C9",
        "memory public slack:C1",
        "mode slack:C9 off",
        "mode discord:5 questions",
        "why {public}",
        "why {private}",
    ],
)
async def test_an_admin_of_the_playground_does_nothing_to_people_and_channels_of_slack(
    kettle: Kettle, line: str
) -> None:
    async with beside_slack(kettle) as (bot, client, answers):
        before = await state_of(bot)
        written = line.format(public=answers[0], private=answers[1])
        said = await told(client, "chloe", f"/threadlore {written}")
        assert BEYOND in said and "command line" in said
        assert await state_of(bot) == before
        [act] = await bot.app.audit.acts() if not written.startswith("why") else [None]
        assert act is None or act.outcome == "refused"


@pytest.mark.parametrize("line", ["my-data", "forget me confirm", "forget-me", "opt-out confirm", "opt-in"])
async def test_somebody_of_the_playground_who_is_linked_with_slack_does_nothing_to_themselves_there(
    kettle: Kettle, line: str
) -> None:
    with kettle.config.open("a", encoding="utf-8") as config:
        config.write(f'\n[people]\nada = ["web:ada", "{SLACK}"]\n')
    async with beside_slack(kettle) as (bot, client, _):
        before = await state_of(bot)
        assert BEYOND in await told(client, "ada", f"/threadlore {line}")
        assert await state_of(bot) == before


async def test_what_is_the_playgrounds_own_is_done(kettle: Kettle) -> None:
    async with beside_slack(kettle) as (bot, client, _):
        before = await state_of(bot)
        root = await client.say(PORT, "ada")
        answer = await client.answer(root)
        assert BEYOND not in await told(client, "chloe", f"/threadlore why {answer['answer']}")
        assert "off" in await told(client, "chloe", "/threadlore mode general off")
        assert "with their answers: 1" in await told(client, "chloe", "/threadlore forget web:ada confirm")
        assert "opted out" in await told(client, "ben", "/threadlore opt-out confirm")
        after = await state_of(bot)
        assert after["held"] == before["held"] and after["modes"] == ["web:general"]
