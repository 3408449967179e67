"""The pages being read are shown only where reading them lasts."""

from __future__ import annotations

import asyncio

import pytest

from bot.conversation.threads import READING_SECONDS, StreamingReply
from bot.ports.chat import Reply
from core.domain import MessageRef
from core.errors import MessageGone
from core.languages import speaking

WHERE = MessageRef("fake", "C1", "1", "1")


class Edits:
    """A chat that writes down its edits."""

    def __init__(self) -> None:
        self.said: list[str] = []

    async def edit(self, parts: tuple[MessageRef, ...], reply: Reply) -> tuple[MessageRef, ...]:
        self.said.append(reply.markdown)
        return parts


async def _nothing(parts: tuple[MessageRef, ...]) -> None:
    """Take note of nothing."""


def replying(chat: Edits, after: float) -> StreamingReply:
    return StreamingReply(chat, (WHERE,), "Kettle", _nothing, WHERE, after=after)  # type: ignore[arg-type]


@pytest.mark.parametrize(("after", "shown"), [(60.0, 0), (0.0, 1)])
async def test_what_is_read_is_shown_only_if_that_lasts(after: float, shown: int) -> None:
    chat = Edits()
    show = replying(chat, after)
    await show.sources("2.0", [])
    await asyncio.sleep(0.05)
    reading = [text for text in chat.said if text.startswith("Reading the Kettle 2.0 documentation")]
    await show.finish()
    assert len(reading) == shown


async def test_an_answer_that_comes_within_a_second_takes_one_edit() -> None:
    chat = Edits()
    assert READING_SECONDS == 1.0
    show = replying(chat, READING_SECONDS)
    await show.sources("2.0", [])
    await show.text("Port 5000.")
    await asyncio.sleep(0.05)
    await show.finish()
    assert chat.said == ["Port 5000. …"]


class Gone(Edits):
    """A chat where somebody deleted the sign of work."""

    async def edit(self, parts: tuple[MessageRef, ...], reply: Reply) -> tuple[MessageRef, ...]:
        await super().edit(parts, reply)
        raise MessageGone("it was deleted")


async def test_what_was_deleted_is_edited_no_more() -> None:
    chat = Gone()
    show = replying(chat, 60.0)
    for text in ("Port", "Port 5000."):
        await show.text(text)
        await asyncio.sleep(0.01)
    await show.finish()
    assert chat.said == ["Port …"] and not show.in_doubt


async def test_a_place_in_the_line_is_told_in_the_language_of_who_waits() -> None:
    chat = Edits()
    with speaking("de"):
        show = replying(chat, 60.0)
    with speaking("en"):  # the answer whose end moves the line
        show.place(3)
    await asyncio.sleep(0.01)
    await show.finish()
    assert chat.said[0].startswith("Ich lese die Dokumentation") and "Fragen" in chat.said[0]
