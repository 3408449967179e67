"""`threadlore embedder try`: what another embedder would find, measured beside the one in use."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from pydantic import SecretStr

from bot.app.bootstrap import build
from bot.commands.progress import passed_on
from bot.home.control_socket import Send
from bot.operations.application import Application
from core.errors import UsageError
from core.models.embedding.encoder import load_encoder
from core.pipeline.research import Research
from core.pipeline.resources import ModelBudget
from core.ports import Encoder, for_questions
from evaluation.configurations import Configuration
from evaluation.gold import GoldLine, read_gold
from evaluation.harness import check
from evaluation.metrics import CUTS, sign_test
from evaluation.pipeline import ask, stages_of, warm
from evaluation.tables import grid

TEXTS, QUESTIONS = 128, 30
"""Passages and questions by which the time of one is measured."""
CLEAR = 0.05
"""Probability below which a difference is no accident (sign test, both sides)."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What one embedder did: the rank of each question's page (0: not found), and milliseconds a text."""

    name: str
    ranks: tuple[int, ...]
    text_ms: float
    question_ms: float

    def hits(self, k: int) -> int:
        """Return how many questions have their page among the first k."""
        return sum(0 < rank <= k for rank in self.ranks)


async def try_embedder(app: Application, request: dict[str, Any], send: Send) -> None:
    """Measure the embedder `model` on `gold`, an absolute path, beside the one in use.

    Its index is built in a folder that is removed at the end; the home's own index, database and settings
    are not touched. Raises UsageError for a gold file without answers, and EncoderError.
    """
    model, gold = str(request["model"]), Path(request["gold"])
    if model == app.settings.embedding_model:
        raise UsageError(f"{model} is in use already; name another embedder.")
    await check(app.research, gold)
    lines = [line for line in await asyncio.to_thread(read_gold, gold) if line.places]
    if not lines:
        raise UsageError(f"{gold.name} has no question that the documentation answers; add some.")
    async with _beside(app, model) as other:
        releases = dict.fromkeys(release for line in lines for release in line.places)
        passages, began = 0, time.monotonic()
        async with passed_on(send) as hear:
            for release in releases:
                for done in await other.corpus_manager.reindex(release, hear):
                    passages += done.corpus.chunks
        seconds = time.monotonic() - began
        theirs = await _tried(other, lines)
    ours = await _tried(app, lines)
    await send({"line": told(ours, theirs)})
    await send({"line": f"{passages} passages were read and indexed in {seconds:.0f} s."})
    await send({"line": advice(model, ours, theirs)})
    await send({"code": 0})


@asynccontextmanager
async def _beside(app: Application, model: str) -> AsyncIterator[Application]:
    """Open a home of its own for another embedder; it knows no people, platforms and language models.

    What is made of the model is kept where the home keeps its own, so that a switch needs no second download.
    """
    nobody = SecretStr("")
    with tempfile.TemporaryDirectory(prefix="threadlore-") as folder:
        settings = app.settings.model_copy(
            update={
                "home": Path(folder),
                "embedding_model": model,
                "database_url": nobody,
                "chroma_url": "",
                "slack_bot_token": nobody,
                "slack_app_token": nobody,
                "discord_token": nobody,
                "pregenerate": "off",
            }
        )
        models = app.settings.home / "models"
        load = partial(load_encoder, device=settings.embedding_device, spare=1, settings=settings)

        def kept(name: str, _: Path) -> Encoder:
            return load(name, models)

        async with build(settings, "embedder try", kept) as other:
            yield other


async def _tried(app: Application, lines: Sequence[GoldLine]) -> Tried:
    """Ask the questions, without a language model, and take the time of what embeds."""
    research = Research(replace(app.research.parts, model=None, budget=ModelBudget()))
    await warm(research)
    stages = stages_of(research, app.settings.recipe, Configuration("all"), answers=False)
    ranks = tuple([(await ask(stages, line, False))[1].rank for line in lines])
    encoder = await app.corpus_manager.encoders.current()
    release = next(iter(lines[0].places))
    texts = [row.embedded for row in (await app.corpora.rows(release))[:TEXTS]]
    encoder.forget()
    began = time.perf_counter()
    await encoder.encode(texts)
    each = (time.perf_counter() - began) / max(1, len(texts))
    taken = [await _seconds(encoder, line.question) for line in lines[:QUESTIONS]]
    return Tried(encoder.name, ranks, each * 1000, median(taken) * 1000)


async def _seconds(encoder: Encoder, question: str) -> float:
    encoder.forget()
    began = time.perf_counter()
    await for_questions(encoder).encode([question])
    return time.perf_counter() - began


def told(ours: Tried, theirs: Tried) -> str:
    """Write both side by side as a table."""
    asked = len(ours.ranks)
    rows = [(f"hit@{k}", *(f"{one.hits(k) / asked:.3f}" for one in (ours, theirs))) for k in CUTS]
    rows.append(("ms a text", f"{ours.text_ms:.1f}", f"{theirs.text_ms:.1f}"))
    rows.append(("ms a question", f"{ours.question_ms:.1f}", f"{theirs.question_ms:.1f}"))
    head = (f"{asked} questions", f"{ours.name} (in use)", theirs.name)
    return grid(head, rows, margin=" ")


def advice(model: str, ours: Tried, theirs: Tried) -> str:
    """Say in words what a switch would bring, and how it is made."""
    better = sum(b > 0 and (a == 0 or b < a) for a, b in zip(ours.ranks, theirs.ranks, strict=True))
    worse = sum(a > 0 and (b == 0 or a < b) for a, b in zip(ours.ranks, theirs.ranks, strict=True))
    said = f"The page that answers stands higher for {better} questions, lower for {worse}"
    if sign_test(better, worse) >= CLEAR:
        return f"{said}: no clear difference. Nothing was changed."
    if worse > better:
        return f"{said}: a switch would make it worse. Nothing was changed."
    return (
        f"{said}. Nothing was changed; to switch, set EMBEDDING_MODEL={model}, start again, and run "
        "`threadlore index --rebuild`."
    )
