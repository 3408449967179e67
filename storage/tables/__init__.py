"""The tables. SQL is the truth; what is derived from it says so. Times are seconds since the epoch.

A new table stands in the module of its subject and is named here, or the metadata lacks it.
"""

from storage.tables.columns import Base, writable
from storage.tables.conversations import (
    AnswerRow,
    ClaimRow,
    EscalationPostRow,
    EscalationRow,
    EventRow,
    PostRow,
    UnaskedRow,
)
from storage.tables.corpora import (
    ContextRow,
    CorpusDocumentRow,
    CorpusRow,
    DocumentRow,
    PageViewRow,
    PregeneratedDocumentRow,
    PregeneratedRow,
    RefusedPairRow,
    SearchRowTable,
    SourceRunRow,
    VectorRow,
)
from storage.tables.memory import (
    AuthorRow,
    CorrectionRow,
    DistinctionRow,
    MarkRow,
    PairRow,
    PlacementRow,
    VoteRow,
    WordsRow,
)
from storage.tables.serving import (
    AboutRow,
    ActRow,
    ChannelModeRow,
    ChannelReleaseRow,
    ForgottenRow,
    NoticeRow,
    OptOutRow,
    OwnReleaseRow,
    PauseRow,
)

__all__ = [
    "AboutRow",
    "ActRow",
    "AnswerRow",
    "AuthorRow",
    "Base",
    "ChannelModeRow",
    "ChannelReleaseRow",
    "ClaimRow",
    "ContextRow",
    "CorpusDocumentRow",
    "CorpusRow",
    "CorrectionRow",
    "DistinctionRow",
    "DocumentRow",
    "EscalationPostRow",
    "EscalationRow",
    "EventRow",
    "ForgottenRow",
    "MarkRow",
    "NoticeRow",
    "OptOutRow",
    "OwnReleaseRow",
    "PageViewRow",
    "PairRow",
    "PauseRow",
    "PlacementRow",
    "PostRow",
    "PregeneratedDocumentRow",
    "PregeneratedRow",
    "RefusedPairRow",
    "SearchRowTable",
    "SourceRunRow",
    "UnaskedRow",
    "VectorRow",
    "VoteRow",
    "WordsRow",
    "writable",
]
