"""QAMR's ablations and its k, and the four fields of QA pre-generation, on golden questions."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from bot.operations.application import Application
from core.domain import ContextChunk, Question, Vector
from core.domain import Section as Part
from core.ingestion.blocks import pieces
from core.ingestion.chunking import Page, cut_search_chunks
from core.pipeline.context import QueryContext
from core.pipeline.research import Research
from core.pipeline.resources import ModelBudget, Resources
from core.pipeline.stage import Stage, run
from core.pipeline.stages.cite import Cite
from core.pipeline.stages.quote import Quote
from core.pipeline.stages.retrieve import Judge, Reduce, Refuse, Retrieve, Select
from core.pipeline.stages.understand import Understand
from core.ports import for_questions
from core.recipes.qamr import KEPT
from evaluation.configurations import OF_PAIRS, Baseline, Configuration, Mix
from evaluation.gold import GoldLine, is_hit, is_right, rank_of
from evaluation.metrics import summary
from evaluation.papers.tables import MODEL, NONE, Section, Table, printed, share
from evaluation.pipeline import AsItStands, ask, stages_of, warm
from evaluation.simulation.stores import Texts

_PRINTED = printed("releases")

TABLE_5 = _PRINTED["table_5"]
"""Answer correctness, contextual precision, recall and relevancy on Ciena's documents (table V)."""
KS = (1, 2, 4)
CUTS = (1, 3, 8)


@dataclass(frozen=True, slots=True)
class Product:
    """An open home with its golden questions."""

    name: str
    app: Application
    lines: Sequence[GoldLine]

    @property
    def asked(self) -> list[GoldLine]:
        """Return the lines that the documentation answers."""
        return [line for line in self.lines if line.answerable]


@dataclass(frozen=True, slots=True)
class Step:
    """Which of QAMR's four steps are on."""

    rewrite: bool = False
    dual: bool = False
    reduce: bool = False
    select: bool = False


STEPS = (
    Step(),
    Step(rewrite=True),
    Step(dual=True),
    Step(reduce=True),
    Step(select=True),
    Step(True, True, True, True),
)


def stages(parts: Resources, step: Step) -> tuple[Stage, ...]:
    """Return QAMR's stages without a model: two pieces by cosine and two by MMR a query, else rules."""
    mix = Baseline(Mix(fusion="union", dual=False))
    searcher = parts.searcher.by_cosine(mmr=True) if step.dual else parts.searcher.by(retriever=mix)
    understand = Understand(parts, forms="queries") if step.rewrite else AsItStands(parts)
    return (
        understand,
        Refuse(parts),
        Retrieve(parts, searcher, forms="queries" if step.rewrite else "topic"),
        Judge(parts, is_strict=False),
        *((Reduce(parts),) if step.reduce else ()),
        *((Select(parts, KEPT, always=True),) if step.select else ()),
        Judge(parts),
        Quote(parts),
        Cite(parts),
    )


async def ablations(product: Product) -> Table:
    """Run the six rows of table V on one product."""
    # rules reduce and select, whatever model is configured
    parts = replace(product.app.research.parts, model=None, budget=ModelBudget())
    await warm(product.app.research)
    made = []
    for (name, *paper), step in zip(TABLE_5, STEPS, strict=True):
        ways = stages(parts, step)
        told = [await judged(ways, line) for line in product.asked]
        right, precision, recall, characters = zip(*told, strict=True)
        cells = (share(_mean(right)), share(_mean(precision)), share(_mean(recall)))
        made.append((name, *paper, *cells, MODEL, f"{statistics.median(characters):,.0f}"))
    return Table(
        f"Table V on {product.name}: {len(product.asked)} questions with an answer",
        (
            "row", "paper: correct", "paper: precision", "paper: recall", "paper: relevancy",
            "quote right", "contextual precision", "contextual recall", "relevancy", "characters read",
        ),
        tuple(made),
    )  # fmt: skip


async def judged(ways: Sequence[Stage], line: GoldLine) -> tuple[float, float, float, int]:
    """Return whether the quote is right, contextual precision and recall, and how much is read."""
    question = Question(line.question, history=line.history, release=line.ask_release)
    context = QueryContext(question, is_draft=True, withheld=frozenset({"memory"}))
    answer = await run(ways, context)
    by_number = {item.number: item for item in answer.evidence}
    numbers = list(by_number) if context.trace.read is None else context.trace.read
    read = [by_number[number] for number in numbers if number in by_number]
    texts = [
        item.chunk.text if context.texts is None else context.texts.get(item.number, "") for item in read
    ]
    hits = [
        any(
            item.chunk.release == release and is_hit(place, item.chunk.path, text)
            for release, place in line.places.items()
        )
        for item, text in zip(read, texts, strict=True)
    ]
    found = [
        any(
            item.chunk.release == release and is_hit(place, item.chunk.path, text)
            for item, text in zip(read, texts, strict=True)
        )
        for release, place in line.places.items()
    ]
    right = answer.route == "quote" and is_right(line, answer.text)
    return float(right), precision(hits), _mean(found), sum(map(len, texts))


def precision(relevant: Sequence[bool]) -> float:
    """Return contextual precision (IV-B4): relevant pieces that stand higher count more; 0 without any."""
    gained = sum(sum(relevant[: at + 1]) / (at + 1) for at, is_one in enumerate(relevant) if is_one)
    return gained / sum(relevant) if any(relevant) else 0.0


async def chunkings(product: Product, texts: Texts) -> Table:
    """Cut the pages of every release into one, two and four search chunks, and search them by cosine.

    A question counts for the release that its places are of; what compares releases is left out.
    """
    encoder = await product.app.corpus_manager.encoders.current()
    count, most = encoder.count_tokens, encoder.max_tokens
    ways: dict[str, Callable[[Page, str, int], list[str]]] = {
        "cut where the encoder ends": lambda page, prefix, k: even(page, k),
        "more where they do not fit (ours)": lambda page, prefix, k: cut_search_chunks(
            page, prefix, count, most, k
        ),
    }
    made: list[tuple[str, ...]] = []
    every: dict[str, tuple[list[int], int]] = {}
    read = 0
    for release in product.app.corpus_manager.order():
        lines = [line for line in product.asked if set(line.places) == {release}]
        pages = await product.app.searcher.pages_of(release)
        if not lines or not pages:
            continue
        read += len(pages)
        vectors = await for_questions(encoder).encode([await _topic(product, line) for line in lines])
        for way, cut in ways.items():
            for k in KS:
                held = [(page, text) for page in pages for text in cut(_page(page.page), page.heading, k)]
                embedded = [f"{page.title} > {page.heading}\n{text}" for page, text in held]
                cosines = vectors @ (await texts.encode(embedded)).T
                ranks = [_rank(line, held, row) for line, row in zip(lines, cosines, strict=True)]
                over = share(_mean([count(text) > most for text in embedded]))
                name = f"k = {k}, {way}"
                made.append(_of_k(f"{release}, {len(lines)} questions: {name}", k, ranks, len(held), over))
                before, chunks = every.get(name, ([], 0))
                every[name] = [*before, *ranks], chunks + len(held)
    asked = max((len(ranks) for ranks, _ in every.values()), default=0)
    made += [
        _of_k(f"all, {asked} questions: {name}", KS[at % len(KS)], ranks, chunks, NONE)
        for at, (name, (ranks, chunks)) in enumerate(every.items())
    ]
    return Table(
        f"k on {product.name}: {read:,} pages of all releases found by cosine alone, {asked} questions",
        ("search chunks a page", "paper", "hit@1", "hit@3", "hit@8", "chunks", "longer than the encoder"),
        tuple(made),
    )


def _of_k(name: str, k: int, ranks: Sequence[int], chunks: int, over: str) -> tuple[str, ...]:
    paper = "chosen, no figure (IV-E)" if k == 2 else "not run"
    hits = [share(_mean([0 < rank <= most for rank in ranks])) for most in CUTS]
    return (name, paper, *hits, f"{chunks:,}", over)


async def _topic(product: Product, line: GoldLine) -> str:
    question = Question(line.question, history=line.history, release=line.ask_release)
    return (await product.app.research.understand(question, by_rules=True)).queries.topic


def _rank(line: GoldLine, held: Sequence[tuple[ContextChunk, str]], cosines: Vector) -> int:
    """Return the rank of the first right page, among the first eight by their nearest chunk; 0 for none."""
    order = np.argsort(-cosines, kind="stable").tolist()
    best = list({held[at][0].id: held[at][0] for at in order}.values())[: max(CUTS)]
    return rank_of(line.places, [(page.release, page.path, page.text) for page in best])


def _page(text: str) -> Page:
    return Page(Part((), "", text), tuple(pieces(text)))


def even(page: Page, k: int) -> list[str]:
    """Cut a page into k runs of lines of about equal length, as algorithm 1 has it, whatever fits."""
    lines = page.text.split("\n")
    ends = np.cumsum([len(line) + 1 for line in lines])
    cuts = [int(np.searchsorted(ends, ends[-1] * part / k)) + 1 for part in range(1, k)]
    bounds = [0, *cuts, len(lines)]
    texts = ["\n".join(lines[one:other]).strip() for one, other in pairwise(bounds)]
    return [text for text in texts if text]


async def qamr(products: Sequence[Product], texts: Texts, told: str) -> Section:
    """Return QAMR's section."""
    tables = [await ablations(product) for product in products]
    tables += [await chunkings(product, texts) for product in products]
    return Section(
        "qamr",
        "QAMR: table V, the ablations; k, the search chunks of a page (sections IV-E and IV-F)",
        told,
        tuple(tables),
        QAMR_DIFFERS,
    )


async def pregeneration(products: Sequence[Product], told: str) -> Section:
    """Return the section on the four fields of pairs made of documents."""
    ways = (*((one.name, one) for one in OF_PAIRS), ("as shipped, with pairs", Configuration("all")))
    tables = []
    for product in products:
        made = []
        for name, how in ways:
            row = await _row(product.app.research, how, product.lines)
            hits = (share(row["hit@1"]), share(row["hit@3"]), share(row["hit@8"]), share(row["mrr"]))
            made.append((NAMES.get(name, name), "no figure" if name in NAMES else NONE, *hits))
        title = f"Fields of pairs on {product.name}: {len(product.asked)} questions with an answer"
        tables.append(Table(title, ("field", "paper", "hit@1", "hit@3", "hit@8", "MRR"), tuple(made)))
    return Section(
        "pregeneration",
        "QA pre-generation: the four vector fields and their fusion (text embedding, hybrid retrieval)",
        told,
        tuple(tables),
        FIELDS_DIFFER,
    )


NAMES = {
    "pairs: question by vector": "Prefix_Question_Dense",
    "pairs: answer by vector": "Prefix_Answer_Dense",
    "pairs: question by words": "Prefix_Question_Sparse",
    "pairs: answer by words": "Prefix_Answer_Sparse",
    "pairs alone": "all four, forty of each, reciprocal rank, eight kept",
}


async def _row(research: Research, how: Configuration, lines: Sequence[GoldLine]) -> dict[str, float | None]:
    ways = stages_of(research, "threadlore", how, answers=False)
    return summary(how.name, [(await ask(ways, line))[1] for line in lines])


def _mean(values: Sequence[float]) -> float:
    return statistics.fmean(values) if values else 0.0


QAMR_DIFFERS = _PRINTED["qamr_differs"]
FIELDS_DIFFER = _PRINTED["fields_differ"]
