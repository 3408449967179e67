"""An answer as Markdown: text, sources, and the line that says which release it speaks for."""

from __future__ import annotations

from collections.abc import Sequence

from bot.chat import Reply
from core.domain import Answer, Citation, Evidence

_ORIGIN = {
    "reuse": "from community memory, up-voted before",
    "reference": "written from the documentation and community memory",
    "avoid": "written anew, avoiding an answer that was voted down",
    "documents": "written from the documentation",
    "quote": "quoted from the documentation",
    "abstain": "",
}
_PERSON = "from community memory, answered by a person"
WORKING = "Looking it up …"
SOURCES = "**Sources**"
"""The line above the numbered sources; what follows it is no part of what was said."""


def compose(answer: Answer, product: str) -> Reply:
    """Return the finished reply of an answer."""
    parts = [answer.text.strip()]
    if answer.citations:
        parts.append(f"{SOURCES}\n" + "\n".join(source(citation) for citation in answer.citations))
    parts.append(footer(answer, product))
    return Reply("\n\n".join(part for part in parts if part), release=answer.release, answer_id=answer.id)


def source(citation: Citation) -> str:
    """Return one numbered source with its link."""
    title = citation.title.replace("[", "(").replace("]", ")")
    return f"[{citation.number}] " + (f"[{title}]({citation.url})" if citation.url else title)


def footer(answer: Answer, product: str) -> str:
    """Return the line that says which release an answer speaks for and where it comes from."""
    if not answer.release:
        return ""
    said = f"{product} {_named(answer.release)}"
    origin = _PERSON if answer.trace.get("origin") == "person" else _ORIGIN[answer.route]
    offers = f" · also there: {', '.join(answer.offers)}" if answer.offers else ""
    return f"*{said}{f' · {origin}' if origin else ''}{offers}*"


def growing(text: str, product: str, release: str, evidence: Sequence[Evidence]) -> Reply:
    """Return a reply that is still being written: the text so far, or the pages being read."""
    if text:
        return Reply(f"{text.rstrip()} …", final=False, release=release)
    pages = dict.fromkeys(_page(item) for item in evidence[:3])
    name = f"{product} {_named(release)}".strip()
    return Reply(f"Reading the {name} documentation …\n" + "\n".join(pages), final=False, release=release)


def _named(release: str) -> str:
    """Name the release of an answer, or the several that it compares."""
    return release.replace("+", " and ")


def _page(item: Evidence) -> str:
    title = (item.chunk.heading or item.chunk.title).replace("[", "(").replace("]", ")")
    return f"- [{title}]({item.chunk.url})"
