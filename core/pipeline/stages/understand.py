"""What a question means: its release, the queries it is searched by, their vectors."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from core.domain import Product, Queries, Question, Resolution, Taken
from core.errors import ModelUnavailable
from core.pipeline.context import Forms, Needs, QueryContext
from core.pipeline.resources import TRANSLATE, Resources
from core.ports import TokenEncoder, for_questions
from core.privacy.names import of_thread
from core.query import understand
from core.query.releases.news import is_whole, news
from core.query.releases.resolve import resolve
from core.query.understand import queries as query_forms
from core.system.offload import SHORT, aside
from core.text.invisible import visible
from core.text.spelling import is_contracted, replaced, shortened, suspects
from core.text.statuses import statuses
from core.text.words import ruled


class Understand:
    """Resolves the release and writes the queries, by the model where rules are in doubt; embeds them.

    `forms` says what is embedded: the topic, and each part or (QAMR) base, filtered and versionless query.
    """

    needs: Needs = ""

    def __init__(self, parts: Resources, forms: Forms = "topic") -> None:
        self._parts = parts
        self._forms = forms
        self._product = parts.product

    async def __call__(self, context: QueryContext) -> None:
        """Fill in resolution, queries, releases and vectors; without vectors for an unknown release."""
        context.at = time.perf_counter()
        context.trace.why = context.question.why or None
        context.documentation = self._product.language
        question = context.question = _each(context.question, visible)
        length = len(question.text) + sum(len(turn.text) for turn in question.history)
        # by rules, which for a text of the longest kind take a tenth of a second
        defaults = await self._parts.defaults(question.channel, question.asker)
        heard, resolution, queries, is_foreign, doubt = await aside(
            length, self._by_rules, question, defaults, few=SHORT
        )
        context.resolution, context.queries = resolution, queries
        if "model" in context.withheld:
            context.course.failure = ModelUnavailable("This question is kept from the model.")
        understood = None
        if doubt:
            context.trace.doubt = doubt
            understood = await self._parts.budget.take(
                context.course,
                TRANSLATE if is_foreign else "understand",
                lambda model: understand.understand(model, heard, self._product, resolution, queries),
            )
            context.resolution, context.queries = understood or (resolution, queries)
        context.untranslated = is_foreign and context.queries.base == queries.base
        await aside(length, self._settle_news, context, heard, few=SHORT)
        resolution = context.resolution
        context.releases = resolution.named if resolution.comparison else (resolution.release,)
        context.taken = _of_thread(context, self._product, understood is not None)
        context.note_understood()
        if not resolution.unknown:
            await self._embed(context, await self._mend(context))

    def _by_rules(
        self, question: Question, defaults: tuple[str, str]
    ) -> tuple[Question, Resolution, Queries, bool, str]:
        """Return what rules look at, release, queries, whether the language is foreign, what is in doubt."""
        product = self._product
        heard = heard_by_rules(question)
        resolution = resolve(heard, product, *defaults)
        queries = query_forms(heard, product, resolution)
        if heard.text != question.text:  # what is too long for rules stands alone, and is searched for whole
            queries = replace(
                queries, base=question.text, parts=(question.text,), rewritten=False, carried=()
            )
        doubt = understand.doubt(heard, resolution, queries, product)
        return heard, resolution, queries, understand.is_foreign(question, product), doubt

    def _settle_news(self, context: QueryContext, heard: Question) -> None:
        """Note which release notes are asked for; a newer release's pages may tell of one that is unknown."""
        product = self._product
        found = news(ruled(context.queries.base), heard, product, context.resolution)
        context.news = found = self._parts.searcher.release_notes.settled(found) if found else None
        if found is None:
            return
        if context.resolution.unknown:
            named = tuple(dict.fromkeys(span.release for span in found.spans))
            context.resolution = replace(
                context.resolution,
                release=named[-1],
                origin="question",
                named=named,
                unknown=(),
                comparison=len(named) > 1,
            )
        # whatever else than one release's name says which versions are meant, memory has to compare, too
        topic = context.queries.topic if is_whole(found, product) else context.queries.base
        context.queries = replace(context.queries, parts=(context.queries.base,), topic=topic)

    async def _mend(self, context: QueryContext) -> str:
        """Mend slips of the keyboard, words that neither pages nor encoder know, and what is shortened.

        Return the topic with names of its HTTP statuses. A release's pages say what these are called, so that
        memory compares it without.
        """
        release = context.releases[0]
        count = getattr(await self._parts.encoder_of(release), "count_tokens", None)
        short = shortened(context.queries.base)
        some = [word for word in suspects(context.queries.base) if word not in short] + short
        numbers = statuses(context.queries.base)
        if count is None or context.untranslated or release not in self._parts.searcher.corpora:
            return context.topic
        if not (some or numbers):
            return context.topic
        odd = [word for word in some if is_contracted(word) or word in short or count(word) > count("") + 1]
        if found := await self._parts.searcher.mended(odd, release, count, numbers):
            said = context.queries
            words = {word: meant for word, meant in found.items() if word not in numbers}
            context.queries = replace(
                said,
                base=replaced(said.base, found),
                filtered=replaced(said.filtered, found),
                versionless=replaced(said.versionless, found),
                topic=replaced(said.topic, words),
                parts=tuple(replaced(part, found) for part in said.parts),
            )
            context.note_understood()
            return replaced(said.topic or said.base, found)
        return context.topic

    async def _embed(self, context: QueryContext, written_out: str) -> None:
        """Embed the topic first, which memory compares, and then what is searched by; last as `written_out`.

        The question goes along whose tokens the search wants: two at once take less than one by one.
        """
        encoder = for_questions(await self._parts.encoder_of(context.releases[0]))
        forms = context.forms if self._forms == "queries" else ()
        texts = [context.topic, *(context.parts or forms)]
        more = [] if len(texts) > 1 or not isinstance(encoder, TokenEncoder) else [context.queries.base]
        is_other = written_out != context.topic
        more += [written_out] if is_other else []
        encoded = await encoder.encode([*texts, *more])
        context.vectors, context.as_written_out = encoded[: len(texts)], encoded[len(encoded) - is_other :]
        context.lap("embed")


def heard_by_rules(question: Question) -> Question:
    """Return a question as far as rules look at it and at what was said before; the model gets all of it."""
    return _each(question, ruled)


def _each(question: Question, change: Callable[[str], str]) -> Question:
    """Return a question with its words, and those before it, changed."""
    history = tuple(replace(turn, text=change(turn.text)) for turn in question.history)
    return replace(question, text=change(question.text), history=history)


def _of_thread(context: QueryContext, product: Product, by_model: bool) -> Taken:
    """Return whose words of the thread the queries hold."""
    said = context.queries
    forms = (said.base, said.filtered, said.versionless, said.topic, *said.parts, *said.carried)
    return Taken(asked=of_thread(context.question, product, said.base, " ".join(forms), by_model))
