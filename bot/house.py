"""Everything that runs, in one value: what a command, a platform or a test needs."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.forgetting import Forgetting
from bot.live_history import HistoryUpkeep
from bot.my_data import MyData
from core.audit import AuditStore
from core.catalogue import Catalogue
from core.channels import ChannelModes, Pauses
from core.engine import Engine
from core.escalations import EscalationStore
from core.examples import Examples
from core.gaps import Statistics
from core.library import Library
from core.memory.community import CommunityMemory
from core.memory.electorate import Electorate
from core.noise import NoiseStore
from core.notices import NoticeStore
from core.ports import (
    ConversationStore,
    CorpusStore,
    StorageHealth,
    UpkeepStore,
    VectorIndex,
    WordIndex,
)
from core.ports.passages import PassageStore
from core.privacy import Privacy
from core.renewal import Renewal
from core.research import Research
from core.retention import Retention
from core.retrieval.search import Searcher
from core.schedule import Schedule
from core.settings import Settings


@dataclass(frozen=True, slots=True)
class Threadlore:
    """Everything that a command, a platform or a test needs."""

    settings: Settings
    catalogue: Catalogue
    engine: Engine
    library: Library
    memory: CommunityMemory
    conversations: ConversationStore
    corpora: CorpusStore
    schedules: dict[tuple[str, str], Schedule]
    research: Research
    people: Forgetting
    vectors: VectorIndex
    words: WordIndex
    electorate: Electorate
    upkeep: UpkeepStore
    renewal: Renewal
    statistics: Statistics
    searcher: Searcher
    modes: ChannelModes
    pauses: Pauses
    audit: AuditStore
    escalations: EscalationStore
    privacy: Privacy
    my_data: MyData
    retention: Retention
    noise: NoiseStore
    notices: NoticeStore
    examples: Examples
    passages: PassageStore
    history: HistoryUpkeep
    health: StorageHealth
    warning: str = ""
    """That memory's thresholds are not for the embedding model, where they are not."""
    ended: dict[str, str] = field(default_factory=dict)
    """Platforms that gave up while the bot was serving, and why."""
