"""An answer as Markdown: text, sources, and the line that says which release it speaks for."""

from __future__ import annotations

from collections.abc import Sequence

from bot.ports.chat import Reply
from core.domain import Answer, Citation, Evidence, Trace
from core.generation.phrases import both
from core.generation.quotes.blocks import headings
from core.languages import N_, _, translations_of
from core.text.markup import inert, link
from core.text.words import shortened, stem, words

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
_SHOWN = 300
"""Characters of a remembered question that are shown under its answer."""
_QUIET = frozenset({"a", "an", "the", "am", "is", "are", "be", "do", "does", "did", "please"})
SOURCES = N_("Sources")
"""The line above the numbered sources; what follows it is no part of what was said."""


def compose(answer: Answer, product: str) -> Reply:
    """Return the finished reply of an answer."""
    parts = [answer.text.strip()]
    if answer.citations:
        parts.append(f"**{_(SOURCES)}**\n" + "\n".join(source(citation) for citation in answer.citations))
    if other := remembered_question(answer):
        parts.append(
            _("This was an answer to: “{question}”").format(question=inert(shortened(other, _SHOWN)))
        )
    parts.append(footer(answer, product))
    return Reply("\n\n".join(part for part in parts if part), release=answer.release, answer_id=answer.id)


def remembered_question(answer: Answer) -> str:
    """Return the question whose remembered answer is given again, where the one asked has other words.

    Empty for any other answer, and where order, endings or articles alone are different.
    """
    trace = Trace.of(answer.trace)
    if answer.route != "reuse" or trace.recalled is None:
        return ""
    near = next((near for near in trace.recalled.high if near.pair == answer.pair_id), None)
    if near is None:
        return ""
    asked = trace.queries.topic or trace.queries.base
    return "" if _wording(asked) == _wording(near.topic or near.question) else near.question


def _wording(question: str) -> set[str]:
    """Return the stems of a question's words, whose order and whose articles do not matter."""
    return {stem(word) for word in words(question) if word not in _QUIET}


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
