"""Questions of readers of a website: nobody's account, in public, answered to the asker.

A reader is no person that the bot knows. What they ask is kept as a question that nobody asked, their votes
move nothing in memory, and they hear what everybody in public hears.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bot.conversation.desk import Desk, paused_text
from bot.conversation.triggers import is_greeting, is_pleasantry, points_above
from bot.home.logs import about
from bot.ports.chat import Person, Reply
from bot.rendering.answers import ABOUT, compose, said
from core.catalogue import ChannelSettings
from core.domain import Question, Scope, Turn, Vote
from core.insights.examples import Examples
from core.languages import _, speaking
from core.ports import Listener
from core.query.releases.addresses import release_of_address
from core.query.releases.resolve import lookup, resolve
from core.text.words import ruled, storable

PLATFORM = "widget"
PUBLIC = Scope(platform=PLATFORM)
TURNS = 6
"""Earlier questions that a follow-up is understood with."""
EXAMPLES = 2


@dataclass(frozen=True, slots=True)
class Serving:
    """The release that a page's readers are answered for, and where that comes from.

    `unknown` is what the page names that is no release which answers now.
    """

    release: str
    origin: Literal["chosen", "page", "default", "none"]
    unknown: str = ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """An earlier question of a conversation, its answer as it was shown, and that answer's id."""

    question: str
    answer: str
    answer_id: str = ""
    release: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a reader asks on a site (`docs.example.org`), and what was said before it.

    `release` is what the page is for, `moved` whether that is another one than at the question before.
    """

    text: str
    site: str
    release: str
    moved: bool = True
    earlier: tuple[Exchange, ...] = ()
    locale: str = ""


class Readers:
    """Answers readers of websites."""

    def __init__(self, desk: Desk, examples: Examples, channels: Mapping[str, ChannelSettings]) -> None:
        """`channels` may name the release of a site: `widget:docs.example.org`."""
        self._desk = desk
        self._examples = examples
        self._channels = channels

    @property
    def product(self) -> str:
        """Return the name of the product that is talked about."""
        return self._desk.engine.product.name

    @property
    def releases(self) -> list[str]:
        """Return the releases that answer now, newest first."""
        return self._desk.engine.ready

    @property
    def latest(self) -> str:
        """Return the name of the latest release."""
        return self._desk.engine.product.latest.name if self._desk.engine.product.releases else ""

    def serving(self, site: str, address: str, chosen: str = "") -> Serving:
        """Return the release for a page: the one that was chosen, the one its address names, the default."""
        product, ready = self._desk.engine.product, self._desk.engine.ready
        default = lookup(self._settings(site).release or self.latest, product)
        default = default if default in ready else next(iter(ready), "")
        if chosen and (release := lookup(chosen, product)) in ready:
            return Serving(release, "chosen")
        found = release_of_address(address, product)
        if found.release in ready:
            return Serving(found.release, "page", chosen)
        unknown = chosen or found.release or found.unknown
        return Serving(default, "default" if default else "none", unknown)

    async def examples(self, site: str) -> tuple[str, ...]:
        """Return questions to begin with; none while nothing is read."""
        found = [example.text for example in await self._examples.of(channel_of(site), PUBLIC)]
        return tuple(found[:EXAMPLES]) or self._examples.untried

    async def paused(self, site: str) -> str:
        """Return what is said while a pause holds for a site; empty where none does."""
        pause = await self._desk.pausing.of(channel_of(site))
        return paused_text(pause) if pause else ""

    async def answer(self, asked: Asked, listener: Listener) -> Reply:
        """Answer a question, as Markdown in the language of its words. Raises ThreadloreError."""
        text = storable(asked.text).strip()
        language = await self._desk.locales.of_text(text, Person("", locale=asked.locale))
        about(secrets.token_hex(8), platform=PLATFORM, kind=PUBLIC.kind)
        with speaking(language):
            if small := self._small_talk(text):
                return Reply(small)
            question = Question(
                text,
                channel=channel_of(asked.site),
                scope=Scope(),
                history=await self._history(asked.earlier[-TURNS:]),
                release=self._given(text, asked),
                language=language,
            )
            found = await self._desk.engine.answer(question, listener)
            return compose(found, self.product)

    async def vote(self, answer_id: str, reader: str, value: Literal[0, 1] | None) -> bool:
        """Keep a reader's vote, None to take it back; False where the answer is not kept any more."""
        return await self._desk.engine.reader_feedback(Vote(answer_id, reader, value))

    def _given(self, text: str, asked: Asked) -> str:
        """Return the release to answer for, empty where words or conversation tell."""
        product = self._desk.engine.product
        found = resolve(Question(ruled(text)), product)
        if found.unknown or found.origin == "question":
            return ""
        return asked.release if asked.moved or not asked.earlier else ""

    def _small_talk(self, text: str) -> str:
        thanks = is_pleasantry(text)
        if is_greeting(text) or (thanks and points_above(text)):
            return _(ABOUT).format(product=self.product)
        if thanks:
            known = _("Any time. Ask me whatever else you want to know about {product}.")
            return known.format(product=self.product)
        return ""

    async def _history(self, earlier: Sequence[Exchange]) -> tuple[Turn, ...]:
        """Return what was said, without answers that nothing is left of because somebody was forgotten."""
        log = self._desk.engine.answer_log
        ids = [one.answer_id for one in earlier if one.answer_id]
        emptied = await log.emptied(ids) if ids else frozenset()
        authors = tuple(sorted(await log.whose(ids))) if ids else ()
        turns: list[Turn] = []
        for one in earlier:
            turns.append(Turn("user", one.question))
            if one.answer_id not in emptied:
                turns.append(Turn("assistant", said(one.answer), release=one.release, authors=authors))
        return tuple(turns)

    def _settings(self, site: str) -> ChannelSettings:
        return self._channels.get(channel_of(site), ChannelSettings())


def channel_of(site: str) -> str:
    """Return under which channel a site stands in figures, pauses and `corpora.toml`."""
    return f"{PLATFORM}:{site}"
