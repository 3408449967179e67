"""Question/answer pairs that were made of documents, and where they are kept."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from core.domain import ContextChunk, content_hash
from core.ports.corpora import Corpus


@dataclass(frozen=True, slots=True)
class PregeneratedPair:
    """A question that a page of the documentation answers (QA pre-generation, offline construction).

    `context_id` names the page that is cited, `path` its document; `date` is in seconds since the epoch; `by`
    tells which rules, or which model with which prompt, made it.
    """

    id: str
    document_id: str
    context_id: str
    question: str
    answer: str
    full_answer: str
    summary: str
    url: str
    title: str
    category: str
    date: float
    by: str
    path: str = ""

    @property
    def refusal(self) -> str:
        """Return what a reviewer's refusal is kept under: this question of this document, in any release."""
        return refusal_of(self.path, self.question)

    @property
    def prefix(self) -> str:
        """Return what tells apart like questions of different documents (the paper's prefix mechanism)."""
        return f"[{self.category}/{self.title}]" if self.category else f"[{self.title}]"

    @property
    def asked(self) -> str:
        """Return the question as it is searched."""
        return f"{self.prefix} {self.question}"

    @property
    def told(self) -> str:
        """Return the answer as it is searched."""
        return f"{self.prefix} {self.answer}"

    @property
    def hashes(self) -> tuple[str, str]:
        """Return the hashes under which the vectors of question and answer are kept."""
        return content_hash(self.asked), content_hash(self.told)

    def record(self) -> dict[str, Any]:
        """Return the pair under the paper's own names, for people to look at."""
        return {
            "Question": self.question,
            "Answer": self.answer,
            "FullAnswer": self.full_answer,
            "Summary": self.summary,
            "Url": self.url,
            "Title": self.title,
            "Category": self.category,
            "Date": self.date,
        }


def refusal_of(path: str, question: str) -> str:
    """Return the hash under which the refusal of a question of a document is kept."""
    return content_hash("refused", path, " ".join(question.casefold().split()))


@dataclass(frozen=True, slots=True)
class PairCount:
    """How far the documents of a live corpus are: how many there are, how many are done, with which pairs.

    `made` are the paths of those that a run has done.
    """

    release: str
    by: str
    documents: int
    done: int
    pairs: int
    made: tuple[str, ...] = ()


class PregeneratedStore(Protocol):
    """Keeps pairs by document; they go with it.

    A document that takes another one's place in the live corpus (the same path of the same source) is noted
    for whoever made the other one's pairs, with no page done.
    """

    async def made_by(self, release: str) -> dict[str, str]:
        """Return who made the pairs of each document of the live corpus, or has begun or is to make them, by
        its id and in the order of paths; "" for nobody yet.
        """

    async def unfinished(self, release: str) -> dict[str, int]:
        """Return how many pages are done of each document that is not done as a whole, by its id."""

    async def pages(self, document_id: str) -> tuple[tuple[ContextChunk, ...], float]:
        """Return the pages of a document in order, and when it was first read; nothing for an unknown one."""

    async def put(
        self,
        document_id: str,
        by: str,
        pairs: Sequence[PregeneratedPair],
        of: Collection[str] | None = None,
        done: int | None = None,
    ) -> None:
        """Keep the pairs of a document in place of those it had, or that the pages `of` it had, by their ids;
        note that `by` has done it, or its first `done` pages.

        A document that is gone meanwhile is no error: nothing is kept. Pairs that were refused are left out.
        """

    async def refuse(self, asked: Collection[tuple[str, str]]) -> int:
        """Remove the pairs with these (path of a document, question), in every release, and never keep them
        again; return how many are removed.
        """

    async def allow(self, asked: Collection[tuple[str, str]]) -> int:
        """Take back refusals, and let these documents be done again; return how many were refused."""

    async def pairs(self, release: str) -> tuple[PregeneratedPair, ...]:
        """Return the pairs of the live corpus, by document and in their order."""

    async def count(self, release: str, by: str) -> PairCount:
        """Return how far `by` is with the live corpus."""


ASKED, TOLD = "q", "a"
"""How the ids of the two texts of a pair begin in the indexes."""


def entries(pair: PregeneratedPair) -> tuple[tuple[str, str, str], tuple[str, str, str]]:
    """Return what indexes hold of a pair: (id, text, hash of the text) of its question and of its answer."""
    asked, told = pair.hashes
    return (ASKED + pair.id, pair.asked, asked), (TOLD + pair.id, pair.told, told)


def pairs_collection(corpus: Corpus) -> str:
    """Name the collection of a corpus's pairs in vector and word indexes."""
    return f"{corpus.collection}-pairs"
