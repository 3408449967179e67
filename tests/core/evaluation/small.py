"""A product with two releases and a few pages, indexed in memory, and gold questions about it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.catalogue import Catalogue
from core.domain import Document, Product, Release, Section, content_hash
from core.ingestion.chunking import chunk
from core.ingestion.pregeneration.rules import RulePairs
from core.ingestion.pregeneration.work import Pregeneration
from core.memory.community import CommunityMemory
from core.memory.scoring import Thresholds
from core.models.embedding.encoder import Encoders
from core.pipeline.research import Research
from core.pipeline.resources import Resources
from core.ports import LanguageModel
from core.ports.corpora import Indexes
from core.retrieval.search import Searcher
from core.text.words import window_texts
from tests.fake_pregenerated import FakePregenerated
from tests.fakes import FakeCorpora, FakeEncoder, FakeMemories, FakeVectors, FakeWords

PAGES = {
    "descaling.md": "To descale the kettle, fill it with vinegar and boil it {often}. Rinse it twice.",
    "timer.md": "The timer is set with `--timer`. Its default is {minutes} minutes of keeping warm.",
    "filter.md": "The limescale filter sits behind the spout. Press the latch and pull the filter out.",
    "noise.md": "A kettle that hums louder than a bee has a loose plate. Tighten the plate screws below.",
    "lid.md": "The lid opens with a push on the red button. A lid that sticks needs a drop of oil.",
}
NEXT = "When all of this has been done, put everything back where it was and wash your hands."
VALUES = {"1.0": {"often": "every month", "minutes": "20"}, "2.0": {"often": "once a year", "minutes": "45"}}


def line(key: str, question: str, release: str = "2.0", **given: Any) -> dict[str, Any]:
    """Make a gold line; its page is `timer.md` unless told otherwise."""
    made: dict[str, Any] = {
        "id": key,
        "type": "fact",
        "split": "tune",
        "question": question,
        "release": release,
        "history": [],
        "answer": f"{VALUES[release]['minutes']} minutes." if release else "",
        "must_contain": [VALUES[release]["minutes"]] if release else [],
        "must_not_contain": [],
        "gold_file": "timer.md",
        "evidence": [f"{VALUES[release]['minutes']} minutes"] if release else [],
    }
    return made | given


GOLD = [
    line("new", "what is the default of the timer?"),
    line("old", "what is the default of the timer in Kettle 1.0?", "1.0"),
    line(
        "again",
        "and in 1.0?",
        "1.0",
        type="followup",
        history=[{"role": "user", "text": "what is the default of the timer?"}],
        standalone="what is the default of the timer in Kettle 1.0?",
    ),
    line(
        "both",
        "what changed for the timer between 1.0 and 2.0?",
        type="comparison",
        by_release={
            "1.0": {"gold_file": "timer.md", "evidence": ["20 minutes"]},
            "2.0": {"gold_file": "timer.md", "evidence": ["45 minutes"]},
        },
    ),
    line("nothing", "who won the chess olympiad in 1972?", "", type="out_of_scope"),
    line("missing", "what is the default of the timer in Kettle 9.0?", "", type="unknown_release"),
    line(
        "report", "how do I take the filter out?", split="report", gold_file="filter.md", evidence=["latch"]
    ),
]


def write(folder: Path, lines: list[dict[str, Any]] = GOLD) -> Path:
    """Write gold lines to a file."""
    path = folder / "gold.jsonl"
    path.write_text("\n".join(json.dumps(entry) for entry in lines), "utf-8")
    return path


async def parts(model: LanguageModel | None = None, pairs: bool = False) -> Research:
    """Index the pages of both releases and wire what the harness measures; with `pairs` made of them."""
    product = Product("Kettle", (), (Release("1.0"), Release("2.0", latest=True)))
    documents = {
        release: [
            Document(
                path,
                path[:-3],
                f"https://k/{path}",
                (Section((path[:-3],), "", text.format(**values)), Section(("Next steps",), "next", NEXT)),
            )
            for path, text in PAGES.items()
        ]
        for release, values in VALUES.items()
    }
    return (await house(product, documents, model, pairs))[0]


async def house(
    product: Product,
    documents: Mapping[str, Sequence[Document]],
    model: LanguageModel | None = None,
    pairs: bool = False,
    source: str = "s",
) -> tuple[Research, Searcher]:
    """Index documents by release in memory, windows too, and wire what the harness measures.

    With `pairs` the rules make pairs of them.
    """
    encoder = FakeEncoder()
    store, vectors, words = FakeCorpora(), FakeVectors(), FakeWords()
    for release, some in documents.items():
        cut = [
            chunk(
                document,
                release=release,
                source=source,
                count_tokens=encoder.count_tokens,
                max_tokens=encoder.max_tokens,
            )
            for document in some
        ]
        for document in cut:
            await store.put(release, document)
        corpus = await store.swap(release, [document.id for document in cut], encoder.name)
        rows = await store.rows(release)
        table = await encoder.encode([row.embedded for row in rows])
        pages = await store.contexts([row.context_id for row in rows])
        texts = {key: text for page in pages.values() for key, text in window_texts(page).items()}
        looked_at = await encoder.encode(list(texts.values()))
        kept = dict(
            zip([*(content_hash(r.embedded) for r in rows), *texts], [*table, *looked_at], strict=True)
        )
        await store.put_vectors(encoder.name, {key: np.asarray(vector) for key, vector in kept.items()})
        await vectors.upsert(corpus.collection, [row.id for row in rows], table)
        await words.upsert(corpus.collection, [(row.id, row.title, row.text) for row in rows])
    made = FakePregenerated(store)
    searcher = Searcher(Indexes(store, vectors, words), pairs=made)
    if pairs:
        work = Pregeneration(made, Indexes(store, vectors, words), RulePairs(), searcher.load)
        for release in documents:
            await work.run(release, encoder)
    await searcher.load()
    encoders = Encoders("fake", Path("unused"), lambda name, cache: encoder)
    memories = FakeMemories()
    memory = CommunityMemory(memories, store, Thresholds(), lambda asked, remembered: "")
    return Research(Resources(Catalogue(product), memory, memories, searcher, encoders, model)), searcher
