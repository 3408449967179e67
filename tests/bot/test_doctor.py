from __future__ import annotations

import json
import re
import socket
import sqlite3
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from importlib.resources import files
from pathlib import Path

import pytest

from bot.cli.doctor import examination as doctor
from bot.cli.doctor import models as doctor_models
from bot.cli.main import main
from bot.home.control_socket import Control
from bot.home.findings import Finding, clock
from bot.home.home import LOCK, SERVE
from bot.platforms.discord import doctor as discord_doctor
from bot.platforms.discord import setup
from bot.platforms.slack import doctor as slack_doctor
from bot.platforms.web import doctor as web_doctor
from core.models.ollama.client import Ollama
from core.ports import Prompt
from core.settings import Settings, load_settings
from tests.journeys.house import new_kettle
from tests.ollama_server import OllamaServer
from tests.openai_wire import OpenAIServer
from tests.platforms.discord_server import TOKEN, discord_server
from tests.platforms.slack_server import SlackServer

ROOT = Path(__file__).parent.parent.parent
CORPORA = """
[product]
name = "Kettle"
[[release]]
name = "1.0"
latest = true
[channels."slack:C1"]
release = "1.0"
[channels."slack:C404"]
release = "1.0"
[ask]
people = ["slack:U2", "slack:U404", "slack:UROBOT", "discord:42", "discord:43"]
channels = ["slack:C2"]
[channels."discord:200"]
release = "1.0"
[channels."discord:404"]
release = "1.0"
"""


def of(found: list[Finding]) -> dict[str, tuple[str, str]]:
    return {finding.what: (finding.state, finding.said) for finding in found}


def settings(tmp_path: Path, **given) -> Settings:
    return load_settings(None, home=tmp_path / "home", **{"ollama_host": "off", **given})


def slack(server: SlackServer, tmp_path: Path, **given) -> Settings:
    tokens = {"slack_bot_token": server.bot_token, "slack_app_token": server.app_token}
    return settings(tmp_path, **{"slack_api_url": server.url} | tokens | given)


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


async def test_a_slack_that_does_not_answer_is_no_fault_of_the_tokens(tmp_path):
    async with SlackServer() as server:
        server.fail("auth.test", "internal_error", status=503, times=9)
        away = slack(server, tmp_path, slack_api_url="http://127.0.0.1:9/api/")
        found = [*await slack_doctor.examine(slack(server, tmp_path)), *await slack_doctor.examine(away)]
    trouble = [f for f in found if f.state == "bad"]
    assert [f.what for f in trouble] == ["Slack bot token", "Slack bot token", "Slack app token"]
    assert all("check the network" in f.advice and "install" not in f.advice for f in trouble)


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


async def test_that_anybody_can_invite_the_bot_on_discord_is_told_with_what_to_do(tmp_path):
    async with discord_server() as server:
        server.public = True
        given = settings(tmp_path, discord_token=TOKEN, discord_api_url=f"{server.url}/api/v10")
        [told] = [f for f in await discord_doctor.examine(given) if f.what == "Discord invitations"]
    assert told.state == "unsure" and "anybody can invite the bot" in told.said
    assert "Public Bot off" in told.advice and "Public Bot" in setup.INVITE
    assert "**Public Bot**" in (ROOT / "docs" / "setup.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("given", "recommended", "state", "said"),
    [
        ({}, 1, None, ""),
        ({}, 3, "unsure", "it has 1, and Discord recommends 3"),
        ({"discord_shard_count": 2}, 3, "unsure", "it has 2, and Discord recommends 3"),
        ({"discord_shard_count": "auto"}, 3, "good", "3; Discord recommends 3"),
        (
            {"discord_shard_count": 4, "discord_shard_ids": "0-1"},
            3,
            "good",
            "4, here 0, 1; Discord recommends 3",
        ),
        ({"discord_shard_count": 1200}, 1, "unsure", "Discord lets the bot connect 999 times more"),
    ],
)
async def test_the_shards_are_compared_with_what_discord_recommends(
    tmp_path, given, recommended, state, said
):
    async with discord_server() as server:
        server.recommended = recommended
        api = f"{server.url}/api/v10"
        found = of(
            await discord_doctor.examine(
                settings(tmp_path, discord_token=TOKEN, discord_api_url=api, **given)
            )
        )
    if state is None:
        assert "Discord shards" not in found
    else:
        assert found["Discord shards"][0] == state and found["Discord shards"][1].startswith(said)


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


def test_the_manifest_that_init_writes_is_the_documented_one():
    packaged = files("bot.platforms.slack").joinpath("slack-manifest.yaml").read_text(encoding="utf-8")
    documented = (ROOT / "docs/slack-manifest.yaml").read_text(encoding="utf-8")
    assert packaged == documented, "copy docs/slack-manifest.yaml to bot/platforms/slack/"


def test_the_documented_invitation_is_the_doctors():
    steps = (ROOT / "docs" / "setup.md").read_text(encoding="utf-8")
    assert discord_doctor.invitation("YOUR_ID") in steps


async def test_channels_that_the_configuration_names_are_looked_at(tmp_path):
    (tmp_path / "corpora.toml").write_text(CORPORA)
    async with SlackServer() as server:
        given = slack(server, tmp_path, config=tmp_path / "corpora.toml", admin_channels=("slack:G1",))
        server.add_user("UROBOT", is_bot=True)
        found = await slack_doctor.examine(given)
        asked = of(found)
        server.channels["C1"]["members"].discard(server.bot_user)
        outside = of(await slack_doctor.examine(given))
    assert of(found)["Slack channel C1"] == ("good", "the bot is in #c1")
    assert of(found)["Slack channel G1"] == ("good", "the bot is in #g1")
    assert of(found)["Slack channel C404"] == ("bad", "there is none with that id that the bot can see")
    assert outside["Slack channel C1"] == ("bad", "the bot is not in #c1")
    assert asked["Slack channel C2"] == ("bad", "the bot is not in #c2")
    assert asked["Slack person U2"] == ("good", "u2 can be asked for help")
    assert asked["Slack person U404"] == ("bad", "Slack says user_not_found")
    assert asked["Slack person UROBOT"] == ("bad", "they cannot be written to")
    assert "/invite" in next(f.advice for f in found if f.what == "Slack channel C404")


async def test_discords_channels_that_the_configuration_names_are_looked_at(tmp_path):
    (tmp_path / "corpora.toml").write_text(CORPORA)
    async with discord_server() as server:
        address = {"discord_token": TOKEN, "discord_api_url": f"{server.url}/api/v10"}
        found = of(
            await discord_doctor.examine(settings(tmp_path, config=tmp_path / "corpora.toml", **address))
        )
    assert found["Discord channel 200"][0] == "good"
    assert found["Discord person 42"] == ("good", "helper can be asked, if they take direct messages")
    assert found["Discord person 43"] == ("bad", "there is nobody with that id")
    assert found["Discord channel 404"] == ("bad", "there is none with that id that the bot can see")


@pytest.mark.parametrize(
    ("seconds", "state", "said"),
    [(0, "good", "within a minute"), (300, "unsure", "300 s slow"), (-400, "unsure", "400 s fast")],
)
def test_a_clock_that_is_wrong_is_told(seconds, state, said):
    found = clock(format_datetime(datetime.now(UTC) + timedelta(seconds=seconds)), "Slack")
    assert found is not None and found.state == state and said.split()[-1] in found.said
    assert clock("yesterday", "Slack") is None and clock("", "Slack") is None


async def test_the_clock_is_compared_with_slacks_and_discords(tmp_path):
    async with SlackServer() as server:
        assert of(await slack_doctor.examine(slack(server, tmp_path)))["Clock"][0] == "good"
    async with discord_server() as server:
        given = settings(tmp_path, discord_token=TOKEN, discord_api_url=f"{server.url}/api/v10")
        assert of(await discord_doctor.examine(given))["Clock"][0] == "good"


async def test_what_slack_does_not_tell_is_said_so(tmp_path):
    async with SlackServer() as server:
        found = await slack_doctor.examine(slack(server, tmp_path))
    told = next(f for f in found if f.what == "Slack app settings")
    assert "App Home" in told.said and "slash commands" in told.said and "messages tab" in told.advice


async def test_a_model_in_order_is_good_and_one_half_on_the_gpu_is_told(tmp_path):
    async with OllamaServer() as server:
        given = {"ollama_host": server.url, "ollama_model": server.model}
        found = of(await doctor_models.model(settings(tmp_path, **given)))
        assert found["Model"][0] == "good" and server.version in found["Model"][1]
        state, said = found["Context"]
        assert state == "good" and said.startswith("8192 tokens, of which ")
        missing = settings(tmp_path, ollama_host=server.url, ollama_model="nothing:1b")
        (told,) = await doctor_models.model(missing)
        assert told.state == "bad" and "ollama pull nothing:1b" in told.said


async def test_a_model_that_nobody_asked_for_and_is_not_there_is_no_problem(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        unasked = settings(tmp_path, ollama_host=f"http://127.0.0.1:{free.getsockname()[1]}")
    unasked.model_fields_set.discard("ollama_host")
    (told,) = await doctor_models.model(unasked)
    assert told.state == "unsure" and told.said.startswith("none, so answers quote the documentation")
    (told,) = await doctor_models.model(settings(tmp_path, ollama_host="http://127.0.0.1:9"))
    assert told.state == "bad"


async def test_whether_the_server_keeps_to_a_schema_is_told(tmp_path):
    for keeps, state, said in ((True, "good", "keeps"), (False, "unsure", "asked in words")):
        async with OllamaServer(keeps_schema=keeps) as server:
            given = settings(tmp_path, ollama_host=server.url, ollama_model=server.model)
            cold = of(await doctor_models.model(given))["JSON schema"]
            assert cold[0] == "good" and "once the model is loaded" in cold[1] and not server.probes
            writer = Ollama(server.url, server.model)
            _ = [piece async for piece in writer.stream([Prompt("user", "?")], temperature=0, max_tokens=9)]
            await writer.close()
            warm = of(await doctor_models.model(given))["JSON schema"]
            assert warm[0] == state and said in warm[1]


async def test_more_calls_at_once_than_a_server_answers_are_told(tmp_path):
    async with OpenAIServer(kind="llamacpp") as server:
        given = {"ollama_host": "off", "model_server": server.url}
        assert "Calls" not in of(await doctor_models.model(settings(tmp_path, **given)))
        server.slots = 2
        state, said = of(await doctor_models.model(settings(tmp_path, **given)))["Calls"]
        assert state == "unsure" and "sends 4" in said and "answers 2" in said
        fewer = settings(tmp_path, **given, model_parallel=2)
        assert "Calls" not in of(await doctor_models.model(fewer))


async def test_a_context_too_small_for_the_prompts_is_told(tmp_path):
    async with OllamaServer() as server:
        given = {"ollama_host": server.url, "ollama_model": server.model}
        small = await doctor_models.model(settings(tmp_path, ollama_num_ctx=2048, **given))
        tiny = await doctor_models.model(settings(tmp_path, ollama_num_ctx=1024, **given))
    async with OllamaServer(context_length=2048) as server:
        given = {"ollama_host": server.url, "ollama_model": server.model}
        old = await doctor_models.model(settings(tmp_path, **given))
    assert of(small)["Context"][0] == "unsure" and of(tiny)["Context"][0] == "bad"
    assert "set OLLAMA_NUM_CTX=8192" in next(f.advice for f in small if f.what == "Context")
    told = next(f for f in old if f.what == "Context")
    assert "the model was made for less" in told.said and "choose a model" in told.advice


async def test_an_ollama_that_is_away_is_told_with_where_to_get_it(tmp_path):
    (told,) = await doctor_models.model(settings(tmp_path, ollama_host="http://127.0.0.1:9"))
    assert told.state == "bad" and "ollama serve" in told.said and "ollama.com/download" in told.advice


async def test_a_model_of_llama_index_is_asked_for_a_word(tmp_path):
    async with OllamaServer() as server:
        line = f'llama_index.llms.ollama.Ollama(model="{server.model}", base_url="{server.url}")'
        (told,) = await doctor_models.model(settings(tmp_path, llm=line))
        assert told.state == "good" and f"{server.model} by llama-index, with 40960 tokens" in told.said
        (told,) = await doctor_models.model(settings(tmp_path, llm=line.replace("qwen3:8b", "none")))
        assert told.state == "bad" and "none is not there" in told.said and "LLM" in told.said


async def test_what_a_larger_embedder_would_cost_is_told_where_ollama_is(tmp_path, encoder_cache):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "models").symlink_to(encoder_cache)
    async with OllamaServer() as server:
        here = settings(tmp_path, ollama_host=server.url, embedding_device="cpu")
        said = of(await doctor_models.embedder(here))["Larger embedder"][1]
        assert "ollama:nomic-embed-text would cost 274 MB (`ollama pull nomic-embed-text`)" in said
        server.models.append("snowflake-arctic-embed2:latest")
        said = of(await doctor_models.embedder(here))["Larger embedder"][1]
        assert "nothing to download" in said and "try ollama:snowflake-arctic-embed2 GOLD" in said
        server.models.append("nomic-embed-text:latest")
        large = settings(tmp_path, ollama_host=server.url, embedding_model="ollama:nomic-embed-text")
        found = of(await doctor_models.embedder(large))
        assert "Larger embedder" not in found
        assert f"documents are embedded by Ollama at {server.url}" in found["Embedder"][1]
    gone = settings(tmp_path, ollama_host="http://127.0.0.1:9", embedding_device="cpu")
    assert "Larger embedder" not in of(await doctor_models.embedder(gone))


async def test_a_model_of_ollama_that_is_not_pulled_is_told_with_the_command(tmp_path):
    async with OllamaServer() as server:
        here = settings(tmp_path, ollama_host=server.url, embedding_model="ollama:nomic-embed-text")
        (told,) = [finding for finding in await doctor.examine(here) if finding.what == "Embedder"]
    assert told.state == "bad" and "`ollama pull nomic-embed-text`" in told.said


async def test_an_index_of_another_embedder_is_told(tmp_path, encoder_cache):
    kettle = await new_kettle(tmp_path / "kettle", encoder_cache, "2.0")
    found = of(await doctor_models.embedder(kettle.settings()))
    assert found["Embedder"][0] == "good" and "384 dimensions" in found["Embedder"][1]
    assert found["Index"] == ("good", "2.0 were made by that embedder")
    with sqlite3.connect(kettle.home / "threadlore.sqlite3") as connection:
        connection.execute("UPDATE corpora SET encoder = 'other@512'")
    told = next(f for f in await doctor_models.embedder(kettle.settings()) if f.what == "Index")
    assert told.state == "bad" and "other@512" in told.said
    assert "threadlore index --rebuild" in told.advice and "EMBEDDING_MODEL=other" in told.advice


async def test_a_port_that_is_taken_is_told(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        found = await web_doctor.examine(settings(tmp_path, port=taken.getsockname()[1]))
        beside = settings(tmp_path, port=taken.getsockname()[1], discord_token="x")
        (told,) = await web_doctor.examine(beside)
    assert of(found)["Port"][0] == "bad" and "THREADLORE_PORT" in found[0].advice
    assert told.what == "Port" and "the dashboard is served there" in told.said
    assert await web_doctor.examine(settings(tmp_path, port=0)) == []
    assert of(await doctor._platforms(settings(tmp_path)))["Platforms"][0] == "unsure"
    assert await doctor._platforms(settings(tmp_path, discord_token="x")) == []


async def test_a_disk_that_is_full_and_a_home_that_cannot_be_written_are_told(tmp_path):
    assert of(await doctor._home(settings(tmp_path), least_disk=1 << 60))["Disk"][0] == "unsure"
    (tmp_path / "file").touch()
    (told,) = await doctor._home(settings(tmp_path / "file"))
    assert told.state == "bad" and "THREADLORE_HOME" in told.advice


async def test_a_chroma_server_that_is_away_is_told(tmp_path, encoder_cache):
    (tmp_path / "home").mkdir()
    (tmp_path / "home/models").symlink_to(encoder_cache)  # its embedder is not exported for this
    found = await doctor.examine(settings(tmp_path, chroma_url="http://127.0.0.1:9", port=0))
    assert of(found)["Chroma"][0] == "bad" and "chroma run" in of(found)["Chroma"][1]


async def test_everything_is_looked_at_whatever_fails(tmp_path):
    (tmp_path / "broken.toml").write_text("[product\n")
    given = settings(tmp_path, config=tmp_path / "broken.toml", embedding_model="no/such/model")
    found = await doctor.examine(given)
    states = {finding.what: finding.state for finding in found}
    assert states["Home"] == "good" and states["Configuration"] == "bad" and states["Embedder"] == "bad"
    assert not (tmp_path / "home").exists() or not list((tmp_path / "home").glob("*.db"))
    assert doctor.told(found).endswith("2 problems to fix.")


@pytest.mark.parametrize(("state", "end"), [("good", "No problems found."), ("bad", "1 problem to fix.")])
def test_advice_stands_below_what_it_is_for(state, end):
    told = doctor.told([Finding("Disk", state, "1 GB free", "make room")])
    assert told.splitlines()[1:] == ["    → make room", end]


def test_each_thing_is_told_once():
    whole = [Finding("Database", "good", said) for said in ("a file", "is whole", "a file")]
    away = Finding("Bot", "unsure", "it is not running", "start it")
    told = doctor.told([*whole, away, away]).splitlines()
    assert told == [
        "✓ Database: a file; is whole",
        "? Bot: it is not running",
        "    → start it",
        "No problems found.",
    ]


def test_what_others_may_read_is_closed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = settings(tmp_path)
    given.home.mkdir(parents=True)
    (given.home / "threadlore.sqlite3").touch()
    for place in (given.home, given.home / "threadlore.sqlite3"):
        place.chmod(0o755)
    assert doctor.closed(given) == [given.home, given.home / "threadlore.sqlite3"]
    assert doctor.closed(given) == []


@pytest.mark.parametrize(
    "command", ["status", "ask x", "chat", "memory list", "sources", "gaps", "forget --user slack:U1"]
)
def test_to_look_makes_no_home(tmp_path, capsys, command):
    """And nobody is answered for Flask, which is there for `make run` and for whoever names nothing else."""
    with pytest.raises(SystemExit) as ended:
        main([*command.split(), "--home", str(tmp_path / "none")])
    assert ended.value.code == 1 and not (tmp_path / "none").exists()
    assert "threadlore init" in capsys.readouterr().err


async def test_a_problem_of_the_serving_bot_is_told_whole_not_by_its_lines(tmp_path):
    """Its text is for people: a problem may have several lines, and other lines begin with the same mark."""
    problem = "The clock says 1970.\nSet it, then start again."

    async def status(request, send):
        assert request["command"] == "status" and request["json"] is True
        await send({"line": json.dumps({"problems": [problem]})})
        await send({"code": 0})

    given = settings(tmp_path)
    given.home.mkdir(mode=0o700)
    (given.home / LOCK).write_text(json.dumps({"pid": 7, "what": SERVE}), encoding="utf-8")
    control = Control(given.home, status)
    await control.start()
    try:
        found = await dict(doctor.examinations())["Corpora"](given)
    finally:
        await control.stop()
    assert [(finding.state, finding.said) for finding in found] == [
        ("good", "process 7 serves"),
        ("unsure", problem),
    ]
