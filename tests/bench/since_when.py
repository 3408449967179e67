"""`python -m tests.bench.since_when --product flask [--home HOME] [--config FILE]`: "when was X added?".

Each question of `tests/golden/since_when.jsonl` is answered without a model; counts the answers whose first
quote names the right version, and those that name it anywhere.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from pathlib import Path

from bot.app.bootstrap import build
from core.domain import Question
from core.settings import load_settings

QUESTIONS = Path(__file__).parents[1] / "golden" / "since_when.jsonl"


def names(text: str, versions: list[str]) -> bool:
    """Return True if a text names one of the versions, or a patch of it."""
    return any(re.search(rf"(?<![\d.]){re.escape(version)}(?!\d)", text) for version in versions)


async def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--product", required=True)
    parser.add_argument("--home", type=Path, default=Path.home() / ".threadlore")
    parser.add_argument("--config", type=Path, default=Path("corpora.toml"))
    given = parser.parse_args()
    lines = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    asked = [line for line in lines if line["product"] == given.product]
    first = anywhere = 0
    settings = load_settings(None, home=given.home, config=given.config, ollama_host="off", playground=False)
    async with build(settings, "bench") as app:
        for line in asked:
            quotes = (await app.engine.quoted(Question(line["question"]))).text.split("\n\n")[1:]
            is_first = bool(quotes) and names(quotes[0], line["versions"])
            first += is_first
            anywhere += names("\n\n".join(quotes), line["versions"])
            print("right" if is_first else "     ", line["question"], line["versions"])
    print(f"{given.product}: first {first} of {len(asked)}, anywhere {anywhere}")


if __name__ == "__main__":
    asyncio.run(_main())
