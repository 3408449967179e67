"""The words of Threadlore: frozen values that every other file speaks in.

Imports nothing of the project. Vectors are float32 arrays of shape (dimensions,), of unit length.
"""

from core.domain.answers import Answer, Citation, Route, Taken, numbered, sources
from core.domain.conversation import MessageRef, Question, Scope, Turn
from core.domain.documents import (
    ChunkedDocument,
    ContextChunk,
    Document,
    RawDocument,
    SearchChunk,
    Section,
    content_hash,
    single_spaced,
)
from core.domain.memory import STRANGERS, QAPair, Recall, Standing, Store, Vector, Vote
from core.domain.releases import Dated, News, Product, Release, Resolution, Span, begins
from core.domain.retrieval import Evidence, Hit, Level, Queries
from core.domain.trace import (
    FoundTrace,
    NearPair,
    PageTrace,
    RecalledTrace,
    Trace,
    UnderstoodTrace,
    WrittenTrace,
)

__all__ = [
    "STRANGERS",
    "Answer",
    "ChunkedDocument",
    "Citation",
    "ContextChunk",
    "Dated",
    "Document",
    "Evidence",
    "FoundTrace",
    "Hit",
    "Level",
    "MessageRef",
    "NearPair",
    "News",
    "PageTrace",
    "Product",
    "QAPair",
    "Queries",
    "Question",
    "RawDocument",
    "Recall",
    "RecalledTrace",
    "Release",
    "Resolution",
    "Route",
    "Scope",
    "SearchChunk",
    "Section",
    "Span",
    "Standing",
    "Store",
    "Taken",
    "Trace",
    "Turn",
    "UnderstoodTrace",
    "Vector",
    "Vote",
    "WrittenTrace",
    "begins",
    "content_hash",
    "numbered",
    "single_spaced",
    "sources",
]
