"""`threadlore train-attributes`: which questions are about what changes soon, from questions of your own."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from bot.home.control_socket import Send
from bot.operations.application import Application
from core.ports import for_questions
from core.query.attributes import FILE, load, save
from evaluation.tuning.attributes import FOLDS, fitted, labelled, measured


async def train_attributes(app: Application, request: dict[str, Any], send: Send) -> None:
    """Fit on `file`, an absolute path, for the encoder in use, and keep it in the home; raises UsageError."""
    questions, labels = await asyncio.to_thread(labelled, Path(request["file"]))
    encoder = for_questions(await app.corpus_manager.encoders.current())
    vectors = await encoder.encode(questions)
    accuracy, f1 = await asyncio.to_thread(measured, vectors, labels)
    path = app.settings.home / FILE
    await asyncio.to_thread(save, path, encoder.name, await asyncio.to_thread(fitted, vectors, labels))
    made, _problem = load(path)
    began = time.perf_counter()
    for vector in vectors:
        made.is_dynamic(vector)
    spent = (time.perf_counter() - began) / len(questions) * 1e6
    figures = f"{FOLDS} folds: accuracy {accuracy:.3f}, F1 {f1:.3f}; {spent:.0f} µs a question"
    await send({"line": f"{len(questions)} questions, {figures}."})
    await send({"line": f"{path} is used from the next start with RECIPE=hybrid_crag; remove it to go back."})
    await send({"code": 0})
