"""Questions that the bot can answer, for people who do not know what to ask it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.community.overrides import DefaultReleases
from core.domain import Product, Question, Scope
from core.memory.community import CommunityMemory
from core.memory.partitions.partition_index import OTHER_LANGUAGE, platform_of
from core.pipeline.research import Research
from core.ports import CorpusStore, MemoryStore
from core.text.words import looks_like_question, one_line

SHOWN = 2
LONGEST = 110
"""Characters of a question that is shown; longer ones are left out."""
LOOKED_AT = 30
"""Good pairs that are looked at, and documents whose headings are."""
TRIED = 8
"""Questions of the catalogue that are tried, and headings as questions."""
_POINTS = re.compile(
    r"https?://|www\.|<[@#!]|(?<![\w.+-])[\w.+-]++@[\w-]++\.\w|(?<![\w`])@\w|(?<![\w`])#[a-z][\w-]+"
    r"|\b(?:[Hh]i|[Hh]ey|[Hh]ello|[Hh]allo|[Dd]ear|[Tt]hanks|ask|asked|says?|told)\s++[A-Z][a-z]+\b"
)
"""A link, an address, a mention, a channel, or a name that is spoken to or of."""
_SKIPPED = re.compile(r"(?:^|/)(?:changes|changelog|history|license|api|index|contributing)\b", re.IGNORECASE)
_DOING = re.compile(r"(?!Something|Nothing|Everything|During|String|Warning|Logging)[A-Z][a-z]{2,}ing\b")
_HEADING = re.compile(r"[A-Z][\w'’ -]{4,50}\??")


@dataclass(frozen=True, slots=True)
class Example:
    """A question that the bot can answer; `pair` is the id of the remembered one that it is, if any."""

    text: str
    pair: str = ""


class Examples:
    """Finds questions for a channel's release: what people found well answered, the catalogue's, headings."""

    def __init__(
        self,
        product: Product,
        releases: DefaultReleases,
        memory: CommunityMemory,
        pairs: MemoryStore,
        corpora: CorpusStore,
        research: Research,
    ) -> None:
        self._product = product
        self._releases = releases
        self._memory = memory
        self._pairs = pairs
        self._corpora = corpora
        self._research = research
        self._made: dict[str, tuple[float, tuple[str, ...]]] = {}

    async def of(self, channel: str, scope: Scope) -> tuple[Example, ...]:
        """Return two questions for a channel (`slack:C1`); fewer where nothing is indexed yet.

        Only what was asked in public is shown, also in a private channel.
        """
        release = await self._releases.of_channel(channel) or self._product.latest.name
        found = await self._remembered(release, Scope(platform=platform_of(channel)))
        if len(found) < SHOWN:
            found = (*found, *map(Example, await self._from_pages(release)))
        return tuple({example.text: example for example in reversed(found)}.values())[::-1][:SHOWN]

    @property
    def untried(self) -> tuple[str, ...]:
        """Return the catalogue's first questions while the latest release is not indexed yet, then none."""
        is_read = self._product.latest.name in self._research.corpora
        return () if is_read else tuple(self._product.questions[:SHOWN])

    async def _remembered(self, release: str, hearer: Scope) -> tuple[Example, ...]:
        """Return the questions of the best public pairs."""
        ranked: list[tuple[float, str]] = []
        for (filed, heard, store), partition in self._memory.partitions().items():
            if filed == release and store == "high" and OTHER_LANGUAGE not in heard and hearer.hears(heard):
                ranked += [(-partition.score_of(pair_id), pair_id) for pair_id in partition.kept]
        best = [pair_id for _, pair_id in sorted(ranked)[:LOOKED_AT]]
        pairs = await self._pairs.pairs(best) if best else {}
        current = (pairs[pair_id] for pair_id in best if pair_id in pairs and not pairs[pair_id].stale)
        found = (Example(one_line(pair.question), pair.id) for pair in current)
        fit = (e for e in found if len(e.text) <= LONGEST and looks_like_question(e.text))
        return tuple(e for e in fit if not points_at(e.text))[:SHOWN]

    async def _from_pages(self, release: str) -> tuple[str, ...]:
        """Return the catalogue's questions that the pages answer, then headings'; looked up once a corpus."""
        corpus = self._research.corpora.get(release)
        if corpus is None:
            return ()
        built_at, known = self._made.get(release, (0.0, ()))
        if built_at != corpus.built_at:
            known = await self._answered(self._product.questions, release)
            if len(known) < SHOWN:
                headings = await self._titles(release)
                known += await self._answered([_asked(heading) for heading in headings], release)
            self._made[release] = (corpus.built_at, known)
        return known

    async def _titles(self, release: str) -> list[str]:
        """Return headings of guides, questions among them first."""
        documents = [d for d in await self._corpora.manifest(release) if not _SKIPPED.search(d.path)]
        rows = await self._corpora.rows(release, [document.id for document in documents[:LOOKED_AT]])
        firsts = {row.document_id: row.context_id for row in reversed(rows)}
        chunks = await self._corpora.contexts(list({*firsts.values(), *(row.context_id for row in rows)}))
        # not those of what people said: a heading there is somebody's question
        written = (c.heading for c in chunks.values() if not c.people)
        headings = [heading for heading in written if _HEADING.fullmatch(heading)]
        return sorted(dict.fromkeys(headings), key=lambda heading: (_readily_asked(heading), heading))

    async def _answered(self, questions: Sequence[str], release: str) -> tuple[str, ...]:
        """Return the first questions that the release's pages answer."""
        found: list[str] = []
        for question in questions[:TRIED]:
            asked = await self._research.understand(Question(question, release=release), by_rules=True)
            if not asked.resolution.unknown and (await self._research.search(asked)).is_enough:
                found.append(question)
            if len(found) == SHOWN:
                break
        return tuple(found)


def points_at(text: str) -> bool:
    """Return True if a question names or calls somebody, or holds a link: it is not shown to others."""
    return _POINTS.search(text) is not None


def _readily_asked(heading: str) -> int:
    """Return a rank: headings that are questions first, then those about doing something."""
    return 0 if looks_like_question(heading) else 1 if _DOING.match(heading) else 2


def _asked(heading: str) -> str:
    """Make a question of a heading: `Writing a job` to "How does writing a job work?"."""
    if looks_like_question(heading):
        return heading.rstrip("?") + "?"
    lowered = heading[0].lower() + heading[1:] if heading[1:2].islower() else heading
    if _DOING.match(heading):
        return f"How does {lowered} work?"
    return f"What does the documentation say about {lowered}?"
