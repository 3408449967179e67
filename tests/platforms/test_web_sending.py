"""What the bot says unasked in the playground: in a channel, or to a player."""

from __future__ import annotations

from pathlib import Path

import pytest
from yarl import URL

from bot.ports.chat import Attachment, Reply
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


async def test_its_links_open_by_whatever_address_somebody_has_the_page(tmp_path: Path) -> None:
    given = settings(tmp_path, host="0.0.0.0", allowed_hosts="bot.example.org, other.example")
    async with serving(given, FakeDispatch()) as web:
        chat, local = web.playground.chat, web.playground.url
        [said] = await chat.send("general", Reply("Here."))
        link = await chat.permalink(said)
        assert link == f"https://bot.example.org/#/m/{said.message}", "it may leave the page"
        for address in ("https://bot.example.org", local, "http://192.168.1.7:8080", "https://other.example"):
            assert await chat.linked(f"{address}/#/m/{said.message}") == said
        assert await chat.linked(f"https://evil.example/#/m/{said.message}") is None
        told = f"It is [there]({link}), and was [here]({local}/#/m/1)."
        here = f"It is [there](/#/m/{said.message}), and was [here](/#/m/1)."
        await chat.edit((said,), Reply(told))
        assert (await web.messages())[-1]["text"] == here
        responder = chat.responder({"channel": "general", "only": "ada"})
        assert responder is not None
        await responder.reply(Reply(told, attachments=(Attachment("my-data.json", '{"a": 1}'),)))
        alone = (await web.messages())[-1]
        assert alone["text"].startswith(here)
        path = f"/api/files/{alone['id']}/my-data.json?person=ada"
        assert f"[my-data.json]({path})" in alone["text"]
        # what a page sends that somebody has by another name of the same machine
        own = {"Host": f"localhost:{URL(local).port}", "Sec-Fetch-Site": "same-origin"}
        assert await web.call("GET", path, headers=own) == (200, {"a": 1})
