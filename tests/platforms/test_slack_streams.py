"""Answers stream by Slack's own methods where a workspace has them, and are whole at the end either way."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.platforms.slack import stream
from bot.platforms.slack.api.errors import Allowance, Pacing, SlackRefused
from bot.platforms.slack.chat import SlackChat
from bot.platforms.slack.stream import LONGEST, noted, settled
from bot.platforms.slack.text.mrkdwn import defuse
from bot.ports.chat import Chat, Control, Reply
from bot.rendering.answers import WORKING
from core.domain import MessageRef
from tests.patience import SOON
from tests.platforms.slack_bot import Recorder, chatting, dispatch_fixture, serving, slack_fixture  # noqa: F401
from tests.platforms.slack_server import SlackServer

SIGN = Reply(WORKING, final=False)
PAGES = Reply("Reading the Flask 3.1 documentation …\n- [Ports](https://a.b/ports)", final=False)
DONE = Reply("Set the port to 9090. [1]", answer_id="a1", controls=(Control("up", "👍", "a1"),))


def growing(text: str) -> Reply:
    return Reply(f"{text} …", final=False, grows=True)


@pytest.fixture(name="chat")
async def chat_fixture(slack: SlackServer, dispatch: Recorder) -> AsyncIterator[Chat]:
    always = Allowance(0.0, 99, 99.0)
    async with chatting(slack, dispatch, Pacing(always, always, refused=0.0)) as chat:
        yield chat


@pytest.fixture(name="where")
def where_fixture(chat: Chat, dispatch: Recorder) -> MessageRef:
    return dispatch.messages[0].ref


def methods(slack: SlackServer) -> list[str]:
    """Return the methods that said something, in order, with what went wrong."""
    said = [call for call in slack.calls if call.method.startswith("chat.")]
    return [call.method.removeprefix("chat.") + (f" {call.error}" if call.error else "") for call in said]


# --- as it should be --------------------------------------------------------------------------


async def test_sign_pages_and_words_are_added_and_the_finished_answer_takes_their_place(
    chat: Chat, slack: SlackServer, where: MessageRef
) -> None:
    parts = await chat.post(where, SIGN)
    for reply in (
        PAGES,
        growing("Set the port"),
        growing("Set the port to 9090. [1] And"),
        growing("Set the"),
    ):
        assert await chat.edit(parts, reply) == parts
    streamed = slack.said("C1")[0]["text"]
    assert streamed == f"{noted(SIGN.markdown)}{noted(PAGES.markdown)}Set the port to 9090. [1] "
    assert await chat.edit(parts, DONE) == parts
    [message] = slack.said("C1")
    assert message["blocks"][0] == {"type": "markdown", "text": DONE.markdown}
    assert message["blocks"][1]["elements"][0]["action_id"] == "up"
    assert message["streaming_state"] == "completed"
    assert methods(slack) == [
        "startStream",
        "appendStream",
        "appendStream",
        "appendStream",
        "stopStream",
        "update",
    ]
    started = slack.called("chat.startStream")[0]
    assert (started["recipient_user_id"], started["recipient_team_id"]) == ("U1", "T1")
    assert started["thread_ts"] == where.thread


async def test_a_finished_reply_and_one_outside_of_threads_are_not_streamed(
    chat: Chat, slack: SlackServer, dispatch: Recorder
) -> None:
    await chat.post(dispatch.messages[0].ref, DONE)
    direct = slack.say("U1", "D1", "hello")
    await slack.until(lambda: len(dispatch.messages) > 1)
    await chat.post(MessageRef("slack", "D1", direct), SIGN)
    await chat.post(MessageRef("slack", "C1", ""), SIGN)
    assert methods(slack) == ["postMessage"] * 3


async def test_in_a_direct_thread_nobody_is_named_as_the_one_who_reads(
    chat: Chat, slack: SlackServer, dispatch: Recorder
) -> None:
    """`recipient_user_id` is for channels (docs.slack.dev, chat.startStream)."""
    root = slack.say("U1", "D1", "hello")
    asked = slack.say("U1", "D1", "and now?", thread=root)
    await slack.until(lambda: len(dispatch.messages) > 2)
    parts = await chat.post(MessageRef("slack", "D1", asked, root), SIGN)
    assert [started.keys() - {"token"} for started in slack.called("chat.startStream")] == [
        {"channel", "thread_ts", "markdown_text"}
    ]
    await chat.edit(parts, DONE)
    assert methods(slack) == ["startStream", "stopStream", "update"]


async def test_an_asker_who_is_not_known_is_no_reason_to_fail(chat: Chat, slack: SlackServer) -> None:
    old = slack.store("C1", "U2", "before the start", None)["ts"]
    parts = await chat.post(MessageRef("slack", "C1", old, old), SIGN)
    await chat.edit(parts, DONE)
    assert methods(slack) == ["postMessage", "update"]


async def test_a_long_answer_streams_as_far_as_it_may_and_ends_in_parts(
    chat: Chat, slack: SlackServer, where: MessageRef
) -> None:
    parts = await chat.post(where, SIGN)
    text = "\n\n".join(f"Paragraph {number}: {'word ' * 60}" for number in range(45))
    for size in range(500, len(text), 500):
        await chat.edit(parts, growing(text[:size]))
    assert 0.9 * LONGEST < len(slack.said("C1")[0]["text"]) <= LONGEST
    parts = await chat.edit(parts, Reply(text))
    joined = "\n".join(m["blocks"][0]["text"] for m in slack.said("C1"))
    assert len(parts) > 2 and joined.count("Paragraph") == 45 and joined.count("word") == 45 * 60


async def test_words_that_are_taken_back_end_the_stream_and_are_gone_at_once(
    chat: Chat, slack: SlackServer, where: MessageRef
) -> None:
    parts = await chat.post(where, SIGN)
    await chat.edit(parts, growing("It surely is the port 4711, I think"))
    await chat.edit(parts, growing("The documentation says that"))
    assert [m["text"] for m in slack.said("C1")] == ["The documentation says that …"]
    await chat.edit(parts, DONE)
    assert [m["text"] for m in slack.said("C1")] == [DONE.markdown]


async def test_an_answer_that_begins_anew_ends_the_stream(
    chat: Chat, slack: SlackServer, where: MessageRef
) -> None:
    parts = await chat.post(where, SIGN)
    await chat.edit(parts, growing("Set the port"))
    assert await chat.edit(parts, SIGN) == parts
    assert [m["text"] for m in slack.said("C1")] == [WORKING]
    await chat.edit(parts, DONE)
    assert [m["text"] for m in slack.said("C1")] == [DONE.markdown]


# --- workspaces without -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "code", ["unknown_method", "method_not_supported", "missing_scope", "not_allowed_token_type"]
)
async def test_a_workspace_that_refuses_is_asked_once(
    code: str, chat: Chat, slack: SlackServer, where: MessageRef
) -> None:
    slack.fail("chat.startStream", code, times=99)
    for _ in range(3):
        parts = await chat.post(where, SIGN)
        await chat.edit(parts, growing("Set the port"))
        await chat.edit(parts, DONE)
    assert methods(slack) == [f"startStream {code}", *["postMessage", "update", "update"] * 3]
    assert [m["text"] for m in slack.said("C1")] == [DONE.markdown] * 3


async def test_a_kind_of_channel_that_refuses_is_asked_once_and_others_still(
    chat: Chat, slack: SlackServer, where: MessageRef, dispatch: Recorder
) -> None:
    slack.streaming.kinds = {"group"}
    for _ in range(2):
        await chat.post(where, SIGN)
    slack.say("U1", "G1", "private")
    await slack.until(lambda: len(dispatch.messages) > 1)
    await chat.post(dispatch.messages[1].ref, SIGN)
    assert methods(slack) == [
        "startStream channel_type_not_supported",
        "postMessage",
        "postMessage",
        "startStream",
    ]


async def test_too_many_streams_are_a_reason_for_edits_for_a_while(
    chat: Chat, slack: SlackServer, where: MessageRef
) -> None:
    slack.fail("chat.startStream", "ratelimited", status=429, retry_after=40)
    await chat.post(where, SIGN)
    await chat.post(where, SIGN)
    assert methods(slack) == ["startStream ratelimited", "postMessage", "postMessage"]


async def test_a_stream_that_begins_after_its_time_leaves_no_message(
    chat: Chat, slack: SlackServer, where: MessageRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "QUICK", 0.1)
    slack.held.add("chat.startStream")
    parts = await chat.post(where, SIGN)
    assert [m["ts"] for m in slack.said("C1")] == [parts[0].message]
    slack.held.clear()
    await chat.edit(await chat.post(where, SIGN), DONE)
    await slack.until(lambda: "delete" in methods(slack))
    assert await chat.edit(parts, DONE) == parts
    assert [m["text"] for m in slack.said("C1")] == [DONE.markdown] * 2
    assert methods(slack).count("startStream") == 1, "for a while there is no other"


async def test_a_stream_that_begins_after_its_question_is_gone_leaves_no_message(
    chat: Chat, slack: SlackServer, where: MessageRef
) -> None:
    class Held(set[str]):
        asked = asyncio.Event()

        def __contains__(self, method: object) -> bool:
            if method == "chat.startStream":
                self.asked.set()
            return super().__contains__(method)

    slack.held = held = Held({"chat.startStream"})
    posting = asyncio.create_task(chat.post(where, SIGN))
    await held.asked.wait()
    posting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await posting
    slack.held.clear()
    await slack.until(lambda: "delete" in methods(slack))
    assert slack.said("C1") == []


@pytest.mark.parametrize("code", ["fatal_error", "internal_error", "service_unavailable"])
async def test_who_posts_hears_that_a_stream_may_have_begun(
    code: str, chat: Chat, slack: SlackServer, where: MessageRef
) -> None:
    slack.fail("chat.startStream", code)
    with pytest.raises(SlackRefused) as refused:
        await chat.post(where, SIGN)
    assert refused.value.retryable and refused.value.in_doubt
    await chat.post(where, SIGN)
    assert methods(slack) == [f"startStream {code}", "postMessage"]


async def test_a_switch_turns_streams_off(slack: SlackServer, dispatch: Recorder) -> None:
    async with serving(slack, dispatch, slack_streaming=False):
        slack.say("U1", "C1", "hello")
        await slack.until(lambda: dispatch.messages)
        assert isinstance(dispatch.chat, SlackChat)
        await dispatch.chat.post(dispatch.messages[0].ref, SIGN)
    assert methods(slack) == ["postMessage"]


# --- in the middle ----------------------------------------------------------------------------


async def test_a_stream_that_slack_ends_goes_on_by_edits(
    chat: Chat, slack: SlackServer, where: MessageRef
) -> None:
    parts = await chat.post(where, SIGN)
    await chat.edit(parts, growing("Set the port"))
    slack.streaming.end("C1", parts[0].message)
    await chat.edit(parts, growing("Set the port to 9090"))
    assert slack.said("C1")[0]["text"] == "Set the port to 9090 …"
    await chat.edit(parts, growing("Set the port to 9090. And"))
    await chat.edit(parts, DONE)
    assert [m["text"] for m in slack.said("C1")] == [DONE.markdown]
    assert methods(slack)[2:] == ["appendStream message_not_in_streaming_state", "update", "update", "update"]


async def test_a_stream_that_ends_before_the_last_word_leaves_a_whole_message(
    chat: Chat, slack: SlackServer, where: MessageRef
) -> None:
    parts = await chat.post(where, SIGN)
    await chat.edit(parts, growing("Set the port"))
    slack.streaming.lasts = 0.0
    assert await chat.edit(parts, DONE) == parts
    assert [m["text"] for m in slack.said("C1")] == [DONE.markdown]


async def test_too_many_words_at_once_are_left_out_and_come_later(
    chat: Chat, slack: SlackServer, where: MessageRef
) -> None:
    assert isinstance(chat, SlackChat)
    parts = await chat.post(where, SIGN)
    slack.fail("chat.appendStream", "ratelimited", status=429, retry_after=0)
    await chat.edit(parts, growing("Set the port"))
    await chat.edit(parts, growing("Set the port to 9090. And"))
    assert slack.said("C1")[0]["text"].endswith("Set the port to 9090. ")
    slack.fail("chat.appendStream", "ratelimited", status=429, retry_after=30)
    async with asyncio.timeout(SOON):
        await chat.edit(parts, growing("Set the port to 9090. And then"))
        await chat.edit(parts, growing("Set the port to 9090. And then so"))
        await chat.edit(parts, DONE)
    assert [m["text"] for m in slack.said("C1")] == [DONE.markdown]
    assert sum("appendStream" in one for one in methods(slack)) == 3, "no call before the time Slack named"


async def test_what_a_dead_process_left_streaming_is_finished(
    chat: Chat, slack: SlackServer, where: MessageRef
) -> None:
    parts = await chat.post(where, SIGN)
    await chat.edit(parts, growing("Set the port"))
    async with serving(slack, later := Recorder()):
        await slack.until(lambda: slack.connections == 2)
        slack.say("U1", "C1", "again")
        await slack.until(lambda: later.messages)
        assert later.chat and later.chat is not chat
        assert await later.chat.edit(parts, SIGN) == parts
        assert await later.chat.edit(parts, DONE) == parts
    assert [m["text"] for m in slack.said("C1")] == [DONE.markdown]


async def test_a_message_that_streams_can_be_deleted(
    chat: Chat, slack: SlackServer, where: MessageRef
) -> None:
    parts = await chat.post(where, SIGN)
    async with serving(slack, later := Recorder()):
        await slack.until(lambda: slack.connections == 2)
        slack.say("U1", "C1", "again")
        await slack.until(lambda: later.messages)
        assert later.chat
        await later.chat.delete(parts)
    assert slack.said("C1") == []


async def test_an_answer_is_posted_anew_where_its_stream_cannot_be_stopped(
    chat: Chat, slack: SlackServer, where: MessageRef, caplog: pytest.LogCaptureFixture
) -> None:
    parts = await chat.post(where, SIGN)
    slack.streaming.stuck = True
    with caplog.at_level(logging.WARNING):
        fresh = await chat.edit(parts, DONE)
    assert fresh != parts and slack.messages["C1"][fresh[0].message]["text"] == DONE.markdown
    assert "cannot be changed" in caplog.text


# --- what is shown for good -------------------------------------------------------------------

PINGS = ["<!here>", "<!channel>", "<@U123>", "<#C1>", "@here", "@channel", "@everyone", "&lt;!here>"]
noise = st.text(st.sampled_from("ab <>@!#&;|.\n…här"), max_size=40)


@given(st.lists(st.one_of(noise, st.sampled_from(PINGS)), max_size=12).map("".join), st.data())
def test_what_was_added_is_never_taken_back_and_calls_nobody(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    shown = ""
    for cut in [*cuts, len(text)]:
        now = settled(text[:cut])
        assert now.startswith(shown), "a stream can only be added to"
        assert defuse(now) == now, "nothing in it calls anybody"
        shown = now
