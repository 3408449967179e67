"""One release of Threadlore as a retriever of llama-index, for programs of your own.

async with build(load_settings(), "my program") as app:
    retriever = ReleaseRetriever(app.research, "3.1")
    nodes = await retriever.aretrieve("How do I stream a response?")
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from core.domain import Evidence, Question
from core.errors import UsageError
from core.pipeline.research import Research
from core.retrieval.found import KEPT

UNREAD = ("path", "url", "chunk")
"""Metadata that no model has to read; they go along for whoever shows sources."""


class ReleaseRetriever(BaseRetriever):  # type: ignore[misc]  # llama-index comes without types
    """Finds the pages of one release, by the words and the search that answers come by.

    Nothing of another release is returned, whatever release the question names. It belongs to the event loop
    in which it is made: there `aretrieve` is awaited; `retrieve` is for other threads.
    """

    def __init__(self, research: Research, release: str, keep: int = KEPT) -> None:
        super().__init__()
        if release not in research.corpora:
            ready = ", ".join(research.corpora) or "none"
            raise UsageError(f"There is no index of {release} (there is: {ready}); run `threadlore index`.")
        self._research = research
        self._release = release
        self._keep = keep
        self._loop = asyncio.get_running_loop()

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        question = Question(query_bundle.query_str, release=self._release)
        asked = await self._research.understand(question, by_rules=True)
        asked.releases, asked.news = (self._release,), None
        asked.resolution = replace(asked.resolution, release=self._release, comparison=False)
        found = await self._research.search(asked)
        own = [item for item in found.evidence if item.chunk.release == self._release]
        return [_node(item) for item in own[: self._keep]]

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        if here is self._loop:
            raise UsageError("This is the loop that searches: await `aretrieve`, or use a thread.")
        work = asyncio.run_coroutine_threadsafe(self._aretrieve(query_bundle), self._loop)
        return work.result()


def _node(item: Evidence) -> NodeWithScore:
    chunk = item.chunk
    metadata = {
        "release": chunk.release,
        "title": chunk.title,
        "heading": chunk.heading,
        "url": chunk.url,
        "path": chunk.path,
        "chunk": chunk.id,
    }
    node = TextNode(
        id_=chunk.id,
        text=chunk.text,
        metadata=metadata,
        excluded_llm_metadata_keys=list(UNREAD),
        excluded_embed_metadata_keys=list(UNREAD),
    )
    return NodeWithScore(node=node, score=float(item.score))
