"""Questions that nobody asked before, made of golden ones and of headings with words of their pages."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from itertools import islice

FORMS = (
    "How does {subject} work with {word}?",
    "What does {subject} do with {word} and {other}?",
    "Can I use {subject} for {word}?",
    "where do I set {word} for {subject}",
    "Why does {word} matter to {subject}?",
    "I get an error about {word} with {subject}, what is wrong?",
    "Is there an example of {subject} with {word} or {other}?",
    "Our {word} broke after we changed {other}. What does {subject} need?",
    "{subject}: does {word} come before {other}?",
    "which {word} does {subject} expect",
)
COMPANY = (
    "{question} It is about our {word}.",
    "We look at {word} here. {question}",
    "{question} ({word}, {other})",
)
TRIES = 200
"""Questions that are made for one that is new; then it gets a number."""
GOLDEN = 0.2
"""Share of questions that are golden ones with other words around them."""


class Questions:
    """Makes questions out of pages, each a heading and a text, and of golden questions; each once."""

    def __init__(
        self, pages: Sequence[tuple[str, str]], golden: Sequence[str], chance: random.Random
    ) -> None:
        self._chance, self._golden = chance, list(golden)
        self._pages = [page for heading, text in pages if (page := _of_page(heading, text))]
        self._words = sorted({word for _, words in self._pages for word in words})
        self._given: set[str] = set()

    def __len__(self) -> int:
        """Return how many were made."""
        return len(self._given)

    def fresh(self) -> str:
        """Return one that was not asked before."""
        texts = islice(self._endless(), TRIES)
        found = next((text for text in texts if text not in self._given), "")
        found = found or f"{next(self._endless())} (case {len(self._given)})"
        self._given.add(found)
        return found

    def _endless(self) -> Iterator[str]:
        while True:
            if self._golden and self._chance.random() < GOLDEN:
                word, other = self._chance.sample(self._words, 2)
                question = self._chance.choice(self._golden)
                yield self._chance.choice(COMPANY).format(question=question, word=word, other=other)
            else:
                subject, words = self._chance.choice(self._pages)
                word, other = self._chance.sample(words, 2)
                yield self._chance.choice(FORMS).format(subject=subject, word=word, other=other)


def _of_page(heading: str, text: str) -> tuple[str, list[str]] | None:
    subject = heading.rpartition(" > ")[2].strip("`¶ ")
    words = sorted({word.lower() for word in re.findall(r"[^\W\d_]+", text) if 4 < len(word) < 16})
    return (subject, words) if len(words) > 1 and 3 < len(subject) < 60 else None
