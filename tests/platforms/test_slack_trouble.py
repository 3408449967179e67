"""Slack when it is strict or in trouble: limits of calls, lost connections, tokens taken back."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from bot.platforms.slack.api.client import SlackApi
from bot.platforms.slack.api.errors import APPENDS, EDITS, Allowance, Pace, Pacing, SlackRefused
from bot.platforms.slack.platform import connect
from bot.ports.chat import Chat, Command, Message, Reply, Responder
from core.errors import PlatformError, PlatformRejected
from tests.patience import SOON
from tests.platforms.slack_blocks import SlackError, check_blocks
from tests.platforms.slack_bot import (
    Recorder,
    chat_fixture,
    dispatch_fixture,
    serving,
    settings_for,
    slack_fixture,
)
from tests.platforms.slack_limits import TIERS
from tests.platforms.slack_server import SlackServer

__all__ = ["chat_fixture", "dispatch_fixture", "slack_fixture"]


async def answer(chat: Chat, message: Message) -> None:
    """Answer as dispatch does: a sign, pages, words, the whole, boxes for votes."""
    parts = await chat.post(message.ref, Reply("Looking it up …", final=False))
    text = ""
    for number in range(12):
        text += f"word{number} "
        parts = await chat.edit(parts, Reply(f"{text.strip()} …", final=False, grows=True))
        await asyncio.sleep(0.02)
    parts = await chat.edit(parts, Reply(f"{text}that is all", answer_id="a1"))
    await chat.seed_votes(parts[-1])


def once() -> Recorder:
    """Return a dispatch that answers each message once, as the database makes sure of."""
    begun: set[str] = set()

    async def first(chat: Chat, message: Message) -> None:
        if message.ref.key not in begun:
            begun.add(message.ref.key)
            await answer(chat, message)

    return Recorder(on_message=first)


def whole(slack: SlackServer, ts: str) -> bool:
    """Return True if one whole answer stands in a thread, with both boxes under it."""
    said = slack.said("C1", ts)
    return (
        len(said) == 1
        and said[0]["text"].endswith("word11 that is all")
        and set(said[0].get("reactions", {})) == {"+1", "-1"}
        and said[0].get("streaming_state") != "in_progress"
    )


# --- how often --------------------------------------------------------------------------------


@pytest.mark.parametrize("streams", [True, False])
async def test_eight_at_once_stay_within_slacks_limits(streams: bool, slack: SlackServer) -> None:
    slack.streaming.there = streams
    async with serving(slack, once()):
        asked = [slack.say("U1", "C1", f"<@UBOT> question {number}") for number in range(8)]
        await slack.until(lambda: all(whole(slack, ts) for ts in asked))
    too_many = Counter(slack.limits.refused)
    assert not too_many if streams else set(too_many) == {"chat.postMessage"}, too_many


@pytest.mark.parametrize(
    "method", ["chat.startStream", "chat.appendStream", "chat.stopStream", "chat.update", "reactions.add"]
)
async def test_a_limit_in_mid_answer_leaves_a_whole_answer(method: str, slack: SlackServer) -> None:
    quick = Pacing(appends=replace(APPENDS, interval=0.0))
    slack.fail(method, "ratelimited", status=429, retry_after=1, times=1)
    async with serving(slack, once(), quick):
        ts = slack.say("U1", "C1", "<@UBOT> question")
        await slack.until(lambda: whole(slack, ts))
    assert method in [call.method for call in slack.calls if call.error == "ratelimited"]


# --- connections ------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["warning", "refresh_requested", "drop"])
@pytest.mark.parametrize("streams", [True, False])
async def test_a_connection_that_changes_in_mid_answer_harms_nothing(
    reason: str, streams: bool, slack: SlackServer
) -> None:
    slack.streaming.there = streams
    dispatch = once()
    async with serving(slack, dispatch):
        ts = slack.say("U1", "C1", "<@UBOT> question")
        await slack.until(lambda: slack.said("C1", ts))
        await (slack.drop() if reason == "drop" else slack.disconnect(reason))
        await slack.until(lambda: slack.connections >= 2 and whole(slack, ts))
        later = slack.say("U1", "C1", "<@UBOT> and now?")
        await slack.until(lambda: whole(slack, later))


async def test_socket_mode_switched_off_names_the_variable(slack: SlackServer, dispatch: Recorder) -> None:
    platform = connect(settings_for(slack), dispatch)  # type: ignore[arg-type]
    assert platform
    running = asyncio.create_task(platform.run())
    await slack.until(lambda: slack.connected)
    await slack.disconnect("link_disabled")
    with pytest.raises(PlatformRejected, match=r"SLACK_APP_TOKEN.*Socket Mode on"):
        await asyncio.wait_for(running, SOON)


async def test_socket_mode_switched_off_ends_the_platform_whatever_code_slack_has_for_it(
    slack: SlackServer, dispatch: Recorder
) -> None:
    platform = connect(settings_for(slack), dispatch)  # type: ignore[arg-type]
    assert platform
    running = asyncio.create_task(platform.run())
    await slack.until(lambda: slack.connected)
    slack.link_error = "socket_mode_disabled"
    await slack.disconnect("link_disabled")
    with pytest.raises(PlatformRejected, match=r"SLACK_APP_TOKEN \(socket_mode_disabled\).*Socket Mode on"):
        await asyncio.wait_for(running, SOON)


async def test_another_process_at_the_same_app_is_told(
    slack: SlackServer, dispatch: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(slack, dispatch):
        await slack.settled()
    assert "connections" not in caplog.text
    slack.others = 1
    async with serving(slack, dispatch):
        await slack.until(lambda: "2 connections" in caplog.text)
        slack.others = 2
        await slack.disconnect()
        await slack.until(lambda: slack.connections >= 3)
        await slack.settled()
    assert caplog.text.count("same SLACK_APP_TOKEN") == 1, "once; two overlap when a connection is renewed"


async def test_too_many_connections_are_no_reason_to_ask_for_more_at_once(
    slack: SlackServer, caplog: pytest.LogCaptureFixture
) -> None:
    api = SlackApi(slack.bot_token, slack.app_token, slack.url, crowded=0.4)
    connected = asyncio.Event()
    url, nothing = await api.open_socket(), asyncio.create_task(asyncio.sleep(0))
    serving = asyncio.create_task(
        api.serve(url, lambda _: nothing, lambda _: None, lambda _: None, connected.set)
    )
    await connected.wait()
    begun = asyncio.get_running_loop().time()
    await slack.disconnect("too_many_websockets")
    await slack.until(lambda: slack.connections >= 2)
    assert asyncio.get_running_loop().time() - begun >= 0.4
    assert "too many connections" in caplog.text
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    await api.close()


async def test_events_that_go_to_two_connections_in_turn_are_all_acknowledged(slack: SlackServer) -> None:
    slack.spread = True
    dispatch = once()
    async with serving(slack, dispatch), serving(slack, dispatch):
        await slack.until(lambda: slack.connections == 2)
        asked = [slack.say("U1", "C1", f"<@UBOT> question {number}") for number in range(3)]
        await slack.until(lambda: all(whole(slack, ts) for ts in asked))
        await slack.settled()
    assert not slack.late


async def test_an_event_that_is_not_acknowledged_in_time_comes_again_with_its_id(slack: SlackServer) -> None:
    slack.ack_seconds, slack.retry_seconds = 0.1, (0.0, 0.2, 0.4)
    dispatch = once()
    dispatch.before_taken = lambda: asyncio.sleep(0.3)
    async with serving(slack, dispatch):
        ts = slack.say("U1", "C1", "question")
        await slack.until(lambda: whole(slack, ts))
        await slack.settled()
    assert slack.late and len(dispatch.messages) > 1
    assert len({message.event for message in dispatch.messages}) == 1
    asked = [e for e in slack.envelopes if e["payload"]["event"].get("user") == "U1"]
    assert [e["retry_attempt"] for e in asked][:2] == [0, 1] and asked[1]["retry_reason"] == "timeout"


# --- tokens -----------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["token_revoked", "account_inactive", "invalid_auth"])
async def test_a_bot_token_taken_back_while_it_runs_ends_the_platform_and_says_which(
    code: str, slack: SlackServer
) -> None:
    platform = connect(settings_for(slack), once())  # type: ignore[arg-type]
    assert platform
    running = asyncio.create_task(platform.run())
    await slack.until(lambda: slack.connected)
    slack.revoked = code
    slack.say("U1", "C1", "<@UBOT> question")
    with pytest.raises(PlatformRejected, match=f"SLACK_BOT_TOKEN.*{code}"):
        await asyncio.wait_for(running, SOON)


# --- what Slack does not take ------------------------------------------------------------------


async def call(slack: SlackServer, method: str, **given: Any) -> dict[str, Any]:
    api = SlackApi(slack.bot_token, slack.app_token, slack.url)
    try:
        return await api.call(method, **given)
    finally:
        await api.close()


@pytest.mark.parametrize(
    ("method", "given", "told"),
    [
        ("chat.postMessage", {"channel": "C1"}, "no_text"),
        ("chat.postMessage", {"channel": "C1", "text": "x", "colour": "red"}, "invalid_arguments.*colour"),
        ("chat.postMessage", {"channel": "C9", "text": "x"}, "channel_not_found"),
        ("chat.postMessage", {"channel": "C2", "text": "x"}, "not_in_channel"),
        ("chat.postMessage", {"channel": "C3", "text": "x"}, "is_archived"),
        (
            "chat.postMessage",
            {"channel": "C1", "text": "x", "unfurl_links": "perhaps"},
            "invalid_arguments.*bool",
        ),
        ("chat.update", {"channel": "C1", "ts": "", "text": "x"}, "invalid_arguments.*ts"),
        ("chat.update", {"channel": "C1", "ts": "1.2", "text": "x"}, "message_not_found"),
        ("chat.startStream", {"channel": "C1", "thread_ts": "1.2"}, "thread_not_found"),
        ("chat.stopStream", {"channel": "C1", "ts": "1.2"}, "message_not_found"),
        ("views.open", {"trigger_id": "none", "view": {}}, "invalid_trigger_id"),
    ],
)
async def test_the_server_refuses_as_slack_does(
    method: str, given: dict[str, Any], told: str, slack: SlackServer
) -> None:
    slack.add_channel("C3", "channel", slack.bot_user)
    slack.channels["C3"]["archived"] = True
    with pytest.raises(SlackRefused, match=told):
        await call(slack, method, **given)


async def test_a_stream_wants_a_person_and_one_that_is_over_takes_nothing(slack: SlackServer) -> None:
    root = slack.store("C1", "U1", "hello", None)["ts"]
    where = {"channel": "C1", "thread_ts": root}
    with pytest.raises(SlackRefused, match="missing_recipient"):
        await call(slack, "chat.startStream", **where)
    who = {"recipient_user_id": "U1", "recipient_team_id": "T1"}
    ts = (await call(slack, "chat.startStream", markdown_text="one ", **where, **who))["ts"]
    with pytest.raises(SlackRefused, match="streaming_state_conflict"):
        await call(slack, "chat.update", channel="C1", ts=ts, text="x")
    with pytest.raises(SlackRefused, match="cant_delete_message"):
        await call(slack, "chat.delete", channel="C1", ts=ts)
    with pytest.raises(SlackRefused, match="msg_too_long"):
        await call(slack, "chat.appendStream", channel="C1", ts=ts, markdown_text="x" * 12_001)
    await call(slack, "chat.appendStream", channel="C1", ts=ts, markdown_text="two ")
    await call(slack, "chat.stopStream", channel="C1", ts=ts, markdown_text="three")
    assert slack.messages["C1"][ts]["text"] == "one two three"
    with pytest.raises(SlackRefused, match="message_not_in_streaming_state"):
        await call(slack, "chat.appendStream", channel="C1", ts=ts, markdown_text="four")


BUTTON = {"type": "button", "action_id": "a", "text": {"type": "plain_text", "text": "ok"}}


@pytest.mark.parametrize(
    ("blocks", "told"),
    [
        ("[", "invalid_blocks_format"),
        ([{"type": "divider"}] * 51, "no more than 50"),
        ([{"type": "marquee"}], "unsupported type: marquee"),
        ([{"type": "markdown", "text": " "}], "more than 0"),
        ([{"type": "markdown", "text": "x" * 6_001}] * 2, "less than 12001"),
        ([{"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3_001}}], "less than 3001"),
        ([{"type": "section"}], "missing required field"),
        ([{"type": "divider", "text": "x"}], "additional properties"),
        ([{"type": "divider", "block_id": "b"}] * 2, "already exists"),
        ([{"type": "actions", "elements": [BUTTON] * 2}], "`action_id` already exists"),
        ([{"type": "actions", "elements": [BUTTON | {"action_id": "a" * 256}]}], "less than 256"),
        ([{"type": "actions", "elements": [BUTTON | {"value": ""}]}], "less than 2001"),
        ([{"type": "actions", "elements": []}], "at least 1"),
        ([{"type": "context", "elements": [BUTTON["text"]] * 11}], "no more than 10"),
        ([{"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}], "less than 151"),
    ],
)
def test_blocks_that_are_wrong_are_refused_with_the_reason(blocks: Any, told: str) -> None:
    with pytest.raises(SlackError) as refused:
        check_blocks(blocks)
    assert told in " ".join([refused.value.error, *refused.value.messages])


async def test_a_response_url_that_is_too_old_is_no_reason_to_say_nothing(slack: SlackServer) -> None:
    async def late(command: Command, responder: Responder) -> None:
        slack.response_seconds = -1.0
        await responder.reply(Reply("late"))

    async with serving(slack, Recorder(on_command=late)):
        slack.slash("U1", "C1", "/ask", "question")
        await slack.until(lambda: slack.whispers)
    assert [w["text"] for w in slack.whispers] == ["late"] and slack.called("chat.postEphemeral")


async def test_what_one_person_sees_cannot_be_edited(
    chat: Chat, slack: SlackServer, dispatch: Recorder
) -> None:
    sent = await call(slack, "chat.postEphemeral", channel="C1", user="U1", text="psst")
    with pytest.raises(PlatformError, match="message_not_found"):
        await call(slack, "chat.update", channel="C1", ts=sent["message_ts"], text="louder")


@pytest.mark.parametrize(("allowance", "tier"), [(APPENDS, 4), (EDITS, 3)])
@pytest.mark.parametrize("messages", [1, 3, 8, 25])
def test_growing_replies_together_stay_below_the_calls_of_a_minute(
    messages: int, allowance: Allowance, tier: int
) -> None:
    now = 0.0
    pace = Pace(allowance, lambda: now)
    changes: dict[str, list[float]] = defaultdict(list)
    for _ in range(1_800):
        now += 0.1
        for message in range(messages):
            if pace.may(f"m{message}"):
                changes[f"m{message}"].append(now)
    together = sorted(at for times in changes.values() for at in times)
    most = max(len([at for at in together if begin < at <= begin + 60]) for begin in range(120))
    assert 20 < most <= TIERS[tier]
    first = sum(times[0] < 1 for times in changes.values())
    assert first >= min(messages, allowance.burst), "the pages are shown at once"
    gaps = [b - a for times in changes.values() for a, b in pairwise(times)]
    assert min(gaps) >= allowance.interval - 0.01
