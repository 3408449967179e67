"""What the second look sees of a page: how it holds the question together (*ours*).

Every feature is about 0 to 1, so that one set of weights serves corpora of any size. One of them is late
interaction: for each token of the question the nearest one of the text counts (MaxSim: Khattab and Zaharia,
ColBERT, 2020, section 3.2). Of texts a bit is kept for each number of a token's vector: its sign, as in
ColBERTv2's residuals of one bit (Santhanam et al. 2022, section 3.3), here without centroids.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from core.domain import ContextChunk, Vector
from core.ports import Matrix
from core.retrieval.pregenerated import PairView
from core.retrieval.release_notes.turned import asks_what_turned
from core.text.words import index_terms, window_hashes, windows

Numbers = NDArray[np.float64]

FEATURES = (
    "passage",
    "near",
    "sentence",
    "joint",
    "tokens",
    "identifiers",
    "reference",
    "document",
    "pairs",
    "older",
    "changed",
    "notes",
    "making",
    "question",
    "answer",
    "question_terms",
    "answer_terms",
)
"""The columns of `features`, in order.

`passage`: fused score of the best passage; `near`: best cosine of a passage, `sentence`: of a window;
`joint`: best window by cosine and by its share of the question's terms together; `tokens`: how well the best
windows hold each token of the question (`matches`); `identifiers`: share of the question's identifiers;
`reference`: how far the document is an API reference, 0 for an entry that the question shows as code;
`document`: BM25F of its three best pages; `pairs`: share of neighbouring terms that stand together.
`older`: how many versions ago release notes are from; `changed`: release notes where the question asks what a
release does to something, `notes`: release notes where it does not. `making`: a page on how the product is
made, as for those who contribute, where the question does not ask for that.
The last four are those of pairs made of the page: best cosine of a question and of an answer, and the share
of the question's terms that the best of each holds; 0 for pages without pairs.
"""
K1, B = 1.2, 0.75
TITLE, HEADING = 0.5, 1.0
"""Occurrences of a term in the text that one in title or heading is worth."""
NO_PAIRS = (0.0, 0.0, 0.0, 0.0)
READ = 5
"""Windows of a page whose tokens are looked at: its best by cosine and terms."""
FEW = 128
"""Tokens that are multiplied at once: as many as stay in the processor's cache, which halves the time."""
TOGETHER = 3
"""Best pages of a document that speak for it."""
ABOVE, WINDOWS = 2, 3
"""Places of the innermost heading and of the first window among the parts that are kept of a page."""
_NAME = re.compile(r"[\w.:*]+(\(.*\))?")
_CODE = re.compile(r"[._(]|[a-z][A-Z]")
_SNAKE, _AS_CODE = re.compile(r"\w+"), re.compile(r"(?<=[@.])\w++|\b\w++(?=\()")
_OF_CHANGE = re.compile(
    r"\b(?:still\b|since\b|any ?more\b|used to\b|longer\b|chang|remov|gone\b|added\b|deprecat|upgrad"
    r"|minimum|oldest|cannot import|no attribute|stopped working\b)|error\b",
    re.IGNORECASE,
)
_DOING = re.compile(r"\b(?:i|we|you|(?<!have )to) (?:change|remove)\b", re.IGNORECASE)
"""What somebody does: "how do I change the port" asks for no change of a release."""
_OF_MAKING = re.compile(
    r"code of conduct|contribut|governance|maintain|pull request|release process|run the tests|test suite"
    r"|triage",
    re.IGNORECASE,
)
Bits = NDArray[np.uint8]
"""A row of bits for each token, packed: shape (tokens, dimensions / 8)."""


@dataclass(frozen=True, slots=True)
class PageView:
    """Which of a question's terms a page has; `columns` tells the column of each term.

    `held`, shape (parts, terms), tells it of title, headings, innermost heading and each window; `counts`,
    shape (terms,), how often the text has each. `pairs` are those that stand together in the text; `length`
    counts all terms of the text.
    """

    columns: Mapping[str, int]
    held: NDArray[np.bool_]
    counts: NDArray[np.int64]
    pairs: frozenset[tuple[str, str]]
    length: int

    def has(self, term: str) -> bool:
        """Return True if text, title or heading have the term."""
        column = self.columns.get(term)
        return column is not None and bool(self.held[:, column].any())


@dataclass(frozen=True, slots=True)
class Candidate:
    """A page to look at: the fused score of its best passage, and the best cosine of any.

    `vectors` are those of its windows, one row each, `tokens` the bits of their tokens; None where they are
    not kept (yet). `document` tells pages of one document, `reference` how far it is an API reference. `age`
    is how old the version is that a page of release notes is on, None for other pages; `making` tells that it
    is on how the product is made.
    """

    view: PageView
    passage: float
    cosine: float
    vectors: Matrix | None
    tokens: Sequence[Bits] | None = None
    document: str = ""
    reference: float = 0.0
    made: PairView | None = None
    age: float | None = None
    making: bool = False


def features(
    pool: Sequence[Candidate],
    terms: Sequence[str],
    rarity: Mapping[str, float],
    query: Vector,
    question: str = "",
    asked: Matrix | None = None,
) -> Numbers:
    """Return the features of every page for a question: shape (pages, FEATURES).

    `terms` are the question's, weighed by `rarity`; `query` is its unit vector, `asked` those of its tokens.
    """
    if not pool:
        return np.zeros((0, len(FEATURES)))
    of_change, of_making = asks_of_change(question), _OF_MAKING.search(question) is not None
    weight = {term: rarity.get(term, 0.0) for term in terms}
    total = sum(weight.values()) or 1.0
    seen = _Seen.of([page.view for page in pool], weight)
    together = _by_document(pool, (seen.bm25f() / total).tolist())
    neighbours = [(a, b, weight[a] + weight[b]) for a, b in pairwise(terms)]
    paired = sum(value for _, _, value in neighbours) or 1.0
    rows, best = [], list[list[Bits]]()
    of_each = (seen.windows(total), seen.named().tolist(), seen.heads(question).tolist())
    for page, held, named, is_own in zip(pool, *of_each, strict=True):
        cosines = page.vectors @ query if page.vectors is not None else np.array([page.cosine])
        joint = held + (cosines if len(held) == len(cosines) else page.cosine)
        best.append([page.tokens[at] for at in (-joint).argsort()[:READ]] if page.tokens else [])
        pairs = page.view.pairs
        rows.append(
            (
                page.passage,
                page.cosine,
                float(cosines.max()),
                float(joint.max()),
                0.0,
                named,
                0.0 if is_own else page.reference,
                together[page.document],
                sum(value for a, b, value in neighbours if (a, b) in pairs) / paired if pairs else 0.0,
                page.age or 0.0,
                float(of_change and page.age is not None),
                float(not of_change and page.age is not None),
                float(page.making and not of_making),
                *(page.made.columns(query, weight) if page.made else NO_PAIRS),
            )
        )
    table = np.array(rows, np.float64)
    if asked is not None and all(best):
        table[:, FEATURES.index("tokens")] = matches(asked, best)
    return table


@dataclass(frozen=True, slots=True)
class _Seen:
    """The views of pages as tables: `starts` has the first row of each page in `held`.

    `weights` has the rarity of each term, `names` the same of identifiers alone; shape (terms,).
    """

    views: Sequence[PageView]
    held: NDArray[np.bool_]
    starts: NDArray[np.int64]
    weights: Numbers
    names: Numbers

    @classmethod
    def of(cls, views: Sequence[PageView], weight: Mapping[str, float]) -> _Seen:
        """Put views together, which are of the same terms."""
        terms = list(views[0].columns)
        held = np.concatenate([view.held for view in views])
        starts = np.cumsum([0, *(len(view.held) for view in views)])
        weights = np.array([weight.get(term, 0.0) for term in terms], np.float64)
        names = weights * np.array([is_identifier(term) for term in terms], np.float64)
        return cls(views, held, starts, weights, names)

    def windows(self, total: float) -> list[Numbers]:
        """Return for each window of each page the share of the terms that it holds, with its heading."""
        lengths = np.diff(self.starts)
        above = np.repeat(self.held[self.starts[:-1] + ABOVE], lengths, axis=0)
        shares = (self.held | above) @ self.weights / total
        return [shares[first + WINDOWS : end] for first, end in pairwise(self.starts.tolist())]

    def named(self) -> Numbers:
        """Return the share of the question's identifiers that each page has: shape (pages,)."""
        there = np.logical_or.reduceat(self.held, self.starts[:-1], axis=0)
        return np.asarray(there @ self.names / (self.names.sum() or 1.0))

    def heads(self, question: str) -> NDArray[np.bool_]:
        """Return which pages' innermost heading has what a question writes as code: shape (pages,)."""
        code, terms = set(_AS_CODE.findall(question.lower())), self.views[0].columns
        shown = np.array([is_identifier(t) and (t in code or not _SNAKE.fullmatch(t)) for t in terms], bool)
        return np.asarray((self.held[self.starts[:-1] + ABOVE] & shown).any(axis=1))

    def bm25f(self) -> Numbers:
        """Return the score of each page, its title and headings counted in: shape (pages,)."""
        lengths = np.array([view.length for view in self.views], np.float64)
        norm = 1.0 - B + B * lengths / (lengths.mean() or 1.0)
        title, heading = (self.held[self.starts[:-1] + part] for part in (0, 1))
        counts = np.stack([view.counts for view in self.views]) / norm[:, None]
        counts += TITLE * title + HEADING * heading
        return np.asarray(counts * (K1 + 1.0) / (counts + K1) @ self.weights)


def is_identifier(term: str) -> bool:
    """Return True if an index term is no plain word and no number: `secret_key`, `--debug`."""
    return not term.isalpha() and not term[0].isdigit()


def is_name(heading: str) -> bool:
    """Return True if a heading is the name of a thing in code, as those of an API reference are."""
    last = heading.rpartition(" > ")[2].strip("`¶ ")
    return bool(_NAME.fullmatch(last) and _CODE.search(last))


def asks_of_change(question: str) -> bool:
    """Return True if a question may ask what a release does to something, as errors after an update do."""
    return _OF_CHANGE.search(_DOING.sub("", question)) is not None or asks_what_turned(question)


def _by_document(pool: Sequence[Candidate], scores: Sequence[float]) -> dict[str, float]:
    grouped: dict[str, list[float]] = {}
    for page, score in zip(pool, scores, strict=True):
        grouped.setdefault(page.document, []).append(score)
    return {key: sum(sorted(some)[-TOGETHER:]) / TOGETHER for key, some in grouped.items()}


def packed(chunk: ContextChunk, vectors: Mapping[str, Vector], tokens: Mapping[str, bytes]) -> bytes:
    """Write what a second look needs of a page: its terms as numbers, its windows' vectors and their tokens.

    A number of a vector takes 16 bits, one of a token's a single one. `vectors` and `tokens` have those of
    the windows by hash; without all of them none is written.
    """
    cut = windows(chunk.page)
    texts = [chunk.title, chunk.heading, chunk.heading.rpartition(" > ")[2], *cut]
    parts = [[number_of(term) for term in index_terms(text)] for text in texts]
    hashes = window_hashes(chunk.title, chunk.heading, chunk.page)
    whole = all(key in vectors for key in hashes)
    rows = np.stack([vectors[key] for key in hashes]) if whole else np.zeros((0, 0), np.float32)
    bits = [tokens[key] for key in hashes] if whole and all(key in tokens for key in hashes) else []
    return view_bytes(parts, rows, bits)


def view_bytes(parts: Sequence[Sequence[int]], rows: Matrix, bits: Sequence[bytes]) -> bytes:
    """Write a page's terms as numbers, part by part; its windows' vectors, a row each; their tokens' bits."""
    head = [len(parts), rows.shape[1], len(bits), *map(len, parts), *map(len, bits)]
    numbers = [number for part in parts for number in part]
    said = np.array([*head, *numbers], np.uint64).tobytes()
    return b"".join([said, rows.astype(np.float16).tobytes(), *bits])


@lru_cache(maxsize=65_536)
def number_of(term: str) -> int:
    """Return the number under which a term stands in what is kept of pages."""
    return int.from_bytes(hashlib.blake2b(term.encode("utf-8", "replace"), digest_size=8).digest(), "little")


def bits_of(tokens: Matrix) -> bytes:
    """Return what is kept of the vectors of a text's tokens, shape (tokens, dimensions)."""
    return np.packbits(tokens > 0, axis=1).tobytes()


def nearest(question: Matrix, texts: Sequence[Bits]) -> Numbers:
    """Return how near the nearest token of each text is to each of a question's: shape (texts, tokens).

    `question` has a unit vector for each token, shape (tokens, dimensions). Nearness is the cosine with the
    signs of the text's token; 0 for a text without tokens.
    """
    lengths = np.array([len(bits) for bits in texts], np.int64)
    found = np.zeros((len(texts), len(question)))
    if not len(question) or not lengths.sum():
        return found
    bits = np.concatenate([some for some in texts if len(some)])
    dimensions = question.shape[1]
    turned = np.ascontiguousarray(question.T)
    sums = np.empty((len(bits), len(question)), np.float32)
    for at in range(0, len(bits), FEW):
        ones = np.unpackbits(bits[at : at + FEW], axis=1, count=dimensions)
        np.matmul(ones.astype(np.float32), turned, out=sums[at : at + FEW])
    there = np.flatnonzero(lengths)
    starts = np.cumsum(lengths[there]) - lengths[there]
    # the cosine with signs of -1 and 1, worked out with 0 and 1
    best = 2.0 * np.maximum.reduceat(sums, starts, axis=0) - question.sum(axis=1)
    found[there] = best / np.sqrt(dimensions)
    return found


def matches(question: Matrix, pages: Sequence[Sequence[Bits]]) -> Numbers:
    """Return how well each page, given by its windows, holds the tokens of a question: shape (pages,).

    The mean of two: how well all its windows together do, and the best of them alone.
    """
    near = nearest(question, [bits for windows in pages for bits in windows])
    starts = np.cumsum([0, *map(len, pages)])[:-1]
    together = np.maximum.reduceat(near, starts, axis=0).mean(axis=1)
    alone = np.maximum.reduceat(near.mean(axis=1), starts)
    return np.asarray((together + alone) / 2.0)
