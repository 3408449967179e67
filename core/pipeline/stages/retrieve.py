"""Pages of every release and part of the question, whether they suffice to answer, and which are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.domain import Answer, Evidence, Recall
from core.generation import phrases
from core.generation.context import by_rule, reduction, selection
from core.pipeline.context import Forms, Needs, QueryContext
from core.pipeline.release_notes import NotesFirst
from core.pipeline.resources import Resources
from core.pipeline.stage import Stage, abstention, dont_know, nearly
from core.query.releases.mentions import mentions
from core.query.releases.news import dated
from core.retrieval.found import Found, between, in_reading_order, merged
from core.retrieval.release_notes.requirements import asks_to_go, required, stating
from core.retrieval.search import Searcher
from core.retrieval.unasked import is_sure
from core.text.words import ruled


class Retrieve:
    """Searches documents once; `searcher` says how, the wired one where none is given.

    `forms` says by what: the topic, or each query form (QAMR step 2); part by part where there are several.
    """

    needs: Needs = ""

    def __init__(self, parts: Resources, searcher: Searcher | None = None, forms: Forms = "topic") -> None:
        self._product = parts.product
        self._memory = parts.memory
        self._searcher = searcher or parts.searcher
        self._notes = NotesFirst(parts.product, self._searcher)
        self._search = self._pages if forms == "topic" else self._by_forms

    async def __call__(self, context: QueryContext) -> None:
        """Set what was found, unless that is there already or an answer is drafted."""
        if context.found is None and context.draft is None:
            context.found = await self._release_notes(context) or await self._search(context)
            context.found = await self._notes.first(context, context.found)
            context.note_found()

    async def _release_notes(self, context: QueryContext) -> Found | None:
        """Return the release notes that are asked for, where all of them are there."""
        if context.news is None:
            return None
        notes, kind = self._searcher.release_notes, context.news.kind
        told = [await notes.of(span, kind) for span in context.news.spans]
        return merged(told) if all(found.named for found in told) else None

    async def _pages(self, context: QueryContext) -> Found:
        """Search each release for the question, or for those of its parts that are about it."""
        lists: list[Found] = []
        by_part: dict[str, list[Found]] = {part: [] for part in context.parts}
        voted = opinions(context.recall, self._memory.thresholds.tau)
        for release in context.releases:
            if not context.parts:
                found = await self._searcher.search(context.queries, context.sought, release, voted=voted)
                lists.append(found)
            for place, part in enumerate(context.parts, start=1):
                if release in self._releases_of(part, context.releases):
                    lists.append(await self._alone(context, part, place, release))
                    by_part[part].append(lists[-1])
        context.by_part = {part: merged(found) for part, found in by_part.items()}
        found = _grouped(context, lists)
        when = dated(ruled(context.queries.base), self._product)
        if when and len(lists) == 1:
            found = await self._searcher.release_notes.dated(when, context.releases[0], found)
        if len(lists) == 1 and not when:
            found = await self._required(context, found)
        return found

    async def _required(self, context: QueryContext, found: Found) -> Found:
        """Put the pages first that state which version of other software is needed, where that is asked."""
        product, asked = self._product, ruled(context.queries.base)
        name = required(asked, (product.name, *product.aliases))
        if not name:
            return found
        said = f"{name} version supported required"
        form = replace(context.queries, base=said, filtered=said, versionless="", carried=())
        again = await self._searcher.search(form, context.sought, context.releases[0])
        headed, stated = stating(name, (again, found))
        if asks_to_go(asked):  # what is quoted tells what is needed, and not how one goes there
            context.queries = replace(context.queries, filtered=said, versionless="")
        if headed is not None:
            return headed
        notes = await self._searcher.release_notes.needing(name, context.releases[0])
        return notes if notes.evidence else stated or found

    async def _by_forms(self, context: QueryContext) -> Found:
        """Search each release for every query form, or for the parts; the union, each page once."""
        if context.parts:
            return await self._pages(context)
        rows = list(enumerate(context.forms, start=1))
        lists = [[await self._alone(context, text, row, of) for row, text in rows] for of in context.releases]
        return _grouped(context, [merged(found) for found in lists])

    async def _alone(self, context: QueryContext, text: str, row: int, release: str) -> Found:
        """Search a release for a part or form of the question, which stands for itself, and its vector."""
        form = replace(context.queries, base=text, filtered=text, versionless="", carried=())
        return await self._searcher.search(form, context.sought[row : row + 1], release)

    def _releases_of(self, part: str, releases: tuple[str, ...]) -> tuple[str, ...]:
        """Return the compared releases that a part names, all of them where it names none."""
        named = {found.release for found in mentions(part, self._product)}
        return tuple(release for release in releases if release in named) or releases


def _grouped(context: QueryContext, lists: Sequence[Found]) -> Found:
    """Return the union of what was found; note the chunks of each search, where there are several."""
    if len(lists) > 1:
        context.groups = tuple(frozenset(item.chunk.id for item in found.evidence) for found in lists)
    return merged(lists)


class Judge:
    """Ends with the fixed phrase where pages are not enough; else tells the listener which are read.

    Pages may be weak where people answered nearly the same question: what a helper accepted may stand on
    none. `is_strict` off leaves it to the model to say that it does not know: only where nothing was found
    is it not asked. What is drafted already is not judged.
    """

    needs: Needs = ""

    def __init__(self, parts: Resources, is_strict: bool = True) -> None:
        self._product = parts.product
        self._can_write = parts.model is not None
        self._memory = parts.memory
        self._is_strict = is_strict

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Abstain, or let the listener hear the pages."""
        if context.draft is not None:
            return None
        enough = context.pages.is_close if self._is_strict else bool(context.pages.evidence)
        if not enough and not self._is_said(context):
            return nearly(context) or dont_know(context, self._product)
        await context.listener.sources(context.partition, context.pages.evidence if enough else ())
        return None

    def _is_said(self, context: QueryContext) -> bool:
        """Return True if people answered nearly the same question, and a model can tell whether it fits."""
        limits = self._memory.thresholds
        near = [close for pair, close in context.recall.high if not pair.stale]
        said = context.recall.nearly or max(near, default=0.0) >= (limits.tau + limits.delta) / 2
        return self._can_write and "model" not in context.withheld and bool(said)


class Refuse:
    """Ends with the releases there are where none of the named ones answers; never from another one."""

    needs: Needs = ""

    def __init__(self, parts: Resources) -> None:
        self._product = parts.product
        self._searcher = parts.searcher

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Abstain where a release is unknown or not ready."""
        if context.resolution.unknown:
            return abstention(context, phrases.unknown_release(self._product, context.resolution))
        ready = self._searcher.corpora
        late = [release for release in context.releases if release not in ready]
        return abstention(context, phrases.not_ready(self._product, late[0], list(ready))) if late else None


class OnlyIfSure:
    """Ends with an abstention where nobody asked and neither pages nor memory are sure.

    `retrieve` searches, and is not needed for a question to the bot.
    """

    needs: Needs = ""

    def __init__(self, parts: Resources, retrieve: Stage) -> None:
        self._product = parts.product
        self._memory = parts.memory
        self._retrieve = retrieve

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Search for what nobody asked, and abstain where that is not sure."""
        if not context.question.unasked:
            return None
        await self._retrieve(context)
        return None if self._is_sure(context) else dont_know(context, self._product)

    def _is_sure(self, context: QueryContext) -> bool:
        """Return True if pages are sure, or a good answer to the very question is known."""
        if "model" in context.withheld:
            return False
        recall = context.recall
        if recall.route == "reuse" and recall.high[0][1] >= self._memory.thresholds.delta:
            return True
        return is_sure(context.pages, context.open)


WHOLE = 4
"""The best pages of which all is read where anything is: a command may share no word with the question. All
that were found are, where it is not sure that they answer."""
FURTHER = 0.4
"""Share of the model's context that pages may fill, where more than those found are read; ours."""


class Reduce:
    """Reduces pages, by the model where it may, else by rule.

    Where the model keeps nothing, nothing is read. With `further` rules keep it then; those between two pages
    of one section that were found are read, too, and, by rule and only where it is not sure that the first
    ones answer, the pages below, as far as there is room (`FURTHER`).
    """

    needs: Needs = "model"

    def __init__(self, parts: Resources, further: bool = False) -> None:
        self._product = parts.product.name
        self._budget = parts.budget
        self._model = parts.model if further else None
        self._searcher = parts.searcher

    async def __call__(self, context: QueryContext) -> None:
        """Set the texts that are left, by the page's number; pages without any are left out."""
        if context.pages.named:  # all of them bear on the question
            context.texts = {item.number: item.chunk.page for item in context.pages.evidence}
            return
        context.texts = await self.reduced(context)
        context.lap("reduce")

    async def reduced(self, context: QueryContext) -> Mapping[int, str]:
        """Return what is left of each page."""
        evidence = context.pages.evidence
        texts = await self._budget.take(
            context.course,
            "reduce",
            lambda model: reduction.reduce(
                model, context.answerable, self._product, context.releases, evidence
            ),
        )
        return {} if texts == {} and self._model is None else texts or await self._by_rule(context)

    async def _by_rule(self, context: QueryContext) -> Mapping[int, str]:
        evidence, terms, weight = context.pages.evidence, context.terms, context.pages.weight
        if self._model is None:
            return by_rule.reduce(evidence, terms, weight)
        whole = WHOLE if context.pages.is_enough else len(evidence)
        kept = by_rule.reduce(evidence, terms, weight, whole=whole)  # as it is without the others
        lacking = between(evidence, await self._searcher.sections(evidence))
        known = {item.chunk.id for item in (*evidence, *lacking)}
        below = () if context.pages.is_enough else context.pages.below
        below = (*lacking, *(item for item in below if item.chunk.id not in known))
        first = max((item.number for item in evidence), default=0) + 1
        more = [replace(item, number=number) for number, item in enumerate(below, first)]
        texts = by_rule.reduce((*evidence, *more), terms, weight, whole=whole)
        texts |= {item.number: item.chunk.page for item in more[: len(lacking)]}  # without any of its words
        count = self._model.count_tokens
        left = FURTHER * self._model.context_tokens - sum(map(count, kept.values()))
        for item in more:
            text = texts.get(item.number, "")
            if text and (size := count(text)) <= left:
                kept[item.number] = text
                left -= size
        context.further = tuple(item for item in more if item.number in kept)
        return kept


_GROUPS = 3
"""Releases and parts for each of which the model selects as many pages as for a single question."""


class Select:
    """Selects pages by the model where it may; else all that reduction left are taken.

    Three chosen by rule lose an eighth of the right pages, and save a second of reading; `always` has them
    chosen nevertheless.
    """

    needs: Needs = "model"

    def __init__(self, parts: Resources, keep: int | None = None, always: bool = False) -> None:
        self._always = always
        self._product = parts.product.name
        self._budget = parts.budget
        self._keep = keep or parts.keep
        self._searcher = parts.searcher

    async def __call__(self, context: QueryContext) -> None:
        """Set the chosen pages, best first."""
        if context.pages.named:  # their neighbours are other releases' notes
            context.chosen = context.pages.evidence
        else:
            context.chosen = await self.selected(context)
            context.lap("select")
        context.trace.read = [item.number for item in context.chosen]

    async def selected(self, context: QueryContext) -> Sequence[Evidence]:
        """Return pages; where releases are compared or parts asked, of each at least one."""
        texts = context.texts
        every = (*context.pages.evidence, *context.further)
        left = [item for item in every if texts is None or texts.get(item.number)]
        keep = self._keep * max(1, min(len(context.groups), _GROUPS))
        chosen = await self._budget.take(
            context.course,
            "select",
            lambda model: selection.select(
                model, context.answerable, self._product, context.releases, left, texts, keep
            ),
        )
        if not chosen and self._always:
            chosen = tuple(by_rule.select(left, context.terms, context.pages.weight, texts, keep))
        if not chosen:
            return in_reading_order(left, await self._searcher.sections(left))
        missed = [group for group in context.groups if not any(item.chunk.id in group for item in chosen)]
        first = [next((item for item in left if item.chunk.id in group), None) for group in missed]
        return [*chosen, *{item.number: item for item in first if item}.values()]


def opinions(recall: Recall, tau: float) -> Mapping[str, float]:
    """Return what people think of pages by the hash, -1..1, for what they were cited on near questions.

    A pair counts by its score and by how far it is from τ: one that is only just near says next to nothing.
    """
    found: dict[str, float] = {}
    for pair, near in (*recall.high, *recall.low):
        said = (2.0 * pair.score - 1.0) * max(0.0, near - tau) / (1.0 - tau)
        for key in {citation.hash for citation in pair.citations if citation.hash}:
            found[key] = min(1.0, max(-1.0, found.get(key, 0.0) + said))
    return found
