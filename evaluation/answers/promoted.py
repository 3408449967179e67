"""The regression set: what people voted good, asked again of the documents as they are now.

After a change of model, prompt or index it tells which remembered answers would now be others. Memory
is neither asked nor told, so the run can be repeated.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from core.domain import Answer, Question
from core.errors import ThreadloreError
from core.memory.facts import differs
from core.memory.partitions.partition_index import EVERY_RELEASE
from core.ports import Encoder, Remembered
from core.text.words import shortened
from evaluation import report

CUT = 160
"""Characters of an answer in the Markdown report."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """A promoted pair and what would be answered now; `changes` are sentences, none where it is the same."""

    pair_id: str
    question: str
    release: str
    before: str
    after: str
    route: str
    similarity: float
    changes: tuple[str, ...] = ()


async def replay(
    pairs: Sequence[Remembered],
    draft: Callable[[Question], Awaitable[Answer]],
    encoder: Encoder,
) -> AsyncIterator[Replayed]:
    """Ask every pair's question again, one after the other, and compare the answers."""
    for pair in pairs:
        release = "" if "+" in pair.release or pair.release == EVERY_RELEASE else pair.release
        try:
            answer = await draft(Question(pair.question, release=release))
        except ThreadloreError as error:
            failed = (f"It could not be answered: {error}",)
            yield Replayed(pair.id, pair.question, pair.release, pair.answer, "", "error", 0.0, failed)
            continue
        one, other = await encoder.encode([pair.answer, answer.text])
        similarity = float(one @ other)
        found = compare(pair, answer, similarity)
        yield Replayed(
            pair.id,
            pair.question,
            pair.release,
            pair.answer,
            answer.text,
            answer.route,
            round(similarity, 4),
            found,
        )


def compare(pair: Remembered, answer: Answer, similarity: float) -> tuple[str, ...]:
    """Say what is other than what people voted good; `similarity` is the cosine of the two answers."""
    if answer.route == "abstain":
        return ("It would not be answered any more.",)
    changes = []
    if pair.release not in (answer.release, EVERY_RELEASE):
        changes.append(f"It would be answered for {answer.release} instead of {pair.release}.")
    before = {c.url: c.hash for c in pair.citations if c.hash}
    after = {c.url: c.hash for c in answer.citations}
    if before and before.keys() != after.keys():
        gone, new = sorted(before.keys() - after.keys()), sorted(after.keys() - before.keys())
        told = [f"not {', '.join(gone)}" if gone else "", f"now {', '.join(new)}" if new else ""]
        changes.append(f"It cites other pages: {'; '.join(part for part in told if part)}.")
    elif before != after and before:
        changes.append("The pages it cites say something else.")
    if different := differs(pair.answer, answer.text, similarity):
        changes.append(different)
    return tuple(changes)


def write(folder: Path, replayed: Sequence[Replayed], settings: dict[str, Any]) -> None:
    """Write `promoted.json` and `promoted.md`."""
    changed = [item for item in replayed if item.changes]
    made = {
        **settings,
        "replayed": len(replayed),
        "changed": len(changed),
        "pairs": [asdict(item) for item in replayed],
    }
    lines = [f"# Promoted answers: {len(changed)} of {len(replayed)} would change", ""]
    lines += [f"{name}: {value}" for name, value in settings.items()]
    for item in changed:
        lines += ["", f"## {item.pair_id}, {item.release}", "", item.question, ""]
        lines += [f"- {change}" for change in item.changes]
        lines += [
            "",
            f"Was: {shortened(item.before, CUT)}",
            "",
            f"Now ({item.route}): {shortened(item.after, CUT)}",
        ]
    report.write(folder, "promoted", made, "\n".join(lines) + "\n")
