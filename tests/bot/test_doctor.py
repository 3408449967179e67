from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot import doctor
from bot.findings import Finding
from bot.platforms import discord_doctor, slack_doctor
from core.settings import Settings, load_settings
from tests.ollama_server import OllamaServer
from tests.platforms.discord_server import TOKEN, discord_server
from tests.platforms.slack_server import SlackServer

ROOT = Path(__file__).parent.parent.parent


def of(found: list[Finding]) -> dict[str, tuple[str, str]]:
    return {finding.what: (finding.state, finding.said) for finding in found}


def settings(tmp_path: Path, **given) -> Settings:
    return load_settings(None, home=tmp_path / "home", **{"ollama_host": "off", **given})


def slack(server: SlackServer, tmp_path: Path, **given) -> Settings:
    tokens = {"slack_bot_token": server.bot_token, "slack_app_token": server.app_token}
    return settings(tmp_path, slack_api_url=server.url, **tokens | given)


async def test_a_slack_app_in_order_has_nothing_bad(tmp_path):
    async with SlackServer() as server:
        server.scopes = ",".join(slack_doctor.SCOPES)
        found = of(await slack_doctor.examine(slack(server, tmp_path)))
    assert found["Slack bot token"] == ("good", "threadlore in Fake")
    assert found["Slack app token"] == ("good", "Socket Mode answers")
    assert found["Slack scopes"][0] == "good"
    assert found["Slack channels"] == ("good", "#c1, #g1")
    assert not any(state == "bad" for state, _ in found.values())


async def test_missing_scopes_are_named(tmp_path):
    async with SlackServer() as server:
        server.scopes = ",".join(slack_doctor.SCOPES - {"reactions:read", "im:history"})
        found = of(await slack_doctor.examine(slack(server, tmp_path)))
    assert found["Slack scopes"] == ("bad", "missing: im:history, reactions:read")


async def test_a_bot_that_is_in_no_channel_is_told(tmp_path):
    async with SlackServer() as server:
        server.channels.clear()
        found = of(await slack_doctor.examine(slack(server, tmp_path)))
    assert found["Slack channels"] == ("unsure", "the bot is in none")


async def test_wrong_and_mixed_up_tokens_are_told(tmp_path):
    async with SlackServer() as server:
        mixed = slack(server, tmp_path, slack_bot_token=server.app_token, slack_app_token=server.bot_token)
        found = await slack_doctor.examine(mixed)
        wrong = of(await slack_doctor.examine(slack(server, tmp_path, slack_bot_token="xoxb-wrong")))
    assert [f.said[:32] for f in found if f.what == "Slack token"] == [
        "SLACK_BOT_TOKEN begins with xapp",
        "SLACK_APP_TOKEN begins with xoxb",
    ]
    assert wrong["Slack bot token"] == ("bad", "Slack says invalid_auth")


async def test_half_a_slack_is_told(tmp_path):
    async with SlackServer() as server:
        found = of(await slack_doctor.examine(slack(server, tmp_path, slack_app_token="")))
    assert found["Slack token"] == ("bad", "SLACK_APP_TOKEN is empty")


def test_the_scopes_are_those_of_the_manifest():
    manifest = (ROOT / "docs/slack-manifest.yaml").read_text(encoding="utf-8")
    listed = re.search(r"bot:\n((?:\s+- .*\n)+)", manifest[manifest.index("scopes:") :])
    assert listed is not None
    assert set(re.findall(r"- ([\w:.]+)", listed[1])) == slack_doctor.SCOPES


async def test_a_discord_bot_in_order_is_good(tmp_path):
    async with discord_server() as server:
        server.commands = [{"name": "ask"}, {"name": "threadlore"}]
        given = settings(tmp_path, discord_token=TOKEN, discord_api_url=f"{server.url}/api/v10")
        found = of(await discord_doctor.examine(given))
    assert {state for state, _ in found.values()} == {"good"}
    assert "Discord server Flask" in found


async def test_what_a_discord_bot_lacks_is_told(tmp_path):
    async with discord_server() as server:
        server.flags = 0
        server.guilds[0]["permissions"] = str(1 << 10 | 1 << 11)
        given = settings(tmp_path, discord_token=TOKEN, discord_api_url=f"{server.url}/api/v10")
        found = of(await discord_doctor.examine(given))
        server.guilds.clear()
        alone = await discord_doctor.examine(given)
        given = settings(tmp_path, discord_token="wrong", discord_api_url=f"{server.url}/api/v10")
        refused = of(await discord_doctor.examine(given))
    assert found["Discord intents"] == ("bad", "Message Content Intent is off")
    assert found["Discord commands"] == ("unsure", "not registered yet: /ask, /threadlore")
    said = found["Discord server Flask"][1]
    assert "Read Message History" in said and "View Channels" not in said
    assert refused["Discord token"] == ("bad", "Discord does not accept it")
    advice = next(f.advice for f in alone if f.what == "Discord servers")
    assert discord_doctor.invitation(900) in advice


def test_the_readmes_invitation_is_the_doctors():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert discord_doctor.invitation("YOUR_ID") in readme


async def test_a_model_in_order_is_good_and_one_half_on_the_gpu_is_told(tmp_path):
    async with OllamaServer() as server:
        given = settings(tmp_path, ollama_host=server.url, ollama_model=server.model)
        found = of(await doctor._model(given))
        assert found["Model"][0] == "good" and server.version in found["Model"][1]
        assert found["Context"] == ("good", "8192 tokens")
        small = settings(tmp_path, ollama_host=server.url, ollama_model=server.model, ollama_num_ctx=2048)
        assert of(await doctor._model(small))["Context"][0] == "unsure"
        missing = settings(tmp_path, ollama_host=server.url, ollama_model="nothing:1b")
        (told,) = await doctor._model(missing)
        assert told.state == "bad" and "ollama pull nothing:1b" in told.said


async def test_everything_is_looked_at_whatever_fails(tmp_path):
    (tmp_path / "broken.toml").write_text("[product\n")
    given = settings(tmp_path, config=tmp_path / "broken.toml", embedding_model="no/such/model")
    found = await doctor.examine(given)
    states = {finding.what: finding.state for finding in found}
    assert states["Home"] == "good" and states["Configuration"] == "bad" and states["Embedder"] == "bad"
    assert not (tmp_path / "home").exists() or not list((tmp_path / "home").glob("*.db"))
    assert doctor.told(found).endswith("2 to mend.")


@pytest.mark.parametrize(("state", "end"), [("good", "Nothing to mend."), ("bad", "1 to mend.")])
def test_advice_stands_below_what_it_is_for(state, end):
    told = doctor.told([Finding("Disk", state, "1 GB free", "make room")])
    assert told.splitlines()[1:] == ["    → make room", end]
