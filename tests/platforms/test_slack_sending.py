"""What the bot says unasked on Slack: to a channel, to a person, and whom it calls."""

import time
from typing import Any

import pytest

from bot.platforms.slack.api import posting
from bot.platforms.slack.api.errors import SlackRefused
from bot.ports.chat import Chat, Control, Reply
from core.domain import MessageRef
from tests.platforms.slack_blocks import SlackError
from tests.platforms.slack_bot import (
    LONG,
    Recorder,
    chat_fixture,  # noqa: F401
    dispatch_fixture,  # noqa: F401
    serving,
    slack_fixture,  # noqa: F401
)
from tests.platforms.slack_server import SlackServer
from tests.platforms.slack_wire import CUT


async def test_to_a_channel_it_is_a_message_of_its_own(chat: Chat, slack: SlackServer) -> None:
    [ref] = await chat.send("C1", Reply("**Help** is wanted.", controls=(Control("up", "👍", "a1"),)))
    message = slack.messages["C1"][ref.message]
    assert ref == MessageRef("slack", "C1", message["ts"], message["ts"]) and "thread_ts" not in message
    assert message["text"] == "*Help* is wanted." and message["blocks"][1]["type"] == "actions"
    [same] = await chat.edit((ref,), Reply("Help came."))
    assert same == ref and slack.messages["C1"][ref.message]["text"] == "Help came."


async def test_to_a_person_it_goes_into_their_direct_channel(chat: Chat, slack: SlackServer) -> None:
    [first] = await chat.send("UHAL", Reply("Can you help?"))
    [second] = await chat.send("UHAL", Reply("And here?"))
    assert first.channel == second.channel == "DUHAL" and first.thread == ""
    assert [m["text"] for m in slack.said("DUHAL")] == ["Can you help?", "And here?"]
    [known] = await chat.send("U1", Reply("Hello."))
    assert known.channel == "D1"
    message = await chat.message(first)
    assert message is not None and message.author.bot and message.text == "Can you help?"


async def test_nobody_is_called_but_whom_the_reply_names(chat: Chat, slack: SlackServer) -> None:
    await chat.send("C1", Reply("<@U2> <!here> look", calls=("UHAL", "S05TEAM")))
    [sent] = slack.called("chat.postMessage")
    called, said = sent["blocks"]
    assert called["text"] == {"type": "mrkdwn", "text": "<@UHAL> <!subteam^S05TEAM>"}
    assert sent["text"].startswith("<@UHAL> <!subteam^S05TEAM> ")
    rest = said["text"] + sent["text"].removeprefix(called["text"]["text"])
    assert "<@" not in rest and "<!" not in rest
    await chat.send("C1", Reply("quiet"))
    assert slack.called("chat.postMessage")[1]["blocks"] == [{"type": "markdown", "text": "quiet"}]


async def test_a_call_keeps_its_words_where_slack_refuses_all_blocks(
    chat: Chat, slack: SlackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = slack.api.content

    def strict(given: dict[str, Any]) -> Any:
        if "words" in str(given.get("blocks")):
            raise SlackError("invalid_blocks")
        return real(given)

    monkeypatch.setattr(slack.api, "content", strict)
    [sent] = await chat.send("C1", Reply("these words", calls=("U2",)))
    message = slack.messages["C1"][sent.message]
    assert message["text"] == "<@U2> these words" and not message["blocks"], (
        "else the blocks are all that shows"
    )


async def test_only_the_first_message_of_a_long_one_calls(chat: Chat, slack: SlackServer) -> None:
    parts = await chat.send("C1", Reply(LONG, calls=("UHAL",)))
    assert len(parts) > 2
    assert ["<@UHAL>" in str(m["blocks"]) for m in slack.said("C1")] == [True] + [False] * (len(parts) - 1)


@pytest.mark.parametrize(
    ("to", "code"),
    [
        ("U404", "user_not_found"),
        ("UROBOT", "cannot_dm_bot"),
        ("C404", "channel_not_found"),
        ("C2", "not_in_channel"),
    ],
)
async def test_who_cannot_be_reached_is_an_error_with_slacks_code(
    to: str, code: str, chat: Chat, slack: SlackServer
) -> None:
    slack.add_user("UROBOT", is_bot=True)
    with pytest.raises(SlackRefused) as refused:
        await chat.send(to, Reply("Can you help?"))
    assert refused.value.code == code


async def test_names(chat: Chat, slack: SlackServer) -> None:
    asked = ("UHAL", "C1", "G1", "U404", "C404")  # a private channel keeps its id
    assert [await chat.name_of(to) for to in asked] == ["uhal", "#c1", "", "", ""], (
        "a private one keeps its id"
    )


async def test_what_another_process_of_a_cluster_changed_is_changed_back(
    chat: Chat, slack: SlackServer, dispatch: Recorder
) -> None:
    set_up = {"cluster": True, "database_url": "postgresql://x", "privacy_key": "5e" * 32}
    [ref] = await chat.send("C1", Reply("first"))
    heard = len(dispatch.messages)
    async with serving(slack, dispatch, **set_up):
        await slack.until(lambda: slack.connections == 2)
        slack.say("U1", "C1", "hello")
        await slack.until(lambda: len(dispatch.messages) > heard)
        one = dispatch.chat
        assert one is not None and one is not chat
        await one.edit((ref,), Reply("second"))
        await chat.edit((ref,), Reply("third"))
        await one.edit((ref,), Reply("second"))
        assert slack.messages["C1"][ref.message]["text"] == "second"


@pytest.mark.parametrize("status", [500, 503, CUT])
async def test_what_may_be_posted_is_looked_for_before_it_is_posted_again(
    status: int, chat: Chat, slack: SlackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posting, "LOOK_SECONDS", (0.05, 0.05, 0.05))
    asked = slack.say("U1", "C1", "hello")
    said = Reply("*Any* time 👍 of <day>: https://a.example/b")
    for where in (MessageRef("slack", "C1", asked, asked), MessageRef("slack", "D1", "")):
        slack.fail("chat.postMessage", "fatal_error", status=status, done=True)
        [posted] = await chat.post(where, said)
        assert [m["ts"] for m in slack.said(where.channel)] == [posted.message]
        [again] = await chat.post(where, said)
        assert again != posted, "what was said before is not taken for it"
        slack.fail("chat.postMessage", "fatal_error", status=status)
        await chat.post(where, said)
        assert len(slack.said(where.channel)) == 3, "what is not there is posted again"


async def test_what_a_new_process_may_have_posted_is_found_among_what_came_since_it_signed_in(
    slack: SlackServer, dispatch: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posting, "LOOK_SECONDS", (0.05, 0.05, 0.05))
    notice = {"bot_id": slack.bot_id}
    slack.store("C1", slack.bot_user, "Good morning.", None, **notice)
    slack.epoch = int(time.time()) + 5
    async with serving(slack, dispatch) as platform:
        slack.fail("chat.postMessage", "fatal_error", status=CUT, done=True)
        [posted] = await platform._chat.send("C1", Reply("Good morning."))
        assert [m["ts"] for m in slack.said("C1")][1:] == [posted.message]


async def test_whether_something_was_posted_stays_in_doubt_where_slack_does_not_show_it(
    chat: Chat, slack: SlackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posting, "LOOK_SECONDS", (0.05, 0.05, 0.05))
    slack.fail("chat.postMessage", "fatal_error", status=CUT, done=True)
    slack.fail("conversations.history", "missing_scope")
    with pytest.raises(SlackRefused) as refused:
        await chat.send("C1", Reply("Good morning."))
    assert refused.value.in_doubt and len(slack.said("C1")) == 1


@pytest.mark.parametrize("place", ["thread", "direct"])
async def test_a_later_part_of_an_answer_is_posted_once(
    place: str, chat: Chat, slack: SlackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posting, "LOOK_SECONDS", (0.05, 0.05, 0.05))
    asked = slack.say("U1", "C1", "hello")
    where = MessageRef("slack", "C1", asked, asked) if place == "thread" else MessageRef("slack", "D1", "")
    parts = await chat.post(where, Reply("Looking it up …", final=False))
    slack.fail("chat.postMessage", "fatal_error", status=CUT, done=True, after=1)
    shown = await chat.edit(parts, Reply(LONG, answer_id="a1"))
    assert [m["ts"] for m in slack.said(where.channel)] == [part.message for part in shown]


@pytest.mark.parametrize("place", ["thread", "channel"])
async def test_what_stands_on_a_later_page_is_found(
    place: str, chat: Chat, slack: SlackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slack gives fewer messages than it is asked for, and of a channel those next to `oldest` first."""
    monkeypatch.setattr(posting, "LOOK_SECONDS", (0.05, 0.05, 0.05))
    slack.page_size = 3
    asked = slack.say("U1", "C1", "hello")
    thread = asked if place == "thread" else ""
    for number in range(7):
        slack.store("C1", "U2", f"meanwhile {number}", thread or None)
    slack.fail("chat.postMessage", "fatal_error", status=CUT, done=True)
    [posted] = await chat.post(MessageRef("slack", "C1", asked if thread else "", thread), Reply("Any time."))
    assert [m["ts"] for m in slack.said("C1")] == [posted.message]
    strays = await chat.own_after(MessageRef("slack", "C1", asked, thread))
    assert [stray.ref.message for stray in strays] == [posted.message]


async def test_an_answer_stands_though_a_message_below_it_may_not_be_deleted(
    chat: Chat, slack: SlackServer
) -> None:
    """A workspace may keep all that was said (`compliance_exports_prevent_deletion`, chat.delete)."""
    where = MessageRef("slack", "C1", slack.store("C1", "U1", "q", None)["ts"], "")
    draft = await chat.post(where, Reply("word " * 1500))
    slack.fail("chat.delete", "compliance_exports_prevent_deletion")
    assert await chat.edit(draft, Reply("The answer.")) == draft[:1]
    assert slack.said("C1")[0]["text"] == "The answer."
