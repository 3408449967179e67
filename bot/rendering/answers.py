"""An answer as Markdown: text, sources, and the line that says which release it speaks for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from bot.ports.chat import Reply
from core.domain import Answer, Citation, Evidence, Trace
from core.generation.phrases import both
from core.generation.quotes.blocks import headings
from core.languages import N_, _, translations_of
from core.text.markup import link

_ORIGIN = {
    "reuse": N_("from community memory, up-voted before"),
    "reference": N_("written from the documentation and community memory"),
    "avoid": N_("written anew, avoiding an answer that was voted down"),
    "documents": N_("written from the documentation"),
    "quote": N_("quoted from the documentation"),
    "abstain": "",
}
_PERSON = N_("from community memory, answered by a person")
WORKING = N_("Looking it up …")
READING = N_("Reading the {product} documentation …")
SOURCES = N_("Sources")
"""The line above the numbered sources; what follows it is no part of what was said."""


def compose(answer: Answer, product: str) -> Reply:
    """Return the finished reply of an answer."""
    parts = [answer.text.strip()]
    if answer.citations:
        parts.append(f"**{_(SOURCES)}**\n" + "\n".join(source(citation) for citation in answer.citations))
    parts.append(footer(answer, product))
    return Reply("\n\n".join(part for part in parts if part), release=answer.release, answer_id=answer.id)


def said(text: str) -> str:
    """Return what a message of an answer said, without its sources and the line under them, in any tongue."""
    return _below().sub("", text)


@cache
def _below() -> re.Pattern[str]:
    heading = "|".join(map(re.escape, translations_of(SOURCES)))
    return re.compile(rf"(?:\A|(?<!\n)\n+)\*\*(?:{heading})\*\*\n.*", re.DOTALL)


def source(citation: Citation) -> str:
    """Return one numbered source with its link."""
    return f"[{citation.number}] {link(citation.title, citation.url)}"


def footer(answer: Answer, product: str) -> str:
    """Return the line that says which release an answer speaks for and where it comes from."""
    if not answer.release:
        return ""
    origin = _PERSON if Trace.of(answer.trace).origin == "person" else _ORIGIN[answer.route]
    offers = _("different in {releases}").format(releases=", ".join(answer.offers)) if answer.offers else ""
    said = (f"{product} {both(answer.release)}", _(origin), offers)
    return f"*{' · '.join(part for part in said if part)}*"


def growing(text: str, product: str, release: str, evidence: Sequence[Evidence]) -> Reply:
    """Return a reply that is still being written: the text so far, or the pages being read."""
    if text:
        return Reply(f"{text.rstrip()} …", final=False, release=release, grows=True)
    pages = dict.fromkeys(_page(item) for item in evidence[:3])
    reading = _(READING).format(product=f"{product} {both(release)}".strip())
    return Reply(f"{reading}\n" + "\n".join(pages), final=False, release=release)


def is_sign_of_work(text: str) -> bool:
    """Return True if a message of the bot says no more than that it works, in any language."""
    reading = (said.partition("{product}")[0] for said in translations_of(READING))
    begins = tuple(filter(None, (*translations_of(WORKING), *reading)))
    return text.strip().startswith(begins)


def _page(item: Evidence) -> str:
    return f"- {link(headings(item.chunk.title, item.chunk.heading), item.chunk.url)}"
