"""Builds what the bot keeps to around conversations: privacy, retention, and channels as sources."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bot import platforms
from bot.app.builders.core import Core
from bot.app.builders.models import Models
from bot.app.builders.storage import Stores
from bot.app.logs import FOLDER as LOGS
from bot.operations.live_history import HistoryUpkeep, Sources
from bot.privacy.forgetting import Forgetting
from bot.privacy.holders import Holders
from bot.privacy.my_data import MyData
from core.catalogue import Catalogue
from core.community.channels import ChannelModes, Pauses
from core.ingestion.live.channels import LiveChannels
from core.privacy.names import Privacy
from core.privacy.retention import Policy, Retention
from core.settings import Settings


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


def build_around(
    *,
    home: Path,
    settings: Settings,
    catalogue: Catalogue,
    stores: Stores,
    models: Models,
    core: Core,
    privacy: Privacy,
    sources: Sources,
    live: LiveChannels,
) -> Around:
    """Build what concerns channels and people; who gets it closes `history`."""
    modes = ChannelModes(stores.channels, catalogue.channels, audit=stores.audit)
    pauses = Pauses(stores.channels)
    holders = Holders(home, platforms.personal_data())
    history = HistoryUpkeep(
        live=live,
        sources=sources,
        library=core.library,
        scrub=stores.scrub,
        made_anew=privacy.pages_are_made_anew,
    )
    people = Forgetting(
        privacy=privacy,
        store=stores.people,
        memory=core.memory,
        encoders=models.encoders,
        home=home,
        overwrite=stores.overwrite,
        reload=core.searcher.load,
        before=(modes.unname,),
        after=(pauses.reread, history.person_gone),
        holders=holders,
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
        retention=_retention(home=home, settings=settings, stores=stores, holders=holders),
        history=history,
        holders=holders,
    )


def _retention(*, home: Path, settings: Settings, stores: Stores, holders: Holders) -> Retention:
    return Retention(
        stores.retention,
        Policy(
            questions_days=settings.retention_questions_days,
            votes_days=settings.retention_votes_days,
            logs_days=settings.retention_logs_days,
        ),
        stores.audit,
        home / LOGS,
        holders.expire,
        scrub=stores.empty_room,
        about=stores.about,
    )
