"""Gaps as a message: what was asked in public and not answered, or not well."""

from __future__ import annotations

from collections.abc import Sequence

from core.gaps import Gap

SHOWN = 10
"""Gaps that a chat message lists."""


def gaps_text(found: Sequence[Gap], days: int, shown: int = SHOWN) -> str:
    """List gaps in Markdown, the largest first."""
    if not found:
        return f"All that was asked in public in the last {days} days was answered, and nobody complained."
    lines = [f"Not answered, or not well, in the last {days} days:"]
    for gap in found[:shown]:
        reasons = ", ".join(f"{count} {why}" for why, count in gap.reasons.items())
        title, url = gap.page
        nearest = f" · nearest page: [{title}]({url})" if url else ""
        question = " ".join(gap.example.question.split())
        lines.append(f"- **{len(gap.questions)}×** {question[:150]} ({reasons}){nearest}")
    if len(found) > shown:
        lines.append(f"… and {len(found) - shown} more; `threadlore gaps` lists them all.")
    return "\n".join(lines)
