"""Gaps as a message: what was asked in public and not answered, or not well."""

from __future__ import annotations

from collections.abc import Sequence

from core.insights.statistics import Gap
from core.text.markup import inert, link
from core.text.plurals import counted
from core.text.words import cut_at_word, one_line

SHOWN = 10
"""Gaps that a chat message lists."""
IN_DIGEST = 5
LONGEST = 150


def gaps_text(found: Sequence[Gap], days: int, shown: int = SHOWN) -> str:
    """List gaps in Markdown, the largest first."""
    span = counted(days, "day")
    if not found:
        return f"All that was asked in public in the last {span} was answered, and nobody complained."
    lines = [f"Not answered, or not well, in the last {span}:", *map(_line, found[:shown])]
    if len(found) > shown:
        lines.append(f"… and {len(found) - shown} more; `threadlore gaps` lists them all.")
    return "\n".join(lines)


def digest_text(found: Sequence[Gap], product: str, days: int, wrong_reuse: int = 0) -> str:
    """Write the weekly digest: how much was not served, the largest gaps, and how often memory was wrong."""
    told = _wrongly(wrong_reuse, days)
    if not found:
        return told
    questions = sum(len(gap.questions) for gap in found)
    asked = f"{counted(questions, 'question')} on {counted(len(found), 'topic')}"
    lines = [
        f"**What the {product} documentation did not answer in the last {counted(days, 'day')}**: {asked}.",
        *map(_line, found[:IN_DIGEST]),
        "`/threadlore gaps` shows more, `threadlore gaps --markdown FILE` writes a page for writers.",
        *([told] if wrong_reuse else []),
    ]
    return "\n".join(lines)


def _wrongly(count: int, days: int) -> str:
    answers, span = counted(count, "remembered answer was", "remembered answers were"), counted(days, "day")
    return f"**Wrong reuse**: {answers} to another question in the last {span}, as people said."


def _line(gap: Gap) -> str:
    title, url = gap.page
    nearest = f" · nearest page: {link(title, url)}" if url else ""
    cut = cut_at_word(one_line(gap.example.question), LONGEST)
    return f"- **{len(gap.questions)}×** {inert(cut)} ({gap.told}){nearest}"
