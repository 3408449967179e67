"""What the bot says unasked in the playground: in a channel, or to a player."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.ports.chat import Reply
from core.domain import MessageRef
from core.errors import PlatformRejected
from tests.platforms.web_client import serving, settings
from tests.platforms.web_dispatch import FakeDispatch


async def test_it_stands_where_those_it_is_for_see_it(tmp_path: Path) -> None:
    async with serving(settings(tmp_path), FakeDispatch()) as web:
        chat = web.playground.chat
        [public] = await chat.send("general", Reply("Help is wanted.", calls=("hana",)))
        [direct] = await chat.send("hana", Reply("Can you help?"))
        assert public == MessageRef("web", "general", public.message, public.message)
        assert direct == MessageRef("web", "dm-hana", direct.message)
        shown = {m["id"]: m["text"] for m in await web.messages("hana")}
        assert shown[public.message] == "@hana\n\nHelp is wanted."
        assert shown[direct.message] == "Can you help?"
        assert [m["text"] for m in await web.messages("ada")] == [shown[public.message]]
        await chat.edit((direct,), Reply("Thank you."))
        assert (await web.messages("hana"))[-1]["text"] == "Thank you."
        with pytest.raises(PlatformRejected, match="nobody"):
            await chat.send("nobody", Reply("?"))
        named = [await chat.name_of(to) for to in ("hana", "general", "nobody")]
        assert named == ["Hana", "#general", ""]
