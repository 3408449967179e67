"""The words of Threadlore: frozen values that every other file speaks in.

Imports nothing of the project. Vectors are float32 arrays of shape (dimensions,), of unit length.
"""

from core.domain.answers import Answer, Citation, Route
from core.domain.conversation import MessageRef, Question, Scope, Turn
from core.domain.documents import (
    ChunkedDocument,
    ContextChunk,
    Document,
    Format,
    RawDocument,
    SearchChunk,
    Section,
)
from core.domain.hashing import content_hash
from core.domain.memory import STRANGERS, Cluster, QAPair, Recall, Standing, Store, Vector, Vote
from core.domain.releases import Product, Release, Resolution
from core.domain.retrieval import Evidence, Hit, Queries

__all__ = [
    "STRANGERS",
    "Answer",
    "ChunkedDocument",
    "Citation",
    "Cluster",
    "ContextChunk",
    "Document",
    "Evidence",
    "Format",
    "Hit",
    "MessageRef",
    "Product",
    "QAPair",
    "Queries",
    "Question",
    "RawDocument",
    "Recall",
    "Release",
    "Resolution",
    "Route",
    "Scope",
    "SearchChunk",
    "Section",
    "Standing",
    "Store",
    "Turn",
    "Vector",
    "Vote",
    "content_hash",
]
