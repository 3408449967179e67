"""What is done before anything is said: release, queries, recall, search, each with its trace."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from core.catalogue import Catalogue, ChannelSettings
from core.domain import Evidence, Queries, Question, Recall, Resolution
from core.errors import ModelUnavailable
from core.generation.offers import differs
from core.languages import DEFAULT, _
from core.memory.community import CommunityMemory
from core.memory.filing import platform_of
from core.memory.second_look import same_question
from core.models.encoders import Encoders
from core.ports import Corpus, Encoder, LanguageModel, Matrix
from core.query import understand
from core.query.mentions import mentions
from core.query.releases import resolve
from core.query.rewrite import queries as query_forms
from core.retrieval.found import Found, merged
from core.retrieval.search import Searcher
from core.steps import Course, Steps
from core.text import query_terms

OFFERED = 4
"""Other releases that an answer names at most."""
_NONE: Matrix = np.zeros((0, 0), np.float32)


@dataclass(slots=True)
class Asked:
    """A question on its way: what it means, and a trace of what was done.

    `found` holds what each part of a composite question found, `groups` the chunks of each release and
    part that was searched, where there are several.
    """

    question: Question
    resolution: Resolution
    queries: Queries
    releases: tuple[str, ...]
    vectors: Matrix
    trace: dict[str, Any]
    timings: dict[str, float] = field(default_factory=dict)
    at: float = field(default_factory=time.perf_counter)
    found: dict[str, Found] = field(default_factory=dict)
    groups: tuple[frozenset[str], ...] = ()
    course: Course = field(default_factory=Course)
    documentation: str = DEFAULT
    """The language of the documentation."""
    repeats: str = ""
    """The pair whose answer the new one says again."""
    is_draft: bool = False
    """Whether the answer is for a comparison only, and kept nowhere."""

    @property
    def topic(self) -> str:
        """Return the form of the question that memory compares and that is embedded."""
        return self.queries.topic or self.queries.base

    @property
    def language(self) -> str:
        """Return the language of the question, as `de`; that of the documentation where nobody knows it."""
        return self.question.language or self.documentation

    @property
    def is_translated(self) -> bool:
        """Tell that the queries are a translation of the question."""
        return self.trace.get("untranslated") is False and self.language != self.documentation

    @property
    def is_untranslated(self) -> bool:
        """Tell that the queries are in another language than the documentation."""
        return bool(self.trace.get("untranslated"))

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the parts of a composite question; empty where there is just one."""
        return self.queries.parts if len(self.queries.parts) > 1 else ()

    @property
    def open(self) -> tuple[str, ...]:
        """Return the parts on which not enough was found."""
        return tuple(part for part, found in self.found.items() if not found.is_enough)

    @property
    def answerable(self) -> str:
        """Return the question without the parts on which not enough was found."""
        left = [part for part in self.parts if part not in self.open]
        return " ".join(left) if self.open and left else self.queries.base

    @property
    def terms(self) -> list[str]:
        """Return the terms that evidence is weighed by."""
        return query_terms(self.queries.versionless or self.queries.filtered or self.queries.base)

    @property
    def partition(self) -> str:
        """Name the release, or the set of compared ones, that memory files this under."""
        return "+".join(self.releases)

    def lap(self, step: str) -> None:
        """Note the milliseconds since the step before."""
        now = time.perf_counter()
        self.timings[step] = round((now - self.at) * 1000, 3)
        self.at = now

    def timed(self, hear: Callable[[str], Awaitable[None]]) -> Callable[[str], Awaitable[None]]:
        """Return what hears a growing text as `hear` does, and notes when its first word came."""

        async def heard(markdown: str) -> None:
            spent = sum(self.timings.values()) + (time.perf_counter() - self.at) * 1000
            self.trace.setdefault("first_ms", round(spent, 1))
            await hear(markdown)

        return heard


class Research:
    """Finds out what a question means and what memory and documents hold on it."""

    def __init__(
        self,
        catalogue: Catalogue,
        memory: CommunityMemory,
        searcher: Searcher,
        encoders: Encoders,
        steps: Steps | None = None,
        second_look: bool = False,
    ) -> None:
        self._catalogue = catalogue
        self._memory = memory
        self._searcher = searcher
        self._encoders = encoders
        self._steps = steps or Steps()
        self._second_look = second_look

    def by(self, model: LanguageModel) -> Research:
        """Return the same with another model, such as one whose calls are counted."""
        steps = self._steps.by(model)
        return Research(
            self._catalogue, self._memory, self._searcher, self._encoders, steps, self._second_look
        )

    def without_pairs(self) -> Research:
        """Return the same without the pairs made of documents."""
        searcher = self._searcher.without_pairs()
        return Research(
            self._catalogue, self._memory, searcher, self._encoders, self._steps, self._second_look
        )

    @property
    def corpora(self) -> dict[str, Corpus]:
        """Return the corpora that answer now, by release."""
        return self._searcher.corpora

    async def understand(self, question: Question, by_rules: bool = False) -> Asked:
        """Resolve the release and write the queries, by the model where rules are in doubt; embed them.

        `by_rules` keeps every step of this question from the model.
        """
        began = time.perf_counter()
        product = self._catalogue.product
        default = self._catalogue.channels.get(question.channel, ChannelSettings()).release
        resolution = resolve(question, product, default)
        queries = query_forms(question, product, resolution)
        asked = Asked(question, resolution, queries, (), _NONE, {}, at=began, documentation=product.language)
        is_foreign, is_translated = understand.is_foreign(question, product), False
        if by_rules:
            asked.course.failure = ModelUnavailable("This question is kept from the model.")
        if doubt := understand.doubt(question, resolution, queries, product):
            asked.trace["doubt"] = doubt
            understood = await self._steps.take(
                asked.course,
                "understand",
                lambda model: understand.understand(model, question, product, resolution, queries),
            )
            asked.resolution, asked.queries = understood or (resolution, queries)
            is_translated = is_foreign and asked.queries.base != queries.base
            resolution, queries = asked.resolution, asked.queries
        asked.releases = resolution.named if resolution.comparison else (resolution.release,)
        asked.trace |= {
            "release_origin": resolution.origin,
            "resolution": asdict(resolution),
            "queries": asdict(queries),
            "rewritten": queries.rewritten,
            "language": asked.language,
            "untranslated": is_foreign and not is_translated,
            "steps": asked.course.taken,
        }
        asked.lap("understand")
        if not resolution.unknown:
            encoder = await self.encoder_of(asked)
            asked.vectors = await encoder.encode([asked.topic, *asked.parts])
            asked.lap("embed")
        return asked

    async def encoder_of(self, asked: Asked) -> Encoder:
        """Return the encoder of the release that a question is about."""
        corpus = self.corpora.get(asked.releases[0])
        return await (self._encoders.named(corpus.encoder) if corpus else self._encoders.current())

    async def recall(self, asked: Asked) -> Recall:
        """Ask community memory for the route and for what people voted good or bad."""
        question = asked.question
        platform = platform_of(question.channel or question.asker)
        scope = replace(question.scope, platform=platform)
        recall = await self._memory.recall(
            asked.vectors[0], asked.topic, asked.partition, scope, asked.language, asked.is_untranslated
        )
        if self._second_look and recall.route == "reuse":
            recall = await self._looked_at_again(asked, recall)
        for kind in ("high", "low"):
            asked.trace[kind] = [
                {"pair": pair.id, "question": pair.question, "similarity": near, "score": pair.score}
                for pair, near in getattr(recall, kind)
            ]
        asked.trace["guard"] = recall.guard
        asked.trace["decided"] = recall.decided
        asked.lap("recall")
        return recall

    async def _looked_at_again(self, asked: Asked, recall: Recall) -> Recall:
        """Let the model agree to a reuse; without its yes the pair is for reference."""
        remembered = recall.high[0][0].topic
        same = await self._steps.take(
            asked.course, "guard", lambda model: same_question(model, asked.topic, remembered)
        )
        if same:
            return recall
        refused = _("The model, which has to agree, does not take the two questions for the same.")
        silent = _("The model, which has to agree, did not say.")
        return replace(recall, route="reference", guard=refused if same is False else silent)

    async def search(self, asked: Asked) -> Found:
        """Search every release and every part of the question; the best of each come first."""
        lists = []
        by_part: dict[str, list[Found]] = {part: [] for part in asked.parts}
        for release in asked.releases:
            if not asked.parts:
                lists.append(await self._searcher.search(asked.queries, asked.vectors, release))
            for place, part in enumerate(asked.parts, start=1):
                if release not in self._releases_of(part, asked.releases):
                    continue
                form = replace(asked.queries, base=part, filtered=part, versionless="", carried=())
                found = await self._searcher.search(form, asked.vectors[place : place + 1], release)
                by_part[part].append(found)
                lists.append(found)
        asked.found = {part: merged(lists_) for part, lists_ in by_part.items()}
        if len(lists) > 1:
            asked.groups = tuple(frozenset(item.chunk.id for item in found.evidence) for found in lists)
        found = merged(lists)
        asked.trace |= {
            "confidence": found.confidence,
            "threshold": found.judgement.enough,
            "signs": asdict(found.signs),
            "open_parts": list(asked.open),
            "evidence": [
                {
                    "title": f"{item.chunk.title}: {item.chunk.heading}",
                    "path": item.chunk.path,
                    "url": item.chunk.url,
                    "release": item.chunk.release,
                    "score": item.score,
                    "matched": list(item.matched),
                    "ranks": found.ranks.get(item.chunk.id, {}),
                }
                for item in found.evidence
            ],
        }
        asked.lap("retrieve")
        return found

    def _releases_of(self, part: str, releases: tuple[str, ...]) -> tuple[str, ...]:
        """Return the compared releases that a part names, all of them where it names none."""
        named = {found.release for found in mentions(part, self._catalogue.product)}
        return tuple(release for release in releases if release in named) or releases

    async def offers(self, asked: Asked, answer: str, evidence: Evidence) -> tuple[str, ...]:
        """Name the releases, newest first, in which the page that an answer rests on says something else.

        Only where nobody named a release: who did knows which one they want.
        """
        if asked.resolution.origin not in ("latest", "channel") or len(asked.releases) > 1:
            return ()
        place = (evidence.chunk.path, evidence.chunk.heading)
        pages = (await self._searcher.pages_like([place]))[place]
        newest = [entry.name for entry in reversed(self._catalogue.product.releases)]
        others = [name for name in newest if name in self.corpora and name not in asked.releases]
        found = [name for name in others if differs(answer, evidence.chunk.page, pages.get(name, ()))]
        return tuple(found[:OFFERED])
