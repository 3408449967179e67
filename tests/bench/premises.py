"""`python -m tests.bench.premises --product flask [--home HOME] [--config FILE]`: false premises.

Each question of `tests/golden/premises.jsonl` is answered without a model; counts those with a false premise
whose answer begins with what contradicts it, and those with a true one that are left alone, by half.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections import Counter
from pathlib import Path

from bot.app.bootstrap import build
from core.domain import Question
from core.settings import load_settings

QUESTIONS = Path(__file__).parents[1] / "golden" / "premises.jsonl"


async def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--product", required=True)
    parser.add_argument("--home", type=Path, default=Path.home() / ".threadlore")
    parser.add_argument("--config", type=Path, default=Path("corpora.toml"))
    given = parser.parse_args()
    lines = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    counts: Counter[str] = Counter()
    settings = load_settings(None, home=given.home, config=given.config, ollama_host="off", playground=False)
    spent: list[float] = []
    async with build(settings, "bench") as app:
        for line in (line for line in lines if line["product"] == given.product):
            begun = time.process_time()
            answer = await app.engine.quoted(Question(line["question"]))
            spent.append(time.process_time() - begun)
            fired = bool(answer.trace.get("false_premise"))
            begins = answer.text.startswith(f"`{line['gone']}` was ") if line["gone"] else not fired
            right = fired == bool(line["gone"]) and begins
            counts[f"{line['split']}: {'false' if line['gone'] else 'true'} premises"] += 1
            counts[f"{line['split']}: {'contradicted' if line['gone'] else 'left'}"] += right
            if not right:
                print(f"{line['split']:6} wrong: {line['question']}")
    for name, count in sorted(counts.items()):
        print(f"{name:28} {count}")
    print(f"median {sorted(spent)[len(spent) // 2] * 1e3:.0f} ms")


if __name__ == "__main__":
    asyncio.run(_main())
