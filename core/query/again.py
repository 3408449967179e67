"""The same question for another release."""

from __future__ import annotations

from core.domain import Product, Question
from core.query.releases.resolve import resolve


def for_release(text: str, product: Product, release: str) -> str:
    """Return a question with every release that it names, known or not, replaced by another one."""
    question = Question(text)
    resolution, text = resolve(question, product), question.text
    for start, end in sorted(resolution.spans, reverse=True):
        text = text[:start] + release + text[end:]
    return text
