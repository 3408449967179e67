"""What the engine needs from outside, as Protocols; each has a fake and a contract suite.

What does I/O is async. Ids are content hashes, so that repeating a call changes nothing.
"""

from core.ports.about import AboutStore
from core.ports.conversations import Claim, ConversationStore, StorageHealth
from core.ports.corpora import (
    BUILD,
    Corpus,
    CorpusStore,
    PeoplesSource,
    Place,
    RemoteSource,
    SearchRow,
    Source,
    SourceRun,
    StoredDocument,
    VectorIndex,
    WordIndex,
)
from core.ports.memory import (
    MemoryChange,
    MemoryStore,
    Placement,
    Remembered,
    Reworded,
    RewordingStore,
    always,
)
from core.ports.models import Encoder, LanguageModel, Listener, Matrix, ModelHealth, Prompt, Reranker
from core.ports.people import (
    Acquaintance,
    Forgotten,
    OptOutStore,
    PersonStore,
    RetentionStore,
    Slice,
    VoteEvent,
    VoterStore,
)
from core.ports.pregenerated import (
    ASKED,
    TOLD,
    PairCount,
    PregeneratedPair,
    PregeneratedStore,
    entries,
    pairs_collection,
    refusal_of,
)
from core.ports.upkeep import Census, StalePair, Stored, UpkeepStore
from core.ports.workers import Alone, Workers

__all__ = [
    "ASKED",
    "BUILD",
    "TOLD",
    "AboutStore",
    "Acquaintance",
    "Alone",
    "Census",
    "Claim",
    "ConversationStore",
    "Corpus",
    "CorpusStore",
    "Encoder",
    "Forgotten",
    "LanguageModel",
    "Listener",
    "Matrix",
    "MemoryChange",
    "MemoryStore",
    "ModelHealth",
    "OptOutStore",
    "PairCount",
    "PeoplesSource",
    "PersonStore",
    "Place",
    "Placement",
    "PregeneratedPair",
    "PregeneratedStore",
    "Prompt",
    "Remembered",
    "RemoteSource",
    "Reranker",
    "RetentionStore",
    "Reworded",
    "RewordingStore",
    "SearchRow",
    "Slice",
    "Source",
    "SourceRun",
    "StalePair",
    "StorageHealth",
    "Stored",
    "StoredDocument",
    "UpkeepStore",
    "VectorIndex",
    "VoteEvent",
    "VoterStore",
    "WordIndex",
    "Workers",
    "always",
    "entries",
    "pairs_collection",
    "refusal_of",
]
