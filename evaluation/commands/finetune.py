"""`threadlore finetune export` and `finetune train`: a model of one's own."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from bot.home.control_socket import Send
from bot.operations.application import Application
from bot.privacy.exports import note
from core.ports import for_questions
from evaluation.finetuning.data import CARD, chosen, split, write
from evaluation.finetuning.train import ADAPTER, MERGED, MODELFILE, Lora, train

AT_ONCE = 256
"""Questions that are embedded at once."""


async def export(app: Application, request: dict[str, Any], send: Send) -> None:
    """Write what everybody may hear of the high store to the folder `folder`, an absolute path."""
    folder = Path(request["folder"])
    stores = await app.memory.placed()
    high = {pair_id for pair_id, (store, is_kept) in stores.items() if store == "high" and is_kept}
    some = chosen(await app.memory.everything(), high, app.privacy.is_out)
    encoder = for_questions(await app.corpus_manager.encoders.current())
    topics = [pair.topic for pair in some.pairs]
    rows = [await encoder.encode(topics[at : at + AT_ONCE]) for at in range(0, len(topics), AT_ONCE)]
    vectors = np.concatenate(rows) if rows else np.zeros((0, encoder.dimensions), np.float32)
    near = app.memory.thresholds.tau
    halves = await asyncio.to_thread(split, some.pairs, vectors, near)
    facts = {
        "product": app.catalogue.product.name,
        "encoder": encoder.name,
        "near": near,
        "left_out": some.left_out,
    }
    ids = [pair.id for pair in some.pairs]
    for path in await asyncio.to_thread(write, folder, halves, facts):
        if path.name != CARD:
            note(app.settings.home, path)
    for reason, count in some.left_out.items():
        await send({"note": f"Left out: {count} {reason}."})
    counts = ", ".join(f"{len(pairs)} to {half}" for half, pairs in halves.items())
    await send({"line": f"Exported {len(ids)} pairs ({counts}) to {folder}."})
    await send({"code": 0})


def run_training(options: Namespace) -> int:
    """Train in this process; return the exit status. Raises UsageError and ConfigurationError."""
    out = Path(options.out)
    told = train(Path(options.data), options.base, out, Lora(epochs=options.epochs), print)
    held = (
        f", on held-out pairs {told.test_before} before and {told.test_after} after"
        if told.test_after
        else ""
    )
    print(f"Loss {told.losses[0]} in the first epoch and {told.losses[-1]} in the last{held}.")
    print(
        f"{told.trained:,} of {told.weights:,} weights trained; {out / ADAPTER} and {out / MERGED} are there."
    )
    print(f"For Ollama: ollama create NAME -f {out / MODELFILE}")
    return 0
