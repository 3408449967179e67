"""The own entry of a setting that a question names, where no page that was found is headed by it (*ours*).

A setting with a long name is spoken of on many pages, and those that set it are nearer to a question than
the few lines which say what it does.
"""

from __future__ import annotations

import re
from dataclasses import replace

from core.domain import Evidence
from core.pipeline.context import QueryContext
from core.retrieval.found import KEPT, Found
from core.retrieval.release_notes.search import ReleaseNotes
from core.text.words import ruled

_SETTING = re.compile(r"(?<![\w.-])(?:--[A-Za-z][\w-]*|[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*)(?![\w(]|\.\w)")
"""Names of settings and options, and none that is called or belongs to something: those have pages enough."""
MOST = 2
"""Names in a question whose entries are looked for; ours."""


async def with_entries(context: QueryContext, found: Found, notes: ReleaseNotes) -> Found:
    """Put the entry of a named setting second, where none of the pages found is one."""
    is_plain = not (context.news or context.parts or found.named) and len(context.releases) == 1
    names = list(dict.fromkeys(_SETTING.findall(ruled(context.queries.base))))[:MOST]
    if not (is_plain and names and found.evidence):
        return found
    entries = await notes.entries(names, context.releases[0])
    known = {item.chunk.id for item in found.evidence}
    new = [pages[0] for pages in entries.values() if pages and not any(page.id in known for page in pages)]
    if not new:
        return found
    first, *rest = found.evidence
    kept = [first, *(Evidence(0, page, first.score) for page in new), *rest][:KEPT]
    return replace(found, evidence=tuple(replace(item, number=n) for n, item in enumerate(kept, start=1)))
