"""Builds what the bot keeps to around conversations: privacy, retention, and channels as sources."""

from __future__ import annotations

from dataclasses import dataclass

from bot.app.builders.core import Core, Ground
from bot.home.logs import FOLDER as LOGS
from bot.operations.live_history import HistoryUpkeep
from bot.ports import platforms
from bot.privacy.exports import Holders
from bot.privacy.forgetting import Forgetting
from bot.privacy.my_data import MyData
from core.community.overrides import ChannelModes, Pauses
from core.privacy.retention import Policy, Retention, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What the bot keeps to around conversations."""

    modes: ChannelModes
    pauses: Pauses
    people: Forgetting
    my_data: MyData
    retention: Retention
    history: HistoryUpkeep
    holders: Holders


def build_around(ground: Ground, core: Core) -> Around:
    """Build what concerns channels and people; who gets it closes `history`."""
    stores, privacy = ground.stores, ground.privacy
    modes = ChannelModes(stores.channels, ground.catalogue.channels, audit=stores.audit)
    pauses = Pauses(stores.channels)
    holders = Holders(ground.home, platforms.personal_data())
    history = HistoryUpkeep(
        live=ground.live,
        sources=ground.sources,
        corpus_manager=core.corpus_manager,
        scrub=stores.scrub,
        made_anew=privacy.pages_are_made_anew,
    )
    core.engine.close_by(history.became_private)
    people = Forgetting(
        privacy=privacy,
        store=stores.people,
        memory=core.memory,
        encoders=ground.models.encoders,
        home=ground.home,
        overwrite=stores.overwrite,
        reload=core.searcher.load,
        before=(modes.unname, core.releases.unname),
        after=(pauses.reread, history.person_gone),
        holders=holders,
        cluster=stores.cluster,
    )
    return Around(
        modes=modes,
        pauses=pauses,
        people=people,
        my_data=MyData(
            store=stores.people,
            privacy=privacy,
            others={**holders.held(), "read in channels": history.written},
        ),
        retention=_retention(ground, holders, core.memory.turn),
        history=history,
        holders=holders,
    )


def _retention(ground: Ground, holders: Holders, turn: Turn) -> Retention:
    settings, stores = ground.settings, ground.stores
    return Retention(
        stores.retention,
        Policy(
            questions_days=settings.retention_questions_days,
            votes_days=settings.retention_votes_days,
            logs_days=settings.retention_logs_days,
        ),
        stores.audit,
        ground.home / LOGS,
        holders.expire,
        scrub=stores.empty_room,
        about=stores.about,
        turn=turn,
    )
