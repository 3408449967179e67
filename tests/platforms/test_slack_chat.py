import asyncio

import pytest

from bot.platforms.slack.text.format import SECTION, TEXT_BYTES, sections
from bot.ports.chat import Chat, Control, Message, Reply
from core.domain import MessageRef, Turn
from core.errors import MessageGone, PlatformError
from tests.patience import SOON
from tests.platforms.slack_bot import LONG, Recorder, chat_fixture, dispatch_fixture, serving, slack_fixture  # noqa: F401
from tests.platforms.slack_server import SlackServer

# --- posting ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("channel", "in_thread", "expected"),
    [
        ("C1", False, "own"),
        ("C1", True, "root"),
        ("D1", False, None),
        ("D1", True, "root"),
        ("G1", False, "own"),
    ],
)
async def test_a_reply_stands_in_the_thread_of_the_question(
    channel: str, in_thread: bool, expected: str | None, slack: SlackServer
) -> None:
    posted: list[MessageRef] = []

    async def answer(chat: Chat, message: Message) -> None:
        if message.text == "question":
            posted.extend(await chat.post(message.ref, Reply("**answer**")))

    async with serving(slack, Recorder(on_message=answer)):
        root = slack.say("U1", channel, "earlier")
        ts = slack.say("U1", channel, "question", thread=root if in_thread else None)
        message = (await slack.until(lambda: slack.said(channel)))[0]
        await slack.until(lambda: posted)
    thread = {"own": ts, "root": root, None: None}[expected]
    assert message.get("thread_ts") == thread
    assert posted == [MessageRef("slack", channel, message["ts"], thread or "")]
    sent = slack.called("chat.postMessage")[0]
    assert message["text"] == "*answer*"
    assert message["blocks"] == [{"type": "markdown", "text": "**answer**"}]
    assert sent["unfurl_links"] is False and sent["unfurl_media"] is False


async def test_a_place_known_by_channel_and_message_only(chat: Chat, slack: SlackServer) -> None:
    root = slack.say("U1", "C1", "old")
    direct = slack.say("U1", "D1", "old")
    assert (await chat.post(MessageRef("slack", "C1", root), Reply("a")))[0].thread == root
    assert (await chat.post(MessageRef("slack", "D1", direct), Reply("a")))[0].thread == ""
    top = (await chat.post(MessageRef("slack", "C1", ""), Reply("a")))[0]
    assert top.thread == top.message


async def test_an_answer_cannot_ping_anybody(chat: Chat, slack: SlackServer, dispatch: Recorder) -> None:
    evil = "<!here> <!channel> <@U2> @channel `<@U2>`\n```\n<!everyone>\n```\n[<@U2>](https://a.b)"
    parts = await chat.post(dispatch.messages[0].ref, Reply(evil))
    await chat.edit(parts, Reply(evil + " again"))
    for call in slack.called("chat.postMessage") + slack.called("chat.update"):
        for text in (call["text"], call["blocks"][0]["text"]):
            assert not any(ping in text for ping in ("<!", "<@", "@channel", "@here"))
    update = slack.called("chat.update")[0]
    assert update["parse"] == "none"


async def test_long_answers_become_several_messages_that_can_be_updated(
    chat: Chat, slack: SlackServer, dispatch: Recorder
) -> None:
    root = dispatch.messages[0].ref
    parts = await chat.post(root, Reply(LONG))
    said = slack.said("C1")
    assert len(parts) == len(said) > 2
    assert [p.message for p in parts] == [m["ts"] for m in said]
    assert {m["thread_ts"] for m in said} == {root.message}
    assert all(len(m["text"].encode()) <= TEXT_BYTES for m in said)
    assert "Paragraph 39" in said[-1]["text"]
    shorter = await chat.edit(parts, Reply("short"))
    assert shorter == parts[:1]
    assert [m["text"] for m in slack.said("C1")] == ["short"]
    longer = await chat.edit(shorter, Reply(LONG))
    assert longer[0] == parts[0] and len(longer) == len(parts)


async def test_what_is_still_too_long_is_cut_smaller(
    chat: Chat, slack: SlackServer, dispatch: Recorder
) -> None:
    slack.streaming.there = False
    slack.update_bytes = 1_000
    parts = await chat.post(dispatch.messages[0].ref, Reply("…", final=False))
    text = "\n\n".join("word " * 50 for _ in range(8))
    parts = await chat.edit(parts, Reply(text))
    assert len(parts) > 1
    assert sum(m["text"].count("word") for m in slack.said("C1")) == 400
    slack.fail("chat.postMessage", "msg_too_long")
    again = await chat.post(dispatch.messages[0].ref, Reply(text))
    assert len(again) > 1


async def test_a_server_without_the_markdown_block_gets_sections(
    chat: Chat, slack: SlackServer, dispatch: Recorder
) -> None:
    slack.refuses_markdown = True
    where = dispatch.messages[0].ref
    parts = await chat.post(where, Reply("**bold** " + "x" * 3_200))
    await chat.edit(parts, Reply("**other**"))
    message = slack.said("C1")[0]
    assert message["blocks"] == [{"type": "section", "text": {"type": "mrkdwn", "text": "*other*"}}]
    assert len([c for c in slack.calls if c.error == "invalid_blocks"]) == 1
    assert all(len(b["text"]["text"]) <= 3_000 for b in slack.called("chat.postMessage")[0]["blocks"])


def test_a_table_that_becomes_wider_than_a_section_loses_no_word() -> None:
    rows = "\n".join(f"| word{n} | end{n} |" for n in range(30))
    texts = sections(f"| {'x' * 200} | two |\n|---|---|\n{rows}\n\nlast words")
    assert all(len(text) <= SECTION for text in texts)
    said = "\n".join(texts)
    assert "last words" in said and all(said.count(f"end{n}\n") == 1 for n in range(30))


async def test_one_text_that_the_markdown_block_refuses_is_no_reason_to_do_without_it(
    chat: Chat, slack: SlackServer, dispatch: Recorder
) -> None:
    slack.fail("chat.postMessage", "only_one_table_allowed")
    where = dispatch.messages[0].ref
    for text in ("**two tables**", "**one**"):
        await chat.post(where, Reply(text))
    assert [m["blocks"][0]["type"] for m in slack.said("C1")] == ["section", "markdown"]


async def test_a_server_that_refuses_all_blocks_gets_text(
    chat: Chat, slack: SlackServer, dispatch: Recorder
) -> None:
    slack.fail("chat.postMessage", "invalid_blocks", times=2)
    await chat.post(dispatch.messages[0].ref, Reply("**plain**"))
    assert [(m["text"], m["blocks"]) for m in slack.said("C1")] == [("*plain*", [])]


async def test_rate_limits_are_waited_out(chat: Chat, slack: SlackServer, dispatch: Recorder) -> None:
    slack.fail("chat.postMessage", "ratelimited", status=429, retry_after=0)
    slack.fail("reactions.add", "ratelimited", status=429, retry_after=0)
    parts = await chat.post(dispatch.messages[0].ref, Reply("late"))
    await chat.seed_votes(parts[0])
    assert [m["text"] for m in slack.said("C1")] == ["late"]
    assert set(slack.reactions("C1", parts[0].message)) == {"+1", "-1"}


async def test_a_server_error_is_tried_again(chat: Chat, slack: SlackServer, dispatch: Recorder) -> None:
    slack.fail("chat.postMessage", "fatal_error", status=503)
    await chat.post(dispatch.messages[0].ref, Reply("late"))
    assert [m["text"] for m in slack.said("C1")] == ["late"]


async def test_what_slack_refuses_is_a_platform_error_and_leaves_nothing_behind(
    chat: Chat, slack: SlackServer
) -> None:
    with pytest.raises(PlatformError, match="not_in_channel"):
        await chat.post(MessageRef("slack", "C2", ""), Reply("hi"))
    root = slack.say("U1", "C1", "root")
    slack.fail("chat.postMessage", "is_archived", after=2)
    with pytest.raises(PlatformError, match="is_archived"):
        await chat.post(MessageRef("slack", "C1", root, root), Reply(LONG))
    assert slack.said("C1") == []


async def test_an_answer_that_could_not_be_said_whole_leaves_nothing_that_would_be_said_twice(
    chat: Chat, slack: SlackServer
) -> None:
    where = MessageRef("slack", "C1", slack.store("C1", "U1", "q", None)["ts"], "")
    parts = await chat.post(where, Reply("Looking it up …", final=False))
    slack.fail("chat.postMessage", "restricted_action", after=1)
    with pytest.raises(PlatformError, match="restricted_action"):
        await chat.edit(parts, Reply(LONG))
    assert [m["ts"] for m in slack.said("C1", where.message)] == [parts[0].message]


@pytest.mark.parametrize(
    "code", ["edit_window_closed", "cant_update_message", "block_mismatch", "team_not_found"]
)
async def test_an_answer_is_posted_anew_where_a_workspace_lets_nothing_be_changed(
    code: str, chat: Chat, slack: SlackServer
) -> None:
    where = MessageRef("slack", "C1", slack.store("C1", "U1", "q", None)["ts"], "")
    slack.streaming.there = False
    parts = await chat.post(where, Reply("Looking it up …", final=False))
    slack.fail("chat.update", code, times=99)
    assert await chat.edit(parts, Reply("half of it …", final=False)) == parts
    said = await chat.edit(parts, Reply("the whole of it"))
    assert [m["text"] for m in slack.said("C1", where.message)] == ["the whole of it"] and said != parts


@pytest.mark.parametrize("streams", [True, False])
async def test_where_a_channel_has_no_threads_the_answer_stands_in_the_channel(
    streams: bool, chat: Chat, slack: SlackServer
) -> None:
    """Admins choose who may post, and whether there are threads (`restricted_action_…`, chat.postMessage)."""
    slack.streaming.there = streams
    slack.channels["C1"]["posting"] = "non_threadable"
    where = MessageRef("slack", "C1", slack.store("C1", "U1", "q", None)["ts"], "")
    parts = await chat.post(where, Reply("Looking it up …", final=False))
    shown = await chat.edit(parts, Reply(LONG))
    said = slack.said("C1")
    assert [m["ts"] for m in said] == [part.message for part in shown] and len(said) > 1
    assert not any("thread_ts" in message for message in said)


async def test_too_many_blocks_are_too_long_a_message(chat: Chat, slack: SlackServer) -> None:
    where = MessageRef("slack", "C1", slack.store("C1", "U1", "q", None)["ts"], "")
    slack.fail("chat.postMessage", "msg_blocks_too_many")
    assert len(await chat.post(where, Reply("\n\n".join(["word " * 300] * 2)))) > 1


@pytest.mark.parametrize("final", [True, False])
@pytest.mark.parametrize("gone", [0, 1])
async def test_a_reply_of_which_a_message_was_deleted_is_said_to_be_gone(
    gone: int, final: bool, chat: Chat, slack: SlackServer, dispatch: Recorder
) -> None:
    parts = await chat.post(dispatch.messages[0].ref, Reply(LONG))
    slack.delete("C1", parts[gone].message)
    with pytest.raises(MessageGone, match="message_not_found"):
        await chat.edit(parts, Reply(LONG.replace("says", "tells"), final=final))


async def test_nothing_is_said_in_a_thread_whose_first_message_was_deleted(
    chat: Chat, slack: SlackServer, dispatch: Recorder
) -> None:
    slack.delete("C1", dispatch.messages[0].ref.message)
    with pytest.raises(MessageGone, match="thread_not_found"):
        await chat.post(dispatch.messages[0].ref, Reply("An answer."))


@pytest.mark.parametrize("votes", ["buttons", "reactions"])
async def test_there_is_one_row_of_votes(votes: str, slack: SlackServer, dispatch: Recorder) -> None:
    given = tuple(Control(name, name, "a1") for name in ("up", "down", "why"))
    async with serving(slack, dispatch, slack_votes=votes):
        slack.say("U1", "C1", "<@UBOT> q")
        await slack.until(lambda: dispatch.messages)
        chat = dispatch.chat
        [part] = await chat.post(dispatch.messages[0].ref, Reply("x", controls=given))
        await chat.seed_votes(part)
    shown = [e["action_id"] for e in slack.said("C1")[-1]["blocks"][-1]["elements"]]
    assert (shown == ["why"]) == (votes == "reactions") and len(shown) in (1, 3)
    assert bool(slack.reactions("C1", part.message)) == (votes == "reactions")


async def test_deleting_and_seeding_twice_is_fine(chat: Chat, slack: SlackServer, dispatch: Recorder) -> None:
    parts = await chat.post(dispatch.messages[0].ref, Reply("x"))
    await chat.seed_votes(parts[0])
    await chat.seed_votes(parts[0])
    assert slack.reactions("C1", parts[0].message) == {"+1": ["UBOT"], "-1": ["UBOT"]}
    await chat.delete(parts)
    await chat.delete(parts)
    await chat.seed_votes(parts[0])
    assert slack.said("C1") == []


async def test_growing_replies_are_throttled_and_the_last_one_arrives(
    chat: Chat, slack: SlackServer, dispatch: Recorder
) -> None:
    slack.streaming.there = False
    parts = await chat.post(dispatch.messages[0].ref, Reply("…", final=False))
    for number in range(30):
        parts = await chat.edit(parts, Reply("word " * number, final=False))
    parts = await chat.edit(parts, Reply("all of it"))
    assert len(slack.called("chat.update")) <= 2
    assert [m["text"] for m in slack.said("C1")] == ["all of it"]


async def test_an_edit_in_progress_does_not_overtake_the_last_one(
    chat: Chat, slack: SlackServer, dispatch: Recorder
) -> None:
    slack.streaming.there = False
    parts = await chat.post(dispatch.messages[0].ref, Reply("…", final=False))
    await asyncio.gather(
        *(chat.edit(parts, Reply(f"part {n}", final=False)) for n in range(5)), chat.edit(parts, Reply("end"))
    )
    assert [m["text"] for m in slack.said("C1")] == ["end"]


async def test_a_rate_limit_on_a_growing_reply_is_not_waited_for(
    chat: Chat, slack: SlackServer, dispatch: Recorder
) -> None:
    slack.streaming.there = False
    parts = await chat.post(dispatch.messages[0].ref, Reply("…", final=False))
    slack.fail("chat.update", "ratelimited", status=429, retry_after=30)
    async with asyncio.timeout(SOON):
        assert await chat.edit(parts, Reply("some", final=False)) == parts
        assert await chat.edit(parts, Reply("more", final=False)) == parts
        await chat.edit(parts, Reply("all"))
    assert [c.error for c in slack.calls if c.method == "chat.update"] == ["ratelimited", ""]


async def test_an_edit_that_changes_nothing_is_not_sent(
    chat: Chat, slack: SlackServer, dispatch: Recorder
) -> None:
    parts = await chat.post(dispatch.messages[0].ref, Reply("same"))
    await chat.edit(parts, Reply("same"))
    assert not slack.called("chat.update")


# --- history ----------------------------------------------------------------------------------


async def test_the_thread_before_a_message_is_history(chat: Chat, slack: SlackServer) -> None:
    slack.page_size = 2
    root = slack.say("U1", "C1", "<@UBOT> how &amp; why?")
    ref = MessageRef("slack", "C1", root, root)
    await chat.post(ref, Reply("**because**\n\n**Sources**\n[1] [Title](https://a.b/c)\n\n*Flask 3.1*"))
    slack.store("C1", "U2", "another bot", root, bot_id="B2")
    slack.store("C1", "U2", "has joined", root, subtype="channel_join")
    slack.say("U2", "C1", "thanks", thread=root)
    now = slack.say("U1", "C1", "and in 2.3?", thread=root)
    slack.say("U1", "C1", "later", thread=root)
    before = MessageRef("slack", "C1", now, root)
    turns = await chat.history(before, 10)
    assert turns == (
        Turn("user", "how & why?", "slack:U1", at=float(root)),
        Turn("assistant", "**because**", message=turns[1].message),
        Turn("user", "thanks", "slack:U2", at=turns[2].at),
    )
    assert float(root) < turns[2].at < float(now) and turns[1].message.startswith("slack:C1:")
    assert [t.text for t in await chat.history(before, 2)] == ["**because**", "thanks"]


async def test_the_first_message_of_a_thread_has_no_history(chat: Chat, slack: SlackServer) -> None:
    ts = slack.say("U1", "C1", "first")
    assert await chat.history(MessageRef("slack", "C1", ts, ts), 10) == ()
    assert not slack.called("conversations.replies")


async def test_a_direct_message_has_the_channel_as_history(chat: Chat, slack: SlackServer) -> None:
    slack.page_size = 3
    for number in range(6):
        last = slack.say("U1", "D1", str(number))
    turns = await chat.history(MessageRef("slack", "D1", last), 4)
    assert [t.text for t in turns] == ["1", "2", "3", "4"]


@pytest.mark.parametrize(("page", "replies", "pause"), [(15, 100, 0), (15, 100, 50_000), (200, 1_500, 0)])
async def test_of_a_long_thread_the_latest_turns_are_history(
    page: int, replies: int, pause: int, chat: Chat, slack: SlackServer
) -> None:
    """After a pause people write again; a page has 15 messages for apps that others distribute."""
    slack.page_size = page
    root = slack.say("U1", "C1", "root question")
    for number in range(replies):
        if number == replies // 2:
            slack.epoch += pause
        slack.store("C1", "U2", f"reply {number}", root)
    now = slack.say("U1", "C1", "and now?", root)
    before = len(slack.calls)
    turns = await chat.history(MessageRef("slack", "C1", now, root), 12)
    assert [turn.text for turn in turns] == [f"reply {n}" for n in range(replies - 12, replies)]
    assert len(slack.calls) - before <= 12


async def test_of_a_thread_that_slack_does_not_give_whole_the_oldest_turns_are_no_history(
    chat: Chat, slack: SlackServer
) -> None:
    slack.page_size = 15
    root = slack.say("U1", "C1", "root question")
    for number in range(40):
        slack.store("C1", "U2", f"reply {number}", root)
    now = slack.say("U1", "C1", "and now?", root)
    slack.fail("conversations.replies", "ratelimited", status=429, retry_after=60, after=1, times=9)
    assert await chat.history(MessageRef("slack", "C1", now, root), 12) == ()


async def test_history_is_empty_when_slack_refuses(
    chat: Chat, slack: SlackServer, caplog: pytest.LogCaptureFixture
) -> None:
    root = slack.say("U1", "C1", "first")
    ts = slack.say("U1", "C1", "second", thread=root)
    slack.fail("conversations.replies", "ratelimited", status=429, retry_after=60)
    async with asyncio.timeout(SOON):
        assert await chat.history(MessageRef("slack", "C1", ts, root), 10) == ()
    assert "ratelimited" in caplog.text
