"""A second search in the words that the documentation may use, where the first led to no answer (HyDE)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from core.domain import Answer, Queries
from core.generation.guess import Guess, guess
from core.pipeline.context import Needs, QueryContext
from core.pipeline.resources import Resources
from core.pipeline.stage import Stage, walk
from core.retrieval.found import Found, merged

_READ = ("found", "chosen", "texts", "taken", "failed")
"""What reading leaves in the context, for a second reading that leads nowhere to be taken back."""


class SearchAgain:
    """Reads what was found; where that leads to no answer, searches by the model's guess and reads that.

    People name what they see, pages what it is called: "a query for every row" is "eager loading" there. The
    model says how the documentation may put an answer, and that is searched for as if it were the question
    (Gao et al. 2023, "Precise Zero-Shot Dense Retrieval without Relevance Labels"). Nobody reads the guess:
    an answer is written from pages only. `read` are the stages that read, `reread` those for the second time.
    """

    needs: Needs = ""

    def __init__(self, parts: Resources, read: Sequence[Stage], reread: Sequence[Stage]) -> None:
        self._parts = parts
        self.read = tuple(read)
        self.reread = tuple(reread)

    def by(self, change: Callable[[Sequence[Stage]], Sequence[Stage]]) -> SearchAgain:
        """Return the same with other stages to read, as `change` makes them of those there are."""
        return SearchAgain(self._parts, change(self.read), change(self.reread))

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Draft an answer; end with an abstention where neither search leads to one."""
        ended = await walk(self.read, context)
        if ended is None or ended.route != "abstain" or not self._may(context):
            return ended
        found = await self._found(context)
        if found is None:
            return ended
        before = {name: getattr(context, name) for name in _READ}
        traced = context.trace.found, context.trace.read
        context.found, context.chosen, context.texts = found, None, None
        context.note_found("again")
        plain = context.queries
        context.queries = _with(plain, context.trace.again or ())
        again = await walk(self.reread, context)
        context.queries = plain
        if again is None and context.draft is not None:
            return None
        for name, value in before.items():
            setattr(context, name, value)
        context.trace.found, context.trace.read = traced
        return ended

    def _may(self, context: QueryContext) -> bool:
        """Return True if the question is near the documentation, and is one to be answered from its text."""
        is_plain = not (context.news or context.gone or context.by_part or context.pages.named)
        return (
            is_plain
            and bool(context.pages.near)
            and not context.question.unasked
            and not context.untranslated
            and "model" not in context.withheld
        )

    async def _found(self, context: QueryContext) -> Found | None:
        """Return pages that the guess finds, with those found before; None where there is nothing new."""
        product = self._parts.product.name
        made: Guess | None = await self._parts.budget.take(
            context.course,
            "again",
            lambda model: guess(model, context.answerable, product, context.releases),
        )
        if made is None or not made.terms:
            return None
        context.trace.again = made.terms
        form = replace(
            context.queries, base=made.passage, filtered=" ".join(made.terms), versionless="", carried=()
        )
        lists: list[Found] = []
        for release in context.releases:
            encoder = await self._parts.encoder_of(release)
            vectors = await encoder.encode([made.passage])
            lists.append(await self._parts.searcher.search(form, vectors, release))
        known = {item.chunk.id for item in context.pages.evidence}
        if all(item.chunk.id in known for found in lists for item in found.evidence):
            return None
        # how sure the pages are is told by the question, not by a guess at its answer
        both = merged([*lists, context.pages])
        return replace(both, signs=context.pages.signs, rarity={**both.rarity, **context.pages.rarity})


def _with(queries: Queries, terms: Sequence[str]) -> Queries:
    """Return queries by whose terms pages are also reduced that use others than the question."""
    said = " ".join(terms)
    versionless = f"{queries.versionless} {said}" if queries.versionless else ""
    return replace(queries, filtered=f"{queries.filtered} {said}", versionless=versionless)
