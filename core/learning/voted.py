"""Questions that people voted on, with the sections that were cited: what the ranking learns from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.domain import Question
from core.learning.fit import Marks
from core.pipeline.research import Research
from core.ports import MemoryStore, Remembered, Reworded, RewordingStore
from core.privacy.names import nobody
from core.retrieval.features import Numbers
from core.retrieval.search import Searcher

PUBLIC = "public"
ACCEPTED = 2.0
"""Votes that a ✅ of a helper on a person's answer counts for, as a helper's vote does."""
MOST = 2000
"""Questions that are learned from at most, the latest."""


@dataclass(frozen=True, slots=True)
class Said:
    """A question with what people thought of its answer: `net`, the weights of 👍 less those of 👎.

    `cited` are the hashes of the sections that the answer cited, `links` a person's answer with the addresses
    in it; `votes` counts people, `at` is in seconds since the epoch.
    """

    question: str
    release: str
    language: str
    cited: frozenset[str]
    links: str
    net: float
    votes: int
    at: float

    @property
    def section(self) -> str:
        """Name what is cited: questions with the same are learned from or judged by together."""
        return min(self.cited, default=self.links)


@dataclass(frozen=True, slots=True, eq=False)
class Voted:
    """One search of such a question: the pages with their features, and which of them its answer cited.

    `worth` is positive where people found it good and negative where they found it bad, -1..1.
    """

    table: Numbers
    cited: Marks
    worth: float
    section: str
    votes: int = 1

    @property
    def is_good(self) -> bool:
        """Return True if people found good what was cited."""
        return self.worth > 0.0


async def said(
    store: MemoryStore, rewordings: RewordingStore, is_out: Callable[[str], bool] = nobody
) -> list[Said]:
    """Return the public questions that known people have an opinion on, oldest first.

    Left out are private channels, people who opted out, comparisons of releases and what an admin retired.
    Strangers' votes teach nothing.
    """
    pairs = {
        pair.id: pair
        for pair in await store.voted()
        if pair.scope == PUBLIC and pair.aside != "retired" and not {"+", "*"} & set(pair.release)
    }
    ways = await rewordings.rewordings(list(pairs))
    found = [
        entry
        for pair in pairs.values()
        if not is_out(pair.asker)
        for entry in (*_asked(pair, ways.get(pair.id, ()), is_out), *_accepted(pair))
        if entry.net and entry.question and entry.section
    ]
    return sorted(found, key=lambda entry: (entry.at, entry.question))[-MOST:]


def _asked(pair: Remembered, ways: Sequence[Reworded], is_out: Callable[[str], bool]) -> list[Said]:
    """Return every question that got a pair's answer, and was voted on."""
    cited = frozenset(citation.hash for citation in pair.citations if citation.hash)
    links = pair.answer if pair.origin == "person" else ""
    found = []
    for way in ways:
        if way.opinions and not is_out(way.asker):
            net, votes = _net(way.opinions), len(way.opinions)
            found.append(Said(way.topic, pair.release, pair.language, cited, links, net, votes, way.at))
    return found


def _accepted(pair: Remembered) -> list[Said]:
    """Return the question of an answer that a person wrote and a helper accepted, for the pages it links."""
    if pair.origin != "person" or "://" not in pair.answer:
        return []
    empty = frozenset[str]()
    at = pair.created_at
    return [Said(pair.topic, pair.release, pair.language, empty, pair.answer, ACCEPTED, 1, at)]


def _net(opinions: Sequence[tuple[int, float]]) -> float:
    return sum(weight if value else -weight for value, weight in opinions)


async def looked_up(research: Research, searcher: Searcher, entry: Said) -> Voted | None:
    """Search for a question again and mark what its answer cited; None where that is not found."""
    question = Question(entry.question, release=entry.release, language=entry.language)
    asked = await research.understand(question, by_rules=True)
    if asked.resolution.unknown or len(asked.releases) != 1:
        return None
    look = searcher.look(asked.queries, asked.vectors, asked.releases[0])
    if look is None:
        return None
    pool = await look.pool()
    cited = [
        chunk.hash in entry.cited or bool(chunk.url and entry.links and _links(entry.links, chunk.url))
        for chunk in await look.chunks(pool)
    ]
    if not any(cited):
        return None
    worth = entry.net / (abs(entry.net) + 1.0)
    return Voted(pool.table, np.array(cited, np.bool_), worth, entry.section, entry.votes)


def _links(text: str, url: str) -> bool:
    """Return True if a text has an address, and not only the beginning of a longer one."""
    place = text.find(url)
    after = text[place + len(url) : place + len(url) + 1]
    return place >= 0 and not (after.isalnum() or after in ("/", "#", "-", "_"))
