import asyncio
import time
from typing import Any

import pytest

from bot.platforms.slack.doctor import SCOPES
from bot.platforms.slack.text.reading import ATTACHED
from bot.ports.chat import Chat, Message, Reaction, Reply
from core.domain import MessageRef, Scope
from tests.patience import SOON
from tests.platforms.slack_bot import Recorder, chat_fixture, dispatch_fixture, serving, slack_fixture  # noqa: F401
from tests.platforms.slack_server import SlackServer

# --- messages ---------------------------------------------------------------------------------


async def test_a_mention_arrives_as_two_events_of_one_message(slack: SlackServer, dispatch: Recorder) -> None:
    async with serving(slack, dispatch):
        ts = slack.say("U1", "C1", "<@UBOT>: is `a &lt; b` <https://x.y|ok>?")
        await slack.until(lambda: len(dispatch.messages) == 2)
        await slack.settled()
    first, second = dispatch.messages
    assert first.ref == second.ref == MessageRef("slack", "C1", ts, ts)
    assert first.event and second.event and first.event != second.event
    for message in (first, second):
        assert message.text == "is `a < b` [ok](https://x.y)?"
        assert message.mentions_bot and not message.mentions_others
        assert message.scope == Scope()
        assert (message.author.id, message.author.name, message.author.admin) == ("slack:U1", "u1", False)


async def test_messages_are_acknowledged_although_the_answer_takes_long(slack: SlackServer) -> None:
    release = asyncio.Event()

    async def slow(chat: Chat, message: Message) -> None:
        await release.wait()

    dispatch = Recorder(on_message=slow)
    async with serving(slack, dispatch):
        for _ in range(3):
            slack.say("U1", "C1", "hello")
        await slack.until(lambda: len(slack.acknowledged) == 3)
        await slack.until(lambda: len(dispatch.messages) == 3)
        release.set()


async def test_a_redelivered_event_has_the_same_event_id(slack: SlackServer, dispatch: Recorder) -> None:
    async with serving(slack, dispatch):
        slack.say("U1", "C1", "hello")
        await slack.until(lambda: dispatch.messages)
        slack.redeliver(slack.envelopes[0])
        await slack.until(lambda: len(dispatch.messages) == 2)
    assert dispatch.messages[0] == dispatch.messages[1]
    assert len(slack.acknowledged) == 2


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("<@UBOT>  how?", "how?"),
        ("hey <@UBOT>, how?", "hey how?"),
        ("how <@UBOT>?", "how?"),
        ("see:\n<@UBOT> how?", "see:\nhow?"),
        ("<@UBOT> fix\n```\nif x:\n    y  =  1\n```", "fix\n```\nif x:\n    y  =  1\n```"),
        ("<@UBOT>", ""),
    ],
)
async def test_the_mention_is_taken_out_and_the_rest_is_left(
    said: str, read: str, slack: SlackServer, dispatch: Recorder
) -> None:
    async with serving(slack, dispatch):
        slack.say("U1", "C1", said)
        await slack.until(lambda: dispatch.messages)
    assert dispatch.messages[0].text == read


@pytest.mark.parametrize(
    ("channel", "scope", "thread"),
    [
        ("C1", Scope(), True),
        ("G1", Scope("private", "slack:G1"), True),
        ("D1", Scope("direct", "slack:D1"), False),
        ("M1", Scope("direct", "slack:M1"), False),
    ],
)
async def test_scope_and_thread_of_every_kind_of_channel(
    channel: str, scope: Scope, thread: bool, slack: SlackServer, dispatch: Recorder
) -> None:
    async with serving(slack, dispatch):
        root = slack.say("U1", channel, "<@UBOT> one")
        slack.say("U1", channel, "<@UBOT> two", thread=root)
        await slack.until(lambda: len(dispatch.messages) == (2 if channel == "D1" else 4))
    assert {m.scope for m in dispatch.messages} == {scope}
    assert {m.ref.thread for m in dispatch.messages if m.text == "one"} == {root if thread else ""}
    assert {m.ref.thread for m in dispatch.messages if m.text == "two"} == {root}
    assert all(m.mentions_bot for m in dispatch.messages)


async def test_where_slack_does_not_say_what_a_channel_is_it_counts_as_private(
    slack: SlackServer, dispatch: Recorder
) -> None:
    slack.fail("conversations.info", "missing_scope")
    async with serving(slack, dispatch):
        ts = slack.store("C1", "U1", "<@UBOT> hi", None)["ts"]
        slack.emit({"type": "app_mention", "user": "U1", "text": "<@UBOT> hi", "ts": ts, "channel": "C1"})
        await slack.until(lambda: dispatch.messages)
    assert dispatch.messages[0].scope == Scope("private", "slack:C1")


@pytest.mark.parametrize(
    "message",
    [
        {"user": "UBOT", "text": "mine", "bot_id": "BBOT"},
        {"user": "U2", "text": "another bot", "bot_id": "B2"},
        {"subtype": "bot_message", "text": "webhook", "bot_id": "B3", "username": "hook"},
        {"user": "USLACKBOT", "text": "reminder"},
        {"subtype": "channel_join", "user": "U1", "text": "<@U1> has joined the channel"},
        {"subtype": "channel_topic", "user": "U1", "text": "<@UBOT> topic"},
        {"subtype": "huddle_thread", "user": "U1", "text": ""},
    ],
)
async def test_what_no_person_wrote_is_ignored(
    message: dict[str, str], slack: SlackServer, dispatch: Recorder
) -> None:
    async with serving(slack, dispatch):
        slack.emit(
            {"type": "message", "channel": "C1", "channel_type": "channel", "ts": "1.000001", **message}
        )
        slack.say("U1", "C1", "last")
        await slack.until(lambda: dispatch.messages)
        await slack.settled()
    assert [m.text for m in dispatch.messages] == ["last"]
    assert len(slack.acknowledged) == 2


@pytest.mark.parametrize("subtype", ["file_share", "thread_broadcast", "me_message"])
async def test_files_broadcasts_and_me_messages_are_messages(
    subtype: str, slack: SlackServer, dispatch: Recorder
) -> None:
    async with serving(slack, dispatch):
        slack.say("U1", "C1", "look", subtype=subtype)
        await slack.until(lambda: dispatch.messages)
    assert dispatch.messages[0].text == "look"


def rich(*elements: dict[str, object]) -> list[dict[str, object]]:
    """Return the blocks of a message as Slack's editor makes them."""
    return [{"type": "rich_text", "block_id": "b", "elements": list(elements)}]


def line(*elements: dict[str, object]) -> dict[str, object]:
    return {"type": "rich_text_section", "elements": list(elements)}


def word(text: str, **style: bool) -> dict[str, object]:
    return {"type": "text", "text": text} | ({"style": style} if style else {})


async def test_a_message_of_blocks_alone_is_read_from_them(slack: SlackServer, dispatch: Recorder) -> None:
    blocks = rich(
        line(
            {"type": "user", "user_id": "UBOT"},
            word(" why does "),
            word("app.run", code=True),
            word(" say "),
            word("a <b> & c", bold=True),
            word(" ("),
            {"type": "link", "url": "https://flask.example/x?a=1&b=2", "text": "page"},
            word(") "),
            {"type": "user", "user_id": "U2"},
            word("\n"),
        ),
        {"type": "rich_text_preformatted", "elements": [word("if a < b:\n    return `x`")]},
        {"type": "rich_text_quote", "elements": [word("said\nso")]},
        {"type": "rich_text_list", "style": "ordered", "elements": [line(word("one")), line(word("two"))]},
    )
    async with serving(slack, dispatch):
        slack.say("U1", "C1", "", blocks=blocks)
        await slack.until(lambda: dispatch.messages)
    [message] = dispatch.messages
    assert message.mentions_bot and message.mentions_others
    assert message.text == (
        "why does `app.run` say **a <b> & c** ([page](https://flask.example/x?a=1&b=2)) @U2\n"
        "```\nif a < b:\n    return `x`\n```\n> said\n> so\n1. one\n2. two"
    )


async def test_a_snippet_is_read_as_far_as_slack_shows_it(slack: SlackServer, dispatch: Recorder) -> None:
    """What is pasted and too long becomes a snippet; its beginning comes with the event."""
    trace = 'Traceback (most recent call last):\n  File "app.py", line 3\nRuntimeError: <no> context & so'
    snippet = {
        "id": "F1",
        "mode": "snippet",
        "mimetype": "text/plain",
        "filetype": "python",
        "preview": trace,
    }
    picture = {"id": "F2", "mode": "hosted", "mimetype": "image/png", "preview": "not to be read"}
    async with serving(slack, dispatch):
        slack.say("U1", "D1", "what is this?", subtype="file_share", files=[picture, snippet])
        slack.say("U1", "D1", "", subtype="file_share", files=[picture])
        await slack.until(lambda: len(dispatch.messages) == 2)
    assert [m.text for m in dispatch.messages] == [f"what is this?\n\n```\n{trace}\n```", ""]


@pytest.mark.parametrize(
    ("scopes", "where", "read"),
    [
        (SCOPES, "", "whole"),
        (SCOPES - {"files:read"}, "", "beginning"),
        (SCOPES, "https://files.slack.com.example/F1", "beginning"),
    ],
)
async def test_a_long_snippet_is_read_whole_where_the_app_may(
    slack: SlackServer, dispatch: Recorder, scopes: frozenset[str], where: str, read: str
) -> None:
    slack.scopes = ",".join(scopes)
    slack.files["F1"] = "\n".join([*(f"line {n}" for n in range(5_000)), "RuntimeError: so"])
    snippet = {
        "id": "F1",
        "mode": "snippet",
        "mimetype": "text/plain",
        "preview": "line 0\nline 1",
        "preview_is_truncated": True,
        "lines_more": 4_999,
        "url_private": where or f"{slack.url.removesuffix('api/')}files/F1",
    }
    async with serving(slack, dispatch):
        slack.say("U1", "D1", "what is this?", subtype="file_share", files=[snippet])
        await slack.until(lambda: dispatch.messages)
    [message] = dispatch.messages
    if read == "whole":
        assert message.text.startswith("what is this?\n\n```\nline 0\nline 1\nline 2")
        assert len(message.text) > ATTACHED
    else:
        assert message.text == "what is this?\n\n```\nline 0\nline 1\n[…]\n```"


async def test_a_file_of_html_is_read_and_so_are_those_after_it(
    slack: SlackServer, dispatch: Recorder
) -> None:
    """Slack's page for signing in is HTML, too; it says nothing of other files."""

    def snippet(name: str, kind: str, preview: str) -> dict[str, Any]:
        url = f"{slack.url.removesuffix('api/')}files/{name}"
        told = {"id": name, "mode": "snippet", "mimetype": kind, "preview": preview, "url_private": url}
        return told | {"preview_is_truncated": True, "lines_more": 3}

    page = "<!DOCTYPE html>\n<html>\n<body>\nthe last line"
    slack.files |= {"F1": page, "F2": "<!DOCTYPE html>\n<html>Sign in", "F3": "first\nlast"}
    sent = [
        snippet("F1", "text/html", "<!DOCTYPE html>\n<html>\n<bo"),
        snippet("F2", "text/html", "<!DOCTYPE html>\n<p>mine\n"),
        snippet("F3", "text/plain", "first"),
    ]
    async with serving(slack, dispatch):
        for number, file in enumerate(sent):
            slack.say("U1", "D1", "", subtype="file_share", files=[file])
            await slack.until(lambda number=number: len(dispatch.messages) == number + 1)
    texts = [message.text for message in dispatch.messages]
    assert texts == [
        f"```\n{page}\n```",
        "```\n<!DOCTYPE html>\n<p>mine\n[…]\n```",
        "```\nfirst\nlast\n```",
    ]


async def test_unknown_events_and_buttons_are_acknowledged(slack: SlackServer, dispatch: Recorder) -> None:
    async with serving(slack, dispatch):
        slack.events.add("member_joined_channel")
        slack.emit({"type": "member_joined_channel", "user": "U3", "channel": "C1"})
        slack.emit({"type": "message", "subtype": "brand_new", "channel": "C1"})
        await slack.until(lambda: len(slack.acknowledged) == 2)
    assert not dispatch.messages


@pytest.mark.parametrize(
    ("text", "bot", "others"),
    [
        ("<@U2> do you know?", False, True),
        ("<@UBOT> and <@U2|bob>", True, True),
        ("<!here> anyone?", False, True),
        ("<!subteam^S1|@docs> anyone?", False, True),
        ("<#C2|random> or <https://a.b|@U2>", False, False),
        ("hey <@UBOT|threadlore>, why?", True, False),
        ("UBOT", False, False),
    ],
)
async def test_who_is_addressed(
    text: str, bot: bool, others: bool, slack: SlackServer, dispatch: Recorder
) -> None:
    async with serving(slack, dispatch):
        slack.say("U1", "G1", text)
        await slack.until(lambda: dispatch.messages)
    message = dispatch.messages[0]
    assert (message.mentions_bot, message.mentions_others) == (bot, others)
    assert "UBOT" not in message.text or text == "UBOT"


async def test_in_a_conversation_of_several_only_a_mention_is_for_the_bot(
    slack: SlackServer, dispatch: Recorder
) -> None:
    async with serving(slack, dispatch):
        slack.say("U1", "M1", "lunch?")
        slack.say("U1", "M1", "<@UBOT> how?")
        slack.say("U1", "D1", "why?")
        await slack.until(lambda: len(dispatch.messages) == 3)
        await slack.settled()
    assert {m.text for m in dispatch.messages} == {"how?", "why?"}


async def test_a_person_is_looked_up_once_and_rights_come_from_slack_or_settings(
    slack: SlackServer, dispatch: Recorder
) -> None:
    slack.add_user("U3", is_owner=True)
    async with serving(slack, dispatch, admins="slack:U2", helpers="slack:U1,discord:U2"):
        for user in ("U1", "U2", "U3", "UADMIN", "U1"):
            slack.say(user, "C1", "hi")
        slack.say("UGONE", "C1", "hi")
        await slack.until(lambda: len(dispatch.messages) == 6)
    people = {m.author.id.removeprefix("slack:"): m.author for m in dispatch.messages}
    assert {k for k, p in people.items() if p.admin} == {"U2", "U3", "UADMIN"}
    assert {k for k, p in people.items() if p.helper} == {"U1"}
    assert people["UGONE"].name == "UGONE"
    assert len([c for c in slack.called("users.info") if c["user"] == "U1"]) == 1


async def test_an_admin_of_another_workspace_is_none_here(slack: SlackServer, dispatch: Recorder) -> None:
    """Slack Connect lets people of other workspaces into a channel; those of the same organization count."""
    slack.enterprise = "E1"
    slack.add_user("UCONNECT", team_id="T9", is_admin=True, is_owner=True)
    slack.add_user("USTRANGER", is_stranger=True, is_admin=True)
    slack.add_user("UGRID", team_id="T2", is_admin=True, enterprise_user={"enterprise_id": "E1"})
    slack.add_user("UOTHER", team_id="T9", is_admin=True, enterprise_user={"enterprise_id": "E9"})
    async with serving(slack, dispatch, admins="slack:UOTHER"):
        for user in ("UCONNECT", "USTRANGER", "UGRID", "UOTHER", "UADMIN"):
            slack.say(user, "C1", "hi")
        await slack.until(lambda: len(dispatch.messages) == 5)
    admins = {m.author.id.removeprefix("slack:") for m in dispatch.messages if m.author.admin}
    assert admins == {"UGRID", "UOTHER", "UADMIN"}, "UOTHER is one by the settings"


async def test_messages_keep_their_order_although_people_are_looked_up(
    slack: SlackServer, dispatch: Recorder
) -> None:
    async with serving(slack, dispatch):
        for number in range(20):
            slack.add_user(f"UX{number}")
            slack.say(f"UX{number}", "C1", str(number))
        await slack.until(lambda: len(dispatch.messages) == 20)
    assert [m.text for m in dispatch.messages] == [str(n) for n in range(20)]


async def test_a_failing_dispatch_is_logged_and_harms_nobody(
    slack: SlackServer, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(chat: Chat, message: Message) -> None:
        if message.text == "bad":
            raise RuntimeError("boom")

    dispatch = Recorder(on_message=fails)
    async with serving(slack, dispatch):
        slack.say("U1", "C1", "bad")
        slack.say("U1", "C1", "good")
        await slack.until(lambda: len(dispatch.messages) == 2)
    assert "boom" in caplog.text


# --- edits, deletions, reactions --------------------------------------------------------------


async def test_edits_and_deletions_of_people_arrive(slack: SlackServer, dispatch: Recorder) -> None:
    async with serving(slack, dispatch):
        ts = slack.say("U1", "C1", "frist")
        slack.edit("C1", ts, attachments=[{"title": "unfurled"}])
        slack.edit("C1", ts, "<@UBOT> first")
        slack.delete("C1", ts)
        await slack.until(lambda: dispatch.deletions)
    assert [(m.text, m.mentions_bot, m.ref.message) for m in dispatch.edits] == [("first", True, ts)]
    assert dispatch.edits[0].event
    assert dispatch.deletions == [MessageRef("slack", "C1", ts, ts)]


async def test_a_question_with_replies_leaves_a_tombstone(slack: SlackServer, dispatch: Recorder) -> None:
    async with serving(slack, dispatch):
        ts = slack.say("U1", "C1", "question")
        reply = slack.say("U2", "C1", "answer", thread=ts)
        slack.delete("C1", reply)
        slack.say("U2", "C1", "again", thread=ts)
        slack.delete("C1", ts)
        await slack.until(lambda: len(dispatch.deletions) == 2)
    assert [d.message for d in dispatch.deletions] == [reply, ts]
    assert {d.thread for d in dispatch.deletions} == {ts}
    assert not dispatch.edits


async def test_edits_without_the_earlier_text_count_when_marked_as_edited(
    slack: SlackServer, dispatch: Recorder
) -> None:
    changed = {
        "type": "message",
        "subtype": "message_changed",
        "channel": "C1",
        "channel_type": "channel",
        "ts": "9.1",
    }
    said = {"type": "message", "user": "U1", "text": "new", "ts": "1.000001"}
    async with serving(slack, dispatch):
        slack.emit({**changed, "message": {**said, "attachments": [{"title": "unfurled"}]}})
        slack.emit({**changed, "message": {**said, "edited": {"user": "U1", "ts": "9.1"}}})
        slack.emit(
            {"type": "message", "subtype": "message_deleted", "channel": "C1", "deleted_ts": "1.000001"}
        )
        await slack.until(lambda: dispatch.deletions)
    assert [m.text for m in dispatch.edits] == ["new"]


async def test_the_bots_own_changes_do_not_come_back(
    chat: Chat, slack: SlackServer, dispatch: Recorder
) -> None:
    where = dispatch.messages[0].ref
    parts = await chat.post(where, Reply("one"))
    await chat.edit(parts, Reply("two"))
    await chat.seed_votes(parts[0])
    await chat.delete(parts)
    await slack.settled()
    assert len(dispatch.messages) == 1
    assert not (dispatch.edits or dispatch.deletions or dispatch.reactions)


async def test_reactions_arrive_as_slack_spells_them(slack: SlackServer, dispatch: Recorder) -> None:
    async with serving(slack, dispatch):
        ts = slack.say("U1", "C1", "hi")
        slack.react("U2", "C1", ts, "+1::skin-tone-3")
        slack.unreact("U2", "C1", ts, "+1::skin-tone-3")
        slack.react("UBOT", "C1", ts, "+1")
        await slack.until(lambda: len(dispatch.reactions) == 2)
        await slack.settled()
    assert [(r.emoji, r.added, r.person.id, r.ref.message) for r in dispatch.reactions] == [
        ("+1::skin-tone-3", True, "slack:U2", ts),
        ("+1::skin-tone-3", False, "slack:U2", ts),
    ]
    assert not any(r.person.bot for r in dispatch.reactions)
    assert len({r.event for r in dispatch.reactions}) == 2


# --- acknowledgements ----------------------------------------------------------------------------


async def test_a_reaction_is_acknowledged_only_when_it_is_counted(
    slack: SlackServer, dispatch: Recorder
) -> None:
    counted = asyncio.Event()

    async def wait(_: Reaction) -> None:
        await counted.wait()

    dispatch.on_reaction = wait
    async with serving(slack, dispatch):
        ts = slack.say("U1", "C1", "hello")
        await slack.until(lambda: slack.acknowledged)
        before = len(slack.acknowledged)
        slack.react("U1", "C1", ts, "thumbsup")
        await slack.until(lambda: dispatch.reactions)
        await asyncio.sleep(0.1)
        assert len(slack.acknowledged) == before
        counted.set()
        await slack.until(lambda: len(slack.acknowledged) == before + 1)


async def test_what_is_claimed_is_acknowledged_at_once_and_what_is_not_kept_never(
    slack: SlackServer, dispatch: Recorder
) -> None:
    """Slack sends again what is not acknowledged within three seconds."""

    async def never(*_: object) -> None:
        await asyncio.sleep(60)

    dispatch.on_reaction = dispatch.on_message = never
    async with serving(slack, dispatch) as platform:
        began = time.monotonic()
        ts = slack.say("U1", "C1", "hello")
        await slack.until(lambda: len(slack.acknowledged) == 1)
        assert time.monotonic() - began < SOON, "answering takes long, claiming does not"
        slack.react("U1", "C1", ts, "thumbsup")
        await slack.until(lambda: dispatch.reactions)
        await asyncio.sleep(0.3)
        assert len(slack.acknowledged) == 1, "the vote is not counted yet"
        for task in list(platform._tasks):
            task.cancel()


async def test_what_is_no_event_is_acknowledged_and_that_events_are_left_out_is_told(
    slack: SlackServer, dispatch: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    """`app_rate_limited` has no event in it (docs.slack.dev, Events API, Rate limiting)."""
    async with serving(slack, dispatch):
        slack.hold_events_back()
        slack._push("interactive", {"type": "view_closed", "user": {"id": "U1"}, "view": {"id": "V1"}})
        await slack.until(lambda: len(slack.acknowledged) == 2)
    assert "leaves events out" in caplog.text
