"""`threadlore evaluate`: measure retrieval, answers, follow-ups, what was promoted, and speaking unasked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from bot.app.builders.models import open_model
from bot.commands.progress import in_turn
from bot.home.control_socket import Send
from bot.operations.application import Application
from bot.privacy.exports import note
from core.errors import UsageError
from core.pipeline.research import Research
from core.pipeline.resources import ModelBudget
from core.ports import CorpusStore, LanguageModel
from core.text.words import one_line
from evaluation.gold import Half
from evaluation.report import made, write

OWN = "{name} judges what it wrote itself; JUDGE_MODEL names another one."
UNLEARNT = (
    "The sentences of {releases} are still to be learnt: pages are ranked worse, and few answers are sure. "
    "Run `threadlore index` to its end first."
)


async def evaluate(app: Application, request: dict[str, Any], send: Send) -> None:
    """Run the harness on `gold` and write its report to the folder `report`, both absolute paths."""
    from evaluation import harness, recipes

    if warning := unlearnt(app):
        await send({"note": warning})
    research, model = app.research, app.engine.model
    if model is not None and not (health := await model.health()).ready:
        research = Research(replace(research.parts, model=None, budget=ModelBudget()))
        await send({"note": f"{health.problem} Answers quote the documentation."})
    if names := request.get("recipe"):
        await asyncio.to_thread(made, Path(request["report"]))
        rows = await recipes.compare(research, Path(request["gold"]), names, request.get("half") or "all")
        table = recipes.table(rows)
        await send({"line": table})
        await asyncio.to_thread(write, Path(request["report"]), "recipes", rows, table + "\n")
        await send({"line": f"The report is in {request['report']}."})
        await send({"code": 0})
        return
    options = harness.Options(
        half=request.get("half") or "all",
        names=tuple(request.get("only") or ()),
        answers=not request.get("no_answers"),
        judged=tuple(request.get("judge") or ()),
        recipe=app.settings.recipe,
    )
    gold, report = Path(request["gold"]), Path(request["report"])
    async with in_turn(send) as tell, judging(app, model) as judge:
        if options.judged and judge is not None and model is not None and judge.name == model.name:
            await send({"note": OWN.format(name=judge.name)})
        await harness.evaluate(
            research, gold, report, options, lambda line: tell({"line": line}), judging=judge
        )
    # answers quote what people said in channels that are sources
    note(app.settings.home, Path(request["report"]) / "questions.jsonl")
    await send({"line": f"The report is in {request['report']}."})
    await send({"code": 0})


def unlearnt(app: Application) -> str:
    """Say that releases are measured before they know all they will; empty where none is."""
    releases = sorted(app.searcher.learning)
    return UNLEARNT.format(releases=", ".join(releases)) if releases else ""


@asynccontextmanager
async def judging(app: Application, writer: LanguageModel | None) -> AsyncIterator[LanguageModel | None]:
    """Open the model that `JUDGE_MODEL` names on the writer's servers; the writer where it names none."""
    name = app.settings.judge_model
    if not name:
        yield writer
        return
    settings = app.settings.model_copy(update={"ollama_model": name, "model_name": name, "llm": ""})
    judge = await asyncio.to_thread(open_model, settings)
    try:
        yield judge
    finally:
        if judge is not None:
            await judge.close()


async def compare(app: Application, request: dict[str, Any], send: Send) -> None:
    """Compare the two report folders `compare` (absolute paths); the model judges with `judge`."""
    from evaluation.answers import compared
    from evaluation.answers.judges import Judge, Verdicts
    from evaluation.harness import VERDICTS
    from evaluation.plots import draw_comparison

    chosen = (*(request.get("judge") or ()), *(request.get("only") or ()), compared.ALL)[0]
    one, other = map(Path, request["compare"])
    first = await asyncio.to_thread(compared.read, one, chosen)
    second = await asyncio.to_thread(compared.read, other, chosen)
    folder = await asyncio.to_thread(made, Path(request["report"])) if request.get("report") else None
    async with in_turn(send) as tell, judging(app, app.engine.model) as model:
        judge = None
        if request.get("judge"):
            if model is None:
                raise UsageError(
                    "Judging needs a model; set OLLAMA_HOST or MODEL_SERVER, or leave --judge out."
                )
            where = (folder or other) / VERDICTS
            judge = Judge(model, await asyncio.to_thread(Verdicts, where))
        result = await compared.compare(first, second, judge, lambda line: tell({"note": line}))
    await send({"line": compared.markdown(result)})
    if folder:
        plots = await asyncio.to_thread(draw_comparison, result, folder)
        text = compared.markdown(result, plots)
        await asyncio.to_thread(write, folder, "comparison", result, text)
    await send({"code": 0})


async def promoted_command(app: Application, request: dict[str, Any], send: Send) -> None:
    """Replay the high store without changing memory; code 1 where an answer would be another one.

    What people wrote or brought is left out: documents would never say it in their words.
    """
    from evaluation.answers.promoted import replay, write

    if request.get("report"):
        await asyncio.to_thread(made, Path(request["report"]))
    stores = await app.memory.placed()
    kept = {pair_id for pair_id, (store, is_kept) in stores.items() if store == "high" and is_kept}
    promoted = [pair for pair in await app.memory.everything() if pair.id in kept]
    pairs = [pair for pair in promoted if pair.origin == "answer"]
    if people := len(promoted) - len(pairs):
        await send({"note": f"{people} answers that people wrote or brought are not asked again."})
    encoder = await app.corpus_manager.encoders.current()
    replayed = []
    async for item in replay(pairs, app.engine.draft, encoder):
        replayed.append(item)
        if item.changes:
            await send({"line": f"{item.pair_id}  {item.release}  {one_line(item.question)}"})
            for change in item.changes:
                await send({"line": f"  {change}"})
    changed = sum(1 for item in replayed if item.changes)
    await send({"line": f"{changed} of {len(replayed)} promoted answers would now be other ones."})
    if folder := request.get("report"):
        model = app.engine.model
        settings = {"model": model.name if model else "none", "encoder": encoder.name}
        write(Path(folder), replayed, settings)
        for name in ("promoted.json", "promoted.md"):
            note(app.settings.home, Path(folder) / name, [item.pair_id for item in replayed])
        await send({"line": f"The report is in {folder}."})
    await send({"code": 1 if changed else 0})


async def unasked(app: Application, request: dict[str, Any], send: Send) -> None:
    """Decide for the posts in `unasked` (absolute paths) and print the shares; raises ThreadloreError."""
    from evaluation.unasked import judge, read_posts, table

    judged = []
    for path in request["unasked"]:
        judged += await judge(await asyncio.to_thread(read_posts, Path(path)), app.research)
    await send({"line": table(judged)})
    for one in judged:
        if one.speaks() and not one.post.speak:
            await send({"line": f"wrongly answered ({one.confidence:.3f}): {one_line(one.post.text)[:120]}"})
    await send({"code": 0})


async def followups(app: Application, request: dict[str, Any], send: Send) -> None:
    """Measure the conversations in `followups` (absolute paths) and write a report to the folder `report`."""
    from evaluation.followups.data import read_conversations
    from evaluation.followups.measure import (  # numpy-heavy, and only this command needs it
        COLLECTION,
        measure,
        write,
    )

    report = await asyncio.to_thread(made, Path(request["report"]))
    encoder = await app.corpus_manager.encoders.current()
    model = app.engine.model
    if model is not None and not (health := await model.health()).ready:
        await send({"note": f"{health.problem} Only the rules are measured."})
        model = None
    results: list[dict[str, Any]] = []
    told: list[dict[str, Any]] = []
    for path in request["followups"]:
        conversations = await asyncio.to_thread(read_conversations, Path(path))
        try:
            result, lines = await measure(
                conversations, encoder, app.words, request.get("half") or "all", model
            )
        finally:
            await app.words.drop(COLLECTION)
        results.append({"encoder": encoder.name, "model": model.name if model else "", **result})
        told += lines
        await send({"line": f"{conversations.name}: {_figures(result)}"})
    await asyncio.to_thread(write, report, results, told)
    await send({"line": f"The report is in {report}."})
    await send({"code": 0})


def _figures(result: dict[str, Any]) -> str:
    forms = result["follow-ups"]["forms"]
    figures = ", ".join(f"{name} {row['agreed@3']:.3f}" for name, row in forms.items())
    return f"{result['follow-ups']['n']} follow-ups, agreed@3: {figures}"


async def answers(app: Application, request: dict[str, Any], send: Send) -> None:
    """Ask the questions of `answers` (an absolute path) about this product; raises ThreadloreError.

    With a folder `report` the answers are kept there, and the table has those of other products that were
    kept there before.
    """
    from evaluation.answers.expected import read_expected
    from evaluation.answers.scores import ask_all, detail, failures, file_of, groups, keep, read, table

    if warning := unlearnt(app):
        await send({"note": warning})
    product = app.catalogue.product.name
    half: Half = request.get("half") or "all"
    lines = await asyncio.to_thread(read_expected, Path(request["answers"]), half, product)
    folder = await asyncio.to_thread(made, Path(request["report"])) if request.get("report") else None
    before = await asyncio.to_thread(read, folder, product) if folder else []
    asked = ask_all(lines, app.engine.draft, partial(page_of, app.corpora))
    scored = [one async for one in asked]
    every = [*before, *scored]
    rows = groups(every)
    if request.get("json"):
        found = {"groups": rows, "questions": [one.plain() for one in every]}
        await send({"line": json.dumps(found, ensure_ascii=False)})
    else:
        await send({"line": table(rows)})
    if request.get("details"):
        for one in failures(scored):
            await send({"line": detail(one)})
    if folder:
        await asyncio.to_thread(keep, folder, product, scored)
        # answers quote what people said in channels that are sources
        note(app.settings.home, file_of(folder, product))
    await send({"code": 0})


async def page_of(corpora: CorpusStore, release: str, path: str) -> str:
    """Return the text of a page of a release with its headings, empty where there is none."""
    documents = [document.id for document in await corpora.manifest(release) if document.path == path]
    rows = await corpora.rows(release, documents) if documents else ()
    ids = list(dict.fromkeys(row.context_id for row in rows))
    contexts = await corpora.contexts(ids)
    return "\n\n".join(f"# {contexts[one].heading}\n\n{contexts[one].page}" for one in ids)
