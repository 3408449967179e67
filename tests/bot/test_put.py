"""Where an answer is shown whose messages somebody deleted."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from bot.conversation.answering import Answering, _Answer
from bot.ports.chat import Reply
from core.domain import MessageRef
from core.errors import MessageGone

SIGN, NEW = (MessageRef("fake", "C1", "2"),), (MessageRef("fake", "C1", "3"),)


class Deleted:
    """A chat in which every message was deleted."""

    def __init__(self) -> None:
        self.posted: list[str] = []

    async def edit(self, _parts: tuple[MessageRef, ...], _reply: Reply) -> tuple[MessageRef, ...]:
        raise MessageGone("it is gone")

    async def delete(self, _parts: tuple[MessageRef, ...]) -> None:
        raise MessageGone("it is gone")

    async def post(self, _where: MessageRef, reply: Reply) -> tuple[MessageRef, ...]:
        self.posted.append(reply.markdown)
        return NEW


@pytest.mark.parametrize("is_final", [True, False])
async def test_what_nobody_asked_for_is_not_said_again_where_somebody_deleted_it(is_final: bool) -> None:
    noted: list[tuple[MessageRef, ...]] = []

    async def posted(_key: str, parts: tuple[MessageRef, ...]) -> None:
        noted.append(parts)

    async def is_ours(_key: str) -> bool:
        return True

    desk = SimpleNamespace(conversations=SimpleNamespace(posted=posted, is_ours=is_ours))
    answering = cast(Any, SimpleNamespace(_desk=desk))
    answering._hold = lambda answer, before: Answering._hold(answering, answer, before)
    reply = Reply("It listens on 9090.", final=is_final)
    for unasked in (True, False):
        chat, message = Deleted(), SimpleNamespace(unasked=unasked, ref=SIGN[0], key="fake:C1:1")
        answer = _Answer(cast(Any, chat), cast(Any, message), SIGN)
        if unasked:
            with pytest.raises(MessageGone):
                await Answering._put(answering, answer, reply)
            assert not chat.posted and not noted
        else:
            await Answering._put(answering, answer, reply)
            assert chat.posted == [reply.markdown] and answer.parts == NEW and noted == [()]
