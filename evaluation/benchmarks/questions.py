"""`make bench`: time of the path without the model, against embedding alone in the same run."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import time
from pathlib import Path

from bot.app.bootstrap import build
from bot.operations.application import Application
from core.domain import Question
from core.settings import load_settings

ROUNDS = 3
GOLD = Path(__file__).parents[2] / "tests" / "golden" / "flask.jsonl"
PATH = ("understand", "embed", "recall", "retrieve", "quote", "offers")
"""Steps of the path without the model; saving the answer is not one of them."""


async def main() -> None:
    """Index Flask where it is not yet, ask the golden questions, print p50, p95 and ratios."""
    home = Path(os.environ.get("THREADLORE_BENCH_HOME", ".threadlore/bench"))
    settings = load_settings(home=home, ollama_host="")
    async with build(settings, "bench") as app:
        for release in app.corpus_manager.order():
            if not any(e["name"] == release and e["ready"] for e in await app.corpus_manager.releases()):
                done = (await app.corpus_manager.reindex(release))[0]
                rate = done.embedded / done.seconds
                print(f"indexed {release}: {done.corpus.chunks} passages, {rate:.0f} embedded/s")
        await hot_path(app)


async def hot_path(app: Application) -> None:
    """Ask every golden question that has a page, and embed its texts alone, in turns."""
    lines = [json.loads(line) for line in GOLD.read_text(encoding="utf-8").splitlines()]
    asked = [line for line in lines if line.get("gold_file") and not line.get("history")]
    encoder = await app.corpus_manager.encoders.current()
    whole, alone, saving = [], [], []
    steps: dict[str, list[float]] = {step: [] for step in PATH}
    for turn in range(ROUNDS + 1):
        for line in asked:
            encoder.forget()
            release = line.get("ask_release") or line["release"]
            answer = await app.engine.answer(Question(line["question"], release=release))
            if turn == 0 or answer.route != "quote":
                continue  # the first round warms up
            encoder.forget()
            began = time.perf_counter()
            await encoder.encode([answer.queries.topic, *answer.queries.parts[1:]])
            alone.append((time.perf_counter() - began) * 1000)
            laps = answer.timings_ms
            whole.append(sum(laps.get(step, 0.0) for step in PATH))
            saving.append(laps.get("save", 0.0))
            for step in PATH:
                steps[step].append(laps.get(step, 0.0))
    print(f"{len(whole)} answers quoted from {len(asked)} questions, ms:")
    for name, values in {
        "path without model": whole,
        "embedding alone": alone,
        "saving (after it)": saving,
    }.items():
        print(f"  {name:<20} p50 {_quantile(values, 50):7.2f}   p95 {_quantile(values, 95):7.2f}")
    for step, values in steps.items():
        print(f"    {step:<18} p50 {_quantile(values, 50):7.2f}   p95 {_quantile(values, 95):7.2f}")
    ratio = statistics.median(w / a for w, a in zip(whole, alone, strict=True))
    print(f"  ratio of the path to embedding alone: {ratio:.2f} (aim: at most 2)")


def _quantile(values: list[float], percent: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


if __name__ == "__main__":
    asyncio.run(main())
