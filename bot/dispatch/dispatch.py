"""The entry point for platforms: pass each event to the part that handles it.

A question's journey stands in `bot.conversation.questions`, a reaction's in `bot.interactions.reactions`,
commands and presses in `bot.interactions.handler`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from typing import Any

from bot.commands.slash.derived import slash_commands
from bot.commands.slash.table import SlashCommands
from bot.conversation.answering import Answering
from bot.conversation.desk import Desk, LocaleResolver, Outage, Pausing
from bot.conversation.limits import Allowance, Rates
from bot.conversation.questions import Questions
from bot.conversation.readers import Readers
from bot.conversation.triggers import Hint, Triggers
from bot.dispatch.chats import Chats
from bot.escalation.asking import AN_HOUR, Escalation
from bot.escalation.resolving import Resolving
from bot.interactions.handler import InteractionHandler
from bot.interactions.ledger import Kind
from bot.interactions.marks import Marks
from bot.interactions.own_pages import OwnPagesHandler
from bot.interactions.pages import Pages
from bot.interactions.presses import Presses
from bot.interactions.reactions import ReactionHandler
from bot.interactions.recount import Recount
from bot.operations.alerts import Alerts
from bot.operations.application import Application
from bot.operations.digest import Digest
from bot.operations.following import carry_over
from bot.operations.live_history import HistoryUpkeep
from bot.operations.notices import Notices
from bot.ports.chat import Chat, Cleared, Command, Message, Person, Press, Reaction, Responder, unheard
from bot.ports.page import Page
from bot.ports.platforms import Figures
from bot.privacy.exports import Holders
from bot.privacy.opted_out import OptedOut
from bot.rendering.answers import is_unreasoned
from core.community.overrides import EVERYWHERE, ChannelModes
from core.community.unsolicited import UnsolicitedReplyPolicy
from core.corpora.manager import CorpusManager
from core.domain import MessageRef
from core.languages import plain
from core.ports.channels import Moved


class Dispatch:
    """Passes events of platforms to the parts that handle them."""

    def __init__(
        self,
        desk: Desk,
        corpus_manager: CorpusManager,
        slash: SlashCommands,
        modes: ChannelModes,
        notices: Notices,
        escalation: Escalation,
        *,
        chats: Chats,
        history: HistoryUpkeep,
        pages: Pages,
        readers: Readers,
        app: Application,
        holders: Holders,
        overview: Figures | None = None,
    ) -> None:
        self._desk = desk
        self._corpus_manager = corpus_manager
        self.slash = slash
        self.overview = overview
        """Figures for pages and machines, where somebody collects them."""
        self.pages = pages
        """What pages ask beside the conversation."""
        self.readers = readers
        """What readers of websites ask."""
        self._history = history
        self.holders = holders
        """Told by platforms that keep messages themselves, for as long as they run."""
        self.notices = notices
        self.opted_out = desk.opted_out
        self.unsolicited = desk.unsolicited
        self._answering = Answering(desk, escalation.offered)
        self._resolving = Resolving(desk.engine, escalation)
        marks = Marks(desk.engine, desk.conversations, self._answering.history, self._resolving)
        presses = Presses(desk, self._answering, slash.is_admin, escalation)
        triggers = Triggers(desk.conversations, modes, desk.opted_out, desk.unsolicited)
        self._questions = Questions(desk, self._answering, triggers, self._resolving)
        self._own_pages = OwnPagesHandler(app, slash, desk.locales.of_person, self._questions.message)
        self._interactions = InteractionHandler(desk, self._answering, slash, presses, self._own_pages)
        self._reactions = ReactionHandler(desk, marks)
        self.recount = Recount(desk, self._reactions, app)
        self._chats, self._app = chats, app

    def is_out(self, account: str) -> bool:
        """Return True if the person behind an account opted out."""
        return self.opted_out.is_out(account)

    @property
    def product(self) -> str:
        """Return the name of the product that is talked about."""
        return self._desk.engine.product.name

    def meet(self, chat: Chat) -> None:
        """Register a connected platform, so that the bot can post there by itself."""
        self._chats.meet(chat)

    def chat_of(self, platform: str) -> Chat | None:
        """Return the chat of a connected platform (`slack`); None if it is not connected."""
        return self._chats.of(platform)

    async def before_forgetting(self, accounts: Collection[str]) -> None:
        """Withdraw tickets of these accounts from those who were asked, before they are forgotten."""
        await self._resolving.forget(accounts, self.chat_of)

    # --- what people do -----------------------------------------------------------------------

    async def message(self, chat: Chat, message: Message, taken: Callable[[], None] = unheard) -> None:
        """Answer a message for the bot, once; `taken` is called when the platform need not send it again."""
        await self._questions.message(chat, message, taken)

    def waits(self, key: str) -> bool:
        """Return True if a message waits because nothing can be written down."""
        return key in self._desk.outage

    async def edited(self, chat: Chat, message: Message, taken: Callable[[], None] = unheard) -> None:
        """Answer an edited question again; update what is remembered of an edited message."""
        self._history.changed(message.ref)
        await self._questions.edited(chat, message, taken)

    async def deleted(self, chat: Chat, ref: MessageRef, links: str = "") -> None:
        """Delete the answers to a deleted question; forget a person's answer (`Questions.deleted`)."""
        self._history.changed(ref)
        await self._questions.deleted(chat, ref, links)

    async def archived(self, chat: Chat, channel: str) -> None:
        """Withdraw what people were asked in a channel (`slack:C1`) where nobody can write any more."""
        await self._resolving.archived(chat, channel)

    async def resume(self, chat: Chat) -> None:
        """Answer what a process that died had claimed on this platform and not answered."""
        self.meet(chat)
        await asyncio.gather(self._questions.resume(chat), self._interactions.resume(chat))

    async def take_up(self) -> None:
        """Answer what other processes of a cluster left, on every platform that is connected."""
        await asyncio.gather(*(self.resume(chat) for chat in self._chats.all()))

    async def let_go(self, keys: Collection[str]) -> None:
        """Stop answering messages that another process of a cluster deals with now."""
        await asyncio.gather(*map(self._answering.cancel, keys))

    async def reaction(self, chat: Chat, reaction: Reaction) -> None:
        """Count a reaction as a vote or as a ✅ or ❌ mark; errors are logged, never posted."""
        self._history.changed(reaction.ref)
        await self._reactions.take(chat, reaction)

    async def reactions_cleared(self, chat: Chat, cleared: Cleared) -> None:
        """Withdraw votes and marks whose reactions a moderator cleared."""
        self._history.changed(cleared.ref)
        await self._reactions.cleared(chat, cleared)

    async def command(self, chat: Chat, command: Command, responder: Responder) -> None:
        """Carry out a slash command and answer whoever typed it."""
        await self._interactions.command(chat, command, responder)

    async def press(self, chat: Chat, press: Press, responder: Responder) -> None:
        """Handle a pressed button or a submitted form, and answer the person."""
        await self._interactions.press(chat, press, responder)

    async def take(
        self,
        platform: str,
        kind: Kind,
        event: str,
        account: str,
        to: Mapping[str, Any],
        press: Press | None = None,
    ) -> bool:
        """Note a command or a press before it is acknowledged; return False if it was noted before.

        `to` is the `address` of its responder. A `press`, as far as it is known without asking the platform,
        is counted if it is a vote, though the process dies now. Raises StorageUnavailable: it is not done.
        """
        return await self._interactions.take(platform, kind, event, account, to, press)

    async def channel_became_private(self, channel: str, now: bool = True) -> None:
        """Keep what was learned in a channel (`slack:C1`) inside it; unless `now`, where it is not yet."""
        if now or not self._desk.engine.keeps_inside(channel):
            await self._desk.engine.channel_became_private(channel)

    async def channel_moved(self, chat: Chat, moved: Moved) -> Coroutine[Any, Any, None]:
        """Carry over what is kept of a channel to its new id; return what answers what was asked there."""
        await carry_over(self._app, moved, lambda: self.let_go(self._answering.within(moved.old)))
        return self._questions.resume(chat)

    # --- what pages ask -----------------------------------------------------------------------

    async def own_page(self, chat: Chat, person: Person, channels: Collection[str], note: str = "") -> Page:
        """Return somebody's page, with answers of the public channels (`slack:C1`) that they read.

        `note` is what came of what they did there last.
        """
        return await self._own_pages.page(chat, person, channels, note)

    async def releases(self) -> list[dict[str, Any]]:
        """Return the releases and how ready they are."""
        return await self._corpus_manager.releases()

    def progress(self) -> list[dict[str, Any]]:
        """Return the index work that is going on."""
        return self._corpus_manager.progress()

    async def paused(self) -> bool:
        """Return True if no new questions are answered anywhere."""
        return await self._desk.pausing.of(EVERYWHERE) is not None

    async def why(self, answer_id: str) -> dict[str, Any]:
        """Return what led to an answer, and whether the model could still reason about it (`thinks`).

        Raises KeyError for an unknown answer.
        """
        engine = self._desk.engine
        answer, _asked = await engine.answer_log.answer(answer_id)
        thinks = engine.model is not None and is_unreasoned(answer)
        return await engine.answer_log.why(answer_id) | {"thinks": thinks}

    async def thread(self, answer_id: str) -> dict[str, str]:
        """Return the question of a public answer and a link to its conversation; empty for any other."""
        given = self._desk.engine.answer_log
        try:
            asked_by = await given.asked_by(answer_id)
        except KeyError:
            return {}
        claim = await self._desk.conversations.claim_of(answer_id)
        if asked_by.scope != "public" or claim is None or not claim.parts:
            return {}
        chat = self._chats.of(claim.parts[0].platform)
        link = await chat.permalink(claim.parts[0]) if chat else ""
        return {"question": await given.question(answer_id), "link": link} if link else {}

    async def place(self, channel: str) -> str:
        """Return the name of a channel (`#help` for `slack:C1`); its key where nobody tells it."""
        platform, _, key = channel.partition(":")
        chat = self._chats.of(platform)
        return (await chat.name_of(key) if chat else "") or channel

    async def stop(self) -> None:
        """Cancel what is running and say so; it is answered after the next start."""
        self._chats.clear()
        await self.recount.stop()
        self._interactions.stop()
        await self._answering.stop()
        await self._reactions.stop()


def dispatch_of(
    app: Application, escalations_an_hour: int = AN_HOUR, overview: Figures | None = None
) -> Dispatch:
    """Return what platforms are connected to."""
    chats, engine = Chats(), app.engine
    notices = Notices(app.notices, app.settings.admin_channels, chats.of)
    slash, opted_out = slash_commands(app), OptedOut(app.privacy)
    desk = Desk(
        engine,
        app.conversations,
        opted_out,
        UnsolicitedReplyPolicy(app.unsolicited, app.modes, notices.tell_admins),
        _allowance(app),
        Pausing(app.pauses),
        LocaleResolver(app.conversations, engine.answer_log, plain(app.settings.language)),
        Hint(engine.product.name, app.examples),
        Outage(app.health),
        app.cluster,
    )
    dispatch = Dispatch(
        desk,
        app.corpus_manager,
        slash,
        app.modes,
        notices,
        Escalation(
            engine,
            app.conversations,
            app.escalations,
            app.catalogue.asked_in,
            slash.is_admin,
            opted_out.is_asker,
            escalations_an_hour,
        ),
        chats=chats,
        history=app.history,
        app=app,
        pages=Pages(slash, app.modes, engine.answer_log, app.passages, app.examples),
        readers=Readers(desk, app.examples, app.catalogue.channels),
        holders=app.holders,
        overview=overview,
    )
    app.people.take_back_by(dispatch.before_forgetting)
    return dispatch


def _allowance(app: Application) -> Allowance:
    limits, privacy = app.settings, app.privacy
    rates = Rates(limits.questions_per_minute, limits.questions_per_day, limits.workspace_questions_per_day)
    return Allowance(rates, app.buckets, veil=privacy.names.veil, is_out=privacy.is_out)


def watches(app: Application, notices: Notices) -> tuple[Callable[[], Awaitable[None]], ...]:
    """Return what looks every minute for something that admins should be told, or that is left to do.

    Of a cluster only who leads looks, but each process clears up after itself.
    """

    def led(watch: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
        async def look() -> None:
            if app.cluster.leads:
                await watch()

        return look

    told = app.statistics
    digest = Digest(app.settings.gaps_digest, told.gaps, told.wrong_reuse, notices, app.engine.product.name)
    alone = Alerts(app, notices).tick, digest.tick, app.corpus_manager.settle
    return *map(led, alone), app.people.settle
