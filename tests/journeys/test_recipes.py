"""Recipes on the whole bot: `RECIPE` selects what serves, `evaluate --recipe` measures all of them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from bot.commands.command_line import handle
from bot.commands.look.status import status_of
from core.domain import Question, Vote
from core.errors import ConfigurationError
from core.recipes import recipes
from tests.journeys.house import Kettle, house
from tests.ollama_server import OllamaServer

RETRIES = "How often is a failed job tried again by default?"
ANN = "slack:UANN"


def line(key: str, question: str, **given: Any) -> dict[str, Any]:
    told: dict[str, Any] = {
        "id": key,
        "type": "fact",
        "question": question,
        "history": [],
        "release": "2.0",
        "answer": "8 times.",
        "must_contain": ["8 times"],
        "must_not_contain": [],
        "gold_file": "jobs.md",
        "evidence": ["8 times by default"],
    }
    return told | given


NOTHING = {"release": "", "answer": "", "must_contain": [], "gold_file": "", "evidence": []}
GOLD = [
    line("retries", RETRIES),
    line("unknown", "How often is a failed job tried again in 9.0?", type="unknown_release", **NOTHING),
    line("outside", "Who won the chess olympiad in Lugano?", type="out_of_scope", **NOTHING),
]


@pytest.mark.parametrize("name", [name for name in recipes() if name != "qa_pregeneration"])
async def test_every_recipe_serves_and_cites(name: str, kettle: Kettle, ollama: OllamaServer) -> None:
    async with house(kettle, ollama_host=ollama.url, recipe=name) as bot:
        first = await bot.app.engine.answer(Question(RETRIES, ANN))
        assert first.route == "documents" and "8 times" in first.text
        assert {citation.release for citation in first.citations} == {"2.0"}
        assert await bot.app.engine.feedback(Vote(first.id, ANN, 1))
        calls = ollama.calls
        again = await bot.app.engine.answer(Question(RETRIES, ANN))
        reuses = name in ("threadlore", "comrag")
        assert (again.route == "reuse") == (ollama.calls == calls) == reuses


async def test_status_says_that_a_recipe_lacks_its_pairs(kettle: Kettle) -> None:
    for pairs, lacks in (("off", True), ("rules", False)):
        async with house(kettle, ollama_host="off", recipe="qa_pregeneration", pregenerate=pairs) as bot:
            if not lacks:
                await bot.app.corpus_manager.pregenerate()
            problems = (await status_of(bot.app))["problems"]
            assert any("threadlore pregenerate" in problem for problem in problems) == lacks


async def test_the_home_of_an_unknown_recipe_does_not_open(kettle: Kettle) -> None:
    with pytest.raises(ConfigurationError, match=r"no recipe 'goulash'; RECIPE is one of threadlore, "):
        async with house(kettle, recipe="goulash"):
            raise AssertionError("it opened")


async def test_all_recipes_are_measured_side_by_side_and_nothing_is_kept(
    kettle: Kettle, ollama: OllamaServer, tmp_path: Path
) -> None:
    gold, report = tmp_path / "gold.jsonl", tmp_path / "report"
    await asyncio.to_thread(gold.write_text, "\n".join(map(json.dumps, GOLD)), "utf-8")
    messages: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        messages.append(message)

    async with house(kettle, ollama_host=ollama.url) as bot:
        before = await bot.counts()
        request = {"command": "evaluate", "gold": str(gold), "report": str(report), "recipe": ["all"]}
        await handle(bot.app, request, send)
        assert await bot.counts() == before
    rows = json.loads(await asyncio.to_thread((report / "recipes.json").read_text, "utf-8"))
    assert [row["name"] for row in rows] == list(recipes()) and messages[-1] == {"code": 0}
    assert all(row["refusals"] == 1 for row in rows)
    there = [row for row in rows if row["name"] != "qa_pregeneration"]  # no pairs are made in this home
    assert all(row["hit@8"] == row["must_contain"] == 1.0 for row in there)
    assert round(sum(row["model_calls"] * len(GOLD) for row in rows)) == ollama.calls
    shown = next(message["line"] for message in messages if "| recipe |" in message.get("line", ""))
    assert all(f"| {name} | 3 |" in shown for name in recipes())
