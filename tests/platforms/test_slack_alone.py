"""Every way to tell one person something on Slack, in every kind of place: it is shown, or logged."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from bot.platforms.slack.components import GOOD_FOR, USES, Link, pressed
from bot.ports.chat import Chat, Choice, Command, Control, Field, Form, Person, Press, Reply, Responder
from core.domain import MessageRef
from core.errors import PlatformError
from tests.platforms import slack_interactive as interactive
from tests.platforms.slack_bot import LONG, Recorder, dispatch_fixture, faster, serving, slack_fixture
from tests.platforms.slack_server import SlackServer

__all__ = ["dispatch_fixture", "slack_fixture"]

UP = Control("up", "👍", "a1")
FORM = Form(
    "wrong", "What was wrong?", "a1", (Field("what", "What?", (Choice("w", "Wrong"),), required=True),)
)
SAID = "For you alone."
BLOCKS = [
    {
        "type": "actions",
        "elements": [
            {"type": "button", "action_id": "up", "value": "a1", "text": {"type": "plain_text", "text": "👍"}}
        ],
    }
]


@dataclass
class Spot:
    """A message of the bot with a button, and who looks at it."""

    channel: str
    user: str
    ts: str
    thread: str = ""

    @property
    def ref(self) -> MessageRef:
        """Return it as the bot knows it."""
        thread = self.thread or ("" if self.channel[0] in "DM" else self.ts)
        return MessageRef("slack", self.channel, self.ts, thread)


# --- places -----------------------------------------------------------------------------------


def spot(slack: SlackServer, channel: str, user: str = "U1", thread: str = "") -> Spot:
    """Let the bot have written something with a button."""
    bot = {"bot_id": slack.bot_id, "app_id": slack.app, "blocks": BLOCKS}
    return Spot(
        channel,
        user,
        str(slack.store(channel, slack.bot_user, "An answer.", thread or None, **bot)["ts"]),
        thread,
    )


def in_a_thread(slack: SlackServer) -> Spot:
    return spot(slack, "C1", thread=str(slack.store("C1", "U1", "how?", None)["ts"]))


def opening_an_active_thread(slack: SlackServer) -> Spot:
    at = spot(slack, "C1")
    slack.store("C1", "U2", "thanks", at.ts)
    return at


def of_a_thread_that_lost_its_replies(slack: SlackServer) -> Spot:
    at = opening_an_active_thread(slack)
    del slack.messages["C1"][list(slack.messages["C1"])[-1]]
    return at


def without_the_bot(slack: SlackServer) -> Spot:
    return spot(slack, "C2")


def private_without_the_bot(slack: SlackServer) -> Spot:
    slack.add_channel("GX", "group", "U1")
    return spot(slack, "GX")


def archived(slack: SlackServer) -> Spot:
    slack.add_channel("C3", "channel", "U1", slack.bot_user)
    slack.channels["C3"]["archived"] = True
    return spot(slack, "C3")


def shared(slack: SlackServer) -> Spot:
    slack.add_user("UEXT", team_id="T2", is_stranger=True)
    slack.channels["C1"]["members"].add("UEXT")
    slack.share("C1", tell=False)
    return spot(slack, "C1", "UEXT")


PLACES: dict[str, tuple[Callable[[SlackServer], Spot], str]] = {
    "root": (lambda slack: spot(slack, "C1"), "channel"),
    "in a thread": (in_a_thread, "thread"),
    "opening an active thread": (opening_an_active_thread, "thread"),
    "thread that lost its replies": (of_a_thread_that_lost_its_replies, "channel"),
    "without the bot": (without_the_bot, "directly"),
    "private": (lambda slack: spot(slack, "G1"), "channel"),
    "private without the bot": (private_without_the_bot, "directly"),
    "direct": (lambda slack: spot(slack, "D1"), "channel"),
    "several people": (lambda slack: spot(slack, "M1"), "channel"),
    "archived": (archived, "directly"),
    "shared with another organization": (shared, "channel"),
}
"""Where something is said, and where it can be shown without a response URL."""


# --- ways -------------------------------------------------------------------------------------


class Ways(Recorder):
    """A dispatch that says the same whatever happens."""

    late = False

    async def press(self, chat: Chat, press: Press, responder: Responder) -> None:
        if press.name == "up" and self.late:
            try:
                await responder.ask(FORM)
            except PlatformError:
                await responder.reply(Reply(SAID, controls=(UP,)))
        else:
            await responder.reply(Reply(SAID))

    async def command(self, chat: Chat, command: Command, responder: Responder) -> None:
        if command.text == "progress":
            await responder.progress(Reply("0 %", final=False))
            await responder.progress(Reply(SAID))
        else:
            await responder.reply(Reply("Looking …", final=False))
            await responder.reply(Reply(SAID))


async def press(slack: SlackServer, ways: Ways, at: Spot) -> None:
    slack.press(at.user, slack.messages[at.channel][at.ts], "up")


async def press_too_late(slack: SlackServer, ways: Ways, at: Spot) -> None:
    ways.late, slack.trigger_seconds = True, -1.0
    await press(slack, ways, at)


async def form(slack: SlackServer, ways: Ways, at: Spot) -> None:
    ways.late = True
    await press(slack, ways, at)
    await slack.until(lambda: at.user in slack.views)
    slack.submit(at.user, what="w")


async def command(slack: SlackServer, ways: Ways, at: Spot) -> None:
    slack.slash(at.user, at.channel, "/ask", "how?")


async def answer_this(slack: SlackServer, ways: Ways, at: Spot) -> None:
    message = slack.messages[at.channel][at.ts]
    interactive.shortcut(slack, at.user, at.channel, message, "answer_this")


async def whisper(slack: SlackServer, ways: Ways, at: Spot) -> None:
    slack.say("U1", "C1", "hello")
    chat = await slack.until(lambda: ways.chat)
    assert await chat.whisper(at.ref, Person(f"slack:{at.user}"), Reply(SAID, controls=(UP,)))


WAYS: dict[str, Callable[[SlackServer, Ways, Spot], Awaitable[None]]] = {
    "press": press,
    "press too late for a form": press_too_late,
    "form": form,
    "command": command,
    "answer this": answer_this,
    "whisper": whisper,
}


def shown(slack: SlackServer, at: Spot) -> list[str]:
    """Return where that person was told: in the thread, in the channel, or directly."""
    told = [w for w in slack.whispers if w["user"] == at.user and SAID in w["text"]]
    assert all(w["channel"] == at.channel for w in told)
    mine = [c for c, there in slack.channels.items() if there["members"] == {at.user, slack.bot_user}]
    direct = [m for c in mine for m in slack.said(c) if SAID in m["text"]]
    return ["thread" if w.get("thread_ts") else "channel" for w in told] + ["directly"] * len(direct)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("url", ["good", "too old"])
async def test_it_is_shown(
    way: str, place: str, url: str, slack: SlackServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Each way in each place, once: through the response URL, else in the channel, else directly."""
    ways, (found, otherwise) = Ways(), PLACES[place]
    slack.response_seconds = 1_800.0 if url == "good" else -1.0
    async with serving(slack, ways):
        at = found(slack)
        await WAYS[way](slack, ways, at)
        await slack.until(lambda: shown(slack, at))
        await slack.settled()
    through_url = url == "good" and way != "whisper"
    is_threaded = otherwise == "thread" and way != "command" and not (way == "whisper" and not at.thread)
    expected = "thread" if is_threaded else "channel" if through_url or otherwise == "thread" else otherwise
    assert shown(slack, at) == [expected]
    assert not [r for r in caplog.records if r.levelno >= logging.ERROR], caplog.text
    assert through_url <= (not slack.called("chat.postEphemeral")), "the URL needs no membership"


@pytest.mark.parametrize("place", [name for name, (_, where) in PLACES.items() if where == "directly"])
async def test_what_cannot_be_said_anywhere_is_one_line(
    place: str, slack: SlackServer, caplog: pytest.LogCaptureFixture
) -> None:
    slack.response_uses = 0
    slack.add_user("U1", deleted=True)
    del slack.channels["D1"]
    ways = Ways()
    async with serving(slack, ways):
        await press(slack, ways, PLACES[place][0](slack))
        await slack.until(lambda: "could not be told something" in caplog.text)
        await slack.settled()
    warnings = [r for r in caplog.records if r.levelno >= logging.WARNING and "told something" in r.message]
    assert len(warnings) == 1 and not [r for r in caplog.records if r.exc_info], caplog.text
    assert not slack.whispers


async def test_a_direct_message_says_where_it_is_about(slack: SlackServer) -> None:
    slack.response_uses = 0
    async with serving(slack, Ways()):
        slack.slash("U1", "C2", "/ask", "how?")
        await slack.until(lambda: slack.said("D1"))
    assert [m["text"] for m in slack.said("D1")] == [f"_In #c2:_\n\n{SAID}"]


async def test_nothing_is_shared_out_of_a_direct_message(slack: SlackServer, dispatch: Recorder) -> None:
    async def answer(command: Command, responder: Responder) -> None:
        await responder.reply(Reply(SAID, controls=(UP, Control("share", "Share", "a1  "))))

    slack.response_uses = 0
    dispatch.on_command = answer
    async with serving(slack, dispatch):
        slack.slash("U1", "C2", "/ask", "how?")
        [said] = await slack.until(lambda: slack.said("D1"))
    [actions] = [block for block in said["blocks"] if block["type"] == "actions"]
    assert [element["action_id"] for element in actions["elements"]] == ["up"]


# --- progress ---------------------------------------------------------------------------------


@pytest.mark.parametrize("url", ["good", "too old"])
@pytest.mark.parametrize("place", PLACES)
async def test_progress_is_shown_to_all_or_to_who_asked_for_it(
    place: str, url: str, slack: SlackServer
) -> None:
    ways, (found, otherwise) = Ways(), PLACES[place]
    slack.response_seconds = 1_800.0 if url == "good" else -1.0
    async with serving(slack, ways):
        at = found(slack)
        slack.slash(at.user, at.channel, "/threadlore", "progress")
        await slack.until(lambda: shown(slack, at) or any(m["text"] == SAID for m in slack.said(at.channel)))
        await slack.settled()
    seen = [m for m in slack.said(at.channel) if m["text"] == SAID]
    if otherwise == "directly":
        assert shown(slack, at) == ["channel" if url == "good" else "directly"] and not seen
    else:
        assert len(seen) == 1 and not slack.whispers


async def test_progress_whose_message_somebody_deleted_is_shown_anew(slack: SlackServer) -> None:
    async def work(command: Command, responder: Responder) -> None:
        await responder.progress(Reply("0 %", final=False))
        [message] = slack.said("C1")
        slack.delete("C1", message["ts"])
        await responder.progress(Reply("done"))

    async with serving(slack, Recorder(on_command=work)):
        slack.slash("UADMIN", "C1", "/threadlore", "reindex")
        await slack.until(lambda: [m["text"] for m in slack.said("C1")] == ["done"])


# --- how often a URL is used ------------------------------------------------------------------


async def test_a_long_reply_leaves_one_use_of_the_url_and_is_whole(slack: SlackServer) -> None:
    async def answer(command: Command, responder: Responder) -> None:
        await responder.reply(Reply("Looking …", final=False))
        await responder.reply(Reply("Not yet …", final=False))
        await responder.reply(Reply(LONG[:5_000]))
        await responder.reply(Reply("That is all."))

    async with serving(slack, Recorder(on_command=answer)):
        slack.slash("U1", "C2", "/ask", "how?")
        await slack.until(lambda: any("That is all." in w["text"] for w in slack.whispers))
    [url] = slack.ephemeral.urls.values()
    assert url.uses == 5 and not slack.said("D1"), "nothing had to be said directly"


async def test_what_is_too_long_for_a_url_goes_on_in_direct_messages(slack: SlackServer) -> None:
    async def answer(command: Command, responder: Responder) -> None:
        await responder.reply(Reply(LONG * 3, controls=(UP,)))

    async with serving(slack, Recorder(on_command=answer), faster(slack)):
        slack.slash("U1", "C2", "/ask", "how?")
        await slack.until(lambda: slack.said("D1") and "actions" in str(slack.said("D1")[-1]["blocks"]))
        await slack.settled()
    said = [*slack.whispers, *slack.said("D1")]
    assert sum(message["text"].count("Paragraph") for message in said) == 120
    assert [m for m in said if m["blocks"][-1]["type"] == "actions"] == said[-1:]


async def test_a_press_replaces_nothing_and_a_second_reply_stands_beside_the_first(
    slack: SlackServer,
) -> None:
    async def answer(press: Press, responder: Responder) -> None:
        for text in ("Counting …", "Counted."):
            await responder.reply(Reply(text, final=text.endswith("d.")))
        await responder.reply(Reply("And noted."))

    async with serving(slack, Recorder(on_press=answer)):
        at = spot(slack, "C1")
        slack.press("U1", slack.messages["C1"][at.ts], "up")
        await slack.until(lambda: len(slack.whispers) == 2)
    assert [w["text"] for w in slack.whispers] == ["Counted.", "And noted."]
    assert slack.messages["C1"][at.ts]["text"] == "An answer."


async def test_a_form_counts_the_uses_of_the_press_that_opened_it(slack: SlackServer) -> None:
    async def answer(press: Press, responder: Responder) -> None:
        if not press.fields:
            await responder.ask(FORM)
        for number in range(3):
            await responder.reply(Reply(f"{len(press.fields)} {number}"))

    async with serving(slack, Recorder(on_press=answer)):
        at = spot(slack, "C2")
        slack.press("U1", slack.messages["C2"][at.ts], "up")
        await slack.until(lambda: len(slack.whispers) == 3)
        slack.submit("U1", what="w")
        await slack.until(lambda: slack.said("D1"))
        await slack.settled()
    assert [w["text"] for w in slack.whispers] == ["0 0", "0 1", "0 2", "1 0", "1 1"]
    assert [m["text"] for m in slack.said("D1")] == ["_In #c2:_\n\n1 2"]


def test_a_link_is_good_for_so_many_uses_and_so_long() -> None:
    link = Link.new("https://hooks.slack.com/x", lambda: 100.0)
    assert link.left(100.0) == USES == 5 and link.left(100.0 + GOOD_FOR) == 0 == Link.new(None).left(0.0)
    link.used = 4
    assert link.left(101.0) == 1
    link.spend()
    assert link.left(101.0) == 0


def test_a_form_that_was_opened_before_this_version_is_taken() -> None:
    view = {"callback_id": "wrong", "private_metadata": '["a1", "C1", "1.2", "1.1"]'}
    found = pressed({"type": "view_submission", "user": {"id": "U1"}, "view": view})
    assert found is not None and found.ref == MessageRef("slack", "C1", "1.2", "1.1")
    assert (found.thread, found.link.left(0.0)) == ("", 0)
