"""`/threadlore memory …`: what the community has taught the bot."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from bot.controls import WRONG
from bot.slash import Call, Subcommand
from core.opinions import Correction

Corrections = Callable[[], Awaitable[Sequence[Correction]]]


def memory_commands(corrections: Corrections) -> tuple[Subcommand, ...]:
    """Return the commands about community memory."""

    async def list_corrections(call: Call) -> None:
        await call.tell(corrections_text(await corrections()))

    return (
        Subcommand(
            "memory corrections",
            "what people found wrong with answers, and what they wrote instead",
            list_corrections,
        ),
    )


def corrections_text(corrections: Sequence[Correction]) -> str:
    """List what people found wrong with answers, the latest first."""
    if not corrections:
        return "Nobody has said yet what was wrong with an answer."
    lines = []
    for said in corrections:
        better = f" Better: {' '.join(said.better.split())}" if said.better else ""
        taken = " (remembered)" if said.pair_id else ""
        lines.append(f"- “{said.question}” ({said.release}), {said.name}: {WRONG[said.what]}.{better}{taken}")
    return "\n".join(lines)
