"""A pair before it has an id, and what makes pairs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.domain import ContextChunk, content_hash
from core.ports import PregeneratedPair
from core.text.words import cut_at_word, one_line, sentences

BACKGROUND = 200
"""Characters of what a document is about, where no model wrote it; ours."""


@dataclass(frozen=True, slots=True)
class Made:
    """A question that a page answers: the short answer, and the whole text it is taken from.

    `context_id` names the page that is cited; `summary` says what it is about.
    """

    context_id: str
    question: str
    answer: str
    full_answer: str
    summary: str = ""


class Maker(Protocol):
    """Makes pairs of documents; `by` names it with its version."""

    by: str

    def redoes(self, by: str) -> bool:
        """Return True if it would do better with a document that somebody (`by`, "" for nobody) has done."""

    def make(
        self, pages: Sequence[ContextChunk], done: int = 0
    ) -> AsyncGenerator[tuple[int, list[Made]], None]:
        """Yield the pairs of one document of its pages, in their order, after the first `done`: how many are
        done then, and the pairs of those that were not before.

        Raises the `ModelError`s of `core.errors` where a model is needed and cannot be asked.
        """


def finished(
    made: Sequence[Made], pages: Sequence[ContextChunk], document_id: str, date: float, by: str
) -> list[PregeneratedPair]:
    """Give pairs their ids, links, titles and categories; the same question of a page is kept once."""
    by_id = {page.id: page for page in pages}
    found: dict[str, PregeneratedPair] = {}
    background = about(pages[0]) if made else ""
    for one in made:
        page = by_id[one.context_id]
        key = content_hash("pair", page.id, one.question.casefold())
        found.setdefault(
            key,
            PregeneratedPair(
                id=key,
                document_id=document_id,
                context_id=page.id,
                question=one.question,
                answer=one.answer,
                full_answer=one.full_answer,
                summary=one.summary or background,
                url=page.url,
                title=page.title,
                category=category_of(page.path),
                date=date,
                by=by,
                path=page.path,
            ),
        )
    return list(found.values())


def about(page: ContextChunk) -> str:
    """Return what a document says first of what it is about, by its first page: a sentence, or the title."""
    texts = (one_line(paragraph) for paragraph in page.page.split("\n\n"))
    told = next((text for text in texts if text[:1].isalpha() and text[-1:] in ".!"), "")
    return cut_at_word(sentences(told)[0], BACKGROUND) if told else page.title


def category_of(path: str) -> str:
    """Return the folders that a document lies in: what its pages have in common beside their titles."""
    return "/".join(path.split("#")[0].split("/")[:-1][-2:])
