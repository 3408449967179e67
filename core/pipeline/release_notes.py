"""What notes and other releases tell of names that a question is about: their end, when and where they came.

Pages that tell it are put first, and it is said above quotes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.domain import Citation, Evidence, Product
from core.generation.citations import following
from core.generation.phrases import not_mentioned
from core.generation.quotes.listing import arrival, dropping, fate, successors
from core.generation.quotes.quote import Quoted, quote
from core.generation.quotes.sections import Whole
from core.pipeline.context import QueryContext
from core.query.releases.mentions import mentions
from core.query.releases.news import arrived, asks_of_end, gone, lacking, premised, unknown_argument
from core.retrieval.found import KEPT, Found, merged
from core.retrieval.release_notes.gone import of_function, of_question, of_variables
from core.retrieval.release_notes.headed import own_entries
from core.retrieval.release_notes.notes import later, numbers, version_of
from core.retrieval.release_notes.requirements import asks_since_when, used
from core.retrieval.release_notes.turned import (
    asks_what_turned,
    asks_whether_there,
    bearing,
    ending,
    names_in,
)
from core.retrieval.release_notes.verdict import last_of
from core.retrieval.search import Searcher
from core.text.version_order import version_key
from core.text.words import index_terms, query_terms, ruled, whole_word

_IN_CODE = re.compile(r"[a-z][A-Z]|[^\W_]_[^\W_]|^--\w")
"""What tells a name in code from a word."""
_SETTING = re.compile(r"(?<![\w.-])(?:--[A-Za-z][\w-]*|[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*)(?![\w(]|\.\w)")
"""Names of settings and options, and none that is called or belongs to something: those have pages enough."""
_SETTINGS = 2
"""Names in a question whose entries are looked for; ours."""
_NAMES = 3
"""Names of a question that are looked for in other releases; ours."""
TOLD = 4
"""Pages of release notes that come first where a name is gone."""


class NotesFirst:
    """Puts pages first that tell the end or the beginning of names."""

    def __init__(self, product: Product, searcher: Searcher) -> None:
        self._product = product
        self._searcher = searcher

    async def first(self, context: QueryContext, found: Found) -> Found:
        """Return what was found, with such pages before it."""
        found = await self._came(context, await self._gone(context, found))
        is_told = context.gone or context.came or context.elsewhere[0]
        found = found if is_told else await self._dropped(context, found)
        found = found if is_told or context.dropped else await self._turned(context, found)
        return await self._with_entries(context, found)

    async def _gone(self, context: QueryContext, found: Found) -> Found:
        """Put the notes first that tell what became of names which the question believes to be gone.

        So are those that tell that a name ended which the question believes to be there; then what takes its
        place is searched for, too. Where nothing is told of the names, notes older than the best are left
        out.
        """
        if context.news or len(context.releases) != 1:
            return found
        asked, notes, release = ruled(context.queries.base), self._searcher.release_notes, context.releases[0]
        if not found.named:
            names = gone(asked, self._product)
            told_of = await notes.gone(names, release)
            context.gone = of_question(told_of, asked, context.terms) if told_of else ()
            function, argument = unknown_argument(asked)
            if function:
                context.gone = of_function(context.gone, argument, function)
            if not context.gone and found.evidence and asks_of_end(asked) and not context.parts:
                context.gone = await notes.marked(names, found.evidence[0].chunk, context.terms, release)
            if not context.gone and asks_of_end(asked) and not context.parts:
                kept = [(version_of(_path_of(one)), one.chunk) for one in found.evidence if is_notes(one)]
                known = [(version, page) for version, page in kept if not later(version, numbers(release))]
                own = {name.lower() for name in (self._product.name, *self._product.aliases)}
                context.gone = of_variables([n for n in names if n.partition(".")[0] not in own], known)
        if not context.gone and not context.parts and not context.question.unasked:
            context.gone = await notes.ended(premised(asked, self._product), release)
            context.false_premise = bool(context.gone)
            context.trace.false_premise = context.false_premise or None
            found = await self._instead(context, found) if context.gone else found
        pages: dict[str, Evidence] = {}
        for told in context.gone:
            lines = (*(pages[told.page.id].matched if told.page.id in pages else ()), told.line)
            pages[told.page.id] = Evidence(0, told.page, 0.0, lines)
        if not pages and not found.named and asks_whether_there(asked):
            pages = _ended_in(context, found)
            found = (
                replace(found, evidence=()) if len(pages) > 1 else found
            )  # they agree: nothing else is read
        if not pages:
            is_doubted = asks_of_end(asked) or bool(lacking(asked, self._product))
            return notes.newer(found, release) if is_doubted and not found.named else found
        return _before(found, pages)

    async def _came(self, context: QueryContext, found: Found) -> Found:
        """Put the notes first that tell in which version the names came that are asked for, or missed.

        Then come pages of a release that has them, as where no notes tell it of a name that the release's
        pages never say.
        """
        if context.news or context.gone or context.parts or len(context.releases) != 1:
            return found
        asked, notes, release = ruled(context.queries.base), self._searcher.release_notes, context.releases[0]
        context.came = await notes.came(arrived(asked, self._product), release, only_later=False)
        if not context.came:
            lacked = lacking(asked, self._product) or premised(asked, self._product)
            context.came = await notes.came(lacked, release, only_later=True)
        if not (context.came or context.question.unasked):
            context.elsewhere = await self._elsewhere(lacked or gone(asked, self._product), release)
        name, there = context.elsewhere
        if not (context.came or name):
            return found
        has_it = nearest(there, release) or notes.release_with(context.came[0].version)
        names = [name] if name else [one.name for one in context.came]
        form = replace(context.queries, base=" ".join(names), versionless="")
        form = replace(form, filtered=form.base, carried=())
        pages = await self._searcher.search(form, context.sought, has_it) if has_it else found
        told = {one.page.id: Evidence(0, one.page, 0.0, (one.line,)) for one in context.came}
        return _before(merged([pages, found]), told)

    async def _elsewhere(self, names: Sequence[str], release: str) -> tuple[str, tuple[str, ...]]:
        """Return the one of the names in code that a release has not, and the releases that have it.

        What stands before a dot is left out: where an entry of `Pot.boil` is missing `Pot` may have it from
        a class that is not read.
        """
        lasts = list(dict.fromkeys(filter(_IN_CODE.search, map(last_of, names))))[:_NAMES]
        found = [await self._searcher.release_notes.elsewhere(one, release) for one in lasts]
        missing = [(name, there) for name, there in zip(lasts, found, strict=True) if there]
        return missing[0] if len(missing) == 1 else ("", ())

    async def _dropped(self, context: QueryContext, found: Found) -> Found:
        """Put the notes first that tell that a version of other software is supported no more."""
        if context.news or context.parts or len(context.releases) != 1:
            return found
        asked = ruled(context.question.text)
        name, number = used(asked, (self._product.name, *self._product.aliases))
        told_of = " ".join((number, *(one.spelled for one in mentions(asked, self._product))))
        if any(other not in told_of for other in re.findall(r"(?<![\d.])\d{1,6}(?:\.\d{1,6})+", asked)):
            return found  # "python 3.6 with 3.8": which release is meant is not certain
        notes = self._searcher.release_notes
        told = await notes.dropping(name, number, context.releases[0]) if name else None
        context.dropped = told
        return _before(found, {told.page.id: Evidence(0, told.page, 0.0, (told.line,))}) if told else found

    async def _turned(self, context: QueryContext, found: Found) -> Found:
        """Add the notes that say of a name what a question says is otherwise than it was.

        Notes of which no line holds much of the question are left out: they tell of other things.
        """
        asked = ruled(context.queries.base)
        is_one = not (context.news or context.parts or found.named) and len(context.releases) == 1
        if not (is_one and found.evidence and asks_what_turned(asked)):
            return found
        shares = _shares(context, found)
        told = await self._searcher.release_notes.turned(names_in(asked), shares, context.releases[0])
        known, best = {item.chunk.id for item in found.evidence}, found.evidence[0].score
        kept = [item for item in found.evidence if not is_notes(item) or bearing(shares, item.chunk)]
        kept += [replace(item, score=best) for item in told if item.chunk.id not in known]
        numbered = (replace(item, number=n) for n, item in enumerate(kept, start=1))
        return replace(found, evidence=tuple(numbered)) if kept else found

    async def _with_entries(self, context: QueryContext, found: Found) -> Found:
        """Put the entries of named settings behind the first page, where none of the pages is headed so."""
        is_plain = not (context.news or context.parts or found.named) and len(context.releases) == 1
        names = _SETTING.findall(ruled(context.queries.base)) if is_plain and found.evidence else ()
        if not names:
            return found
        own = own_entries(
            found, await self._searcher.release_notes.entries(names[:_SETTINGS], context.releases[0])
        )
        kept = [*found.evidence[:1], *own, *found.evidence[1:]][:KEPT]
        numbered = (replace(item, number=n) for n, item in enumerate(kept, start=1))
        return replace(found, evidence=tuple(numbered)) if own else found

    async def _instead(self, context: QueryContext, found: Found) -> Found:
        """Search once more with the names in the place of those that ended, where notes tell any."""
        names = successors(context.gone)
        if not names:
            return found
        said = context.queries.base
        for one in context.gone:
            said = whole_word(one.name).sub(lambda _match: " ".join(names), said)
        form = replace(context.queries, base=said, filtered=said, versionless="", carried=())
        return merged([await self._searcher.search(form, context.sought, context.releases[0]), found])


def nearest(releases: Sequence[str], release: str) -> str:
    """Return the first of releases in their order after one, else the last of them; empty without any."""
    after = (one for one in releases if version_key(one) > version_key(release))
    return next(after, releases[-1] if releases else "")


def _shares(context: QueryContext, found: Found) -> dict[str, float]:
    """Return the share of each term in the weight of the question."""
    weights = {term: found.weight(term) for term in context.terms}
    return {term: weight / (sum(weights.values()) or 1.0) for term, weight in weights.items()}


def _ended_in(context: QueryContext, found: Found) -> dict[str, Evidence]:
    """Return by id the pages with lines that say that what is asked for is there no more, the best first."""
    shares = _shares(context, found)
    told = (replace(item, matched=tuple(ending(shares, item.chunk))) for item in found.evidence)
    return {item.chunk.id: item for item in told if item.matched}


def _before(found: Found, pages: Mapping[str, Evidence]) -> Found:
    """Put pages before what was found, each once."""
    rest = [item for item in found.evidence if item.chunk.id not in pages]
    best = [*list(pages.values())[:TOLD], *rest][:KEPT]
    numbered = (replace(item, number=n, score=1.0 / n) for n, item in enumerate(best, start=1))
    return replace(found, evidence=tuple(numbered), named=True)


@dataclass(frozen=True, slots=True)
class Told:
    """What was quoted, and the parts of the question on which there is nothing."""

    text: str
    citations: tuple[Citation, ...]
    missed: tuple[str, ...] = ()
    held: float = 1.0
    """Share of the question's weight that the quotes hold."""
    lasting: str = ""
    """What of it makes sense apart from the answer before, where that is less."""
    closest: Callable[[], Quoted] | None = field(default=None, compare=False)
    """Quotes the next best sections beside it, where they may be the answer as well."""


def ended(context: QueryContext, product: str) -> Told:
    """Say what became of the names that are asked for, and which of them the asked release still has."""
    until = numbers(context.partition)
    ends = [one for one in context.gone if one.fate not in ("", "deprecated")]
    over = {one.name for one in ends if not (until and later(one.version, until))}
    still = [name for name in dict.fromkeys(one.name for one in ends) if name not in over]
    return Told(*fate(context.gone, product, context.partition, still))


_BEARS, _BEARS_ALONE = 0.5, 0.8
"""Share of what else a question asks that a quote below a contradicted premise must hold, where something
takes the name's place and where nothing does; ours."""


def contradicted(context: QueryContext, product: str, sections: Mapping[str, Whole]) -> Told | None:
    """Say that a name ended which the question takes for there, then quote what bears on the rest of it.

    That is what takes the name's place, or else at least two other words. None where no premise is false.
    """
    if not context.false_premise:
        return None
    names = {one.name for one in context.gone}
    text, citations = fate(context.gone, product, context.partition, lacks_it=names)
    notes = {one.page.id for one in context.gone}
    ended = {term for name in names for term in index_terms(name)}
    instead = query_terms(" ".join(successors(context.gone)))
    terms = list(dict.fromkeys([*instead, *(term for term in context.terms if term not in ended)]))
    rest = [item for item in context.pages.evidence if item.chunk.id not in notes]
    rest = [item for item in rest if item.chunk.release == context.partition and not is_notes(item)]
    if not instead and len(terms) < 2:
        return Told(text, citations)
    below = quote(terms, rest, context.pages.weight, product, context.partition, 1, sections)
    if below.held < (_BEARS if instead else _BEARS_ALONE):
        return Told(text, citations)
    more, cited = following(below.text, below.citations, citations)
    return Told(f"{text}\n\n{more}", cited)


def begun(
    context: QueryContext, product: str, sections: Mapping[str, Whole], rejected: Collection[str]
) -> Told | None:
    """Say with which version names came, then quote a page on them; None where that is not told.

    Of a name that only other releases have, say that, and quote its entry in the nearest of them.
    """
    name, there = context.elsewhere
    if name:
        its = [
            one for one in context.pages.evidence if one.chunk.release == nearest(there, context.partition)
        ]
        its = [one for one in its if one.chunk.hash not in rejected]
        one = quote(query_terms(name), its, lambda _term: 1.0, product, context.partition, 1, sections)
        said = not_mentioned(name, product, context.partition, there)
        # never another release's pages without that they are
        return Told(f"{said}\n\n{one.text}", one.citations) if one.held >= _BEARS else Told("", ())
    if not context.came or rejected:
        return None
    text, citations = arrival(context.came, product, context.partition)
    terms = query_terms(" ".join(one.name for one in context.came))
    rest = [item for item in context.pages.evidence if not is_notes(item)]
    below = quote(terms, rest, context.pages.weight, product, context.partition, 1, sections)
    if below.held < _BEARS:
        return Told(text, citations)
    if {one.page.id for one in context.came} == {piece.evidence.chunk.id for piece in below.pieces}:
        text = text.partition("\n\n")[0]  # the mark of the version stands in the entry that is quoted
    more, cited = following(below.text, below.citations, citations)
    return Told(f"{text}\n\n{more}", cited)


def refused(context: QueryContext, product: str, rejected: Collection[str]) -> Told | None:
    """Say which version dropped that of other software that a question asks about; None elsewhere."""
    if context.dropped is None or context.dropped.page.hash in rejected:
        return None
    is_since_when = asks_since_when(ruled(context.question.text))
    return Told(*dropping(context.dropped, product, context.partition, is_since_when))


def is_notes(item: Evidence) -> bool:
    """Return True for a page of release notes."""
    return bool(version_of(_path_of(item)))


def _path_of(item: Evidence) -> str:
    """Return the title and the headings of a page, as one."""
    return f"{item.chunk.title} > {item.chunk.heading}"
