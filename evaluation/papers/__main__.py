"""Run the papers' own tables with our parts, and write docs/papers.md from what came of it.

    python -m evaluation.papers --stackfaq FOLDER --crag FILE --encoder HOME/models \\
        --product HOME CONFIG GOLD --product HOME CONFIG GOLD --runs DIR --write docs/papers.md

What is not given is not run; `--write` takes what DIR has from before. No language model is asked, but with

    python -m evaluation.papers … --written N --model-host URL --model NAME --runs DIR

which runs the rows that need one instead, on N questions a paper (CRAG: its ten), through the client that
serves. DIR keeps each prompt with its reply and asks none twice: without `--model-host` all is said again.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

from bot.app.bootstrap import build
from core.errors import ThreadloreError
from core.models.embedding.encoder import load_encoder
from core.settings import load_settings
from evaluation.gold import read_gold
from evaluation.papers import (
    community,
    comrag,
    comrag_written,
    crag,
    crag_written,
    graph,
    graph_written,
    releases,
)
from evaluation.papers.kept_model import KeptModel, kept_model
from evaluation.papers.recipe_rounds import play_all
from evaluation.papers.tables import WRITTEN, Section, keep, kept, markdown, with_written
from evaluation.simulation.data import half_of, read_topics
from evaluation.simulation.stores import Texts

SECTIONS = ("comrag", "qamr", "pregeneration", "crag", "graphcontextgen")
MODEL = "all-MiniLM-L6-v2"
HEAD = """# The papers' tables, run here

    python -m evaluation.papers --stackfaq FOLDER --crag FILE --encoder HOME/models \\
        --product FLASK_HOME corpora.toml tests/golden/flask.jsonl \\
        --product CLICK_HOME tests/golden/click.corpora.toml tests/golden/click.jsonl \\
        --runs DIR --write docs/papers.md

wrote this page from its runs. Each table has a paper's published figures beside those of the same row made
of our parts; below it stands what differs and why. Nothing is guessed: what only a model can show says
"needs a model". The homes need pairs made of documents (`threadlore pregenerate --by rules`). All with
MiniLM, on two busy cores.

    python -m evaluation.papers --stackfaq FOLDER --crag FILE --encoder HOME/models --written 8 \\
        --model-host http://127.0.0.1:11434 --model qwen3:8b --runs DIR --write docs/papers.md

asks a model on Ollama for the rows that need one; `--at-once` says how many prompts wait at a time. In the
tables *written (played by hand)* there was no such model either: a session that saw the prompts alone wrote
each reply. It is stronger than an 8B and reads more closely, so these rows show that the parts work
together, not what a model of yours will reach.
"""


async def main(given: argparse.Namespace) -> int:
    """Run what is given, keep the figures, write the page."""
    logging.disable(logging.WARNING)
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    if given.stackfaq or given.crag or given.product:
        encoder = await asyncio.to_thread(load_encoder, MODEL, given.encoder)
        texts = Texts(encoder)
        try:
            await (_run_written if given.written else _run)(given, texts, day)
        finally:
            encoder.close()
    if given.write:
        both = [(kept(given.runs, name), kept(given.runs, name + WRITTEN)) for name in SECTIONS]
        found = [with_written(section, written) for section, written in both if section]
        parts = [HEAD.rstrip(), *map(markdown, found)]
        await asyncio.to_thread(given.write.write_text, "\n\n".join(parts) + "\n", "utf-8")
        print(f"{given.write} has {len(parts) - 1} of {len(SECTIONS)} papers.")
    return 0


async def _run(given: argparse.Namespace, texts: Texts, day: str) -> None:
    def done(section: Section) -> None:
        keep(given.runs, section)
        print(markdown(section), flush=True)

    wanted = set(given.only or SECTIONS)
    if given.stackfaq and wanted & {"graphcontextgen", "comrag"}:
        every = await asyncio.to_thread(read_topics, given.stackfaq)
        report = half_of(every, "report")
        asked = sum(len(topic.rewordings) for topic in report)
        if "graphcontextgen" in wanted:
            done(await graph.measure(every, texts, f"Run {day} on StackFAQ."))
        if "comrag" in wanted:
            told = (
                f"Run {day} on StackFAQ's report half: {len(report)} threads, {asked} rewordings in ten "
                f"rounds, seed {community.SEED}."
            )
            done(await comrag.measure(report, texts, told, play_all))
    if given.crag and "crag" in wanted:
        told = f"Run {day} on CRAG's `{given.crag.name}`; each question has up to five pages."
        done(await crag.measure(given.crag, given.runs / "crag", texts, told))
    if given.product and wanted & {"pregeneration", "qamr"}:
        async with AsyncExitStack() as opened:
            products = []
            for home, config, gold in given.product:
                settings = load_settings(None, home=home, config=config, ollama_host="off", playground=False)
                app = await opened.enter_async_context(build(settings, "evaluate"))
                lines = await asyncio.to_thread(read_gold, gold)
                products.append(releases.Product(app.catalogue.product.name, app, lines))
            if "pregeneration" in wanted:
                done(await releases.pregeneration(products, f"Run {day} on homes with pairs made by rule."))
            if "qamr" in wanted:
                told = f"Run {day} on the golden questions, both halves."
                done(await releases.qamr(products, texts, told))


async def _run_written(given: argparse.Namespace, texts: Texts, day: str) -> None:
    """Run the rows that need a model; what it said before is not asked again."""
    model = kept_model(
        given.model_host, given.model, given.runs, given.written_by, given.seconds, given.at_once
    )
    try:
        async for section in _written(given, texts, model, f"Written {day}."):
            keep(given.runs, section)
            print(markdown(section), flush=True)
    finally:
        await model.close()


async def _written(
    given: argparse.Namespace, texts: Texts, model: KeptModel, told: str
) -> AsyncIterator[Section]:
    wanted = set(given.only or SECTIONS)
    if given.crag and "crag" in wanted:
        async with crag.opened(given.crag, given.runs / "crag") as (app, asked):
            yield await crag_written.measure(app, asked, model, told)
    if given.stackfaq and wanted & {"graphcontextgen", "comrag"}:
        every = await asyncio.to_thread(read_topics, given.stackfaq)
        if "comrag" in wanted:
            report = half_of(every, "report")
            yield await comrag_written.measure(report, texts, model, given.written, told)
        if "graphcontextgen" in wanted:
            yield await graph_written.measure(every, texts, model, given.written, told)


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog="python -m evaluation.papers", description=__doc__)
    options.add_argument("--stackfaq", type=Path, help="folder with stackfaq.xml")
    options.add_argument("--crag", type=Path, help="CRAG's file of questions with their pages")
    options.add_argument(
        "--product", type=Path, nargs=3, action="append", default=[], metavar=("HOME", "CONFIG", "GOLD")
    )
    options.add_argument("--encoder", type=Path, default=Path(".threadlore/models"), help="folder of models")
    options.add_argument("--only", nargs="+", choices=SECTIONS, help="these papers alone")
    options.add_argument(
        "--written",
        type=int,
        default=0,
        metavar="N",
        help="run the rows that need a model instead, on N questions a paper (CRAG: its ten)",
    )
    options.add_argument(
        "--model-host", default="", help="Ollama's URL; without it, what --runs kept is said again"
    )
    options.add_argument("--model", default="qwen3:8b", help="its model")
    options.add_argument("--written-by", default="", help="who wrote, on the page [the model's name]")
    options.add_argument("--seconds", type=float, default=600.0, help="longest wait for a reply")
    options.add_argument("--at-once", type=int, default=4, help="prompts that wait for a reply at a time")
    options.add_argument("--runs", type=Path, required=True, help="folder for the figures")
    options.add_argument("--write", type=Path, help="page to write from the figures")
    return options


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main(_options().parse_args())))
    except ThreadloreError as error:
        sys.exit(f"evaluation.papers: {error}")
