"""Run the papers' own tables with our parts, and write docs/papers.md from what came of it.

    python -m evaluation.papers --stackfaq FOLDER --crag FILE --encoder HOME/models \\
        --product HOME CONFIG GOLD --product HOME CONFIG GOLD --runs DIR --write docs/papers.md

What is not given is not run; `--write` takes what DIR has from before. No language model is asked.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

from bot.app.bootstrap import build
from core.errors import ThreadloreError
from core.models.embedding.encoder import load_encoder
from core.settings import load_settings
from evaluation.gold import read_gold
from evaluation.papers import community, comrag, crag, graph, releases
from evaluation.papers.tables import Section, keep, kept, markdown
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
of our parts; below it stands what differs and why. There was no language model: what only one can show says
"needs a model", and nothing is guessed. The homes need pairs made of documents
(`threadlore pregenerate --by rules`). All with MiniLM, on two busy cores.
"""


async def main(given: argparse.Namespace) -> int:
    """Run what is given, keep the figures, write the page."""
    logging.disable(logging.WARNING)
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    if given.stackfaq or given.crag or given.product:
        encoder = await asyncio.to_thread(load_encoder, MODEL, given.encoder)
        texts = Texts(encoder)
        try:
            await _run(given, texts, day)
        finally:
            encoder.close()
    if given.write:
        found = [kept(given.runs, name) for name in SECTIONS]
        parts = [HEAD.rstrip(), *(markdown(section) for section in found if section)]
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
            done(await comrag.measure(report, texts, told))
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


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog="python -m evaluation.papers", description=__doc__)
    options.add_argument("--stackfaq", type=Path, help="folder with stackfaq.xml")
    options.add_argument("--crag", type=Path, help="CRAG's file of questions with their pages")
    options.add_argument(
        "--product", type=Path, nargs=3, action="append", default=[], metavar=("HOME", "CONFIG", "GOLD")
    )
    options.add_argument("--encoder", type=Path, default=Path(".threadlore/models"), help="folder of models")
    options.add_argument("--only", nargs="+", choices=SECTIONS, help="these papers alone")
    options.add_argument("--runs", type=Path, required=True, help="folder for the figures")
    options.add_argument("--write", type=Path, help="page to write from the figures")
    return options


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main(_options().parse_args())))
    except ThreadloreError as error:
        sys.exit(f"evaluation.papers: {error}")
