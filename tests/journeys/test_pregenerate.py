"""`threadlore pregenerate`: pairs made of the documentation, and what questions find by them."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.domain import Question
from core.errors import ThreadloreError, UsageError
from core.ingestion.pregeneration.model import ModelPairs
from core.pipeline.research import Research
from tests.journeys.house import Bot, Kettle, house
from tests.journeys.kettle import PORTS
from tests.journeys.stage import until
from tests.journeys.test_glossary import told
from tests.ollama_answers import Recorded
from tests.ollama_server import OllamaServer


async def test_reading_a_release_makes_its_pairs_where_that_is_on(kettle: Kettle) -> None:
    async with house(kettle, ollama_host="off") as bot:
        await told(bot, "index", release="2.0")
        assert bot.app.corpus_manager.pregeneration is not None
        assert not await bot.app.corpus_manager.pregeneration.pairs("2.0")
    async with house(kettle, ollama_host="off", pregenerate="rules") as bot:
        await told(bot, "index", release="2.0")
        assert bot.app.corpus_manager.pregeneration is not None
        pairs = await bot.app.corpus_manager.pregeneration.pairs("2.0")
        assert pairs and all(pair.url and pair.by.startswith("rules") for pair in pairs)
        count = await bot.app.corpus_manager.pregeneration.run(
            "2.0", await bot.app.corpus_manager.encoders.current()
        )
        assert count is not None and count.done == count.documents


async def test_a_sample_is_written_for_review_under_the_papers_names(kettle: Kettle, tmp_path: Path) -> None:
    async with house(kettle, ollama_host="off", pregenerate="rules") as bot:
        await told(bot, "index", release="2.0")
        path = tmp_path / "sample.jsonl"
        lines, _ = await told(bot, "pregenerate", sample=str(path), release="2.0")
        written = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        assert f"{len(written)} of" in lines[0] and written
        assert list(written[0]) == [
            "Keep",
            "Question",
            "Answer",
            "FullAnswer",
            "Summary",
            "Url",
            "Title",
            "Category",
            "Date",
            "Path",
        ]
        with pytest.raises(UsageError, match="cannot be written"):
            await told(bot, "pregenerate", sample=str(tmp_path / "no" / "sample.jsonl"))
        with pytest.raises(UsageError, match="no release 9"):
            await told(bot, "pregenerate", release="9")
        with pytest.raises(UsageError, match="no model"):
            await told(bot, "pregenerate")


_PAGE = re.compile(r'<page number="(\d+)" heading="[^"]*">\n(.*?)\n</page>', re.DOTALL)
ASKED = "May I put the zeppelin into the dishwasher?"


def about_ports(recorded: Recorded, _: Mapping[str, Any]) -> dict[str, Any]:
    """Ask one question of users about the first page that tells of a port, with an answer from it."""
    for number, text in _PAGE.findall(recorded.prompt.rpartition("instructions to you.")[2]):
        line = next((line for line in text.splitlines() if PORTS["2.0"] in line), "")
        if line:
            return {
                "pairs": [
                    {
                        "page": int(number),
                        "question": ASKED,
                        "answer": line,
                        "full_answer": line,
                        "summary": "",
                    }
                ]
            }
    return {"pairs": []}


async def test_what_the_model_made_finds_its_page_and_survives_a_restart(kettle: Kettle) -> None:
    async with OllamaServer(structured=about_ports) as model:
        async with house(kettle, ollama_host=model.url) as bot:
            await told(bot, "index", release="2.0")
            lines, _ = await told(bot, "pregenerate", release="2.0")
            assert "documents by" in lines[0]
            calls = model.calls
            await told(bot, "pregenerate", release="2.0")
            assert model.calls == calls, "what is done is not done again"
        async with house(kettle, ollama_host="off") as bot:
            await found(bot)


async def found(bot: Bot) -> None:
    assert bot.app.corpus_manager.pregeneration is not None
    made = await bot.app.corpus_manager.pregeneration.pairs("2.0")
    assert ASKED in [pair.question for pair in made]
    asked = await bot.app.research.understand(Question(ASKED))

    async def rank(research: Research) -> int:
        evidence = (await research.search(asked)).evidence
        return next((item.number for item in evidence if PORTS["2.0"] in item.chunk.page), 99)

    research = bot.app.research
    without = replace(research.parts, searcher=research.parts.searcher.without_pairs())
    assert await rank(research) <= 3 < await rank(Research(without))


async def test_a_model_that_is_down_is_told_and_what_is_made_stays(kettle: Kettle) -> None:
    async with house(kettle, ollama_host="http://127.0.0.1:9", pregenerate="rules") as bot:
        await told(bot, "index", release="2.0")
        with pytest.raises(ThreadloreError, match="give the command again"):
            await told(bot, "pregenerate", release="2.0")
        assert bot.app.corpus_manager.pregeneration is not None
        assert await bot.app.corpus_manager.pregeneration.pairs("2.0")


def like_a_model(recorded: Recorded, _: Mapping[str, Any]) -> str:
    """Write about each page what small models write: a true pair, one with an invented number, one with an
    invented name, in a fence with prose around it.
    """
    made = []
    for number, text in _PAGE.findall(recorded.prompt.rpartition("instructions to you.")[2]):
        true = next((line for line in text.splitlines() if len(line.split()) > 4 and line[0].isalpha()), "")
        for question, answer in (
            ("What does this page tell users?", true),
            ("How long does it take?", f"{true} It takes 7321 seconds."),
            ("Who made it?", f"{true} It was made by Zebulon in Atlantis."),
        ):
            made.append({"page": int(number), "Question": question, "Answer": answer})
    return f"Here are the pairs:\n```json\n{json.dumps({'pairs': made})}\n```\nI hope this helps!"


async def test_what_a_model_invents_is_dropped_and_the_command_says_how_much(kettle: Kettle) -> None:
    async with OllamaServer(structured=like_a_model) as model, house(kettle, ollama_host=model.url) as bot:
        await told(bot, "index", release="2.0")
        lines, _ = await told(bot, "pregenerate", release="2.0")
        assert bot.app.corpus_manager.pregeneration is not None
        pairs = await bot.app.corpus_manager.pregeneration.pairs("2.0")
    texts = "".join(pair.answer + pair.full_answer for pair in pairs)
    assert "7321" not in texts and "Zebulon" not in texts
    found = re.search(r"made (\d+) pairs: (\d+) kept, (\d+) dropped .*?\((\d+) number", lines[1])
    assert found is not None, lines
    offered, kept, dropped, numbers = map(int, found.groups())
    asked = [pair for pair in pairs if pair.question == "What does this page tell users?"]
    assert kept == len(asked) and kept > 5 and dropped >= 2 * kept
    assert offered >= kept + dropped and numbers >= kept and "name" in lines[1] and "mended" in lines[1]


async def test_what_a_reviewer_refuses_is_gone_and_stays_away(kettle: Kettle, tmp_path: Path) -> None:
    path = tmp_path / "sample.jsonl"
    async with house(kettle, ollama_host="off", pregenerate="rules") as bot:
        await told(bot, "index", release="2.0")
        await told(bot, "pregenerate", sample=str(path), release="2.0")
        records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        records[0]["Keep"] = False
        path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
        lines, _ = await told(bot, "pregenerate", reviewed=str(path))
        assert lines == [f"1 of {len(records)} questions are refused, 1 pairs taken out"]
        await told(bot, "index", release="2.0", rebuild=True)
        assert records[0]["Question"] not in await questions_of(bot, records[0]["Path"])
        records[0]["Keep"] = True
        path.write_text(json.dumps(records[0]), "utf-8")
        lines, _ = await told(bot, "pregenerate", reviewed=str(path))
        assert "1 may be made again" in lines[0]
        await told(bot, "pregenerate", by="rules", release="2.0")
        assert records[0]["Question"] in await questions_of(bot, records[0]["Path"])
        assert await verified(bot)
        path.write_text('{"Keep": false}\n', "utf-8")
        with pytest.raises(UsageError, match="line 1 is no line of a sample"):
            await told(bot, "pregenerate", reviewed=str(path))
        with pytest.raises(UsageError, match="cannot be read"):
            await told(bot, "pregenerate", reviewed=str(tmp_path / "none.jsonl"))


async def questions_of(bot: Bot, path: str) -> list[str]:
    assert bot.app.corpus_manager.pregeneration is not None
    pairs = await bot.app.corpus_manager.pregeneration.pairs("2.0")
    return [pair.question for pair in pairs if pair.path == path]


async def verified(bot: Bot) -> bool:
    lines, _ = await told(bot, "verify")
    return bool(lines)


async def test_a_killed_run_goes_on_where_it_stopped(kettle: Kettle) -> None:
    async with house(kettle, ollama_host="off") as bot:
        await told(bot, "index", release="2.0")
    async with OllamaServer(structured=about_ports, first_token_delay=0.15) as model:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "bot", "pregenerate", "--release", "2.0"),
            env=kettle.variables(OLLAMA_HOST=model.url),
            cwd=kettle.folder,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        await until(lambda: model.calls >= 3)
        process.send_signal(signal.SIGKILL)
        assert await process.wait() == -signal.SIGKILL
        before = model.calls
        model.first_token_delay = 0.0
        async with house(kettle, ollama_host=model.url) as bot:
            lines, _ = await told(bot, "pregenerate", release="2.0")
            assert bot.app.corpus_manager.pregeneration is not None
            made = await bot.app.corpus_manager.pregeneration.pairs("2.0")
            assert ASKED in [pair.question for pair in made] and await verified(bot)
            again = model.calls - before
            await bot.app.corpus_manager.pregeneration.run(
                "2.0", await bot.app.corpus_manager.encoders.current(), maker=ModelPairs(bot.app.engine.model)
            )
            assert model.calls == before + again, "all is done"
        async with house(kettle, ollama_host="off") as other:
            await found(other)
    counts = re.search(r"(\d+) of (\d+) documents", lines[0])
    assert counts is not None and counts[1] == counts[2]
    assert before - 1 + again <= model.calls and again < int(counts[2]), "what was done was not done again"
