"""Slack as a stage: the loopback server and the platform with the real slack-bolt."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import Any

from bot.platforms.slack.platform import connect
from bot.ports.chat import Choice
from tests.journeys.house import Bot
from tests.journeys.stage import PATIENCE, PLAIN, Said, Seen, address, chosen
from tests.platforms import slack_interactive as interactive
from tests.platforms.slack_bot import settings_for
from tests.platforms.slack_server import SlackServer

PEOPLE = {"ann": "U1", "bob": "U2", "hal": "UHAL", "boss": "UADMIN", "robot": "UROBOT"}
PLACES = {"public": "C1", "private": "G1", "direct": "D1", "desk": "C7", "hal": "DUHAL"}
PLACES |= {"several": "M1", "away": "C2", "closed": "GX"}
"""`several` people and the bot; a public channel and a private one, `away` and `closed`, without the bot."""
MENTIONS = {who: f"<@{user}>" for who, user in PEOPLE.items()} | {"bot": "<@UBOT>"}
EMOJI = {"👍": "+1", "👎": "-1", "👍🏽": "+1::skin-tone-4", "✅": "white_check_mark", "❌": "x"}


class SlackStage:
    """People on Slack."""

    name = "slack"

    def __init__(self, bot: Bot | None, server: SlackServer | None = None) -> None:
        self.bot = bot
        self.server = server or SlackServer()
        self.server.trigger_seconds = PATIENCE  # not three, as others have the machine, too
        self._own = server is None

    @classmethod
    def watching(cls, server: SlackServer) -> SlackStage:
        """Play people on a server that a bot in another process is connected to."""
        return cls(None, server)

    async def __aenter__(self) -> SlackStage:
        if self._own:
            await self.server.__aenter__()
        self.server.add_user("UROBOT", is_bot=True)
        self.server.channels["C1"]["members"].add("UROBOT")
        self.server.add_channel("C7", "channel", "UHAL", "UADMIN", self.server.bot_user)
        self.server.add_channel("GX", "group", "U1", "U2")
        assert self.bot is not None
        await self.join(self.bot)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.leave()
        if self._own:
            await self.server.__aexit__()
        assert not self.server.problems

    async def join(self, bot: Bot) -> None:
        """Connect a bot to this workspace."""
        self.bot = bot
        platform = connect(
            settings_for(self.server, helpers="slack:UHAL", home=bot.settings.home), bot.dispatch
        )
        assert platform is not None
        self.platform = platform
        self._running = asyncio.create_task(platform.run())
        await self.server.until(lambda: self.server.connected or self._running.done(), PATIENCE)

    async def leave(self) -> None:
        """Disconnect the bot; the workspace stays as it is."""
        await self.platform.stop()
        await self._running

    def key(self, place: str = "public") -> str:
        """Return how the bot names a channel."""
        return f"slack:{PLACES[place]}"

    async def repeat(self, said: Said) -> None:
        """Tell the bot of a message once more, as a platform does that heard no answer."""
        for sent in [e for e in self.server.envelopes if e["type"] == "events_api"]:
            event = sent["payload"]["event"]
            if event["type"] in ("message", "app_mention") and event["ts"] == said.id:
                self.server.redeliver(sent)

    async def disturb(self, trouble: str) -> None:
        """Let something go wrong from now on, as `tests.scenarios.trouble` names it."""
        if trouble == "no streams":
            self.server.streaming.there = False
        elif trouble == "stream ends":
            for channel, ts in list(self.server.streaming.running):
                self.server.streaming.end(channel, ts)
        elif trouble == "too many calls":
            for method in ("chat.appendStream", "chat.stopStream", "chat.update", "reactions.add"):
                self.server.fail(method, "ratelimited", status=429, retry_after=1)
        else:
            await self.server.drop()

    async def close_public(self) -> None:
        """Make the public channel a private one."""
        self.server.convert("UADMIN", "C1", "group")
        await self.quiet()

    async def answer_this(self, who: str, said: Said) -> None:
        """Choose "Answer this" in the menu of a message."""
        message = self.server.messages[PLACES[said.place]][said.id]
        interactive.shortcut(self.server, PEOPLE[who], PLACES[said.place], message, "answer_this")
        await self.quiet()

    def texts(self) -> list[str]:
        """Return all that the bot says in the public channel and its threads now."""
        return [seen.text for seen in map(self._seen, self.server.said("C1"))]

    def pings(self, said: Said) -> list[str]:
        """Return whom or what the bot's messages in a conversation call by sound."""
        shown = [str(m["text"]) + str(m["blocks"]) for m in self.server.said(PLACES[said.place], said.root)]
        return [call for text in shown for call in re.findall(r"<(?:!|@[UW])[^>]*>", text)]

    async def say(
        self, who: str, text: str, place: str = "public", *, under: Said | None = None, to: str = ""
    ) -> Said:
        place = under.place if under else place
        written = address(MENTIONS, text, to)
        thread = under.root if under and place != "direct" else None
        more: dict[str, Any] = {"bot_id": "BROBOT"} if who == "robot" else {}
        ts = self.server.say(PEOPLE[who], PLACES[place], written, thread, **more)
        return Said(ts, place, thread or ts, written)

    async def forward(self, who: str, said: Said, place: str, text: str = "") -> Said:
        """Forward a message, with a comment or without."""
        written = address(MENTIONS, text, "")
        ts = self.server.forward(PEOPLE[who], PLACES[said.place], said.id, PLACES[place], written)
        return Said(ts, place, ts, written)

    async def edit(self, said: Said, text: str) -> None:
        mention = said.text.split(" ")[0] if said.text.startswith("<@") else ""
        self.server.edit(PLACES[said.place], said.id, f"{mention} {text}".strip())

    async def delete(self, said: Said) -> None:
        self.server.delete(PLACES[said.place], said.id)

    async def react(self, who: str, on: Seen | Said, emoji: str, added: bool = True) -> None:
        act = self.server.react if added else self.server.unreact
        act(PEOPLE[who], PLACES[on.place], on.id, EMOJI.get(emoji, emoji))
        await self.quiet()

    async def press(self, who: str, seen: Seen, name: str, value: str = "") -> None:
        kept = self.server.messages[PLACES[seen.place]].get(seen.id)
        whispers = [w for w in reversed(self.server.whispers) if w["user"] == PEOPLE[who]]
        message = next(m for m in [kept or {"blocks": []}, *whispers] if name in _controls(m))
        menus = [e["options"] for e in _elements(message) if e["action_id"] == name and "options" in e]
        choices = tuple(Choice(o["value"], o["text"]["text"]) for options in menus for o in options)
        self.server.press(PEOPLE[who], message, name, chosen(choices, value) if choices else "")
        await self.quiet()

    def form(self, who: str) -> tuple[str, tuple[str, ...]] | None:
        view = self.server.views.get(PEOPLE[who])
        return (view["title"]["text"], tuple(b["block_id"] for b in view["blocks"])) if view else None

    async def fill(self, who: str, **fields: str) -> None:
        for block in self.server.views[PEOPLE[who]]["blocks"]:
            name, options = block["block_id"], block["element"].get("options")
            if options and name in fields:
                choices = tuple(Choice(o["value"], o["text"]["text"]) for o in options)
                fields[name] = chosen(choices, fields[name])
        self.server.submit(PEOPLE[who], **fields)
        await self.quiet()

    async def slash(self, who: str, command: str, text: str = "", place: str = "public") -> None:
        self.server.slash(PEOPLE[who], PLACES[place], f"/{command}", text)

    def account(self, who: str) -> str:
        return f"slack:{PEOPLE[who]}"

    def inbox(self, who: str) -> list[Seen]:
        return [replace(self._seen(m), place=who) for m in self.server.said(PLACES[who])]

    def desk(self) -> list[Seen]:
        return [replace(self._seen(m), place="desk") for m in self.server.said(PLACES["desk"])]

    def heard(self, who: str) -> list[str]:
        return [w["text"] for w in self.server.whispers if w["user"] == PEOPLE[who]]

    def public(self) -> list[str]:
        return [m["text"] for m in self.server.said("C1") if not m.get("thread_ts")]

    def replies(self, said: Said) -> list[Seen]:
        channel = PLACES[said.place]
        flat = said.place in ("direct", "several")
        found = self.server.said(channel) if flat else self.server.said(channel, said.root)
        return [replace(self._seen(m), place=said.place) for m in found]

    def _seen(self, message: dict[str, Any]) -> Seen:
        reactions = message.get("reactions", {})
        seeds = [PLAIN[name] for name, users in reactions.items() if self.server.bot_user in users]
        blocks = [b["text"] for b in message["blocks"] if b["type"] == "markdown"]
        small = [e["text"] for b in message["blocks"] if b["type"] == "context" for e in b["elements"]]
        text = "\n\n".join(blocks + small) if blocks else message["text"]
        return Seen(message["ts"], text, seeds=tuple(seeds), controls=_controls(message))

    async def quiet(self) -> None:
        await self.server.settled()


def _elements(message: dict[str, Any]) -> list[dict[str, Any]]:
    return [e for block in message["blocks"] if block["type"] == "actions" for e in block["elements"]]


def _controls(message: dict[str, Any]) -> tuple[str, ...]:
    return tuple(element["action_id"] for element in _elements(message))
