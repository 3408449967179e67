"""What pages ask beside the conversation: commands, modes, examples, and cited pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any

from bot.commands.option import Option
from bot.commands.slash.table import SlashCommands, Subcommand
from bot.ports.chat import Person
from bot.privacy.my_data import PRIVACY
from core.community.overrides import ChannelModes
from core.domain import Scope, sources
from core.feedback.answer_log import AnswerLog
from core.insights.examples import Examples
from core.ports.corpora import PassageStore
from core.text.code_language import labelled

ASK = {
    "line": "/ask",
    "usage": "/ask QUESTION",
    "help": "ask without anybody seeing it",
    "options": [{"name": "question", "kind": "text", "choices": [], "required": True, "named": False}],
    "everybody": True,
}
"""The one command that stands in no table."""


class Pages:
    """Answers what pages ask."""

    privacy = PRIVACY

    def __init__(
        self,
        slash: SlashCommands,
        modes: ChannelModes,
        given: AnswerLog,
        passages: PassageStore,
        examples: Examples,
    ) -> None:
        self._slash = slash
        self._modes = modes
        self._given = given
        self._passages = passages
        self._examples = examples

    def commands(self, person: Person) -> list[dict[str, Any]]:
        """Return the commands that somebody may give, as `{line, usage, help, options, everybody}`."""
        return [ASK, *(self._commands[one.name] for one in self._slash.allowed(person))]

    @cached_property
    def _commands(self) -> dict[str, dict[str, Any]]:
        """Return by its name what a page is told of each command; pages ask for all of them each time."""
        return {one.name: _told(one) for one in self._slash.subcommands}

    async def modes(self, channels: Sequence[str]) -> dict[str, str]:
        """Return how each of these channels (`web:help`) is served."""
        return {channel: await self._modes.mode(channel) for channel in channels}

    def suppose(self, channel: str, mode: str) -> None:
        """Say how a channel is served where nobody says so."""
        self._modes.suppose(channel, mode)

    async def examples(self, channel: str) -> tuple[str, ...]:
        """Return questions that the bot can answer in a channel; the catalogue's until that is known."""
        found = tuple(example.text for example in await self._examples.of(channel, Scope()))
        return found or self._examples.untried

    async def source(self, answer_id: str, number: int) -> dict[str, Any]:
        """Return a source of an answer with its page's words; raises KeyError where there is none."""
        answer, _ = await self._given.answer(answer_id)
        pieces = [one for one in answer.citations if one.number == number]
        if not pieces:
            raise KeyError(number)
        found = sources(pieces)[0]
        texts = [await self._passages.text(one.release, one.hash) for one in pieces if one.hash]
        return {
            "number": found.number,
            "title": found.title,
            "url": found.url,
            "release": found.release,
            "path": found.path,
            "text": labelled("\n\n".join(dict.fromkeys(filter(None, texts)))),
        }


def _told(one: Subcommand) -> dict[str, Any]:
    return {
        "line": f"/threadlore {one.name}",
        "usage": one.usage,
        "help": one.help,
        "options": [
            {name: getattr(option, name) for name in OPTION} for option in one.options if not option.hidden
        ],
        "everybody": one.everybody,
    }


OPTION = tuple(each.name for each in fields(Option))
"""What of an option a page is told; `asdict` takes five times as long."""
