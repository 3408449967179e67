"""One way to play people on any platform, so that a journey is written once.

People: `ann` asks, `bob` is somebody else, `hal` is a helper, `boss` is an admin. Places: `public`;
`private`, which ann, hal and the bot are in; `direct`, between ann and the bot; `desk`, a channel of people
who help; `hal`, the direct messages between hal and the bot.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import pytest

from bot.ports.chat import Choice, Control
from tests.journeys.house import Bot
from tests.patience import PATIENCE

EVERYWHERE = pytest.mark.stages("web")
"""For a journey that no platform's file does anything to of its own; `--thorough` plays it on all."""
ON_EACH_WIRE = pytest.mark.stages("web", "slack", "discord")
"""For a journey through what each platform does in its own way: a form, an edit, a press, a whisper."""


@dataclass(frozen=True)
class Said:
    """A person's message; `root` is the id of the message that opened its thread."""

    id: str
    place: str
    root: str
    text: str = ""


@dataclass(frozen=True)
class Seen:
    """A message of the bot as people see it; `seeds` are the emoji that it put under it itself.

    `controls` are the names of the buttons and menus under it, in their order.
    """

    id: str
    text: str
    place: str = "public"
    seeds: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()

    @property
    def finished(self) -> bool:
        """Return True if this is an answer, not a sign of work or a part of one."""
        growing = self.text.startswith(("Looking it up", "Reading the")) or self.text.endswith("…")
        return bool(self.text) and not growing


class Stage(Protocol):
    """A platform with people on it."""

    name: str

    async def say(
        self, who: str, text: str, place: str = "public", *, under: Said | None = None, to: str = ""
    ) -> Said:
        """Write a message: `to` is `bot` or a person; `under` is what it stands in the thread of."""

    async def edit(self, said: Said, text: str) -> None:
        """Change one's message; the mention of the bot stays if there was one."""

    async def delete(self, said: Said) -> None:
        """Delete one's message."""

    async def react(self, who: str, on: Seen | Said, emoji: str, added: bool = True) -> None:
        """Put an emoji under a message of the bot or of a person, or take it off."""

    async def press(self, who: str, seen: Seen, name: str, value: str = "") -> None:
        """Press a button, or choose the line of a menu that `value` names.

        The control hangs under `seen`, else under the last whisper to that person that has it.
        """

    def form(self, who: str) -> tuple[str, tuple[str, ...]] | None:
        """Return the title and the field names of the form that is open for a person."""

    async def fill(self, who: str, **fields: str) -> None:
        """Send the open form; a menu's line is named by its value or its label."""

    async def slash(self, who: str, command: str, text: str = "", place: str = "public") -> None:
        """Use a slash command in a channel."""

    def account(self, who: str) -> str:
        """Return a person's account, as `corpora.toml` names it."""

    def key(self, place: str = "public") -> str:
        """Return how the bot names a channel."""

    def inbox(self, who: str) -> list[Seen]:
        """Return what the bot says in its direct messages to a person (`hal`), oldest first."""

    def desk(self) -> list[Seen]:
        """Return what the bot says outside of threads at the desk, oldest first."""

    def heard(self, who: str) -> list[str]:
        """Return what that person alone was told: by slash commands, whispers and presses."""

    def public(self) -> list[str]:
        """Return the texts of the bot that stand in the public channel outside of threads."""

    def replies(self, said: Said) -> list[Seen]:
        """Return the bot's messages in that conversation, oldest first."""

    async def quiet(self) -> None:
        """Wait until nothing is under way."""


async def until(condition: Callable[[], Any], what: str | Callable[[], str] = "") -> Any:
    """Wait until a condition holds and return its value; `what` may tell how things stand at the end."""
    end = asyncio.get_running_loop().time() + PATIENCE
    while not (value := condition()):
        if asyncio.get_running_loop().time() >= end:
            raise AssertionError(f"this did not happen: {what() if callable(what) else what or condition}")
        await asyncio.sleep(0.01)
    return value


async def answer(stage: Stage, said: Said, count: int = 1) -> Seen:
    """Wait for the `count`th finished answer in a conversation, with its seeds, and return it."""

    def found() -> Seen | None:
        done = [seen for seen in stage.replies(said) if seen.finished]
        return done[count - 1] if len(done) >= count and len(done[count - 1].seeds) == 2 else None

    return await until(found, lambda: f"{count} finished in {stage.replies(said)}")


async def ask(stage: Stage, text: str, place: str = "public", who: str = "ann") -> Seen:
    """Mention the bot in a new message and return the answer."""
    return await answer(stage, await stage.say(who, text, place, to="bot"))


async def told(stage: Stage, who: str, part: str) -> str:
    """Wait until a person alone was told something with that part in it, and return it."""

    def found() -> str:
        return next((text for text in stage.heard(who) if part in squeezed(text)), "")

    return str(await until(found, lambda: f"{part!r} told to {who}: {stage.heard(who)}"))


def address(mentions: dict[str, str], text: str, to: str) -> str:
    """Put the mention of whom a message is for before it."""
    return f"{mentions[to]} {text}" if to else text


def chosen(choices: tuple[Choice, ...], value: str) -> str:
    """Return the value of the choice that is meant: by its value, the last word of it, or its label."""
    meant = [c for c in choices if value in (c.value, c.value.rpartition(" ")[2], c.label)]
    assert meant, f"there is no {value!r} in {choices}"
    return meant[0].value


def pressed(controls: tuple[Control, ...], name: str, value: str) -> str:
    """Return what pressing a control sends; raises StopIteration where there is no such control."""
    control = next(control for control in controls if control.name == name)
    return chosen(control.choices, value) if control.choices else control.value


PLAIN = {"👍": "up", "👎": "down", "+1": "up", "-1": "down"}


def open_stage(name: str, bot: Bot) -> AbstractAsyncContextManager[Any]:
    """Open a platform by its name, connected to that bot."""
    from tests.journeys.discord_stage import DiscordStage
    from tests.journeys.fake_stage import FakeStage
    from tests.journeys.slack_stage import SlackStage
    from tests.journeys.web_stage import WebStage

    stages = {"fake": FakeStage, "slack": SlackStage, "discord": DiscordStage, "web": WebStage}
    return stages[name](bot)


def squeezed(text: str) -> str:
    """Return a text without marks of emphasis, so that it compares over platforms."""
    return re.sub(r"[*_`>]", "", text)
