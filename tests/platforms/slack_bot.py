"""A bot for the loopback Slack whose dispatch writes down what it is told."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from bot.platforms.slack.api.errors import PACING, Pacing
from bot.platforms.slack.connection import Slack
from bot.ports.chat import Chat, Command, Message, Person, Press, Reaction, Responder, unheard
from bot.ports.page import Page, Part
from bot.privacy.exports import Holders
from core.domain import MessageRef
from core.ports.channels import Moved
from core.settings import Settings, load_settings
from tests.platforms.slack_server import SlackServer

LONG = "\n\n".join(f"Paragraph {n} says: {'<&> ' * 40}" for n in range(40))
"""An answer that takes several messages."""
FASTER = 20
"""How much faster time passes for Slack's limits and the bot's posts where neither is what is shown."""


@dataclass
class Recorder:
    """A dispatch that writes down what it is told and does what the test says."""

    messages: list[Message] = field(default_factory=list)
    edits: list[Message] = field(default_factory=list)
    deletions: list[MessageRef] = field(default_factory=list)
    reactions: list[Reaction] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    presses: list[Press] = field(default_factory=list)
    noted: list[tuple[str, str, str, str]] = field(default_factory=list)
    private: list[str] = field(default_factory=list)
    looked_up: list[str] = field(default_factory=list)
    """Channels that are private at a connection, whenever they became so."""
    moved: list[Moved] = field(default_factory=list)
    resumed: list[str] = field(default_factory=list)
    recounted: list[str] = field(default_factory=list)
    pages: list[tuple[Person, Collection[str], str]] = field(default_factory=list)
    on_page: Callable[[], Page] = lambda: (Part("A page"),)
    holders: Holders = field(default_factory=lambda: Holders(Path(), {}))
    chat: Chat | None = None
    on_message: Callable[[Chat, Message], Any] | None = None
    before_taken: Callable[[], Any] | None = None
    on_command: Callable[[Command, Responder], Any] | None = None
    on_press: Callable[[Press, Responder], Any] | None = None
    on_reaction: Callable[[Reaction], Any] | None = None
    out: set[str] = field(default_factory=set)
    """Accounts of people who opted out."""

    def is_out(self, account: str) -> bool:
        return account in self.out

    async def message(self, chat: Chat, message: Message, taken: Callable[[], None] = unheard) -> None:
        self.chat = chat
        self.messages.append(message)
        if self.before_taken:
            await self.before_taken()
        taken()
        if self.on_message:
            await self.on_message(chat, message)

    async def own_page(self, chat: Chat, person: Person, channels: Collection[str], note: str = "") -> Page:
        self.pages.append((person, channels, note))
        return self.on_page()

    async def take(
        self,
        platform: str,
        kind: str,
        event: str,
        account: str,
        to: Mapping[str, Any],
        press: Press | None = None,
    ) -> bool:
        self.noted.append((platform, kind, event, account))
        return True

    @property
    def recount(self) -> Any:
        return self

    def begin(self, chat: Chat, reader: Any) -> None:
        self.recounted.append(chat.name)

    async def resume(self, chat: Chat) -> None:
        self.resumed.append(chat.name)

    async def edited(self, chat: Chat, message: Message, taken: Callable[[], None] = unheard) -> None:
        self.edits.append(message)

    async def deleted(self, chat: Chat, ref: MessageRef, links: str = "") -> None:
        self.deletions.append(ref)

    async def reaction(self, chat: Chat, reaction: Reaction) -> None:
        self.reactions.append(reaction)
        if self.on_reaction:
            await self.on_reaction(reaction)

    async def press(self, chat: Chat, press: Press, responder: Responder) -> None:
        self.chat = chat
        self.presses.append(press)
        if self.on_press:
            await self.on_press(press, responder)

    async def channel_became_private(self, channel: str, now: bool = True) -> None:
        (self.private if now else self.looked_up).append(channel)

    async def channel_moved(self, chat: Chat, moved: Moved) -> Any:
        await asyncio.sleep(0.05)
        self.moved.append(moved)
        return self.resume(chat)

    async def command(self, chat: Chat, command: Command, responder: Responder) -> None:
        self.commands.append(command)
        if self.on_command:
            await self.on_command(command, responder)


NOWHERE = Path("/nowhere/threadlore")
"""A home that is not there: a test without one of its own writes nothing into a developer's."""


def settings_for(slack: SlackServer, **given: Any) -> Settings:
    return load_settings(
        None,
        slack_bot_token=given.pop("bot_token", slack.bot_token),
        slack_app_token=given.pop("app_token", slack.app_token),
        slack_api_url=given.pop("url", slack.url),
        home=given.pop("home", NOWHERE),
        **{"slack_votes": "both", **given},  # so that both ways are played
    )


@asynccontextmanager
async def serving(
    slack: SlackServer, dispatch: Recorder, pacing: Pacing = PACING, **given: Any
) -> AsyncIterator[Slack]:
    platform = Slack(settings_for(slack, **given), dispatch, pacing)  # type: ignore[arg-type]
    running = asyncio.create_task(platform.run())
    try:
        await slack.until(lambda: slack.connected or running.done())
        yield platform
    finally:
        await platform.stop()
        await running
    assert not slack.problems


@asynccontextmanager
async def chatting(slack: SlackServer, dispatch: Recorder, pacing: Pacing = PACING) -> AsyncIterator[Chat]:
    async with serving(slack, dispatch, pacing):
        slack.say("U1", "C1", "hello")
        await slack.until(lambda: dispatch.messages)
        assert dispatch.chat
        yield dispatch.chat
        dispatch.messages.clear()


def faster(slack: SlackServer) -> Pacing:
    """Let time pass faster for the limits of Slack; return how the bot keeps to them then."""
    slack.limits.minute = 60 / FASTER
    return replace(PACING, posts=PACING.posts / FASTER)


@pytest.fixture(name="slack")
async def slack_fixture() -> AsyncIterator[SlackServer]:
    async with SlackServer() as server:
        yield server


@pytest.fixture(name="dispatch")
def dispatch_fixture() -> Recorder:
    return Recorder()


@pytest.fixture(name="chat")
async def chat_fixture(slack: SlackServer, dispatch: Recorder) -> AsyncIterator[Chat]:
    async with chatting(slack, dispatch, faster(slack)) as chat:
        yield chat
