"""How often the model is called for one question, counted at the server: four times, once when fast."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from bot.commands.command_line import handle
from core.domain import Question, Turn
from tests.journeys.house import Kettle, house
from tests.ollama_server import OllamaServer

THREAD = (Turn("user", "Which port does the dashboard listen on?"), Turn("assistant", "Port 9090. [1]"))
QUESTIONS = {
    "single": Question("Which port does the dashboard listen on?"),
    "follow-up": Question("and in 1.5, can it be changed?", history=THREAD),
    "leaning": Question("How is it protected with a password?", history=THREAD),
    "composite": Question(
        "Which port does the dashboard listen on, and how do I protect it with a password, and how often is "
        "a failed job tried again?"
    ),
    "comparison": Question("How often is a failed job tried again in 1.0, 1.5 and 2.0?"),
    "composite comparison": Question(
        "Which port does the dashboard use in 1.0 and 2.0, and how often is a failed job tried again?"
    ),
    "composite follow-up": Question(
        "How do I open it, and how do I protect it with a password?", history=THREAD
    ),
    "release in doubt": Question("Which port does the dashboard use in the older version?"),
}
IN_DOUBT = {"follow-up", "leaning", "composite follow-up", "release in doubt"}


@pytest.mark.parametrize("name", QUESTIONS)
async def test_at_most_four_calls_in_a_row(name: str, kettle: Kettle, ollama: OllamaServer) -> None:
    async with house(kettle, ollama_host=ollama.url, model_steps="understand,reduce,select") as bot:
        answer = await bot.app.engine.answer(QUESTIONS[name])
    assert answer.route == "documents", answer.trace
    assert ollama.calls == (4 if name in IN_DOUBT else 3)
    assert list(answer.trace["steps"]) == [*(["understand"] if name in IN_DOUBT else []), "reduce", "select"]


@pytest.mark.parametrize("name", QUESTIONS)
async def test_one_call_when_fast(name: str, kettle: Kettle, ollama: OllamaServer) -> None:
    async with house(kettle, ollama_host=ollama.url, fast=True) as bot:
        assert (await bot.app.engine.answer(QUESTIONS[name])).route == "documents"
    assert ollama.calls == 1


async def test_a_small_context_takes_more_calls_and_loses_nothing(
    kettle: Kettle, ollama: OllamaServer
) -> None:
    given = {"model_steps": "understand,reduce,select", "ollama_num_ctx": 1400}
    async with house(kettle, ollama_host=ollama.url, **given) as bot:
        answer = await bot.app.engine.answer(QUESTIONS["composite comparison"])
    assert answer.route == "documents"
    assert ollama.calls > 4 and not ollama.truncated


async def test_every_call_of_a_question_is_in_the_report(
    kettle: Kettle, ollama: OllamaServer, tmp_path: Path
) -> None:
    line = {
        "id": "retries",
        "type": "followup",
        "question": "and how often is a failed job tried again?",
        "history": [{"role": "user", "text": "What happens to a job that fails?"}],
        "standalone": "How often is a job that fails tried again?",
        "release": "2.0",
        "answer": "8 times.",
        "must_contain": ["8 times"],
        "must_not_contain": [],
        "gold_file": "jobs.md",
        "evidence": ["8 times by default"],
    }
    gold = tmp_path / "gold.jsonl"
    await asyncio.to_thread(gold.write_text, json.dumps(line), "utf-8")
    report = tmp_path / "report"

    async def send(message: object) -> None:
        pass

    async with house(kettle, ollama_host=ollama.url) as bot:
        request = {"command": "evaluate", "gold": str(gold), "report": str(report), "only": ["all"]}
        await handle(bot.app, request, send)
        told = json.loads(await asyncio.to_thread((report / "evaluation.json").read_text, "utf-8"))
        assert told["configurations"][0]["model_calls"] == ollama.calls == 2

    other = tmp_path / "other"
    await asyncio.to_thread(shutil.copytree, report, other)
    text = await asyncio.to_thread((other / "questions.jsonl").read_text, "utf-8")
    answer = json.dumps({**json.loads(text), "answer": "Never.", "right": False})
    await asyncio.to_thread((other / "questions.jsonl").write_text, answer, "utf-8")
    ollama.models.append("referee")
    folder = tmp_path / "compared"
    async with house(kettle, ollama_host=ollama.url, judge_model="referee") as bot:
        request = {"command": "evaluate", "compare": [str(report), str(other)], "judge": ["all"]}
        await handle(bot.app, request | {"report": str(folder)}, send)
    result = json.loads(await asyncio.to_thread((folder / "comparison.json").read_text, "utf-8"))
    assert (result["judge"], result["own"], result["first_only"]) == ("referee", [False, False], 1)
    assert ollama.calls == 4 and ollama.chats[-1].body["model"] == "referee", "once in each order"
