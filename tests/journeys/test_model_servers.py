"""The whole bot on servers that speak OpenAI's protocol, and on several servers at once."""

from __future__ import annotations

import asyncio
import json

import pytest

from bot.cli.doctor import models as doctor_models
from bot.commands.admin.servers import COMMAND
from bot.commands.command import Given
from bot.commands.command_line import status_of
from bot.operations.audit import Audit
from bot.rendering.status import status_text
from core.domain import Question, Turn
from core.errors import UsageError
from core.ports.about import BOT
from tests.journeys.child import on_slack, run, serving
from tests.journeys.fake_stage import FakeStage
from tests.journeys.house import Kettle, house
from tests.journeys.kettle import PORTS
from tests.journeys.stage import ask
from tests.ollama_server import OllamaServer
from tests.openai_wire import Behaviour, OpenAIServer
from tests.platforms.slack_server import SlackServer

PORT = "Which port does the dashboard listen on?"
NOBODY = "http://127.0.0.1:9/v1"


async def test_an_answer_is_written_with_citations_over_openais_wire(kettle: Kettle) -> None:
    async with OpenAIServer(key="s3cret") as server:
        server.thinks = "They want a number."
        given = {"model_server": server.url, "model_name": server.model, "model_key": "s3cret"}
        async with house(kettle, **given) as bot:
            seen = await ask(FakeStage(bot), PORT)
            assert PORTS["2.0"] in seen.text and "written from the documentation" in seen.text
            assert "Sources" in seen.text and "They want" not in seen.text
            asked = server.chats[-1].prompt
            assert PORTS["2.0"] in asked and PORTS["1.0"] not in asked, "the release is kept to"
            told = await status_of(bot.app)
            assert told["model"]["name"] == server.model and told["model"]["ready"]
            assert server.model in status_text(told)
        assert not server.refused, "all that was sent is as documented"


async def test_what_a_follow_up_means_is_asked_by_a_schema(kettle: Kettle) -> None:
    history = (Turn("user", PORT), Turn("assistant", "It listens on port 9090. [1]"))
    async with OpenAIServer() as server, house(kettle, model_server=server.url) as bot:
        answer = await bot.app.engine.answer(Question("and how is it protected?", history=history))
        assert answer.route == "documents" and answer.citations
        assert "response_format" in server.chats[0].body and "response_format" not in server.chats[-1].body
        assert not server.refused


@pytest.mark.parametrize("kind", ["cut", "error_event", "busy", "too_long", "crashed", "empty", "garbage"])
async def test_a_server_that_fails_leaves_a_whole_answer_that_quotes(kind: str, kettle: Kettle) -> None:
    async with OpenAIServer() as server, house(kettle, model_server=server.url) as bot:
        server.always = Behaviour(kind, after=3)  # type: ignore[arg-type]
        text = (await ask(FakeStage(bot), PORT)).text
        assert PORTS["2.0"] in text and "quote" in text and "Sources" in text


async def test_one_of_two_servers_dies_and_nobody_notices(kettle: Kettle) -> None:
    async with (
        OpenAIServer() as one,
        OpenAIServer() as two,
        house(kettle, model_server=f"{one.url}, {two.url}", model_parallel=2) as bot,
    ):
        asked = [Question(f"{PORT[:-1]} in {release}?", f"web:{release}") for release in PORTS]
        for answer in await asyncio.gather(*map(bot.app.engine.answer, asked)):
            assert answer.route == "documents"
        assert one.calls and two.calls
        await one.stop()
        stage = FakeStage(bot)
        for release in PORTS:
            seen = await ask(stage, f"How do I run a job every night in {release}?")
            assert "written from the documentation" in seen.text
        told = status_text(await status_of(bot.app))
        assert f"- {one.url}: paused after an error" in told and f"- {two.url}: serves" in told
        assert "⚠" not in told.partition("Model:")[2], "answers are written as before"


async def test_ollama_may_have_several_addresses(kettle: Kettle) -> None:
    async with (
        OllamaServer() as one,
        OllamaServer() as two,
        house(kettle, ollama_host=f"{one.url},{two.url}") as bot,
    ):
        one.script("crashed")
        stage = FakeStage(bot)
        for release in PORTS:
            await ask(stage, f"How do I run a job every night in {release}?")
        assert one.calls and two.calls
        assert (await status_of(bot.app))["model"]["ready"]


async def test_servers_are_added_and_drained_while_the_bot_serves(kettle: Kettle) -> None:
    async with OpenAIServer() as one, OpenAIServer() as two, house(kettle, model_server=one.url) as bot:
        shown = await COMMAND.run(bot.app, Given({"add": [two.url]}))
        assert COMMAND.text(shown) == [f"- {one.url}: serves", f"- {two.url}: serves"]
        shown = await COMMAND.run(bot.app, Given({"drain": [one.url]}))
        assert COMMAND.text(shown) == [f"- {two.url}: serves"]
        await one.stop()
        seen = await ask(FakeStage(bot), PORT)
        assert "written from the documentation" in seen.text and two.calls and not one.calls
        with pytest.raises(UsageError, match="the only model server"):
            await COMMAND.run(bot.app, Given({"drain": [two.url]}))


async def test_the_command_line_adds_and_drains_on_the_serving_process(kettle: Kettle) -> None:
    async with OpenAIServer() as one, OpenAIServer() as two, SlackServer() as slack:
        named = {**on_slack(slack), "MODEL_SERVER": one.url}
        async with serving(kettle, **named) as child:
            done = await run(kettle, "servers", "--add", two.url, "--drain", one.url, **named)
            assert (done.code, done.out.strip()) == (0, f"- {two.url}: serves"), done.err + child.log
            shown = await run(kettle, "servers", "--json", **named)
            assert [server["address"] for server in json.loads(shown.out)] == [two.url]
            refused = await run(kettle, "servers", "--drain", two.url, **named)
            assert refused.code == 2 and "the only model server" in refused.err
            told = (await run(kettle, "audit", **named)).out
            assert f"servers --add {two.url} --drain {one.url}" in told
            assert await child.stop() == 0 and "Traceback" not in child.log


async def test_what_was_added_is_written_down_without_its_login(kettle: Kettle) -> None:
    given = Given({"add": ["http://ada:pw@gpu:8000/v1"], "drain": ["http://old:8000"]})
    assert COMMAND.line(Given({})) == ""
    async with house(kettle) as bot:
        await Audit(bot.app.audit).note(BOT, "", COMMAND.line(given))
        (written, *_) = await bot.app.audit.acts(1)
        assert written.what == "servers --add http://gpu:8000/v1 --drain http://old:8000"
        with pytest.raises(UsageError, match="set OLLAMA_HOST or MODEL_SERVER"):
            await COMMAND.run(bot.app, Given({}))


async def test_the_doctor_names_each_server(kettle: Kettle) -> None:
    async with OpenAIServer() as server:
        found = await doctor_models.model(
            kettle.settings(model_server=f"{server.url.replace('//', '//ada:pw@')},{NOBODY}")
        )
        told = [(finding.state, finding.what, finding.said) for finding in found]
        assert told[0] == ("good", "Model", f"{server.model} by vllm 0.15.0 at {server.url}")
        assert [what for _, what, _ in told] == [
            "Model",
            f"Context ({server.url})",
            f"JSON schema ({server.url})",
            "Model",
        ]
        assert "pw" not in str(told), "a login is not shown"
        assert told[-1][0] == "bad" and "127.0.0.1:9" in told[-1][2] and "MODEL_SERVER" in told[-1][2]
        assert "the other servers answer" in found[-1].advice
        (alone,) = await doctor_models.model(kettle.settings(model_server=NOBODY))
        assert alone.state == "bad" and alone.advice == "until then answers quote the pages"
