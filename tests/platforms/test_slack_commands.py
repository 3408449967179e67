import asyncio

import pytest

from bot.platforms.slack.responder import SlackResponder
from bot.platforms.slack.text.mrkdwn import to_mrkdwn
from bot.ports.chat import Command, Reply, Responder
from core.domain import MessageRef, Scope
from tests.platforms.slack_bot import LONG, Recorder, dispatch_fixture, serving, slack_fixture  # noqa: F401
from tests.platforms.slack_server import SlackServer


async def test_a_command_is_answered_to_its_caller_alone(slack: SlackServer) -> None:
    async def answer(command: Command, responder: Responder) -> None:
        await responder.reply(Reply("…", final=False))
        await responder.reply(Reply("**answer** <!here>"))

    dispatch = Recorder(on_command=answer)
    async with serving(slack, dispatch):
        slack.slash("U1", "C2", "/ask", "is 1 &lt; 2 in <https://a.b>?")
        await slack.until(lambda: slack.whispers and "answer" in slack.whispers[0]["text"])
        await slack.settled()
    command = dispatch.commands[0]
    assert (command.name, command.text) == ("ask", "is 1 < 2 in https://a.b?")
    assert command.where == MessageRef("slack", "C2", "") and command.scope == Scope() and command.event
    assert [(w["user"], w["text"]) for w in slack.whispers] == [("U1", f"*answer* {to_mrkdwn('<!here>')}")]
    assert len(slack.acknowledged) == 1 and not slack.said("C2")


@pytest.mark.parametrize(
    ("channel", "scope"),
    [
        ("G1", Scope("private", "slack:G1")),
        ("D1", Scope("direct", "slack:D1")),
        ("GX", Scope("private", "slack:GX")),
    ],
)
async def test_a_command_in_a_channel_that_is_not_public(
    channel: str, scope: Scope, slack: SlackServer, dispatch: Recorder
) -> None:
    slack.add_channel("GX", "group", "U1")
    async with serving(slack, dispatch):
        slack.slash("UADMIN", channel, "/threadlore", "status")
        await slack.until(lambda: dispatch.commands)
    command = dispatch.commands[0]
    assert (command.name, command.scope, command.person.admin) == ("threadlore", scope, True)


async def test_a_command_never_uses_its_url_more_often_than_allowed(slack: SlackServer) -> None:
    async def answer(command: Command, responder: Responder) -> None:
        for number in range(20):
            await responder.reply(Reply(f"part {number}", final=False))
        for number in range(6):
            await responder.reply(Reply(f"end {number}"))

    async with serving(slack, Recorder(on_command=answer)):
        slack.slash("U1", "C1", "/ask", "x")
        await slack.until(lambda: slack.whispers and slack.whispers[-1]["text"] == "end 5")
    assert slack.called("chat.postEphemeral")


async def test_a_long_answer_to_a_command_is_whole(slack: SlackServer) -> None:
    async def answer(command: Command, responder: Responder) -> None:
        await responder.reply(Reply(LONG))

    async with serving(slack, Recorder(on_command=answer)):
        slack.slash("U1", "C1", "/ask", "x")
        await slack.until(lambda: slack.whispers and "Paragraph 39" in slack.whispers[-1]["text"])
    assert sum(w["text"].count("Paragraph") for w in slack.whispers) == 40


async def test_progress_is_one_message_that_changes(slack: SlackServer) -> None:
    async def work(command: Command, responder: Responder) -> None:
        for percent in (0, 50):
            await responder.progress(Reply(f"{percent} %", final=False))
        await responder.progress(Reply("done"))

    async with serving(slack, Recorder(on_command=work)):
        slack.slash("UADMIN", "C1", "/threadlore", "reindex")
        await slack.until(lambda: any(m["text"] == "done" for m in slack.said("C1")))
    assert len(slack.said("C1")) == 1 and not slack.whispers
    assert slack.said("C1")[0].get("thread_ts") is None


async def test_progress_where_the_bot_is_not_a_member_goes_to_the_caller(slack: SlackServer) -> None:
    async def work(command: Command, responder: Responder) -> None:
        for percent in range(10):
            await responder.progress(Reply(f"{percent} %", final=False))
        await responder.progress(Reply("done"))

    async with serving(slack, Recorder(on_command=work)):
        slack.slash("UADMIN", "C2", "/threadlore", "reindex")
        await slack.until(lambda: slack.whispers and slack.whispers[-1]["text"] == "done")
    assert len(slack.whispers) == 1 and not slack.said("C2")
    assert len([c for c in slack.calls if c.error == "not_in_channel"]) == 1


@pytest.mark.parametrize(("seconds", "shown"), [(0.0, ["done"]), (0.3, ["Looking it up …", "done"])])
async def test_a_sign_of_work_is_shown_only_where_it_takes_long(
    slack: SlackServer, monkeypatch: pytest.MonkeyPatch, seconds: float, shown: list[str]
) -> None:
    async def work(command: Command, responder: Responder) -> None:
        await responder.reply(Reply("Looking it up …", final=False))
        await asyncio.sleep(seconds)
        await responder.reply(Reply("done"))

    monkeypatch.setitem(SlackResponder.__init__.__kwdefaults__, "patience", 0.1)
    async with serving(slack, Recorder(on_command=work)):
        slack.slash("U1", "C1", "/ask", "how?")
        await slack.until(lambda: slack.whispers and slack.whispers[-1]["text"] == "done")
    assert [one["text"] for one in slack.whispers] == shown, "Slack takes nothing of a command's away again"


async def test_a_command_works_where_response_urls_do_not_take_blocks(slack: SlackServer) -> None:
    slack.refuses_markdown = True

    async def answer(command: Command, responder: Responder) -> None:
        await responder.reply(Reply("**answer**"))

    async with serving(slack, Recorder(on_command=answer)):
        slack.slash("U1", "C1", "/ask", "x")
        await slack.until(lambda: slack.whispers)
    assert slack.whispers[0]["blocks"][0]["type"] == "section"
