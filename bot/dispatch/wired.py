"""Builds the dispatch of a running application: for the bot itself, for journeys and measurements."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from bot.commands.slash.derived import slash_commands
from bot.conversation.locale import LocaleResolver
from bot.conversation.pausing import Limits, Outage
from bot.conversation.triggers import Hint
from bot.dispatch.dispatch import Chats, Dispatch
from bot.escalation.asking import AN_HOUR, Escalation
from bot.interactions.pages import Pages
from bot.operations.alerts import Alerts
from bot.operations.application import Application
from bot.operations.digest import Digest
from bot.operations.notices import Notices
from bot.ports.platforms import Figures
from bot.privacy.opted_out import OptedOut
from core.community.unsolicited import UnsolicitedReplyPolicy
from core.languages import plain


def dispatch_of(
    app: Application, escalations_an_hour: int = AN_HOUR, overview: Figures | None = None
) -> Dispatch:
    """Return what platforms are connected to."""
    chats, engine = Chats(), app.engine
    notices = Notices(app.notices, app.settings.admin_channels, chats.of)
    slash, opted_out = slash_commands(app), OptedOut(app.privacy)
    dispatch = Dispatch(
        engine,
        app.conversations,
        app.corpus_manager,
        slash,
        Limits(app.settings.questions_per_minute),
        app.modes,
        app.pauses,
        opted_out,
        LocaleResolver(app.conversations, engine.answer_log, plain(app.settings.language)),
        notices,
        UnsolicitedReplyPolicy(app.unsolicited, app.modes, notices.tell_admins),
        Hint(engine.product.name, app.examples),
        Escalation(
            engine,
            app.conversations,
            app.escalations,
            app.catalogue.asked_in,
            slash.is_admin,
            opted_out.is_asker,
            escalations_an_hour,
        ),
        Outage(app.health),
        chats=chats,
        history=app.history,
        pages=Pages(slash, app.modes, engine.answer_log, app.passages, app.examples),
        holders=app.holders,
        overview=overview,
    )
    app.people.take_back_by(dispatch.before_forgetting)
    return dispatch


def watches(app: Application, notices: Notices) -> tuple[Callable[[], Awaitable[None]], ...]:
    """Return what looks every minute for something that admins should be told, or that is left to do."""
    told = app.statistics
    digest = Digest(app.settings.gaps_digest, told.gaps, told.wrong_reuse, notices, app.engine.product.name)
    return Alerts(app, notices).tick, digest.tick, app.corpus_manager.settle, app.people.settle
