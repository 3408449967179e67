"""What is known of how a community is served: its days, and questions that were not served."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, Protocol

from core.domain import Route

Failing = Literal["abstained", "voted down", "escalated", "corrected"]
"""Why a question is a gap; `escalated`: it was put to a person. What is named later here counts first."""


@dataclass(frozen=True, slots=True)
class Day:
    """A day (UTC, `2026-11-21`) with its answers by route, votes, and milliseconds of the answers.

    `first_p50` and `first_p95` are milliseconds to the first word, `ms_p50` and `ms_p95` to the end; an
    answer that comes whole has both at once. `failed` counts answers that the model should have written,
    `wrong_reuse` remembered ones that somebody said were to another question.
    """

    day: str
    routes: dict[Route, int] = field(default_factory=dict)
    up: int = 0
    down: int = 0
    people: int = 0
    ms_p50: float = 0.0
    ms_p95: float = 0.0
    first_p50: float = 0.0
    first_p95: float = 0.0
    failed: int = 0
    wrong_reuse: int = 0


@dataclass(frozen=True, slots=True)
class Unserved:
    """A public question that was not answered, or not well; `page` is the nearest one (title, link)."""

    answer_id: str
    topic: str
    question: str
    release: str
    at: float
    why: Failing
    page: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Gap:
    """Questions about one thing that the documentation does not serve; `questions` are the newest first."""

    questions: tuple[Unserved, ...]

    @property
    def example(self) -> Unserved:
        """Return the newest question."""
        return self.questions[0]

    @property
    def reasons(self) -> dict[Failing, int]:
        """Count why the questions are here."""
        return dict(Counter(question.why for question in self.questions))

    @property
    def page(self) -> tuple[str, str]:
        """Return the page that is nearest to most of them."""
        pages = Counter(question.page for question in self.questions if question.page[0])
        return pages.most_common(1)[0][0] if pages else ("", "")


class StatisticsStore(Protocol):
    """Counts what was asked, answered and voted."""

    async def days(self, since: float) -> tuple[Day, ...]:
        """Return the days since then on which anything happened, oldest first."""

    async def totals(self) -> dict[str, Counter[str]]:
        """Return all answers by route (`routes`) and votes by value (`votes`), and wrong reuse (`reuse`)."""

    async def unserved(self, since: float, limit: int) -> tuple[Unserved, ...]:
        """Return public questions that went unanswered or badly answered, newest first, each once."""
