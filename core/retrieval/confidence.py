"""How likely the evidence answers the question, and a quote of it does: signs, and logistic regressions."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from core.domain import Evidence, Hit, Level
from core.retrieval.features import FEATURES, Numbers, is_identifier
from core.text.words import index_terms

AGREED = 10
"""First hits of each retriever that are compared."""
COMMON_RARITY = 2.0
"""A term below this inverse document frequency is a very common one: the product's name."""
RIVAL = 0.1
"""Share of the best page's score that a page may be below it and still be as good."""
PAGES = 8
"""Pages that a search hands on: fewer, of a small corpus, are not the more rivals for it."""
MARGIN_OF = 30
"""Pages of which the tokens must be known to tell how far one stands out: it was learnt among forty."""
TELLING = 4
"""Passages from which on it tells something that none has a word; in fewer most words are missing."""
JUDGED = Path(__file__).with_name("pages.json")
"""The weights for pages and what they were fitted on; `python -m tests.fitting.judged` writes them."""
QUOTES = Path(__file__).with_name("quotes.json")
"""The weights for quotes and what they were fitted on; `python -m evaluation.tuning.quoted` writes them."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What tells good evidence from bad, each about 0..1.

    `cosine` is the best cosine of the dense query; `coverage` the share of the question's terms, weighed
    by rarity, that the three best chunks hold on average; `words` the best BM25 score against the sum of
    the terms' rarities; `agreement` the share of common chunks among the first hits of both retrievers;
    `extension` is 1 where the question names an unknown relative of the product (`flask-login`);
    `sentence` is the best cosine of a window, `joint` the best of cosine and share of terms in one
    window together, halved; `unknown` the share of the terms' rarity that no page has at all,
    less in a corpus of few passages.
    """

    cosine: float = 0.0
    coverage: float = 0.0
    words: float = 0.0
    agreement: float = 0.0
    extension: float = 0.0
    sentence: float = 0.0
    joint: float = 0.0
    unknown: float = 0.0


NO_SIGNS = Signs()
"""The signs of having found nothing."""


@dataclass(frozen=True, slots=True)
class QuoteSigns:
    """What tells a quote that holds the answer from one that does not, each 0..1.

    `found` is how likely the pages that were found answer; `held` the share of the question's terms, weighed
    by rarity, that stand in the quote, `names` that of its identifiers (0 where it has none); `code` is 1
    where the quote has a block of code; `rivals` the share of all pages whose score is as good as the best's;
    `share` how likely the ranking takes the quoted sections for the right ones: it is fitted as a probability
    over pages, so its scores tell one for any product. `margin` is how far the best of its pages stands out
    by the question's tokens (`margins`), about 0 to .3; None where that is not known.
    """

    found: float = 0.0
    held: float = 0.0
    names: float = 0.0
    code: float = 0.0
    rivals: float = 0.0
    share: float = 0.0
    margin: float | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """A logistic regression on signs, and the least probability that is enough for an answer.

    Down to `close` the pages are the closest there is to one. No probability above `most` is told: above it
    nobody can know. Where `shown` is given, that decides by its own weights and its own `close` whether there
    is anything: then `level_of` tells what it is, and `level` does not.
    """

    coefficients: Mapping[str, float] = field(default_factory=dict)
    bias: float = 0.0
    enough: float = 0.75
    close: float = 0.65
    most: float = 1.0
    shown: Judgement | None = None

    def level(self, confidence: float) -> Level:
        """Say what pages of that confidence are: an answer, the closest to one, or nothing."""
        return "sure" if confidence >= self.enough else "close" if confidence >= self.close else "none"

    def level_of(self, signs: Signs | QuoteSigns) -> Level:
        """Say what something with these signs is: an answer, the closest to one, or nothing."""
        confidence = self.confidence(signs)
        if self.shown is None:
            return self.level(confidence)
        if self.shown.confidence(signs) < self.shown.close:
            return "none"
        return "sure" if confidence >= self.enough else "close"

    def confidence(self, signs: Signs | QuoteSigns) -> float:
        """Estimate the probability that a question with these signs has an answer.

        Where one of them is not known, by the weights of `shown`, which do without it.
        """
        told = {name: getattr(signs, name) for name in self.coefficients}
        if self.shown is not None and None in told.values():
            return min(self.shown.confidence(signs), self.most)
        logit = self.bias + sum(weight * float(told[name]) for name, weight in self.coefficients.items())
        return min(1.0 / (1.0 + math.exp(-max(min(logit, 50.0), -50.0))), self.most)


PLAIN_JUDGEMENT = Judgement(
    {"cosine": 8.65, "coverage": 3.75, "words": 1.98, "agreement": 1.25, "extension": -4.25}, -5.41
)
"""By the signs that need no second look at pages: for baselines."""


def read_judgement(path: Path) -> Judgement:
    """Read a judgement as it is shipped; blocking."""
    kept = json.loads(path.read_text("utf-8"))
    judgement = Judgement(
        kept["coefficients"], float(kept["bias"]), float(kept["enough"]), most=float(kept["most"])
    )
    if (shown := kept.get("shown")) is None:
        return replace(judgement, close=float(kept["close"]))
    least = Judgement(shown["coefficients"], float(shown["bias"]), close=float(shown["close"]))
    return replace(judgement, close=least.close, shown=least)


DEFAULT_JUDGEMENT = read_judgement(JUDGED)
"""By the signs of the pages that were found: whether they answer."""
QUOTE_JUDGEMENT = read_judgement(QUOTES)
"""By what is quoted: whether it holds the answer, and whether it is near enough to be shown."""


def signs(
    terms: Sequence[str],
    rarity: Mapping[str, float],
    dense: Sequence[Hit],
    lexical: Sequence[Hit],
    pages: Sequence[Callable[[str], bool]],
    chunks: int,
    sentence: float = 0.0,
    joint: float = 0.0,
) -> Signs:
    """Read the signs off one search: `pages`, best first, tell whether they have a term.

    `chunks` is the size of the corpus.
    """
    cosine = dense[0].score if dense else 0.0
    total = sum(rarity[term] for term in terms)
    if not total or not pages:
        return Signs(cosine, sentence=sentence, joint=joint / 2.0)
    held = [sum(rarity[term] for term in terms if has(term)) / total for has in pages[:3]]
    near = {hit.chunk_id for hit in dense[:AGREED]} & {hit.chunk_id for hit in lexical[:AGREED]}
    never = math.log1p((chunks - 0.5) / 1.5) + 1e-9  # rarer than a term that occurs once
    extension = any(
        "-" in term.strip("-")
        and rarity[term] > never
        and any(rarity.get(part, never) < COMMON_RARITY for part in term.split("-"))
        for term in terms
    )
    return Signs(
        cosine,
        sum(held) / len(held),
        lexical[0].score / total if lexical else 0.0,
        len(near) / AGREED,
        float(extension),
        sentence,
        joint / 2.0,
        sum(rarity[term] for term in terms if rarity[term] > never) / total * min(1.0, chunks / TELLING),
    )


def quote_signs(
    found: float,
    held: float,
    terms: Sequence[str],
    text: str,
    pages: Sequence[Evidence],
    cited: Collection[str] = (),
    searches: Sequence[Sequence[Evidence]] = (),
) -> QuoteSigns:
    """Read the signs off a quote: `text` as it is shown, quoted from the `pages` whose hashes are `cited`.

    Where they come from several `searches`, the one whose pages stand out least tells the margin.
    """
    names = [term for term in terms if is_identifier(term)]
    here = frozenset(index_terms(text) if names else ())
    best = max((item.score for item in pages), default=0.0)
    rivals = sum(item.score >= best - RIVAL * abs(best) for item in pages)
    sections = {section_of(item) for item in pages if item.chunk.hash in cited}
    each = [
        [item.margin for item in found if item.margin is not None and item.chunk.hash in cited]
        for found in searches or (pages,)
    ]
    likely = [math.exp(max(item.score - best, -50.0)) for item in pages]
    quoted = sum(own for own, item in zip(likely, pages, strict=True) if section_of(item) in sections)
    return QuoteSigns(
        found,
        held,
        sum(term in here for term in names) / len(names) if names else 0.0,
        float("```" in text),
        rivals / max(len(pages), PAGES),
        quoted / (sum(likely) or 1.0),
        min((max(some) for some in each if some), default=None),
    )


def margins(table: Numbers, are_some_unknown: bool = False) -> list[float | None]:
    """Return how far each page stands out by how well it holds the question's tokens, among all of the table.

    A difference to their mean, in cosines. `table` has shape (pages, FEATURES). None for a page whose tokens
    are not known. None for all of them where fewer than MARGIN_OF are, in a small corpus or as they were
    looked up by name; nor is it known where a release still learns some of them (`are_some_unknown`), since
    only the best are read at once, which are no measure for one another.
    """
    held = table[:, FEATURES.index("tokens")]
    known = held != 0.0
    if known.sum() < MARGIN_OF or (are_some_unknown and not known.all()):
        return [None] * len(held)
    usual = float(held[known].mean())
    return [float(one) - usual if there else None for one, there in zip(held, known, strict=True)]


def section_of(item: Evidence) -> tuple[str, str, str]:
    """Return which section a page is of: release, path and headings."""
    return item.chunk.release, item.chunk.path, item.chunk.heading
