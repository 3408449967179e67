"""Our bot without a platform and without a model, in the process that is compared.

python -m tests.benchmarks.ours HOME CONFIG    commands by `side.serve`
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bot.app.bootstrap import build
from bot.operations.application import Application
from core.domain import Answer, Queries, Question, Vote
from core.settings import Settings, load_settings
from tests.benchmarks.side import asked, memory_mb, serve

VOTERS = ("bench:a", "bench:b", "bench:c")


def settings_of(home: Path, config: Path) -> Settings:
    """Return settings without a model and a platform; everybody's vote counts at once."""
    quiet: dict[str, Any] = {"slack_bot_token": "", "slack_app_token": "", "discord_token": ""}
    return load_settings(
        None, home=home, config=config, ollama_host="off", newcomer_days=0.0, votes_per_hour=10**6, **quiet
    )


class Ours:
    """What is asked of it."""

    def __init__(self, app: Application) -> None:
        self._app = app

    async def _ask(self, release: str, text: str) -> Answer:
        return await self._app.engine.answer(Question(text, release=release))

    async def load(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Let so many people ask."""
        return await asked(given["questions"], given["people"], self._ask)

    async def _find(self, release: str, text: str) -> object:
        encoder = await self._app.corpus_manager.encoders.current()
        look = self._app.searcher.look(Queries(text, text), await encoder.encode([text]), release)
        return await look.hits() if look is not None else None

    async def find(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Let so many people have passages found by vectors and words, which is all that the other does."""
        return await asked(given["questions"], given["people"], self._find)

    async def hits(self, given: Mapping[str, Any]) -> list[Any]:
        """Return release, path and text of the pages found for each question, best first."""
        answers = [await self._ask(release, text) for release, text in given["questions"]]
        return [[(e.chunk.release, e.chunk.path, e.chunk.text) for e in one.evidence] for one in answers]

    async def reuse(self, given: Mapping[str, Any]) -> dict[str, list[float]]:
        """Ask, have three people like the answer, ask again; return ms of that and of embedding alone."""
        encoder = await self._app.corpus_manager.encoders.current()
        found: dict[str, list[float]] = {"reuse": [], "embedding": []}
        for release, text in given["questions"]:
            first = await self._ask(release, text)
            for person in VOTERS:
                await self._app.engine.feedback(Vote(first.id, person, 1))
            encoder.forget()
            began = time.perf_counter()
            again = await self._ask(release, text)
            took = (time.perf_counter() - began) * 1000
            if again.route != "reuse":
                continue
            encoder.forget()
            began = time.perf_counter()
            await encoder.encode([again.queries.topic])
            found["embedding"].append((time.perf_counter() - began) * 1000)
            found["reuse"].append(took)
        return found

    async def memory(self, _: Mapping[str, Any]) -> float:
        """Return the memory of the process and its workers, in MB."""
        return memory_mb()


async def main() -> None:
    """Open the home, and do what is asked."""
    logging.disable(logging.WARNING)
    async with build(settings_of(Path(sys.argv[1]), Path(sys.argv[2])), "bench") as app:
        await app.corpus_manager.complete()
        ours = Ours(app)
        await serve({name: getattr(ours, name) for name in ("load", "find", "hits", "reuse", "memory")})


if __name__ == "__main__":
    asyncio.run(main())
