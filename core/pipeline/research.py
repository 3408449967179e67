"""The first stages alone, for those who only want to know what a question means and what pages hold on it."""

from __future__ import annotations

from core.domain import Question
from core.pipeline.context import QueryContext
from core.pipeline.resources import Resources
from core.pipeline.stages.retrieve import Retrieve
from core.pipeline.stages.understand import Understand
from core.ports import Corpus
from core.retrieval.found import Found


class Research:
    """Understands questions and searches for them, as a recipe does."""

    def __init__(self, parts: Resources) -> None:
        self.parts = parts
        self._understand = Understand(parts)
        self._retrieve = Retrieve(parts)

    def has_pairs(self) -> bool:
        """Return True if there are pairs made of documents."""
        return self.parts.searcher.has_pairs()

    @property
    def corpora(self) -> dict[str, Corpus]:
        """Return the corpora that answer now, by release."""
        return self.parts.searcher.corpora

    async def understand(self, question: Question, by_rules: bool = False) -> QueryContext:
        """Resolve the release, write the queries and embed them; `by_rules` keeps it from the model."""
        context = QueryContext(question, withheld=frozenset({"model"}) if by_rules else frozenset())
        await self._understand(context)
        return context

    async def search(self, context: QueryContext) -> Found:
        """Search every release and every part of the question; the best of each come first."""
        context.found = None
        await self._retrieve(context)
        return context.pages
