"""The high store as instruction data (GraphContextGen, section 4.4): what goes in, and how it is split."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from core.generation.citations import uncited
from core.generation.quotes.quote import without_introduction
from core.ports import Matrix, Remembered
from core.system.private_files import private
from core.text.times import iso

Half = Literal["train", "test"]
TEST = 0.1
"""Share of the pairs that are kept back, of the topics asked last."""
SYSTEM = "You answer questions about {product} {release}."
INST, CHAT = "{half}.inst.jsonl", "{half}.chat.jsonl"
CARD = "README.md"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The pairs that may be taught, in order of time, and why others may not: reason to count."""

    pairs: Sequence[Remembered]
    left_out: Mapping[str, int]


def chosen(pairs: Sequence[Remembered], high: Collection[str], is_out: Callable[[str], bool]) -> Chosen:
    """Choose the pairs of the high store that everybody may hear, whose people did not opt out."""
    reasons = Counter[str]()
    kept: list[Remembered] = []
    for pair in pairs:
        people = [account for account in (pair.asker, *pair.others) if account]
        if pair.id not in high or pair.aside:
            reasons["not in the high store"] += 1
        elif pair.scope != "public":
            reasons["from a private channel"] += 1
        elif any(map(is_out, people)):
            reasons["by somebody who opted out"] += 1
        elif pair.stale:
            reasons["the pages it cites have changed"] += 1
        else:
            kept.append(pair)
    kept.sort(key=lambda pair: (pair.created_at, pair.id))
    return Chosen(tuple(kept), dict(sorted(reasons.items())))


def split(pairs: Sequence[Remembered], vectors: Matrix, near: float) -> dict[Half, list[Remembered]]:
    """Split pairs by topic and time: whole topics, and those asked last are the test.

    Questions are of one topic where a chain of cosines from `near` on joins them, whatever their release.
    """
    if not pairs:
        return {"train": [], "test": []}
    topic = _topics(vectors, near)
    asked: dict[int, float] = {}
    for pair, of in zip(pairs, topic, strict=True):
        asked[of] = max(asked.get(of, 0.0), pair.created_at)
    test: set[int] = set()
    sizes = Counter(topic)
    for of in sorted(asked, key=lambda one: (-asked[one], one)):
        if sum(sizes[one] for one in test) + sizes[of] <= max(1.0, TEST * len(pairs)):
            test.add(of)
        elif test:
            break
    halves: dict[Half, list[Remembered]] = {"train": [], "test": []}
    for pair, of in zip(pairs, topic, strict=True):
        halves["test" if of in test else "train"].append(pair)
    if not halves["train"]:
        return {"train": halves["test"], "test": []}
    return halves


def _topics(vectors: Matrix, near: float) -> list[int]:
    """Return the number of each row's topic: rows that a chain of cosines from `near` on joins have one."""
    topic = np.full(len(vectors), -1)
    for first in range(len(vectors)):
        waiting = [first] if topic[first] < 0 else []
        topic[waiting] = first
        while waiting:
            close = np.nonzero((vectors @ vectors[waiting.pop()] >= near) & (topic < 0))[0]
            topic[close] = first
            waiting += close.tolist()
    return [int(of) for of in topic]


def write(folder: Path, halves: Mapping[Half, Sequence[Remembered]], facts: Mapping[str, Any]) -> list[Path]:
    """Write both forms of both halves and the data card; blocking. Returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    product = str(facts["product"])
    files: list[Path] = []
    for half, pairs in halves.items():
        for form, line in ((INST, _inst), (CHAT, _chat)):
            path = folder / form.format(half=half)
            _put(path, "".join(f"{json.dumps(line(pair, product), ensure_ascii=False)}\n" for pair in pairs))
            files.append(path)
    _put(folder / CARD, card(halves, facts))
    return [*files, folder / CARD]


def card(halves: Mapping[Half, Sequence[Remembered]], facts: Mapping[str, Any]) -> str:
    """Describe the data: what it is, of what and when, how it was split, what is not in it."""
    every = [pair for pairs in halves.values() for pair in pairs]
    releases = Counter(pair.release or "every release" for pair in every)
    origins = Counter(pair.origin for pair in every)
    times = [iso(pair.created_at) for pair in every]
    rows = [
        f"# Questions and answers about {facts['product']}",
        "Made by `threadlore finetune export` from answers that people found good.",
        f"- **Pairs**: {len(every)}; {', '.join(f'{half} {len(pairs)}' for half, pairs in halves.items())}.",
        f"- **Releases**: {', '.join(f'{name} {n}' for name, n in sorted(releases.items())) or 'none'}.",
        f"- **Written by**: {', '.join(f'{name} {n}' for name, n in sorted(origins.items())) or 'nobody'}"
        " (*answer*: this bot from pages; *person*: people; *import*: brought by an admin).",
        f"- **Time**: {min(times)} to {max(times)}." if times else "- **Time**: none.",
        f"- **Split**: whole topics (cosine from {facts['near']:.2f} on, {facts['encoder']});"
        " the topics asked last are the test.",
        "- **Left out**: "
        + (", ".join(f"{count} {reason}" for reason, count in facts["left_out"].items()) or "nothing")
        + ". What was said in direct messages is never remembered.",
        "- **Forms**: `*.inst.jsonl` has `text` as `[INST]question[/INST] answer`, `*.chat.jsonl` has"
        " `messages`.",
        "- **Not for**: facts that change. Who opts out or is forgotten later is not in the next export;"
        " train again then. The answers quote documentation, whose licence holds for them, too.",
    ]
    return "\n\n".join(rows[:2]) + "\n\n" + "\n".join(rows[2:]) + "\n"


def answer_of(pair: Remembered) -> str:
    """Return what a pair answers, without numbers of citations and the line above quotes."""
    return uncited(without_introduction(pair.answer)).strip()


def _inst(pair: Remembered, product: str) -> dict[str, Any]:
    about = f" ({product} {pair.release})" if pair.release and pair.release not in pair.question else ""
    return {"id": pair.id, "text": f"[INST]{pair.question.strip()}{about}[/INST] {answer_of(pair)}"}


def _chat(pair: Remembered, product: str) -> dict[str, Any]:
    told = (
        ("system", SYSTEM.format(product=product, release=pair.release).replace(" .", ".")),
        ("user", pair.question.strip()),
        ("assistant", answer_of(pair)),
    )
    return {"id": pair.id, "messages": [{"role": role, "content": content} for role, content in told]}


def _put(path: Path, text: str) -> None:
    with open(path, "w", encoding="utf-8", opener=private) as file:
        file.write(text)
