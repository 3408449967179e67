"""What is done before anything is said: release, queries, recall, search, each with its trace."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from core.catalogue import Catalogue, ChannelSettings
from core.domain import Evidence, Product, Queries, Question, Recall, Resolution, Taken
from core.errors import ModelUnavailable
from core.generation.offers import differs
from core.languages import _
from core.memory.community import CommunityMemory
from core.memory.partitions.partition_key import platform_of
from core.memory.reuse_check import same_question
from core.models.embedding.encoders import Encoders
from core.pipeline.context import QueryContext
from core.pipeline.model_budget import ModelBudget
from core.ports import Corpus, Encoder, LanguageModel, Matrix
from core.query import understand
from core.query.followups.carried import of_thread
from core.query.releases.mentions import mentions
from core.query.releases.news import dated, is_whole, news
from core.query.releases.resolve import resolve
from core.query.rewrite import queries as query_forms
from core.retrieval.found import Found, merged
from core.retrieval.search import Searcher
from core.system.offload import SHORT, aside
from core.text.invisible import visible
from core.text.words import ruled

OFFERED = 4
"""Other releases that an answer names at most."""
_NONE: Matrix = np.zeros((0, 0), np.float32)


def heard_by_rules(question: Question) -> Question:
    """Return a question as far as rules look at it and at what was said before; the model gets all of it."""
    history = tuple(replace(turn, text=ruled(turn.text)) for turn in question.history)
    return replace(question, text=ruled(question.text), history=history)


def _seen(question: Question) -> Question:
    """Return a question without what nobody sees in its words and in those before it."""
    turns = tuple(replace(turn, text=visible(turn.text)) for turn in question.history)
    return replace(question, text=visible(question.text), history=turns)


class Research:
    """Finds out what a question means and what memory and documents hold on it."""

    def __init__(
        self,
        catalogue: Catalogue,
        memory: CommunityMemory,
        searcher: Searcher,
        encoders: Encoders,
        steps: ModelBudget | None = None,
        second_look: bool = False,
    ) -> None:
        self._catalogue = catalogue
        self._memory = memory
        self._searcher = searcher
        self._encoders = encoders
        self._steps = steps or ModelBudget()
        self._second_look = second_look

    def by(self, model: LanguageModel) -> Research:
        """Return the same with another model, such as one whose calls are counted."""
        return self._with(self._searcher, self._steps.by(model))

    def without_pairs(self) -> Research:
        """Return the same without the pairs made of documents."""
        return self._with(self._searcher.without_pairs(), self._steps)

    def by_pairs(self, fields: Mapping[str, float] | None = None) -> Research:
        """Return the same that finds pages by the pairs made of documents alone."""
        return self._with(self._searcher.by_pairs(fields), self._steps)

    def _with(self, searcher: Searcher, steps: ModelBudget) -> Research:
        return Research(self._catalogue, self._memory, searcher, self._encoders, steps, self._second_look)

    def has_pairs(self) -> bool:
        """Tell whether there are pairs made of documents."""
        return self._searcher.has_pairs()

    @property
    def corpora(self) -> dict[str, Corpus]:
        """Return the corpora that answer now, by release."""
        return self._searcher.corpora

    async def understand(self, question: Question, by_rules: bool = False) -> QueryContext:
        """Resolve the release and write the queries, by the model where rules are in doubt; embed them.

        `by_rules` keeps every step of this question from the model.
        """
        began = time.perf_counter()
        question = _seen(question)
        product = self._catalogue.product
        length = len(question.text) + sum(len(turn.text) for turn in question.history)
        # by rules, which for a text of the longest kind take a tenth of a second
        heard, resolution, queries, is_foreign, doubt = await aside(
            length, self._by_rules, question, few=SHORT
        )
        asked = QueryContext(
            question, resolution, queries, (), _NONE, {}, at=began, documentation=product.language
        )
        is_translated, understood = False, None
        if by_rules:
            asked.course.failure = ModelUnavailable("This question is kept from the model.")
        if doubt:
            asked.trace["doubt"] = doubt
            understood = await self._steps.take(
                asked.course,
                "understand",
                lambda model: understand.understand(model, heard, product, resolution, queries),
            )
            asked.resolution, asked.queries = understood or (resolution, queries)
            is_translated = is_foreign and asked.queries.base != queries.base
        await aside(length, self._settle_news, asked, heard, few=SHORT)
        resolution = asked.resolution
        asked.releases = resolution.named if resolution.comparison else (resolution.release,)
        asked.taken = _of_thread(asked, product, understood is not None)
        asked.note_understood(is_foreign and not is_translated)
        if not resolution.unknown:
            encoder = await self.encoder_of(asked)
            asked.vectors = await encoder.encode([asked.topic, *asked.parts])
            asked.lap("embed")
        return asked

    def _by_rules(self, question: Question) -> tuple[Question, Resolution, Queries, bool, str]:
        """Return what rules look at, release, queries, whether the language is foreign, what is in doubt."""
        product = self._catalogue.product
        default = self._catalogue.channels.get(question.channel, ChannelSettings()).release
        heard = heard_by_rules(question)
        resolution = resolve(heard, product, default)
        queries = query_forms(heard, product, resolution)
        if heard.text != question.text:  # what is too long for rules stands alone, and is searched for whole
            queries = replace(
                queries, base=question.text, parts=(question.text,), rewritten=False, carried=()
            )
        doubt = understand.doubt(heard, resolution, queries, product)
        return heard, resolution, queries, understand.is_foreign(question, product), doubt

    def _settle_news(self, asked: QueryContext, heard: Question) -> None:
        """Note which release notes are asked for; a newer release's pages may tell of one that is unknown."""
        product = self._catalogue.product
        found = news(ruled(asked.queries.base), heard, product, asked.resolution)
        asked.news = found = self._searcher.release_notes.settled(found) if found else None
        if found is None:
            return
        if asked.resolution.unknown:
            named = tuple(dict.fromkeys(span.release for span in found.spans))
            several = len(named) > 1
            asked.resolution = replace(
                asked.resolution,
                release=named[-1],
                origin="question",
                named=named,
                unknown=(),
                comparison=several,
            )
        # whatever else than one release's name says which versions are meant, memory has to compare, too
        topic = asked.queries.topic if is_whole(found, product) else asked.queries.base
        asked.queries = replace(asked.queries, parts=(asked.queries.base,), topic=topic)

    async def encoder_of(self, asked: QueryContext) -> Encoder:
        """Return the encoder of the release that a question is about."""
        corpus = self.corpora.get(asked.releases[0])
        return await (self._encoders.named(corpus.encoder) if corpus else self._encoders.current())

    async def recall(self, asked: QueryContext) -> Recall:
        """Ask community memory for the route and for what people voted good or bad."""
        question = asked.question
        platform = platform_of(question.channel or question.asker)
        scope = replace(question.scope, platform=platform)
        recall = await self._memory.recall(
            asked.vectors[0], asked.topic, asked.partition, scope, asked.language, asked.is_untranslated
        )
        if self._second_look and recall.route == "reuse":
            recall = await self._looked_at_again(asked, recall)
        asked.note_recalled(recall)
        return recall

    async def _looked_at_again(self, asked: QueryContext, recall: Recall) -> Recall:
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

    async def search(self, asked: QueryContext) -> Found:
        """Search every release and every part of the question; the best of each come first."""
        if asked.news:
            told = [await self._searcher.release_notes.of(span, asked.news.kind) for span in asked.news.spans]
            if all(found.named for found in told):
                asked.note_found(found := merged(told))
                return found
        lists: list[Found] = []
        by_part: dict[str, list[Found]] = {part: [] for part in asked.parts}
        for release in asked.releases:
            if not asked.parts:
                lists.append(await self._searcher.search(asked.queries, asked.vectors, release))
            for place, part in enumerate(asked.parts, start=1):
                if release in self._releases_of(part, asked.releases):
                    form = replace(asked.queries, base=part, filtered=part, versionless="", carried=())
                    vector = asked.vectors[place : place + 1]
                    lists.append(await self._searcher.search(form, vector, release))
                    by_part[part].append(lists[-1])
        asked.found = {part: merged(lists_) for part, lists_ in by_part.items()}
        if len(lists) > 1:
            asked.groups = tuple(frozenset(item.chunk.id for item in found.evidence) for found in lists)
        found = merged(lists)
        when = dated(ruled(asked.queries.base), self._catalogue.product)
        if when and len(lists) == 1:
            found = await self._searcher.release_notes.dated(when, asked.releases[0], found)
        asked.note_found(found)
        return found

    def _releases_of(self, part: str, releases: tuple[str, ...]) -> tuple[str, ...]:
        """Return the compared releases that a part names, all of them where it names none."""
        named = {found.release for found in mentions(part, self._catalogue.product)}
        return tuple(release for release in releases if release in named) or releases

    async def offers(self, asked: QueryContext, answer: str, evidence: Evidence) -> tuple[str, ...]:
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


def _of_thread(asked: QueryContext, product: Product, by_model: bool) -> Taken:
    """Return whose words of the thread the queries hold."""
    said = asked.queries
    forms = (said.base, said.filtered, said.versionless, said.topic, *said.parts, *said.carried)
    return Taken(asked=of_thread(asked.question, product, said.base, " ".join(forms), by_model))
