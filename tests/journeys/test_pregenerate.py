"""`threadlore pregenerate`: pairs made of the documentation, and what questions find by them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.domain import Question
from core.errors import ThreadloreError, UsageError
from core.research import Research
from tests.journeys.house import Bot, Kettle, house
from tests.journeys.kettle import PORTS
from tests.journeys.test_glossary import told
from tests.ollama_answers import Recorded
from tests.ollama_server import OllamaServer


async def test_reading_a_release_makes_its_pairs_where_that_is_on(kettle: Kettle) -> None:
    async with house(kettle, ollama_host="off") as bot:
        await told(bot, "index", release="2.0")
        assert bot.app.library.pregeneration is not None
        assert not await bot.app.library.pregeneration.pairs("2.0")
    async with house(kettle, ollama_host="off", pregenerate="rules") as bot:
        await told(bot, "index", release="2.0")
        assert bot.app.library.pregeneration is not None
        pairs = await bot.app.library.pregeneration.pairs("2.0")
        assert pairs and all(pair.url and pair.by.startswith("rules") for pair in pairs)
        count = await bot.app.library.pregeneration.run("2.0", await bot.app.library.encoders.current())
        assert count is not None and count.done == count.documents


async def test_a_sample_is_written_for_review_under_the_papers_names(kettle: Kettle, tmp_path: Path) -> None:
    async with house(kettle, ollama_host="off", pregenerate="rules") as bot:
        await told(bot, "index", release="2.0")
        path = tmp_path / "sample.jsonl"
        lines, _ = await told(bot, "pregenerate", sample=str(path), release="2.0")
        written = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        assert f"{len(written)} of" in lines[0] and written
        assert list(written[0]) == [
            "Question",
            "Answer",
            "FullAnswer",
            "Summary",
            "Url",
            "Title",
            "Category",
            "Date",
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
    assert bot.app.library.pregeneration is not None
    made = await bot.app.library.pregeneration.pairs("2.0")
    assert ASKED in [pair.question for pair in made]
    asked = await bot.app.research.understand(Question(ASKED))

    async def rank(research: Research) -> int:
        evidence = (await research.search(asked)).evidence
        return next((item.number for item in evidence if PORTS["2.0"] in item.chunk.page), 99)

    research = bot.app.research
    assert await rank(research) <= 3 < await rank(research.without_pairs())


async def test_a_model_that_is_down_is_told_and_what_is_made_stays(kettle: Kettle) -> None:
    async with house(kettle, ollama_host="http://127.0.0.1:9", pregenerate="rules") as bot:
        await told(bot, "index", release="2.0")
        with pytest.raises(ThreadloreError, match="give the command again"):
            await told(bot, "pregenerate", release="2.0")
        assert bot.app.library.pregeneration is not None
        assert await bot.app.library.pregeneration.pairs("2.0")
