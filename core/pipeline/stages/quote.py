"""The answer in the pages' own words, where no model wrote one."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

from core.domain import Answer, Evidence, Level, Product
from core.errors import ModelUnavailable
from core.generation.composite import Part, quote_parts
from core.generation.quotes.blocks import rejoined
from core.generation.quotes.compared import (
    at_one_place,
    other,
    place_of,
    same,
    sides,
    stands,
    unchanged,
)
from core.generation.quotes.listing import listed
from core.generation.quotes.quote import (
    Quoted,
    introduces,
    introduction,
    quote,
    why_unwritten,
)
from core.generation.quotes.sections import Whole
from core.generation.quotes.tables import one_again
from core.ingestion.chunking import PAGE_CHARACTERS
from core.pipeline.context import Draft, Needs, QueryContext
from core.pipeline.release_notes import Told, begun, contradicted, ended, is_notes, refused
from core.pipeline.resources import Resources
from core.pipeline.stage import changes_often, dont_know
from core.pipeline.stages.cite import further, links
from core.pipeline.two_things import TwoThings
from core.ports import Matrix
from core.query.asking import asks_default, asks_price, is_of_the_moment, versus
from core.query.forms import content, topic, without, without_product
from core.query.other_software import is_made_for, other_software, speaks_of
from core.query.releases.mentions import mentions
from core.retrieval.confidence import Judgement, QuoteSigns, quote_signs
from core.retrieval.features import asks_of_change
from core.retrieval.found import Found
from core.text.logs import message_in, without_stamps
from core.text.said import Said
from core.text.words import index_terms, query_terms, whole_word

_ITEM = re.compile(r"(?:> ?)?\s*(?:[-*+]|\d{1,3}[.)]|\|) ?")
_OF_THE_MESSAGE = 0.5
"""Share of the weight of an error's message that what is quoted of it has to hold; ours."""
_ERROR = re.compile(
    r"^\s{0,8}(?:\(\w{1,12}:\d{1,8}\)\s)?(?:\[[\w-]{1,40}\]\s)?(?:\w+\.)*([A-Z]\w+):\s", re.MULTILINE
)
"""How an error begins in its last line, behind its process, its code and the module that it is of."""
_SINCE_WHEN = re.compile(r"\bsince\s+wh\w+|\b(?:which|what)\s+(?:version|release)\b", re.IGNORECASE)

_STILL = re.compile(
    r"(?<!\bi )\bstill\b(?! (?:not|can['’]?t|does|doesn|get|getting|fails|failing|need|see|seeing|on"
    r"|using|have|at|wrong)\b)"
    r"|\bany ?more\b|\bno longer\b(?! than)|(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bam )(?<!['’]m )\bused to\b",
    re.IGNORECASE,
)
"""What asks whether something is as it was: "does `-W` still stop at the first one?"."""


class Quote:
    """Quotes pages where nothing is drafted; what was voted down for this very question is left out."""

    needs: Needs = ""

    def __init__(self, parts: Resources) -> None:
        self._product = parts.product
        self._memory = parts.memory
        self._searcher = parts.searcher
        self._has_model = parts.model is not None
        self._is_chosen = parts.chosen
        self._encoder_of = parts.encoder_of
        self._attributes = parts.attributes
        self._two_things = TwoThings(parts, self._sections)

    async def __call__(self, context: QueryContext) -> Answer | None:
        """Draft the answer, or abstain where nothing can be quoted."""
        if context.draft is not None:
            return None
        delta, recall = self._memory.thresholds.delta, context.recall
        denied = [pair for pair, near in recall.low if near >= delta and pair.id in recall.denied]
        rejected = {cited.hash for pair in denied for cited in pair.citations}
        short = [item for item in context.pages.evidence if introduces(item.chunk.page)]
        under = await self._searcher.under(short)
        inside = [item for some in under.values() for item in some]
        sections = await self._sections([*context.pages.evidence, *inside], context.sought)
        name = self._product.name
        settled = refused(context, name, rejected) or begun(context, name, sections, rejected)
        settled = settled or contradicted(context, name, sections)
        judgement = self._searcher.ranking.quotes
        plain = partial(quoted, context, name, rejected, sections, under, judgement)
        settled = settled or await self._compared(context, rejected, sections, plain)
        told = settled or plain()
        plainly, two = told, versus(context.queries.base)
        if not settled and two:
            told = await self._two_things(context, two, rejected, told)
        context.lap("quote")
        pages = context.pages
        cited = {entry.hash for entry in told.citations}
        signs = _signs(context, pages, told)
        confidence = judgement.confidence(signs)
        level = judgement.level_of(signs)
        if level == "none" and pages.level == "sure":
            level = "close"  # the page is there, and people find what the quote lacks
        level = "sure" if (context.came or context.dropped) and level == "close" else level
        level = "sure" if context.elsewhere[0] and settled else level
        learns = not (settled or pages.named) and self._searcher.learning.intersection(context.releases)
        if level == "sure" and learns and (pages.is_blind or not all(one.near for one in sections.values())):
            level = "close"  # how sure it is was learnt from pages whose sentences are embedded
        if level == "sure" and context.untranslated:
            level = "close"  # how sure it is was learnt from questions in the pages' own language
        if level == "sure" and told.citations and _is_uncalled(context, told.citations[0].hash):
            level = "close"  # what notes say of one version is seldom all there is to say
        if told is not plainly:
            level = "close"  # what each of two things is seldom says how they differ
        level = about_others(level, context, self._product, told)
        if level == "sure" and _is_another_error(context, told):
            level = "close"
        if await self._is_of_the_moment(context):
            return changes_often(context, self._product)
        if level == "close" and told.closest is not None:
            several = told.closest()
            told = Told(several.text, several.citations, held=several.held)
            cited = {entry.hash for entry in told.citations}
        context.note_quoted(confidence, judgement.enough, level, signs)
        if not told.citations or level == "none":
            return dont_know(context, self._product)
        context.takes([item for item in context.pages.evidence if item.chunk.hash in cited])
        context.found = _without(context.pages, rejected)
        failure = context.failed if self._has_model and "model" not in context.withheld else None
        if not self._is_chosen and isinstance(failure, ModelUnavailable):
            failure = None
        context.trace.unwritten = why_unwritten(failure) or None
        above = introduction(level == "sure" or bool(told.lasting))  # what is the same says so itself
        text = "\n\n".join(part for part in (above, told.text) if part)
        context.lasting = told.lasting
        if not (settled or context.news or context.gone or context.by_part or len(context.releases) > 1):
            weights = {term: context.pages.weight(term) for term in context.terms}
            more = further(context.found.evidence, cited)
            context.trace.further = links(more, weights, told.text) or None
        context.draft = Draft("quote", text, told.citations, told.missed, (), confidence, level)
        return None

    async def _is_of_the_moment(self, context: QueryContext) -> bool:
        """Return True for what no page tells, as it changes from day to day: by its words and its meaning.

        A price is one by its words alone, unless a page tells any.
        """
        if asks_price(context.queries.base, (item.chunk.page for item in context.pages.evidence)):
            return True
        if not is_of_the_moment(context.queries.base) or context.pages.named:
            return False
        encoder = await self._encoder_of(context.releases[0])
        return self._attributes.knows(encoder.name) and self._attributes.is_dynamic(context.vectors[0])

    async def _compared(
        self,
        context: QueryContext,
        rejected: Collection[str],
        sections: Mapping[str, Whole],
        plain: Callable[[], Told],
    ) -> Told | None:
        """Say what two releases have in common that are asked about, together or in turn; None elsewhere.

        Where the release before was only shown the closest sections, all of those that `plain` quotes for
        this one are compared, not the first alone.
        """
        if context.news or context.gone or context.by_part or context.pages.named:
            return None
        name = self._product.name
        found = _without(context.pages, rejected)
        if len(context.releases) == 2:
            first, second = (self._of(context, found, release, sections) for release in context.releases)
            if not (first.pieces and second.pieces) or not at_one_place(first.pieces[0], second.pieces[0]):
                return None
            return Told(*sides(first, second, name, context.partition))
        before, release = answered_before(context, self._product), context.partition
        if not before or before not in self._searcher.corpora or len(context.releases) != 1:
            return None
        older = await self._searcher.search(context.queries, context.sought, before)
        whole = await self._sections(older.evidence, context.sought)
        old = quote(context.terms, older.evidence, older.weight, name, before, sections=whole)
        if self._is_doubtful(context, older, old):
            closest = plain().closest
            now = closest() if closest else Quoted()
            then = await self._searcher.sayings.of(before)
            if not now.pieces or not all(stands(piece, then, name) for piece in now.pieces):
                return None
            return Told(*same(now.pieces, release), held=now.held, lasting=now.text)
        pages = await self._searcher.pages_like([place_of(piece) for piece in old.pieces])
        mine = ["\n\n".join(pages[place_of(piece)].get(release, ())) for piece in old.pieces]
        said = await self._searcher.sayings.of(release)
        new_there = (
            n
            for n, piece in enumerate(old.pieces)
            if not (unchanged(piece, mine[n]) or stands(piece, said, name))
        )
        asked = next(new_there, -1)
        if not old.pieces or (asked >= 0 and not mine[asked]):
            return None
        piece = old.pieces[max(asked, 0)]
        here = [e for e in found.evidence if (e.chunk.path, e.chunk.heading) == place_of(piece)]
        if not here and asked < 0:  # the page has another name there
            here = [
                e for e in found.evidence if stands(piece, Said.of([sections[e.chunk.id].text], name), name)
            ]
        new = quote(context.terms, here, found.weight, name, release, 1, sections)
        if not new.pieces:
            return None
        if asked < 0:
            return Told(*same(new.pieces[:1], release), held=new.held, lasting=new.text)
        chunk = piece.evidence.chunk
        both = (whole[chunk.id].text, mine[asked])
        return Told(*other(piece, new.pieces[0], both, name, release), held=new.held, lasting=new.text)

    def _is_doubtful(self, context: QueryContext, found: Found, told: Quoted) -> bool:
        """Return True if quotes are no more than the closest to an answer."""
        judgement = self._searcher.ranking.quotes
        return judgement.level_of(_signs(context, found, told)) != "sure"

    def _of(self, context: QueryContext, found: Found, release: str, sections: Mapping[str, Whole]) -> Quoted:
        """Quote one of the compared releases."""
        of_it = tuple(item for item in found.evidence if item.chunk.release == release)
        return quote(context.terms, of_it, found.weight, self._product.name, context.partition, 1, sections)

    async def _sections(self, evidence: Sequence[Evidence], vectors: Matrix) -> dict[str, Whole]:
        """Return the whole section that each page is of, with what is near the question, by the page's id."""
        pages = await self._searcher.sections(evidence)
        near = await self._searcher.windows_near(pages, vectors)
        return {
            key: Whole(one_again(rejoined((p.page for p in some), PAGE_CHARACTERS)), near.get(key, ()))
            for key, some in pages.items()
        }


def answered_before(context: QueryContext, product: Product) -> str:
    """Return the other release for which the same question was answered just before; empty for none."""
    question = context.question
    if question.after:
        return question.after if question.after != context.partition else ""
    turns = question.history
    at = next((n for n in range(len(turns) - 1, -1, -1) if turns[n].role == "assistant"), -1)
    release = turns[at].release if at >= 0 else ""
    if release in ("", context.partition):
        return ""
    asked = [turn.text for turn in turns[:at] if turn.role == "user"][-1:]
    own = content(without_product(without(question.text, mentions(question.text, product)), product))
    again = any(content(topic(without_stamps(text), product)) == content(context.topic) for text in asked)
    return release if again or not own else ""


def quoted(
    context: QueryContext,
    product: str,
    rejected: Collection[str] = (),
    sections: Mapping[str, Whole] | None = None,
    under: Mapping[str, Sequence[Evidence]] | None = None,
    judgement: Judgement | None = None,
) -> Told:
    """Quote the pages, each part and each compared release on its own, none of the `rejected` hashes.

    `under` holds the pages inside of those that may only introduce them. With a `judgement` a part of which
    the pages tell nothing, asked alone, has no quotes beside the others either.
    """
    found = _without(context.pages, rejected)
    if context.gone and not rejected:
        return ended(context, product)
    if found.named:
        kind = context.news.kind if context.news else ""
        return Told(*listed(found.evidence, kind, product, context.partition, not context.news))
    if context.by_part:
        parts = [
            of_release
            for part, of_it in context.by_part.items()
            if part not in context.open
            for of_release in _by_release(part, _without(of_it, rejected), context.releases, judgement)
        ]
        text, citations, missed = quote_parts(parts, product, context.partition, sections)
        return Told(text, citations, (*context.open, *missed))
    if len(context.releases) > 1:
        parts = [
            Part("", context.terms, [e for e in found.evidence if e.chunk.release == release], found.weight)
            for release in context.releases
        ]
        return Told(*quote_parts(parts, product, context.partition, sections)[:2])
    base = context.queries.base
    one = quote(
        context.terms,
        found.evidence,
        found.weight,
        product,
        context.partition,
        sections=sections,
        marks=_SINCE_WHEN.search(base) is not None,
        changes=_STILL.search(base) is not None,
        under={
            page: [item for item in some if item.chunk.hash not in rejected]
            for page, some in (under or {}).items()
        },
        question=base,
        defaults=asks_default(base),
    )
    return Told(one.text, one.citations, held=one.held, closest=one.closest)


def _signs(context: QueryContext, found: Found, told: Told | Quoted) -> QuoteSigns:
    """Return the signs of how sure quotes are; "The same in 2.0" is judged by the text it stands for."""
    cited = {entry.hash for entry in told.citations}
    text = (told.lasting if isinstance(told, Told) else "") or told.text
    pages = found.evidence
    if found.named:  # what a name led to stands out by that
        pages = tuple(replace(item, margin=None) for item in pages)
    searches = [of_it.evidence for of_it in context.by_part.values()]
    if not searches and len(context.releases) > 1:
        searches = [tuple(item for item in pages if item.chunk.release == one) for one in context.releases]
    return quote_signs(found.confidence, told.held, context.terms, text, pages, cited, searches)


def about_others(level: Level, context: QueryContext, product: Product, told: Told) -> Level:
    """Return how sure a quote is where the question names other software: hardly, without a word on it.

    What would be hedged anyway is refused then, unless the pages that were found are sure. What is only in
    a list is named, and not told of; nor is an extension that no heading names. An error of the product is no
    matter of what else was running.
    """
    named = other_software(context.queries.base, product)
    if not named or not told.citations or context.pages.named:
        return level
    quoted = {citation.hash for citation in told.citations}
    inside = [one.chunk.heading for one in context.pages.evidence if one.chunk.hash in quoted]
    above = " ".join([*(citation.title for citation in told.citations), *inside])
    if any(whole_word(error).search(above) for error in _ERROR.findall(context.queries.base)):
        return level
    prose = "\n".join(line for line in told.text.split("\n") if not _ITEM.match(line))
    if level == "close":
        is_there = context.pages.level == "sure" or speaks_of(f"{above} {told.text}", named)
        return level if is_there else "none"
    own = {name.lower() for name in (product.name, *product.aliases)}
    extensions = tuple(name for name in named if is_made_for(name, own))
    told_of = speaks_of(f"{above} {prose}", named) and (not extensions or speaks_of(above, extensions))
    return level if told_of or level == "none" else "close"


def _is_another_error(context: QueryContext, told: Told) -> bool:
    """Return True if most of a pasted error's message stands nowhere in what is quoted of it."""
    terms = dict.fromkeys(query_terms(message_in(context.queries.base)))
    most = max(context.pages.rarity.values(), default=0.0)
    weights = {term: context.pages.weight(term) or most for term in terms}
    said = set(index_terms(" ".join([told.text, *(citation.title for citation in told.citations)])))
    held = sum(weight for term, weight in weights.items() if term in said)
    return held < _OF_THE_MESSAGE * sum(weights.values())


def _is_uncalled(context: QueryContext, first: str) -> bool:
    """Return True if the first thing quoted are release notes, for a question that does not ask for any."""
    if (
        context.pages.named
        or context.news
        or context.gone
        or context.came
        or context.dropped
        or asks_of_change(context.queries.base)
    ):
        return False
    return any(is_notes(item) for item in context.pages.evidence if item.chunk.hash == first)


def _by_release(
    part: str, found: Found, releases: Sequence[str], judgement: Judgement | None = None
) -> list[Part]:
    """Cut what was found on a part by the releases it was found in."""
    groups = [tuple(e for e in found.evidence if e.chunk.release == release) for release in releases]
    told = [group for group in groups if group] or [found.evidence]
    terms = query_terms(part)

    def bears(group: Sequence[Evidence], told: Quoted) -> bool:
        if judgement is None or found.level == "sure":
            return True
        cited = {entry.hash for entry in told.citations}
        signs = quote_signs(found.confidence, told.held, terms, told.text, group, cited)
        return judgement.level_of(signs) != "none"

    return [Part(part, terms, group, found.weight, partial(bears, group)) for group in told]


def _without(found: Found, hashes: Collection[str]) -> Found:
    """Leave out the pages of these hashes."""
    return replace(found, evidence=tuple(e for e in found.evidence if e.chunk.hash not in hashes))
