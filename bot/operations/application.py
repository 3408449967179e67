"""Everything that runs, in one value: what a command, a platform or a test needs."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.operations.live_history import HistoryUpkeep
from bot.privacy.exports import Holders
from bot.privacy.forgetting import Forgetting
from bot.privacy.my_data import MyData
from core.catalogue import Catalogue
from core.catalogue.tables import Schedule
from core.community.overrides import ChannelModes, DefaultReleases, Pauses
from core.community.unsolicited import NoiseStore
from core.corpora.added import AddedSources
from core.corpora.manager import CorpusManager
from core.engine import Engine
from core.feedback.stale_answers import StaleAnswerReview
from core.insights.examples import Examples
from core.insights.gaps import Statistics
from core.insights.given import GivenStore
from core.learning.learner import Learner
from core.memory.community import CommunityMemory
from core.memory.scoring import VoteWeighting
from core.models.pool import Pool
from core.pipeline.research import Research
from core.ports import (
    ConversationStore,
    CorpusStore,
    StorageHealth,
    UpkeepStore,
    VectorIndex,
    WordIndex,
    Workers,
)
from core.ports.about import AuditStore, NoticeStore
from core.ports.channels import MoveStore
from core.ports.cluster import Cluster
from core.ports.conversations import BucketStore
from core.ports.corpora import PassageStore
from core.ports.escalations import EscalationStore
from core.ports.opinions import ReactionStore
from core.privacy.names import Privacy
from core.privacy.retention import Retention
from core.retrieval.search import Searcher
from core.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """Everything that a command, a platform or a test needs."""

    settings: Settings
    catalogue: Catalogue
    engine: Engine
    corpus_manager: CorpusManager
    memory: CommunityMemory
    cluster: Cluster
    conversations: ConversationStore
    corpora: CorpusStore
    schedules: dict[tuple[str, str], Schedule]
    added: AddedSources
    research: Research
    people: Forgetting
    vectors: VectorIndex
    words: WordIndex
    vote_weighting: VoteWeighting
    upkeep: UpkeepStore
    stale_review: StaleAnswerReview
    statistics: Statistics
    searcher: Searcher
    learner: Learner
    modes: ChannelModes
    moves: MoveStore
    pauses: Pauses
    reactions: ReactionStore
    releases: DefaultReleases
    given: GivenStore
    audit: AuditStore
    buckets: BucketStore
    escalations: EscalationStore
    privacy: Privacy
    my_data: MyData
    retention: Retention
    unsolicited: NoiseStore
    notices: NoticeStore
    examples: Examples
    passages: PassageStore
    history: HistoryUpkeep
    holders: Holders
    health: StorageHealth
    workers: Workers
    servers: Pool | None = None
    """The servers of the language model, where it has any."""
    warning: str = ""
    """That memory's thresholds are not for the embedding model, where they are not."""
    ended: dict[str, str] = field(default_factory=dict)
    """Platforms that gave up while the bot was serving, and why."""
