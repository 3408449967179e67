"""`simulate`: play a community on labelled questions, with this home's memory; `calibrate`: fit it."""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from bot.app.builders.memory import tuned
from bot.app.builders.storage import open_memory, questions_told_apart
from core.memory.calibrated import FILE
from core.memory.guard import guard
from core.models.embedding.encoder import load_encoder
from core.ports import Encoder
from core.settings import Settings
from evaluation.papers import comrag
from evaluation.papers.by_round import curves
from evaluation.papers.community import SEED
from evaluation.papers.recipe_rounds import play_all
from evaluation.papers.tables import keep, markdown
from evaluation.plots import draw_rounds
from evaluation.simulation.data import half_of, read_others, read_topics
from evaluation.simulation.memory_calibration import calibrate
from evaluation.simulation.run import Options, simulate
from evaluation.simulation.stores import Stores, Texts
from evaluation.simulation.world import Model, People


async def run_simulation(
    settings: Settings,
    given: argparse.Namespace,
    tell: Callable[[str], None] = print,
    load: Callable[[str, Path], Encoder] | None = None,
) -> int:
    """Carry out `simulate`; the home is read for its calibration and encoder, and not taken.

    Raises UsageError for data or options that cannot be.
    """
    thresholds, decision, warning = await asyncio.to_thread(tuned, settings)
    if warning:
        tell(warning)
    options = Options(
        rounds=given.rounds,
        seed=given.seed,
        seeds=given.seeds,
        half=given.half,
        known=given.known,
        fitted=given.fit,
        releases=tuple(dict.fromkeys(given.releases)),
        others=await asyncio.to_thread(read_others, given.others) if given.others else (),
        people=People(given.readers, given.turnout, given.error, given.adversaries),
        model=Model(given.right, given.right_referred, seconds=given.model_seconds),
        thresholds=thresholds,
        decision=decision,
        baselines=not given.no_baselines,
        sweeps=not given.no_sweeps,
    )
    load = load or partial(load_encoder, settings=settings)
    encoder = await asyncio.to_thread(load, settings.embedding_model, settings.home / "models")
    try:
        await simulate(given.data, given.report, encoder, guard, options, tell, temporary)
        if given.tables:
            await _tables(given, encoder, tell)
    finally:
        encoder.close()
    tell(f"The report is in {given.report}.")
    return 0


async def _tables(given: argparse.Namespace, encoder: Encoder, tell: Callable[[str], None]) -> None:
    """Write ComRAG's tables and curves to the report's folder: systems, rounds, ablations and thresholds."""
    topics = half_of(await asyncio.to_thread(read_topics, given.data), given.half)
    told = f"{len(topics)} topics of `{given.data.name}`, half: {given.half}, seed {SEED}."
    systems = partial(play_all, tell=tell) if given.recipes else None
    section = await comrag.measure(topics, Texts(encoder), told, systems)
    await asyncio.to_thread(keep, given.report, section)
    plots = await asyncio.to_thread(draw_rounds, curves(section.tables), given.report)
    text = "\n\n".join([markdown(section), *(f"![{name}]({name})" for name in plots)]) + "\n"
    await asyncio.to_thread((given.report / "comrag.md").write_text, text, "utf-8")


@asynccontextmanager
async def temporary() -> AsyncIterator[Stores]:
    """Open the real stores in a folder of their own, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="threadlore-simulation-") as folder:
        async with open_memory(Path(folder)) as kept:
            yield Stores(kept.memories, kept.corpora, kept.rewordings)


async def run_calibration(
    settings: Settings,
    given: argparse.Namespace,
    tell: Callable[[str], None] = print,
    load: Callable[[str, Path], Encoder] | None = None,
) -> int:
    """Carry out `calibrate`; 1 where no δ reaches the precision, and nothing is written.

    Raises UsageError for pairs that cannot be used or are too few.
    """
    told = await questions_told_apart(settings)
    apart = [(said.remembered, said.topic) for said in told if said.topic]
    load = load or partial(load_encoder, settings=settings)
    encoder = await asyncio.to_thread(load, settings.embedding_model, settings.home / "models")
    try:
        made = await calibrate(
            given.pairs,
            settings.home,
            encoder,
            guard,
            given.precision,
            given.recall,
            given.half,
            tell=tell,
            apart=apart,
        )
    finally:
        encoder.close()
    if apart:
        tell(f"{len(apart)} of the pairs are questions that people told apart here (*Not my question*).")
    reach = f", reach {made['reach']:.3f}" if "reach" in made else ""
    tell(
        f"For {made['encoder']}, by {made['pairs']} pairs: δ {made['delta']:.3f} (precision "
        f"{made['precision']:.3f}), τ {made['tau']:.3f} (recall {made['recall']:.3f}){reach}."
    )
    if not made["reached"]:
        tell(f"Nothing is written; {settings.home / FILE} stays as it is.")
        return 1
    tell(f"Written to {settings.home / FILE}; it holds from the next start on.")
    for variable, field in (
        ("MEMORY_DELTA", "reuse_threshold"),
        ("MEMORY_TAU", "cluster_threshold"),
        ("MEMORY_REACH", "memory_reach"),
    ):
        if field in settings.model_fields_set:
            tell(f"{variable} is set by hand and goes before it; remove it to go by the calibration.")
    return 0
