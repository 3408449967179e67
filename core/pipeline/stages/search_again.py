"""A second search, by words that the documentation may use (HyDE), for what reading led to no answer to.

It is for an answer whose first words are what is lacking, which another may take the place of, and for one
whose last words are: of those the rest stays, and only what is lacking is looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain, islice

from core.domain import Answer, Evidence, FoundTrace, Queries, Taken
from core.generation.checked.raw import says_lack
from core.generation.checked.statements import joined, once, statements
from core.generation.citations import following
from core.generation.guess import Guess, guess
from core.languages import name_of
from core.pipeline.context import Draft, Gap, Needs, QueryContext, Silence
from core.pipeline.resources import Resources
from core.pipeline.stage import Stage, walk
from core.retrieval.found import KEPT, Found, followed, merged

TITLES = 300
"""Titles of documents that a guess is offered at most; ours."""
_READ = ("found", "further", "chosen", "texts", "taken", "failed", "draft", "repeats", "temperature")
"""What reading leaves in the context, for a second reading that leads nowhere to be taken back."""


class SearchAgain:
    """Reads what was found; what is not in it is searched for by the model's guess, and that is read.

    People name what they see, pages what it is called: "a query for every row" is "eager loading" there. The
    model says how the documentation may put an answer, and that is searched for as if it were the question
    (Gao et al. 2023, "Precise Zero-Shot Dense Retrieval without Relevance Labels"). Nobody reads the guess:
    an answer is written from pages only. `read` are the stages that read, `reread` those for the second time.

    Nothing that was shown is taken back: neither an answer that begins with what the documentation lacks nor
    a last sentence that says so is shown while it is written. Both stay where the second reading does not
    say more.
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
        lacking = ended is None and _lacks(context)
        context.gap = None if ended or lacking else _gap(context)
        goes_on = lacking or context.gap or (ended is not None and ended.route == "abstain")
        if not (goes_on and self._may(context)) or (found := await self._found(context)) is None:
            context.gap = None
            return ended
        before = {name: getattr(context, name) for name in _READ}
        traced = context.trace.found, context.trace.read, context.trace.model_error
        again = await self._reread(context, found)
        gap, context.gap = context.gap, None
        if again is None and context.draft is not None:
            if gap is None and not (lacking and _lacks(context)):
                return None
            if gap and (draft := _completed(gap, context.draft)):
                await self._take(context, draft, before["taken"])
                _add(context, before["found"], traced[0], traced[1] or ())
                return None
        for name, value in before.items():
            setattr(context, name, value)
        context.trace.found, context.trace.read, context.trace.model_error = traced
        return ended

    async def _take(self, context: QueryContext, draft: Draft, before: Taken) -> None:
        """Take a completed draft; it says again what a pair says as a whole, and holds the words of both."""
        people, pairs = before.people | context.taken.people, before.pairs | context.taken.pairs
        context.draft, context.taken = draft, replace(context.taken, people=people, pairs=pairs)
        context.repeats = await self._parts.memory.repeated(draft.text, context.topic, context.recall)

    def _may(self, context: QueryContext) -> bool:
        """Return True if the question is near the documentation, and is one to be answered from its text."""
        has_parts = bool(context.by_part) and context.gap is None
        is_plain = not (context.news or context.gone or has_parts or context.pages.named)
        return (
            is_plain
            and bool(context.pages.near)
            and not context.question.unasked
            and not context.untranslated
            and "model" not in context.withheld
        )

    async def _found(self, context: QueryContext) -> Found | None:
        """Return pages that the guess finds, with those found before; None where there is nothing new."""
        product, searcher = self._parts.product.name, self._parts.searcher
        near = [item.chunk.title for item in context.pages.near]
        contents = (searcher.contents(release) for release in context.releases)
        titles = list(islice(chain(near, chain.from_iterable(contents)), TITLES))
        lacking = context.gap.text if context.gap else ""  # in the asker's language
        language = name_of(self._parts.product.language)
        made: Guess | None = await self._parts.budget.take(
            context.course,
            "again",
            lambda model: guess(
                model, context.answerable, product, context.releases, titles, lacking, language
            ),
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
            lists.append(await searcher.search(form, vectors, release))
        read = () if context.chosen is None else (*context.pages.evidence, *context.further)
        fresh = merged([_unread(found, read) for found in lists])
        return followed(fresh, merged(lists), context.pages) if fresh.evidence else None

    async def _reread(self, context: QueryContext, found: Found) -> Answer | None:
        """Read what the second search found, unheard where part of the answer was shown already."""
        context.found, context.further = found, ()
        context.chosen, context.texts, context.draft = None, None, None
        context.note_found("again")
        plain, listener = context.queries, context.listener
        context.queries = _with(plain, context.trace.again or ())
        if context.gap:
            context.listener = Silence()
        try:
            return await walk(self.reread, context)
        finally:
            context.queries, context.listener = plain, listener


def _unread(found: Found, read: Sequence[Evidence]) -> Found:
    """Return the best pages of a search that were not read yet, as many as one finds."""
    ids = {item.chunk.id for item in read}
    fresh = [item for item in (*found.evidence, *found.below) if item.chunk.id not in ids]
    return replace(found, evidence=tuple(fresh[:KEPT]), below=())


def _lacks(context: QueryContext) -> bool:
    """Return True if the first sentence of the draft says what the pages do not."""
    told = statements(context.draft.text) if context.draft is not None else []
    return bool(told) and says_lack(told[0].text)


def _gap(context: QueryContext) -> Gap | None:
    """Return what the draft says last that the pages lack, and the rest of it; None where it does not."""
    told = statements(context.draft.text) if context.draft is not None and not context.question.why else []
    first = len(told)
    while first and says_lack(told[first - 1].text):
        first -= 1
    if context.draft is None or first in (0, len(told)):
        return None
    return Gap(joined(told[first:]), replace(context.draft, text=joined(told[:first])))


def _completed(gap: Gap, found: Draft) -> Draft | None:
    """Put what was found of a gap in its place; None where that is nothing, or only that it is lacking."""
    stands = statements(gap.before.text)
    told = [one for one in once([*stands, *statements(found.text)]) if one not in stands]
    if not told or says_lack(told[0].text):
        return None
    text, citations = following(joined(told), found.citations, gap.before.citations)
    return replace(gap.before, text=f"{gap.before.text}\n\n{text}", citations=citations)


def _add(context: QueryContext, found: Found, traced: FoundTrace | None, read: Sequence[int]) -> None:
    """Put what the second search read behind the pages of the first one, which the answer rests on, too."""
    known = {item.chunk.id for item in found.evidence}
    chosen = {item.chunk.id for item in context.chosen or ()}
    first = max((item.number for item in found.evidence), default=0) + 1
    new = [item for item in context.pages.evidence if item.chunk.id in chosen - known]
    context.further = tuple(replace(item, number=number) for number, item in enumerate(new, first))
    ranks = {**context.pages.ranks, **found.ranks}
    context.found, context.trace.found = replace(found, ranks=ranks), traced
    context.note_further()
    context.trace.read = [*read, *range(first, first + len(new))]


def _with(queries: Queries, terms: Sequence[str]) -> Queries:
    """Return queries by whose terms pages are also reduced that use others than the question."""
    said = " ".join(terms)
    versionless = f"{queries.versionless} {said}" if queries.versionless else ""
    return replace(queries, filtered=f"{queries.filtered} {said}", versionless=versionless)
