"""The recipes as systems in ComRAG's real-time setting (sections 5.1 and 6.3): ten rounds, people vote.

Each recipe answers as it serves, without a model, on a home of its own: threads are pages under their first
question, memory begins with what is known, and what a round leaves there the next one finds.
"""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.app.bootstrap import build
from bot.commands.importing import brought
from bot.operations.application import Application
from core.domain import Answer, Question, Vote
from core.generation.citations import uncited
from core.generation.quotes.quote import without_introduction
from core.recipes import recipes
from core.settings import Settings, load_settings
from evaluation.papers.community import SEED, Community
from evaluation.simulation.world import People

RELEASE = "1.0"


@dataclass(slots=True)
class Played:
    """One round of a recipe: what it said, whether each was right and remembered, and how long it took."""

    texts: list[str] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)
    reused: list[bool] = field(default_factory=list)
    ms: list[float] = field(default_factory=list)
    stored: int = 0
    """Pairs in memory after it."""
    growth: float = 0.0
    """By how much they grew in it, as a share."""


async def play_all(
    community: Community, tell: Callable[[str], None] = lambda line: None
) -> dict[str, list[Played]]:
    """Play all rounds by every recipe in a folder of their own, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="threadlore-simulation-") as folder:
        return await play(community, recipes(), Path(folder), tell)


async def play(
    community: Community, names: Sequence[str], folder: Path, tell: Callable[[str], None]
) -> dict[str, list[Played]]:
    """Play all rounds by each recipe; indexes the pages in `folder` once. Raises ThreadloreError."""
    config = await asyncio.to_thread(_lay_out, community, folder / "pages")
    first = folder / "home"
    async with build(_settings(first, config, names[0]), "evaluate") as app:
        await app.corpus_manager.reindex(RELEASE)
        await app.corpus_manager.complete()
    played = {}
    for name in names:
        home = folder / name
        await asyncio.to_thread(shutil.copytree, first, home)
        async with build(_settings(home, config, name), "evaluate") as app:
            known = [
                {"question": topic.question, "answer": topic.answers[0], "release": RELEASE}
                for topic in community.known
            ]
            await brought(app, "\n".join(map(json.dumps, known)), "known.jsonl")
            played[name] = await _rounds(community, app)
        right = [right for one in played[name] for right in one.right]
        tell(f"{name}: right {sum(right) / len(right):.3f} of {len(right)}")
        await asyncio.to_thread(shutil.rmtree, home)
    return played


def _settings(home: Path, config: Path, recipe: str) -> Settings:
    given: dict[str, Any] = {"ollama_host": "off", "playground": False, "pregenerate": "rules"}
    return load_settings(None, home=home, config=config, recipe=recipe, newcomer_days=0.0, **given)


def _lay_out(community: Community, folder: Path) -> Path:
    """Write a page for each topic under its question, and the catalogue; return its path; blocking."""
    (folder / "threads").mkdir(parents=True, exist_ok=True)
    for number, (topic, (_, text)) in enumerate(zip(community.topics, community.pages, strict=True)):
        (folder / "threads" / f"{number}.md").write_text(f"# {topic.question}\n\n{text}\n", "utf-8")
    config = folder / "corpora.toml"
    config.write_text(
        f'[product]\nname = "Community"\n\n[[release]]\nname = "{RELEASE}"\nlatest = true\n'
        '[[release.source]]\nkind = "folder"\npath = "threads"\n',
        "utf-8",
    )
    return config


async def _rounds(community: Community, app: Application) -> list[Played]:
    """Ask and vote; who votes what follows from the seed, the round and the question alone."""
    pages = {f"{number}.md": topic.name for number, topic in enumerate(community.topics)}
    answers = {text.strip(): name for name, text in community.reference.items()}
    people, told = People(), []
    before = len(await app.memory.everything())
    for number, lines in enumerate(community.lines):
        one = Played()
        for place, line in enumerate(lines):
            lot = random.Random(f"{SEED} {number} {place}")
            readers = lot.sample(range(300), people.readers)
            began = time.perf_counter()
            answer = await app.engine.answer(Question(line.question, f"cli:p{readers[0]}"))
            one.ms.append((time.perf_counter() - began) * 1000)
            right = _topic(answer, pages, answers) == line.topic
            one.texts.append(uncited(without_introduction(answer.text)))
            one.right.append(right)
            one.reused.append(answer.route == "reuse")
            for reader in readers if answer.route != "abstain" else ():
                if lot.random() < people.turnout:
                    value = right ^ (lot.random() < people.error)
                    await app.engine.feedback(Vote(answer.id, f"cli:p{reader}", 1 if value else 0))
        one.stored = len(await app.memory.everything())
        one.growth = (one.stored - before) / max(before, 1)
        before = one.stored
        told.append(one)
    return told


def _topic(answer: Answer, pages: Mapping[str, str], answers: Mapping[str, str]) -> str:
    """Return the topic of the first page that an answer cites, or whose known answer it gives."""
    for entry in answer.citations:
        if entry.path in pages:
            return pages[entry.path]
    said = without_introduction(answer.text)
    return next((name for text, name in answers.items() if text and text in said), "")
