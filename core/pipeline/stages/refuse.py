"""Questions that cannot be answered whatever is found: of an unknown release, or of one not read yet."""

from __future__ import annotations

from core.domain import Answer
from core.generation import phrases
from core.pipeline.answers import abstention
from core.pipeline.context import Needs, QueryContext
from core.pipeline.stage import Resources


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
