"""Messages that people forward on Slack: their words stand beside the text, which may be empty."""

import pytest

from bot.ports.chat import Chat
from core.domain import MessageRef
from tests.platforms.slack_bot import Recorder, chat_fixture, dispatch_fixture, serving, slack_fixture
from tests.platforms.slack_server import SlackServer

__all__ = ["chat_fixture", "dispatch_fixture", "slack_fixture"]

ASKED = "how do I stream a response in 2.3?"


async def _heard(slack: SlackServer, dispatch: Recorder, ts: str):
    await slack.until(lambda: [m for m in dispatch.messages if m.ref.message == ts])
    return next(m for m in dispatch.messages if m.ref.message == ts)


async def test_what_is_forwarded_without_a_word_is_what_is_asked(
    slack: SlackServer, dispatch: Recorder
) -> None:
    async with serving(slack, dispatch):
        asked = slack.say("U2", "C1", ASKED)
        told = await _heard(slack, dispatch, slack.forward("U1", "C1", asked, "D1"))
    assert (told.text, told.author.id, told.authors) == (ASKED, "slack:U1", ("slack:U2",))
    assert told.scope.kind == "direct"


async def test_a_comment_stands_above_what_is_forwarded_and_both_have_their_authors(
    slack: SlackServer, dispatch: Recorder
) -> None:
    async with serving(slack, dispatch):
        asked = slack.say("U2", "C1", ASKED)
        told = await _heard(slack, dispatch, slack.forward("U1", "C1", asked, "C1", "<@UBOT> can you help?"))
        own = await _heard(slack, dispatch, slack.forward("U2", "C1", asked, "D1"))
    assert told.text == f"can you help?\n\n{ASKED}" and told.mentions_bot
    assert told.authors == ("slack:U1", "slack:U2")
    assert (own.text, own.authors) == (ASKED, ())


async def test_a_mention_in_what_is_forwarded_calls_nobody(slack: SlackServer, dispatch: Recorder) -> None:
    async with serving(slack, dispatch):
        asked = slack.say("U2", "C1", f"<@UBOT> and <@U3>: {ASKED}")
        told = await _heard(slack, dispatch, slack.forward("U1", "C1", asked, "C1", "look"))
    assert not told.mentions_bot and not told.mentions_others
    assert told.text == f"look\n\nand @U3: {ASKED}"


async def test_words_of_who_opted_out_are_not_read_though_others_forward_them(
    slack: SlackServer, dispatch: Recorder
) -> None:
    dispatch.out.add("slack:U2")
    snippet = {"id": "F1", "mode": "snippet", "mimetype": "text/plain", "preview": "my words"}
    async with serving(slack, dispatch):
        asked = slack.say("U2", "C1", ASKED, files=[snippet])
        told = await _heard(slack, dispatch, slack.forward("U1", "C1", asked, "D1", "what of this?"))
    assert (told.text, told.authors) == ("what of this?", ())


async def test_blocks_and_files_of_what_is_forwarded_are_read(slack: SlackServer, dispatch: Recorder) -> None:
    snippet = {"id": "F1", "mode": "snippet", "mimetype": "text/plain", "preview": "KeyError: 'x'"}
    section = {"type": "rich_text_section", "elements": [{"type": "text", "text": "why does this fail?"}]}
    inside = [{"message": {"blocks": [{"type": "rich_text", "elements": [section]}]}}]
    async with serving(slack, dispatch):
        asked = slack.say("U2", "C1", "", files=[snippet])
        told = await _heard(slack, dispatch, slack.forward("U1", "C1", asked, "D1", message_blocks=inside))
    assert told.text == "why does this fail?\n\n```\nKeyError: 'x'\n```"


@pytest.mark.parametrize(
    "unfolded", [{"is_msg_unfurl": True}, {"from_url": "https://x.y", "service_name": "X"}]
)
async def test_a_link_that_unfolds_is_no_forward(
    unfolded: dict[str, object], slack: SlackServer, dispatch: Recorder
) -> None:
    async with serving(slack, dispatch):
        ts = slack.say("U1", "D1", "see <https://x.y>", attachments=[{"text": "a page's words", **unfolded}])
        told = await _heard(slack, dispatch, ts)
    assert told.text == "see https://x.y"


async def test_what_was_forwarded_is_part_of_the_conversation(
    slack: SlackServer, dispatch: Recorder, chat: Chat
) -> None:
    asked = slack.say("U2", "C1", ASKED)
    slack.forward("U1", "C1", asked, "D1")
    slack.forward("U1", "C1", asked, "D1", "this one")
    last = slack.say("U1", "D1", "any idea?")
    turns = await chat.history(MessageRef("slack", "D1", last), 10)
    assert [(turn.author, turn.text) for turn in turns] == [
        ("slack:U2", ASKED),
        ("slack:U1", "this one"),
        ("slack:U2", ASKED),
    ]


async def test_whose_words_were_forwarded_is_told_of_who_opted_out_too(
    slack: SlackServer, dispatch: Recorder, chat: Chat
) -> None:
    """An answer to them repeats them, and `OptedOut.heard` leaves it out with them, by whose and when."""
    asked = slack.say("U2", "C1", ASKED)
    slack.forward("U1", "C1", asked, "D1")
    dispatch.out.add("slack:U2")
    last = slack.say("U1", "D1", "any idea?")
    turns = await chat.history(MessageRef("slack", "D1", last), 10)
    assert [(turn.author, turn.at) for turn in turns] == [("slack:U2", float(asked))]
