"""The loopback Slack says no where Slack's documents do: the page's name stands at each case."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest

from bot.platforms.slack.api.client import SlackApi
from bot.platforms.slack.api.errors import SlackRefused
from bot.platforms.slack.doctor import SCOPES as WANTED
from tests.platforms import slack_interactive as interactive
from tests.platforms.slack_blocks import SlackError, check_blocks
from tests.platforms.slack_bot import Recorder, dispatch_fixture, serving, slack_fixture
from tests.platforms.slack_interactive import checked_view
from tests.platforms.slack_limits import METHODS
from tests.platforms.slack_scopes import SCOPES
from tests.platforms.slack_server import SlackServer

__all__ = ["dispatch_fixture", "slack_fixture"]


async def call(slack: SlackServer, method: str, **given: Any) -> dict[str, Any]:
    """Call a method once, without trying again."""
    headers = {"Authorization": f"Bearer {slack.bot_token}"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{slack.url}{method}", json=given, headers=headers) as answer,
    ):
        return {
            "status": answer.status,
            "retry_after": answer.headers.get("Retry-After"),
        } | await answer.json()


async def post(slack: SlackServer, key: str, body: object) -> tuple[int, str]:
    """Send a body to a response URL."""
    url = f"http://127.0.0.1:{slack.port}/commands/{key}"
    text = body if isinstance(body, str) else json.dumps(body)
    async with aiohttp.ClientSession() as session, session.post(url, data=text) as answer:
        return answer.status, await answer.text()


# --- scopes and events (docs.slack.dev: "Required scopes" of each page) -------------------------


def test_the_scopes_of_the_loopback_are_those_of_the_manifest() -> None:
    assert set(SCOPES) == WANTED


@pytest.mark.parametrize(
    ("method", "given", "needed"),
    [
        ("chat.postMessage", {"channel": "C1", "text": "x"}, "chat:write"),
        ("chat.postEphemeral", {"channel": "C1", "user": "U1", "text": "x"}, "chat:write"),
        ("reactions.add", {"channel": "C1", "timestamp": "1.2", "name": "+1"}, "reactions:write"),
        ("users.info", {"user": "U1"}, "users:read"),
        ("users.conversations", {"types": "private_channel"}, "groups:read"),
        ("conversations.open", {"users": "U1"}, "im:write"),
        ("conversations.info", {"channel": "C1"}, "channels:read"),
        ("conversations.info", {"channel": "M1"}, "mpim:read"),
        ("conversations.history", {"channel": "G1"}, "groups:history"),
        ("conversations.replies", {"channel": "D1", "ts": "1.2"}, "im:history"),
    ],
)
async def test_a_method_without_its_scope_is_refused_and_the_scope_named(
    method: str, given: dict[str, Any], needed: str, slack: SlackServer
) -> None:
    slack.scopes = ",".join(WANTED - {needed})
    answer = await call(slack, method, **given)
    assert (answer["error"], answer["needed"]) == ("missing_scope", needed)
    assert answer["provided"] == slack.scopes
    slack.scopes = ",".join(WANTED)
    assert (await call(slack, method, **given)).get("error") != "missing_scope"


async def test_an_event_comes_only_where_the_app_is_subscribed_and_may_hear_it(
    slack: SlackServer, dispatch: Recorder
) -> None:
    async with serving(slack, dispatch):
        slack.events.discard("message.groups")
        slack.scopes = ",".join(WANTED - {"im:history"})
        for channel in ("G1", "D1", "C2", "C1"):
            slack.say("U1", channel, f"in {channel}")
        await slack.until(lambda: dispatch.messages)
        await slack.settled()
    assert [message.text for message in dispatch.messages] == ["in C1"]


# --- who may (docs.slack.dev: errors of each method) --------------------------------------------


@pytest.mark.parametrize(
    ("method", "given", "code"),
    [
        ("chat.postEphemeral", {"channel": "C2", "user": "U1", "text": "x"}, "not_in_channel"),
        ("chat.postEphemeral", {"channel": "GX", "user": "U1", "text": "x"}, "channel_not_found"),
        ("chat.postEphemeral", {"channel": "C1", "user": "UAWAY", "text": "x"}, "user_not_in_channel"),
        ("chat.postEphemeral", {"channel": "C3", "user": "U1", "text": "x"}, "is_archived"),
        ("chat.postEphemeral", {"channel": "C1", "user": "U1"}, "no_text"),
        ("conversations.history", {"channel": "C2"}, "not_in_channel"),
        ("conversations.replies", {"channel": "C2", "ts": "1.2"}, "not_in_channel"),
        ("conversations.replies", {"channel": "C1", "ts": "1.2"}, "thread_not_found"),
        ("conversations.info", {"channel": "GX"}, "channel_not_found"),
        ("conversations.open", {"users": "UGONE"}, "user_disabled"),
        ("conversations.open", {"users": "UHIDDEN"}, "user_not_visible"),
        ("users.info", {"user": "UHIDDEN"}, "user_not_visible"),
        ("reactions.add", {"channel": "C2", "timestamp": "1.2", "name": "+1"}, "not_in_channel"),
        ("reactions.add", {"channel": "C1", "timestamp": "1.2", "name": "+1"}, "message_not_found"),
        ("chat.getPermalink", {"channel": "C1", "message_ts": "1.2"}, "message_not_found"),
        ("chat.startStream", {"channel": "C2", "thread_ts": "1.2"}, "not_in_channel"),
        ("chat.everything", {}, "unknown_method"),
    ],
)
async def test_it_is_refused(method: str, given: dict[str, Any], code: str, slack: SlackServer) -> None:
    slack.add_channel("GX", "group", "U1")
    slack.add_channel("C3", "channel", "U1", slack.bot_user)
    slack.channels["C3"]["archived"] = True
    slack.add_user("UGONE", deleted=True)
    slack.add_user("UHIDDEN")
    slack.add_user("UAWAY")
    slack.invisible.add("UHIDDEN")
    assert (await call(slack, method, **given))["error"] == code


async def test_only_what_the_bot_wrote_itself_is_changed_and_only_where_it_is(slack: SlackServer) -> None:
    theirs = slack.store("C1", "U1", "hello", None)["ts"]
    own = (await call(slack, "chat.postMessage", channel="C1", text="hi"))["ts"]
    codes = {
        method: (await call(slack, method, channel="C1", ts=theirs, **given))["error"]
        for method, given in [
            ("chat.update", {"text": "x"}),
            ("chat.delete", {}),
            ("chat.appendStream", {"markdown_text": "x"}),
        ]
    }
    assert codes == {
        "chat.update": "cant_update_message",
        "chat.delete": "cant_delete_message",
        "chat.appendStream": "message_not_owned_by_app",
    }
    slack.channels["C1"]["archived"] = True
    assert (await call(slack, "chat.update", channel="C1", ts=own, text="x"))["error"] == "is_inactive"
    assert "messages" in await call(slack, "conversations.history", channel="C1"), "archived ones are read"
    slack.channels["C1"]["members"].discard(slack.bot_user)
    for method in ("chat.update", "chat.delete"):
        given = {"text": "x"} if method == "chat.update" else {}
        assert (await call(slack, method, channel="C1", ts=own, **given))["error"] == "channel_not_found"


async def test_who_may_post_is_for_admins_to_say(slack: SlackServer) -> None:
    root = slack.store("C1", "U1", "how?", None)["ts"]
    found = {}
    for posting in ("read_only", "thread_only", "non_threadable"):
        slack.channels["C1"]["posting"] = posting
        found[posting] = [
            (await call(slack, "chat.postMessage", channel="C1", text="x", **given))["ok"]
            for given in ({}, {"thread_ts": root})
        ]
    assert found == {
        "read_only": [False, False],
        "thread_only": [False, True],
        "non_threadable": [True, False],
    }


# --- one person alone (chat.postEphemeral; handling user interaction) ---------------------------


async def test_in_a_thread_without_replies_nobody_sees_it(slack: SlackServer) -> None:
    root = slack.store("C1", "U1", "how?", None)["ts"]
    given = {"channel": "C1", "user": "U1", "thread_ts": root}
    assert (await call(slack, "chat.postEphemeral", text="one", **given))["ok"]
    slack.store("C1", "U2", "so", root)
    await call(slack, "chat.postEphemeral", text="two", **given)
    assert [w["text"] for w in slack.whispers] == ["two"]
    assert [w["text"] for w in slack.ephemeral.unseen] == ["one"] and len(slack.problems) == 1


async def test_what_one_person_sees_is_no_message(slack: SlackServer) -> None:
    ts = (await call(slack, "chat.postEphemeral", channel="C1", user="U1", text="psst"))["message_ts"]
    for method, given in [
        ("chat.update", {"ts": ts, "text": "louder"}),
        ("chat.delete", {"ts": ts}),
        ("reactions.add", {"timestamp": ts, "name": "+1"}),
    ]:
        assert (await call(slack, method, channel="C1", **given))["error"] == "message_not_found"
    assert not (await call(slack, "conversations.history", channel="C1"))["messages"]


async def test_a_response_url_takes_five_messages_and_no_membership(slack: SlackServer) -> None:
    key = slack.ephemeral.new_url("C2", "U1")
    said = [await post(slack, key, {"text": str(number)}) for number in range(6)]
    assert said[:5] == [(200, "ok")] * 5 and said[5] == (404, '{"ok": false, "error": "used_url"}')
    assert [w["text"] for w in slack.whispers] == list("01234")


async def test_a_response_url_is_good_for_half_an_hour(slack: SlackServer) -> None:
    key = slack.ephemeral.new_url("C1", "U1")
    slack.ephemeral.urls[key].made -= 1_801
    assert await post(slack, key, {"text": "late"}) == (404, '{"ok": false, "error": "expired_url"}')


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("{", "invalid_payload"),
        ([], "invalid_payload"),
        ({}, "no_text"),
        ({"text": "x", "colour": "red"}, "invalid_arguments"),
        ({"text": "x", "replace_original": "yes"}, "invalid_arguments"),
        ({"blocks": [{"type": "marquee"}]}, "invalid_blocks"),
    ],
)
async def test_a_response_url_refuses_a_wrong_body(body: object, code: str, slack: SlackServer) -> None:
    status, said = await post(slack, slack.ephemeral.new_url("C1", "U1"), body)
    assert (status, json.loads(said)["error"]) == (400, code)


async def test_a_press_that_replaces_its_own_message_is_noticed(slack: SlackServer) -> None:
    message = slack.store("C1", slack.bot_user, "An answer.", None, bot_id=slack.bot_id)
    key = slack.ephemeral.new_url("C1", "U1", message)
    await post(slack, key, {"text": "x", "replace_original": True})
    await post(slack, key, {"text": "for all", "response_type": "in_channel"})
    assert [problem.split(":")[0] for problem in slack.problems] == [
        "the message with the control is replaced",
        "said to everyone through a response URL",
    ]


async def test_a_trigger_opens_one_view_within_three_seconds(slack: SlackServer) -> None:
    view = {
        "type": "modal",
        "title": {"type": "plain_text", "text": "t"},
        "submit": {"type": "plain_text", "text": "s"},
        "blocks": [
            {
                "type": "input",
                "block_id": "b",
                "label": {"type": "plain_text", "text": "l"},
                "element": {"type": "plain_text_input", "action_id": "a"},
            }
        ],
    }
    assert slack.trigger_seconds == 3.0
    trigger, late = slack.trigger("U1"), slack.trigger("U2")
    slack.triggers[late] = ("U2", 0.0)
    assert (await call(slack, "views.open", trigger_id=trigger, view=view))["ok"]
    again = await call(slack, "views.open", trigger_id=trigger, view=view)
    assert again["error"] == "exchanged_trigger_id"
    assert (await call(slack, "views.open", trigger_id=late, view=view))["error"] == "expired_trigger_id"
    with pytest.raises(SlackError, match="invalid_blocks"):
        checked_view({**view, "submit": None})
    with pytest.raises(SlackError, match="view_too_large"):
        checked_view({**view, "private_metadata": "x" * 250_000})


async def test_a_press_of_an_ephemeral_message_comes_without_what_it_said(
    slack: SlackServer, dispatch: Recorder
) -> None:
    button = {"type": "button", "action_id": "up", "text": {"type": "plain_text", "text": "ok"}}
    blocks = [{"type": "actions", "elements": [button]}]
    async with serving(slack, dispatch):
        await call(slack, "chat.postEphemeral", channel="C1", user="U1", text="psst", blocks=blocks)
        slack.press("U1", slack.whispers[0], "up")
        await slack.until(lambda: dispatch.presses)
        payload = slack.envelopes[-1]["payload"]
        assert payload["container"]["is_ephemeral"] and "message" not in payload
        with pytest.raises(AssertionError, match="nobody else sees it"):
            slack.press("U2", slack.whispers[0], "up")
        root = slack.store("C1", slack.bot_user, "hi", None, bot_id=slack.bot_id, blocks=blocks)
        slack.store("C1", "U1", "thanks", root["ts"])
        assert interactive.copied(slack, "C1", root)["reply_count"] == 1


# --- events (message_changed, message_deleted) --------------------------------------------------


async def test_only_words_that_are_changed_without_blocks_are_shown_as_edited(
    slack: SlackServer, dispatch: Recorder
) -> None:
    async with serving(slack, dispatch):
        ts = (await call(slack, "chat.postMessage", channel="C1", text="one"))["ts"]
        block = [{"type": "markdown", "text": "two"}]
        await call(slack, "chat.update", channel="C1", ts=ts, text="two", blocks=block)
        await call(slack, "chat.update", channel="C1", ts=ts, text="three")
        await call(slack, "chat.delete", channel="C1", ts=ts)
        await slack.settled()
    events = [envelope["payload"]["event"] for envelope in slack.envelopes]
    changed = [event for event in events if event.get("subtype") == "message_changed"]
    assert ["edited" in event["message"] for event in changed] == [False, True]
    assert [event["previous_message"]["text"] for event in changed] == ["one", "two"]
    gone = next(event for event in events if event.get("subtype") == "message_deleted")
    assert gone["previous_message"]["text"] == "three" and gone["deleted_ts"] == ts
    assert all(event["hidden"] and event["event_ts"] for event in [*changed, gone])


async def test_a_connection_that_slack_refreshes_is_closed_and_a_warning_comes_ahead(
    slack: SlackServer, dispatch: Recorder
) -> None:
    async with serving(slack, dispatch):
        await slack.disconnect("warning")
        await slack.until(lambda: slack.connections >= 2 and slack.connected)
        before = slack.connections
        await slack.disconnect("refresh_requested")
        await slack.until(lambda: slack.connections > before and slack.connected)
        slack.say("U1", "C1", "still there?")
        await slack.until(lambda: dispatch.messages)


# --- how often (rate limits) --------------------------------------------------------------------


async def test_the_calls_of_a_tier_are_counted_for_each_method(slack: SlackServer) -> None:
    answers = [await call(slack, "conversations.info", channel="C1") for _ in range(51)]
    assert all(answer["ok"] for answer in answers[:50])
    assert (answers[50]["status"], answers[50]["error"]) == (429, "ratelimited")
    assert 1 <= int(answers[50]["retry_after"]) <= 60
    assert (await call(slack, "conversations.history", channel="C1"))["ok"], "another method"


async def test_messages_in_a_channel_are_counted_for_each_channel(slack: SlackServer) -> None:
    answers = [await call(slack, "chat.postMessage", channel="C1", text=str(n)) for n in range(6)]
    assert [answer["ok"] for answer in answers] == [True] * 5 + [False]
    assert (await call(slack, "chat.postMessage", channel="G1", text="elsewhere"))["ok"]


def test_every_method_that_the_loopback_has_is_counted(slack: SlackServer) -> None:
    has = {name for name in dir(slack.api) if name.startswith("_") and not name.startswith("__")}
    for method in METHODS:
        assert "_" + "".join(f"_{c.lower()}" if c.isupper() else c for c in method).replace(".", "_") in has


# --- messages and blocks (chat.postMessage; Block Kit) ------------------------------------------


async def test_a_text_that_slack_cuts_is_noticed(slack: SlackServer) -> None:
    await call(slack, "chat.postMessage", channel="C1", text="x" * 40_001)
    assert len(slack.said("C1")[0]["text"]) == 40_000 and "cuts" in slack.problems[0]


WORD = {"type": "plain_text", "text": "ok"}
BUTTON = {"type": "button", "action_id": "a", "text": WORD}
LINE = {"text": WORD, "value": "v"}
MENU = {"type": "static_select", "action_id": "m", "placeholder": WORD, "options": [LINE]}
MANY = [BUTTON | {"action_id": f"a{number}"} for number in range(26)]


def within(element: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"type": "actions", "elements": [element]}]


@pytest.mark.parametrize(
    ("blocks", "told"),
    [
        (within(BUTTON | {"colour": "red"}), "additional properties"),
        (within(BUTTON | {"text": {**WORD, "text": "x" * 76}}), "less than 76"),
        (within(BUTTON | {"text": {**WORD, "verbatim": True}}), "additional properties"),
        (within(BUTTON | {"value": "x" * 2_001}), "less than 2001"),
        (within(BUTTON | {"style": "loud"}), "style"),
        (within(MENU | {"options": []}), "at least 1"),
        (within(MENU | {"options": [{"text": WORD, "value": "x" * 151}]}), "less than 151"),
        (within(MENU | {"options": [LINE] * 2}), "unique"),
        (within({"type": "datepicker", "action_id": "d"}), "unsupported type: datepicker"),
        ([{"type": "actions", "elements": MANY}], "more than 25"),
        ([{"type": "section", "fields": [WORD] * 11}], "no more than 10"),
        ([{"type": "section", "fields": [{**WORD, "text": "x" * 2_001}]}], "less than 2001"),
        ([{"type": "section", "text": WORD, "accessory": BUTTON | {"x": 1}}], "additional properties"),
        ([{"type": "image", "alt_text": "a"}], "image_url"),
        ([{"type": "image", "image_url": "https://a.b/c.png"}], "alt_text"),
        ([{"type": "section", "text": {"type": "markdown", "text": "x"}}], "object is required"),
    ],
)
def test_blocks_that_block_kit_does_not_have_are_refused(blocks: Any, told: str) -> None:
    with pytest.raises(SlackError) as refused:
        check_blocks(blocks)
    assert told in " ".join(refused.value.messages)


async def test_the_bot_reads_a_refusal_with_what_it_needs(slack: SlackServer) -> None:
    slack.scopes = ",".join(WANTED - {"users:read"})
    api = SlackApi(slack.bot_token, slack.app_token, slack.url)
    with pytest.raises(SlackRefused, match=r"missing_scope \(users:read\)"):
        await api.call("users.info", user="U1")
    await asyncio.gather(api.close())
