"""`tune`: learn the ranking or how sure quotes are, or go back; `train-attributes`: fit the SVM."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from bot.commands.progress import in_turn
from bot.home.control_socket import Send
from bot.operations.application import Application
from core.errors import UsageError
from core.ports import for_questions
from core.query.attributes import FILE as ATTRIBUTES
from core.query.attributes import load, save
from core.retrieval.ranking import FILE, Ranking, save_ranking
from evaluation.commands.evaluate import page_of
from evaluation.tuning.attributes import (
    FOLDS,
    fitted,
    fitted_domains,
    labelled,
    labelled_by_domain,
    measured,
    measured_domains,
)
from evaluation.tuning.sampled import sampled


async def tune(app: Application, request: dict[str, Any], send: Send) -> None:
    """Tune on `gold`, an absolute path, and use what was learned at once; `reset` forgets it."""
    path = app.settings.home / FILE
    if request.get("reset"):
        if request.get("gold") or request.get("answers"):
            raise UsageError("--reset goes without a file: threadlore tune --reset")
        await asyncio.to_thread(path.unlink, missing_ok=True)
        app.searcher.problem = ""
        await app.learner.refresh()
        await send({"line": "The shipped ranking is used."})
        await send({"code": 0})
        return
    if request.get("answers"):
        if request.get("gold"):
            raise UsageError("Tune one after the other: threadlore tune GOLD.jsonl, then --answers FILE")
        await _quotes(app, Path(request["answers"]), send)
        return
    if not request.get("gold"):
        raise UsageError("Name a file of labelled questions: threadlore tune GOLD.jsonl, or --answers FILE")
    from evaluation.harness import check  # numpy-heavy, and only these commands need it
    from evaluation.tuning.learn import tune as learn

    gold = Path(request["gold"])
    async with in_turn(send) as tell:
        await check(app.research, gold)
        tuned = await learn(app.research, app.searcher, gold, lambda line: tell({"line": line}))
    for line in tuned.told:
        await send({"line": line[:1].upper() + line[1:] + "."})
    if tuned.ranking is None:
        await send({"line": "Nothing is changed."})
    else:
        await _use(app, replace(tuned.ranking, quotes=app.searcher.ranking.quotes), send)
    await send({"code": 0})


async def _quotes(app: Application, path: Path, send: Send) -> None:
    """Learn from what is quoted to questions of which it is known what an answer must hold."""
    from evaluation.answers.expected import read_expected
    from evaluation.answers.scores import ask_all
    from evaluation.tuning.quoted import refitted

    lines = await asyncio.to_thread(read_expected, path, "all", app.catalogue.product.name)
    scored = [one async for one in ask_all(lines, app.engine.quoted, partial(page_of, app.corpora))]
    judgement, told = refitted(scored)
    await send({"line": told[:1].upper() + told[1:] + "."})
    if judgement is None:
        await send({"line": "Nothing is changed."})
    else:
        ranking = await app.learner.base()  # without what votes taught, which is kept by itself
        tuned = ", ".join(filter(None, (ranking.tuned, f"{path.name} (quotes)")))
        await _use(app, replace(ranking, quotes=judgement, tuned=tuned), send)
    await send({"code": 0})


async def _use(app: Application, ranking: Ranking, send: Send) -> None:
    """Keep a ranking in the home and use it."""
    encoder = (await app.corpus_manager.encoders.current()).name
    await asyncio.to_thread(save_ranking, app.settings.home / FILE, ranking, encoder)
    app.searcher.problem = ""
    await app.learner.refresh()
    await send({"line": "It is used from now on; `threadlore tune --reset` goes back."})


async def train_attributes(app: Application, request: dict[str, Any], send: Send) -> None:
    """Fit on `file`, an absolute path, for the encoder in use, and keep it in the home; raises UsageError.

    With `model` the configured one is asked about the same questions, and its figures are printed, too.
    """
    model = app.engine.model if request.get("model") else None
    if request.get("model") and model is None:
        raise UsageError("--model needs a model; set OLLAMA_HOST or MODEL_SERVER, or leave it out.")
    questions, labels = await asyncio.to_thread(labelled, Path(request["file"]))
    encoder = for_questions(await app.corpus_manager.encoders.current())
    asked, domains = await asyncio.to_thread(labelled_by_domain, Path(request["file"]))
    vectors = await encoder.encode(questions)
    accuracy, f1 = await asyncio.to_thread(measured, vectors, labels)
    path = app.settings.home / ATTRIBUTES
    made_of = await asyncio.to_thread(fitted, vectors, labels)
    if domains:
        by_domain = await encoder.encode(asked)
        right, mean = await asyncio.to_thread(measured_domains, by_domain, domains)
        made_of["domains"] = await asyncio.to_thread(fitted_domains, by_domain, domains)
    await asyncio.to_thread(save, path, encoder.name, made_of)
    made, _problem = load(path)
    began = time.perf_counter()
    for vector in vectors:
        made.is_dynamic(vector)
        made.domain(vector)
    spent = (time.perf_counter() - began) / len(questions) * 1e6
    figures = f"{FOLDS} folds: accuracy {accuracy:.3f}, F1 {f1:.3f}; {spent:.0f} µs a question"
    await send({"line": f"{len(questions)} questions, {figures}."})
    if domains:
        figures = f"{FOLDS} folds: accuracy {right:.3f}, mean F1 {mean:.3f}"
        await send({"line": f"{len(asked)} questions of {len(set(domains))} domains, {figures}."})
    if model:
        async with in_turn(send) as tell:
            told = await sampled(model, questions, labels, lambda line: tell({"note": line}))
        await send({"line": told.line})
    await send({"line": f"{path} is used from the next start with RECIPE=hybrid_crag; remove it to go back."})
    await send({"code": 0})
